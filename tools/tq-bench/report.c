#include "tools/tq-bench/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double report_quantile(const double *values, size_t n, double part)
{
    if (n == 0)
        return 0;
    size_t at = (size_t)(part * (double)(n - 1) + 0.5);
    return values[at < n ? at : n - 1];
}

double report_median(double *values, size_t n)
{
    qsort(values, n, sizeof(*values), compare_doubles);
    return report_quantile(values, n, 0.5);
}

void report_round(struct report_rounds *rounds, double ours, double floor)
{
    if (rounds->n == REPORT_ROUNDS)
        return;
    rounds->ours[rounds->n] = ours;
    rounds->floor[rounds->n++] = floor;
}

static struct report_row *new_row(struct report *report, const char *name, const char *case_json, const char *unit)
{
    static struct report_row overflow; /* more rows than fit are dropped, visibly short */
    struct report_row *row = report->n_rows < REPORT_ROWS ? &report->rows[report->n_rows++] : &overflow;
    *row = (struct report_row){ .ours = 0 };
    snprintf(row->name, sizeof(row->name), "%s", name);
    snprintf(row->case_json, sizeof(row->case_json), "%s", case_json);
    snprintf(row->unit, sizeof(row->unit), "%s", unit);
    return row;
}

struct report_row *report_add_single(struct report *report, const char *name, const char *case_json, const char *unit,
                                     double ours)
{
    struct report_row *row = new_row(report, name, case_json, unit);
    row->ours = ours;
    return row;
}

struct report_row *report_add(struct report *report, const char *name, const char *case_json, const char *unit,
                              const struct report_rounds *rounds)
{
    struct report_row *row = new_row(report, name, case_json, unit);
    struct report_rounds sorted = *rounds;
    double ratios[REPORT_ROUNDS] = { 0 };
    for (size_t i = 0; i < rounds->n; i++)
        ratios[i] = rounds->floor[i] > 0 ? rounds->ours[i] / rounds->floor[i] : 0;
    row->ours = report_median(sorted.ours, rounds->n);
    row->floor = report_median(sorted.floor, rounds->n);
    row->ratio = report_median(ratios, rounds->n);
    row->min = ratios[0];
    row->max = rounds->n > 0 ? ratios[rounds->n - 1] : 0;
    return row;
}

static const char *verdict(const struct report_row *row)
{
    if (row->target <= 0 || row->floor <= 0)
        return "";
    bool good = row->lower_is_better ? row->ratio <= row->target : row->ratio >= row->target;
    return good ? "ok" : "MISSED";
}

void report_print(const struct report *report)
{
    printf("%-34s %12s %12s %-7s %7s %15s %8s\n", report->suite, "ours", "floor", "unit", "ratio", "min..max",
           "target");
    for (size_t i = 0; i < report->n_rows; i++) {
        const struct report_row *row = &report->rows[i];
        if (row->floor <= 0) {
            printf("%-34s %12.4g %12s %-7s\n", row->name, row->ours, "-", row->unit);
            continue;
        }
        printf("%-34s %12.4g %12.4g %-7s %7.2f %6.2f..%-7.2f", row->name, row->ours, row->floor, row->unit, row->ratio,
               row->min, row->max);
        if (row->target > 0)
            printf(" %s%.2f %s", row->lower_is_better ? "<=" : ">=", row->target, verdict(row));
        printf("\n");
    }
}

/* ---- JSON ---- */

static void write_meta(FILE *file, const struct report *report)
{
    struct utsname machine;
    char when[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL)
        strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);
    bool known = uname(&machine) == 0;
    fprintf(file, "\"meta\": {\"suite\": \"%s\", \"time\": \"%s\", \"cpus\": %ld, \"kernel\": \"%s\", \"seconds\": %g}",
            report->suite, when, sysconf(_SC_NPROCESSORS_ONLN), known ? machine.release : "", report->seconds);
}

static FILE *open_file(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        fprintf(stderr, "tq-bench: %s: %s\n", path, strerror(errno));
    return file;
}

static bool close_file(FILE *file, const char *path)
{
    bool failed = ferror(file) != 0;
    failed |= fclose(file) != 0;
    if (failed)
        fprintf(stderr, "tq-bench: %s: cannot be written\n", path);
    return !failed;
}

bool report_write_json(const struct report *report, const char *path)
{
    FILE *file = open_file(path);
    if (file == NULL)
        return false;
    fprintf(file, "{");
    write_meta(file, report);
    fprintf(file, ",\n\"results\": [");
    for (size_t i = 0; i < report->n_rows; i++) {
        const struct report_row *row = &report->rows[i];
        fprintf(file, "%s\n  {\"case\": {\"suite\": \"%s\", \"label\": \"%s\", %s}, \"ours\": %.9g, \"floor\": ",
                i > 0 ? "," : "", report->suite, row->name, row->case_json, row->ours);
        if (row->floor > 0)
            fprintf(file, "%.9g, \"ratio\": %.6g, \"min\": %.6g, \"max\": %.6g", row->floor, row->ratio, row->min,
                    row->max);
        else
            fprintf(file, "null, \"ratio\": null, \"min\": null, \"max\": null");
        fprintf(file, ", \"unit\": \"%s\"}", row->unit);
    }
    fprintf(file, "\n]}\n");
    return close_file(file, path);
}

/* ---- the picture: a bar for each ratio, on a logarithmic scale around 1 ---- */

enum { LEFT = 260, WIDTH = 900, ROW = 26, TOP = 50 };

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* log2 by halving: the scale needs no more than a pixel. */
static double log2_of(double value)
{
    double whole = 0, part = 0, step = 1;
    for (; value >= 2; value /= 2)
        whole++;
    for (; value < 1; value *= 2)
        whole--;
    for (int i = 0; i < 12; i++) {
        step /= 2;
        value *= value;
        if (value >= 2) {
            value /= 2;
            part += step;
        }
    }
    return whole + part;
}

/* Ratios of 1/8 to 8. */
static double x_of(double ratio)
{
    return LEFT + (log2_of(clamp(ratio, 0.125, 8)) + 3) / 6 * (WIDTH - LEFT - 110);
}

static void write_bar(FILE *file, const struct report_row *row, int y)
{
    double x = x_of(row->ratio), one = x_of(1);
    bool missed = strcmp(verdict(row), "MISSED") == 0;
    fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", LEFT - 10, y + 15, row->name);
    fprintf(file, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"16\" fill=\"%s\"/>\n", x < one ? x : one, y + 3,
            x < one ? one - x : x - one, missed ? "#c0392b" : "#2c7fb8");
    fprintf(file, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#333\"/>\n", x_of(row->min),
            x_of(row->max), y + 11, y + 11);
    if (row->target > 0)
        fprintf(file, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#e67e22\" stroke-width=\"2\"/>\n",
                x_of(row->target), x_of(row->target), y, y + 22);
    fprintf(file, "<text x=\"%d\" y=\"%d\">%.2f (%.4g %s)</text>\n", WIDTH - 105, y + 15, row->ratio, row->ours,
            row->unit);
}

bool report_write_svg(const struct report *report, const char *path)
{
    FILE *file = open_file(path);
    int y = TOP;
    if (file == NULL)
        return false;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            WIDTH + 60, (size_t)TOP + 20 + ROW * report->n_rows);
    fprintf(file,
            "<text x=\"10\" y=\"20\" font-size=\"15\">tq-bench %s: product against floor (orange: target)</text>\n",
            report->suite);
    for (size_t i = 0; i < report->n_rows; i++)
        if (report->rows[i].floor > 0) {
            write_bar(file, &report->rows[i], y);
            y += ROW;
        }
    fprintf(file, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#999\"/>\n", x_of(1), x_of(1), TOP - 8,
            y);
    fprintf(file, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">1x</text>\n</svg>\n", x_of(1), TOP - 12);
    return close_file(file, path);
}

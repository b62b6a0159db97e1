/* tools/tq-bench/report.h: results as a table for people, JSON for machines, and a picture.
 * Owns: the rows. Threads: one. */
#ifndef TOOLS_TQ_BENCH_REPORT_H
#define TOOLS_TQ_BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>

enum { REPORT_ROWS = 256, REPORT_ROUNDS = 32 };

/* One case: the product against its floor, measured in alternating rounds. */
struct report_row {
    char name[64];       /* "blocking 64 B" */
    char case_json[256]; /* members of the case object: "\"name\": \"blocking\", \"bytes\": 64" */
    char unit[16];
    double ours, floor; /* medians; floor 0: there is none */
    double ratio, min, max;
    double target; /* of the ratio; 0: none */
    bool lower_is_better;
};

struct report {
    char suite[16];
    double seconds; /* of each measurement */
    struct report_row rows[REPORT_ROWS];
    size_t n_rows;
};

/* Rounds of one case: product and floor measured one after the other. */
struct report_rounds {
    double ours[REPORT_ROUNDS], floor[REPORT_ROUNDS];
    size_t n;
};

void report_round(struct report_rounds *rounds, double ours, double floor);
/* Adds the row: medians of the rounds, median, minimum and maximum of the ratios. Returns it, to set target and
 * direction. */
struct report_row *report_add(struct report *report, const char *name, const char *case_json, const char *unit,
                              const struct report_rounds *rounds);
/* A row without a floor. */
struct report_row *report_add_single(struct report *report, const char *name, const char *case_json, const char *unit,
                                     double ours);
void report_print(const struct report *report);
/* False when the file cannot be written; says why on stderr. */
bool report_write_json(const struct report *report, const char *path);
bool report_write_svg(const struct report *report, const char *path);
/* The median; sorts `values`. */
double report_median(double *values, size_t n);
/* The value below which `part` (0 to 1) of the values lie; `values` must be sorted. */
double report_quantile(const double *values, size_t n, double part);

#endif

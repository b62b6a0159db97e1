#include "examples/grpo_words/chart.h"

#include <math.h>
#include <stdint.h>

enum { WIDTH = 760, HEIGHT = 420, LEFT = 72, RIGHT = 24, TOP = 84, BOTTOM = 56 };

static const char raw_colour[] = "#9ec5e8";
static const char smooth_colour[] = "#0b5394";
static const char mark_colour[] = "#d9730d";

/* From values to places on the page. */
struct frame {
    double x_low, x_high, x_step; /* of the ticks too */
    double y_low, y_high, y_step;
};

/* The smallest of 1, 2, 5 times a power of ten that is at least `least`. */
static double nice_step(double least)
{
    static const double factors[] = { 1, 2, 5, 10 };
    const double power = pow(10, floor(log10(least)));
    for (size_t i = 0; i < sizeof(factors) / sizeof(*factors); i++)
        if (factors[i] * power >= least * (1 - 1e-9))
            return factors[i] * power;
    return 10 * power;
}

static struct frame frame_for(const struct chart *chart)
{
    double low = 0;
    double high = 0;
    for (size_t i = 0; i < chart->count; i++) {
        if (!isfinite(chart->values[i]))
            continue;
        low = fmin(low, chart->values[i]);
        high = fmax(high, chart->values[i]);
    }
    if (high <= low)
        high = low + 1;
    const double x_high = chart->count > 1 ? (double)chart->count : 2;
    struct frame frame = { .x_low = 1, .x_high = x_high };
    frame.x_step = fmax(1, nice_step((x_high - 1) / 8));
    frame.y_step = nice_step((high - low) / 5);
    frame.y_low = floor(low / frame.y_step) * frame.y_step;
    frame.y_high = ceil(high / frame.y_step * (1 - 1e-9)) * frame.y_step;
    return frame;
}

static double x_place(const struct frame *frame, double x)
{
    return LEFT + (x - frame->x_low) / (frame->x_high - frame->x_low) * (WIDTH - LEFT - RIGHT);
}

static double y_place(const struct frame *frame, double y)
{
    return HEIGHT - BOTTOM - (y - frame->y_low) / (frame->y_high - frame->y_low) * (HEIGHT - TOP - BOTTOM);
}

/* Text content; what XML reserves is escaped, control characters are left out. */
static void write_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        default:
            if ((unsigned char)*text >= ' ')
                fputc(*text, out);
        }
    }
}

/* `style` is further attributes of ours, not foreign text. */
static void write_label(FILE *out, double x, double y, const char *style, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
    write_text(out, text);
    fputs("</text>\n", out);
}

static void write_line(FILE *out, double x1, double y1, double x2, double y2, const char *style)
{
    fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style);
}

static void write_y_axis(const struct chart *chart, const struct frame *frame, FILE *out)
{
    const long ticks = lround((frame->y_high - frame->y_low) / frame->y_step);
    for (long i = 0; i <= ticks; i++) {
        const double value = frame->y_low + (double)i * frame->y_step;
        const double y = y_place(frame, value);
        char text[32];
        if (chart->percent)
            snprintf(text, sizeof(text), "%.4g %%", value * 100);
        else
            snprintf(text, sizeof(text), "%.4g", value);
        write_line(out, LEFT, y, WIDTH - RIGHT, y, i == 0 ? "stroke=\"#555\"" : "stroke=\"#e3e3e3\"");
        write_label(out, LEFT - 8, y + 4, "text-anchor=\"end\"", text);
    }
    const double middle = (TOP + HEIGHT - BOTTOM) / 2.0;
    char turned[64];
    snprintf(turned, sizeof(turned), "text-anchor=\"middle\" transform=\"rotate(-90 18 %.1f)\"", middle);
    write_label(out, 18, middle, turned, chart->y_label);
}

static void write_x_axis(const struct chart *chart, const struct frame *frame, FILE *out)
{
    const double bottom = HEIGHT - BOTTOM;
    write_line(out, LEFT, TOP, LEFT, bottom, "stroke=\"#555\"");
    const long ticks = (long)floor(frame->x_high / frame->x_step);
    for (long i = 0; i <= ticks; i++) {
        const double value = i == 0 ? frame->x_low : (double)i * frame->x_step;
        if (i > 0 && value - frame->x_low < frame->x_step / 2)
            continue; /* would print over the first one */
        char text[32];
        snprintf(text, sizeof(text), "%.0f", value);
        write_line(out, x_place(frame, value), bottom, x_place(frame, value), bottom + 5, "stroke=\"#555\"");
        write_label(out, x_place(frame, value), bottom + 19, "text-anchor=\"middle\"", text);
    }
    write_label(out, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 14, "text-anchor=\"middle\"", chart->x_label);
}

/* The mean of the finite values around `at`; the window shrinks at both ends. NAN where there is none. */
static double smooth_at(const struct chart *chart, size_t at)
{
    const size_t reach = chart->smooth_points / 2;
    const size_t first = at > reach ? at - reach : 0;
    const size_t last = reach < chart->count - 1 - at ? at + reach : chart->count - 1;
    double sum = 0;
    size_t used = 0;
    for (size_t i = first; i <= last; i++) {
        if (isfinite(chart->values[i])) {
            sum += chart->values[i];
            used++;
        }
    }
    return used == 0 ? NAN : sum / (double)used;
}

static void write_curve(const struct chart *chart, const struct frame *frame, bool smooth, FILE *out)
{
    bool drawing = false;
    fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" stroke-linejoin=\"round\" d=\"",
            smooth ? smooth_colour : raw_colour, smooth ? "2.5" : "1");
    for (size_t i = 0; i < chart->count; i++) {
        const double value = smooth ? smooth_at(chart, i) : chart->values[i];
        if (isfinite(value))
            fprintf(out, "%s%.1f %.1f", drawing ? " L" : " M", x_place(frame, (double)i + 1), y_place(frame, value));
        drawing = isfinite(value);
    }
    fputs("\"/>\n", out);
}

static void write_marks(const struct chart *chart, const struct frame *frame, FILE *out)
{
    char style[96];
    snprintf(style, sizeof(style), "stroke=\"%s\" stroke-width=\"2.5\" stroke-dasharray=\"6 3\"", mark_colour);
    for (size_t i = 0; i < chart->mark_count; i++) {
        const struct chart_mark *mark = &chart->marks[i];
        const double y = y_place(frame, mark->value);
        write_line(out, x_place(frame, (double)mark->first + 1), y, x_place(frame, (double)mark->last + 1), y, style);
    }
}

static double write_legend_entry(FILE *out, double x, const char *colour, const char *width_and_dash, const char *text)
{
    char style[96];
    snprintf(style, sizeof(style), "stroke=\"%s\" %s", colour, width_and_dash);
    write_line(out, x, TOP - 18, x + 26, TOP - 18, style);
    write_label(out, x + 32, TOP - 14, "", text);
    return x + 32 + 175;
}

static void write_legend(const struct chart *chart, FILE *out)
{
    char text[48];
    double x = LEFT;
    x = write_legend_entry(out, x, raw_colour, "stroke-width=\"1.5\"", "each step");
    if (chart->smooth_points > 1) {
        snprintf(text, sizeof(text), "mean of %zu steps", chart->smooth_points);
        x = write_legend_entry(out, x, smooth_colour, "stroke-width=\"2.5\"", text);
    }
    if (chart->mark_count > 0)
        write_legend_entry(out, x, mark_colour, "stroke-width=\"2.5\" stroke-dasharray=\"6 3\"", chart->marks_label);
}

bool chart_write(const struct chart *chart, FILE *out)
{
    const struct frame frame = frame_for(chart);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
            "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\" fill=\"#333\">\n<title>",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    write_text(out, chart->title);
    fputs("</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", out);
    write_label(out, LEFT, 26, "font-size=\"17\" font-weight=\"bold\" fill=\"#111\"", chart->title);
    if (chart->note != NULL)
        write_label(out, LEFT, 46, "fill=\"#555\"", chart->note);
    write_legend(chart, out);
    write_y_axis(chart, &frame, out);
    write_x_axis(chart, &frame, out);
    write_curve(chart, &frame, false, out);
    if (chart->smooth_points > 1)
        write_curve(chart, &frame, true, out);
    write_marks(chart, &frame, out);
    fputs("</svg>\n", out);
    return fflush(out) == 0 && ferror(out) == 0;
}

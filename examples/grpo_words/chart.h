/* chart.h: one series of numbers as a picture: SVG text with a title, axes, ticks, the raw line and a smoothed one.
 * Owns: nothing. Threads: any. Numbers are printed with the C locale's decimal point as long as the program has not
 * set another one. */
#ifndef GRPO_WORDS_CHART_H
#define GRPO_WORDS_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A dashed horizontal line at `value` over the points `first` to `last` (indices, both included). */
struct chart_mark {
    size_t first;
    size_t last;
    double value;
};

struct chart {
    const char *title;
    const char *note; /* one line under the title; NULL: none */
    const char *x_label;
    const char *y_label;
    const double *values; /* value i belongs to x = i + 1; one that is not finite leaves a gap */
    size_t count;
    size_t smooth_points; /* width of the centred moving average; 0 or 1: no smoothed line */
    bool percent;         /* values are shares: 0.25 is shown as 25 % */
    const struct chart_mark *marks;
    size_t mark_count;
    const char *marks_label; /* for the legend, when there are marks */
};

/* Writes the whole SVG document. False when the stream reports an error. */
bool chart_write(const struct chart *chart, FILE *out);

#endif

/* curve.h: the reward curve: one mean reward a training step, and what it says about learning.
 * Owns: its values. Threads: one. */
#ifndef GRPO_WORDS_CURVE_H
#define GRPO_WORDS_CURVE_H

#include <stdbool.h>
#include <stddef.h>

struct curve {
    double *values; /* borrow them freely until the next curve_add */
    size_t count;
    size_t room;
};

void curve_init(struct curve *curve);
void curve_fini(struct curve *curve);
/* False when there is no memory; the curve is as before. */
bool curve_add(struct curve *curve, double value);
/* How many steps a tenth of the run is: at least one where there is a value. */
size_t curve_tenth(const struct curve *curve);
/* Mean of the first and of the last tenth; 0 for an empty curve. */
double curve_first_tenth(const struct curve *curve);
double curve_last_tenth(const struct curve *curve);
/* Whether the last tenth is at least `factor` times the first, and not both are zero. */
bool curve_has_grown(const struct curve *curve, double factor);

#endif

/* dice.h: seeded random numbers, the same on every machine, so that a run can be repeated.
 * Owns: nothing; struct dice is plain data in the caller's memory. Threads: one thread a struct. */
#ifndef GRPO_WORDS_DICE_H
#define GRPO_WORDS_DICE_H

#include <stdint.h>

struct dice {
    uint64_t state;
};

/* Any seed will do, zero too. Equal seeds give equal sequences. */
void dice_init(struct dice *dice, uint64_t seed);
/* 64 random bits. */
uint64_t dice_next(struct dice *dice);
/* Uniform in [0, sides). `sides` must not be zero. */
uint32_t dice_below(struct dice *dice, uint32_t sides);
/* Uniform in [0, 1), a multiple of 2^-24. */
float dice_unit(struct dice *dice);

#endif

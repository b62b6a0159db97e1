/* refusal.h: why the generator refuses its input, in one line for people: "FILE:LINE: reason".
 * Owns: its text. Threads: one. */
#ifndef REFUSAL_H
#define REFUSAL_H

#include <stdbool.h>

#include "tq/status.h"

struct refusal {
    char text[2048]; /* "" while nothing is refused; a longer reason is cut */
};

/* The first reason stays. Always false, so that `return refuse(...)` reads as one step. */
bool refuse(struct refusal *refusal, const char *format, ...) TQ_PRINTF(2, 3);

#endif

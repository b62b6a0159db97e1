#include "examples/grpo_words/curve.h"

#include <stdlib.h>

void curve_init(struct curve *curve)
{
    *curve = (struct curve){ 0 };
}

void curve_fini(struct curve *curve)
{
    free(curve->values);
    curve_init(curve);
}

bool curve_add(struct curve *curve, double value)
{
    if (curve->count == curve->room) {
        const size_t room = curve->room == 0 ? 256 : curve->room * 2;
        double *grown = realloc(curve->values, room * sizeof(*grown));
        if (grown == NULL)
            return false;
        curve->values = grown;
        curve->room = room;
    }
    curve->values[curve->count++] = value;
    return true;
}

size_t curve_tenth(const struct curve *curve)
{
    return (curve->count + 9) / 10;
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count == 0 ? 0 : sum / (double)count;
}

double curve_first_tenth(const struct curve *curve)
{
    return mean_of(curve->values, curve_tenth(curve));
}

double curve_last_tenth(const struct curve *curve)
{
    const size_t tenth = curve_tenth(curve);
    return tenth == 0 ? 0 : mean_of(curve->values + (curve->count - tenth), tenth);
}

bool curve_has_grown(const struct curve *curve, double factor)
{
    const double last = curve_last_tenth(curve);
    return last > 0 && last >= factor * curve_first_tenth(curve);
}

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
#include "examples/grpo_words/dice.h"

#include <assert.h>

void dice_init(struct dice *dice, uint64_t seed)
{
    dice->state = seed;
}

uint64_t dice_next(struct dice *dice)
{
    dice->state += 0x9e3779b97f4a7c15u;
    uint64_t mixed = dice->state;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
}

uint32_t dice_below(struct dice *dice, uint32_t sides)
{
    assert(sides > 0);
    /* The bias of a multiply instead of a division is below sides / 2^32: nothing here can notice it. */
    return (uint32_t)(((dice_next(dice) >> 32) * sides) >> 32);
}

float dice_unit(struct dice *dice)
{
    return (float)(dice_next(dice) >> 40) * 0x1p-24f;
}

#include <stddef.h>
#include <stdint.h>

#include "examples/grpo_words/dice.h"

#include "tests/support/cmocka_all.h"

/* The first numbers of the published reference implementation for seed 1234567. */
static void the_sequence_is_the_published_one(void **state)
{
    (void)state;
    static const uint64_t expected[] = { 6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                         4593380528125082431u, 16408922859458223821u };
    struct dice dice;
    dice_init(&dice, 1234567);
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
        assert_true(dice_next(&dice) == expected[i]);
}

static void a_die_shows_every_side_about_equally_often(void **state)
{
    (void)state;
    enum { SIDES = 6, THROWS = 60000 };
    uint32_t shown[SIDES] = { 0 };
    struct dice dice;
    dice_init(&dice, 1);
    for (size_t i = 0; i < THROWS; i++) {
        const uint32_t side = dice_below(&dice, SIDES);
        assert_true(side < SIDES);
        shown[side]++;
    }
    for (size_t side = 0; side < SIDES; side++)
        assert_in_range(shown[side], 9600, 10400); /* four standard deviations */
}

static void units_fill_the_interval_and_never_reach_one(void **state)
{
    (void)state;
    float lowest = 1;
    float highest = 0;
    struct dice dice;
    dice_init(&dice, 2);
    for (size_t i = 0; i < 10000; i++) {
        const float unit = dice_unit(&dice);
        assert_true(unit >= 0 && unit < 1);
        lowest = unit < lowest ? unit : lowest;
        highest = unit > highest ? unit : highest;
    }
    assert_true(lowest < 0.001f && highest > 0.999f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sequence_is_the_published_one),
        cmocka_unit_test(a_die_shows_every_side_about_equally_often),
        cmocka_unit_test(units_fill_the_interval_and_never_reach_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

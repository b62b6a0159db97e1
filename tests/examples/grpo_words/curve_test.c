#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "examples/grpo_words/curve.h"

#include "tests/support/cmocka_all.h"

static void tenths_are_the_two_ends_of_the_run(void **state)
{
    (void)state;
    struct curve curve;
    curve_init(&curve);
    for (size_t i = 0; i < 1000; i++)
        assert_true(curve_add(&curve, i < 100 ? 0.1 : i >= 900 ? 0.7 : 55));
    assert_int_equal(curve.count, 1000);
    assert_int_equal(curve_tenth(&curve), 100);
    assert_true(fabs(curve_first_tenth(&curve) - 0.1) < 1e-12);
    assert_true(fabs(curve_last_tenth(&curve) - 0.7) < 1e-12);
    assert_true(curve_has_grown(&curve, 6.99));
    assert_false(curve_has_grown(&curve, 7.01));
    curve_fini(&curve);
    assert_int_equal(curve.count, 0);
}

static void a_curve_at_zero_has_not_grown(void **state)
{
    (void)state;
    struct curve curve;
    curve_init(&curve);
    assert_true(curve_first_tenth(&curve) == 0 && curve_last_tenth(&curve) == 0);
    assert_false(curve_has_grown(&curve, 2));
    assert_true(curve_add(&curve, 0));
    assert_int_equal(curve_tenth(&curve), 1);
    assert_false(curve_has_grown(&curve, 2));
    assert_true(curve_add(&curve, 0.5));
    assert_true(curve_has_grown(&curve, 2));
    curve_fini(&curve);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tenths_are_the_two_ends_of_the_run),
        cmocka_unit_test(a_curve_at_zero_has_not_grown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/grpo_words/latency.h"

#include "tests/support/cmocka_all.h"

static void a_percentile_is_at_most_an_eighth_too_high(void **state)
{
    (void)state;
    for (int64_t value = 1; value < INT64_C(4000000000000000000); value += value / 3 + 1) {
        struct latency latency = { 0 };
        latency_add(&latency, value);
        const int64_t said = latency_percentile_ns(&latency, 0.5);
        assert_true(said >= value && said - value <= value / 8);
    }
}

static void percentiles_split_the_durations(void **state)
{
    (void)state;
    struct latency latency = { 0 };
    assert_int_equal(latency_percentile_ns(&latency, 0.5), 0);
    for (int64_t i = 1; i <= 1000; i++)
        latency_add(&latency, i * 1000);
    assert_int_equal(latency_count(&latency), 1000);
    assert_in_range(latency_percentile_ns(&latency, 0.5), 500000, 563000);
    assert_in_range(latency_percentile_ns(&latency, 0.99), 990000, 1114000);
    assert_in_range(latency_percentile_ns(&latency, 0), 1000, 1125);
    latency_add(&latency, -5); /* a clock that went back is no reason to fail */
    assert_int_equal(latency_percentile_ns(&latency, 0), 0);
}

static char *printed(const struct latency *latency)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    latency_print(latency, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void what_is_printed_adds_up_when_it_is_read(void **state)
{
    (void)state;
    struct latency first = { 0 };
    struct latency second = { 0 };
    struct latency sum = { 0 };
    struct latency merged = { 0 };
    for (int64_t i = 0; i < 100; i++) {
        latency_add(&first, i * 77777);
        latency_add(&second, i * i * 100000);
    }
    char *texts[] = { printed(&first), printed(&second) };
    for (size_t i = 0; i < 2; i++) {
        assert_true(latency_parse(&sum, texts[i]));
        free(texts[i]);
    }
    latency_merge(&merged, &first);
    latency_merge(&merged, &second);
    assert_memory_equal(&sum, &merged, sizeof(sum));
    assert_int_equal(latency_count(&sum), 200);
}

static void text_of_another_kind_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = { "x", "1", "1:", "1:2,3:4", "496:1", "1:2 3", "99999999999999999999:1" };
    struct latency latency = { 0 };
    assert_true(latency_parse(&latency, ""));
    assert_true(latency_parse(&latency, "495:1"));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        if (latency_parse(&latency, wrong[i]))
            fail_msg("'%s'", wrong[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_percentile_is_at_most_an_eighth_too_high),
        cmocka_unit_test(percentiles_split_the_durations),
        cmocka_unit_test(what_is_printed_adds_up_when_it_is_read),
        cmocka_unit_test(text_of_another_kind_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

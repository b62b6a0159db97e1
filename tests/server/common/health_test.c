/* Hearts that stand still are noticed, and metrics are found by prefix. */
#include "server/common/health.h"

#include "server/common/hex.h"
#include "server/common/metrics.h"
#include "tests/support/cmocka_all.h"

static uint64_t beats_of_one, beats_of_two;

static uint64_t beats(void *user)
{
    return *(uint64_t *)user;
}

static const int64_t still_ns = (int64_t)TQ_HEALTH_STILL_MS * 1000000;

static void a_heart_that_stands_still_is_named(void **state)
{
    struct tq_health health;
    (void)state;
    tq_health_init(&health, "test", 1);
    tq_health_supervise(&health, "one", beats, &beats_of_one);
    tq_health_supervise(&health, "two", beats, &beats_of_two);
    int64_t now_ns = health.start_ns;
    beats_of_one = beats_of_two = 1;
    assert_null(tq_health_find_sick(&health, now_ns));
    assert_null(tq_health_find_sick(&health, now_ns + still_ns)); /* not longer than */
    beats_of_one++;
    assert_string_equal(tq_health_find_sick(&health, now_ns + still_ns + 1), "two");
    beats_of_two++;
    assert_null(tq_health_find_sick(&health, now_ns + still_ns + 2));
    assert_null(tq_health_find_sick(&health, now_ns + 2 * still_ns + 1));
    assert_non_null(tq_health_find_sick(&health, now_ns + 2 * still_ns + 3));
}

static void report(void *user, struct tq_metric_sink *sink)
{
    tq_metric_put(sink, "a_one", 1);
    tq_metric_put(sink, "a_two", 2);
    tq_metric_put(sink, "b", *(double *)user);
}

static void metrics_are_found_by_prefix(void **state)
{
    struct tq_metrics metrics = { 0 };
    struct tq_metric_sink sink;
    double b = 3;
    (void)state;
    tq_metrics_add(&metrics, report, &b);
    tq_metrics_add(&metrics, tq_metrics_of_process, NULL);
    tq_metrics_collect(&metrics, "", &sink);
    assert_int_equal(sink.count, 4);
    assert_true(sink.values[3] > 0);
    tq_metrics_collect(&metrics, "a_", &sink);
    assert_int_equal(sink.count, 2);
    assert_string_equal(sink.names[1], "a_two");
    tq_metrics_collect(&metrics, "b", &sink);
    assert_true(sink.count == 1 && sink.values[0] == 3);
}

static void hex_is_exact(void **state)
{
    uint8_t out[2] = { 7, 7 };
    (void)state;
    assert_true(tq_hex_parse("0aF9", out, 2));
    assert_int_equal(out[0], 0x0a);
    assert_int_equal(out[1], 0xf9);
    assert_false(tq_hex_parse("0aF", out, 2));
    assert_false(tq_hex_parse("0aFg", out, 2));
    assert_false(tq_hex_parse("0aF900", out, 2));
    assert_int_equal(out[1], 0xf9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heart_that_stands_still_is_named),
        cmocka_unit_test(metrics_are_found_by_prefix),
        cmocka_unit_test(hex_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

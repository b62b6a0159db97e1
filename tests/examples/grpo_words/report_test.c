#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/grpo_words/report.h"

#include "tests/support/cmocka_all.h"

static struct report *report_new(void)
{
    struct report *report = malloc(sizeof(*report));
    assert_non_null(report);
    report_init(report);
    return report;
}

static void report_delete(struct report *report)
{
    report_fini(report);
    free(report);
}

static void lines_of_several_workers_add_up(void **state)
{
    (void)state;
    struct report *report = report_new();
    assert_true(report_take(report, "bytes 1 100 2000"));
    assert_true(report_take(report, "bytes 1 1 5"));
    assert_true(report_take(report, "bytes 2 7 0"));
    assert_true(report_take(report, "counts 10 20 30 1"));
    assert_true(report_take(report, "counts 1 2 3 0"));
    assert_true(report_take(report, "flow 0 4000 8000"));
    assert_true(report_take(report, "latency 3 "));
    assert_true(report_take(report, "latency 3 10:4 200:1"));
    assert_true(report_take(report, "latency 3 10:1"));
    assert_int_equal(report->put_bytes[TQ_ENGINE_REMOTE_READ], 101);
    assert_int_equal(report->get_bytes[TQ_ENGINE_REMOTE_READ], 2005);
    assert_int_equal(report->put_bytes[TQ_ENGINE_RENDEZVOUS], 7);
    assert_int_equal(report->calls, 11);
    assert_int_equal(report->samples_put, 22);
    assert_int_equal(report->samples_got, 33);
    assert_int_equal(report->retries, 1);
    assert_int_equal(report->flow_ns[WORKER_PUBLISHED], 8000);
    assert_int_equal(latency_count(&report->latencies[WORKER_get]), 6);
    report_delete(report);
}

static void steps_become_the_curve_in_their_order(void **state)
{
    (void)state;
    struct report *report = report_new();
    assert_true(report_take(report, "step 0 0.050000 0.1 0.0 1.000 thax gr plo st"));
    assert_true(report_take(report, "step 1 0.250000 0.5 0.01 1.500 the gray play stay"));
    assert_int_equal(report->rewards.count, 2);
    assert_true(report->rewards.values[1] == 0.25);
    assert_true(report->kl == 0.5 && report->lag == 1.5);
    assert_string_equal(report->words, "the gray play stay");
    assert_false(report_take(report, "step 1 0.3 0.5 0.01 1.5 x")); /* told twice */
    assert_false(report_take(report, "step 3 0.3 0.5 0.01 1.5 x")); /* one is missing */
    assert_int_equal(report->rewards.count, 2);
    report_delete(report);
}

static void other_lines_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = { "",           "hello",        "step",       "step x",  "bytes 4 1 1",
                                         "bytes 1 1",  "counts 1 2 3", "flow 2 1 1", "latency", "latency 99 1:1",
                                         "latency 1 x" };
    struct report *report = report_new();
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        if (report_take(report, wrong[i]))
            fail_msg("'%s'", wrong[i]);
    report_delete(report);
}

static void curve_and_picture_are_written(void **state)
{
    (void)state;
    struct report *report = report_new();
    char path[] = "/tmp/grpo_words_report_XXXXXX";
    const int fd = mkstemp(path);
    char text[8192] = "";
    assert_true(fd >= 0);
    assert_false(report_write_picture(report, path)); /* nothing to draw yet */
    for (size_t i = 0; i < 20; i++)
        assert_true(curve_add(&report->rewards, i < 10 ? 0.04 : 0.6));
    assert_true(report_write_curve(report, path));
    assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
    assert_int_equal(strncmp(text, "1 0.040000\n2 0.040000\n", 22), 0);
    assert_true(report_write_picture(report, path));
    assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
    assert_non_null(strstr(text, "first tenth 4.0 %, last tenth 60.0 %"));
    assert_false(report_write_curve(report, "/nonexistent/curve"));
    close(fd);
    assert_int_equal(unlink(path), 0);
    report_delete(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_several_workers_add_up),
        cmocka_unit_test(steps_become_the_curve_in_their_order),
        cmocka_unit_test(other_lines_are_refused),
        cmocka_unit_test(curve_and_picture_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What the benchmark reports: medians of ratios of rounds that belong together, and JSON of the pinned shape. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"
#include "tools/tq-bench/report.h"

static struct report report;

static void takes_medians_round_by_round(void **state)
{
    (void)state;
    struct report_rounds rounds = { .n = 0 };
    report_round(&rounds, 10, 10); /* a slow moment hits both: the ratio of the medians would lie */
    report_round(&rounds, 30, 10);
    report_round(&rounds, 40, 20);
    struct report_row *row = report_add(&report, "case", "\"name\": \"case\"", "us", &rounds);
    assert_true(row->ours == 30 && row->floor == 10);
    assert_true(row->ratio == 2 && row->min == 1 && row->max == 3);
    double values[] = { 3, 1, 2, 5, 4 };
    assert_true(report_median(values, 5) == 3);
    assert_true(report_quantile(values, 5, 0.99) == 5 && report_quantile(values, 5, 0) == 1);
    assert_true(report_quantile(values, 0, 0.5) == 0);
}

static char *read_file(const char *path)
{
    static char text[65536];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t len = fread(text, 1, sizeof(text) - 1, file);
    text[len] = 0;
    fclose(file);
    return text;
}

static void writes_json_and_a_picture(void **state)
{
    (void)state;
    char path[] = "/tmp/tq-report-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    report_add_single(&report, "alone", "\"name\": \"alone\"", "KiB", 46.5);
    assert_true(report_write_json(&report, path));
    const char *text = read_file(path);
    assert_memory_equal(text, "{\"meta\": {", 10);
    assert_non_null(strstr(text,
                           "\"name\": \"case\"}, \"ours\": 30, \"floor\": 10, \"ratio\": 2, \"min\": 1, \"max\": 3, "
                           "\"unit\": \"us\"}"));
    assert_non_null(strstr(text, "\"name\": \"alone\"}, \"ours\": 46.5, \"floor\": null, \"ratio\": null"));
    assert_true(report_write_svg(&report, path));
    assert_non_null(strstr(read_file(path), "</svg>"));
    unlink(path);
    assert_false(report_write_json(&report, "/nonexistent/folder/file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_medians_round_by_round),
        cmocka_unit_test(writes_json_and_a_picture),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}

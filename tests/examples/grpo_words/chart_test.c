#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/grpo_words/chart.h"

#include "tests/support/cmocka_all.h"

/* The document; free it. */
static char *draw(const struct chart *chart)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    assert_true(chart_write(chart, out));
    assert_int_equal(fclose(out), 0);
    assert_int_equal(strlen(text), length);
    return text;
}

static struct chart plain_chart(const double *values, size_t count)
{
    return (struct chart){ .title = "t", .x_label = "x", .y_label = "y", .values = values, .count = count };
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        count++;
    return count;
}

/* Each element is closed by itself or by its own end, in order; attributes are quoted. Enough of XML for what we write.
 */
static void check_well_formed(const char *text)
{
    enum { NAME = 16, DEPTH = 4 };
    char open[DEPTH][NAME];
    size_t depth = 0;
    for (const char *at = strchr(text, '<'); at != NULL; at = strchr(at, '<')) {
        const char *end = strchr(at, '>');
        const bool closes = at[1] == '/';
        const char *name = at + (closes ? 2 : 1);
        const size_t length = strcspn(name, " >/");
        assert_true(end != NULL && length > 0 && length < NAME);
        if (closes) {
            assert_true(depth > 0 && strlen(open[depth - 1]) == length);
            assert_memory_equal(open[--depth], name, length);
        } else if (end[-1] != '/') {
            assert_true(depth < DEPTH);
            memcpy(open[depth], name, length);
            open[depth++][length] = '\0';
        }
        size_t quotes = 0;
        for (; at < end; at++)
            quotes += *at == '"';
        assert_int_equal(quotes % 2, 0);
    }
    assert_int_equal(depth, 0);
}

static void points_stand_where_their_values_say(void **state)
{
    (void)state;
    static const double values[] = { 0, 0.5, 1 };
    struct chart chart = plain_chart(values, 3);
    char *text = draw(&chart);
    check_well_formed(text);
    /* The plane is 664 by 280, its lower left corner at (72, 364). */
    assert_non_null(strstr(text, "d=\" M72.0 364.0 L404.0 224.0 L736.0 84.0\""));
    free(text);
}

static void percents_and_ticks_are_written_out(void **state)
{
    (void)state;
    static const double values[] = { 0.04, 0.61, 0.55, 0.78 };
    struct chart chart = plain_chart(values, 4);
    chart.percent = true;
    char *text = draw(&chart);
    for (unsigned percent = 0; percent <= 80; percent += 20) {
        char label[16];
        snprintf(label, sizeof(label), ">%u %%<", percent);
        assert_int_equal(count_of(text, label), 1);
    }
    assert_null(strstr(text, ">100 %<"));
    assert_int_equal(count_of(text, ">4</text>"), 1); /* the last step */
    free(text);
}

static void foreign_text_cannot_break_the_document(void **state)
{
    (void)state;
    static const double values[] = { 1, 2 };
    struct chart chart = plain_chart(values, 2);
    chart.title = "a < b & \"c\"</svg>\x01";
    char *text = draw(&chart);
    check_well_formed(text);
    assert_int_equal(count_of(text, "</svg>"), 1);
    assert_int_equal(count_of(text, "a &lt; b &amp; \"c\"&lt;/svg&gt;<"), 2);
    free(text);
}

static void smoothing_is_a_centred_mean(void **state)
{
    (void)state;
    static const double values[] = { 0, 3, 0, 3, 0 };
    struct chart chart = plain_chart(values, 5);
    chart.smooth_points = 3;
    char *text = draw(&chart);
    assert_int_equal(count_of(text, "<path"), 2);
    /* 1.5, 1, 2, 1, 1.5 on a scale from 0 to 3 */
    assert_non_null(strstr(text, "d=\" M72.0 224.0 L238.0 270.7 L404.0 177.3 L570.0 270.7 L736.0 224.0\""));
    assert_int_equal(count_of(text, "mean of 3 steps"), 1);
    free(text);
}

static void marks_are_drawn_and_named(void **state)
{
    (void)state;
    static const double values[] = { 0, 1, 2 };
    static const struct chart_mark marks[] = { { .first = 0, .last = 1, .value = 1 } };
    struct chart chart = plain_chart(values, 3);
    chart.marks = marks;
    chart.mark_count = 1;
    chart.marks_label = "the marks";
    char *text = draw(&chart);
    assert_non_null(strstr(text, "x1=\"72.0\" y1=\"224.0\" x2=\"404.0\" y2=\"224.0\" stroke=\"#d9730d\""));
    assert_non_null(strstr(text, "the marks"));
    free(text);
}

static void odd_series_give_a_picture_all_the_same(void **state)
{
    (void)state;
    static const double gaps[] = { 1, NAN, 2, INFINITY, 3 };
    static const double equal[] = { 7, 7 };
    static const double below[] = { -3, 5 };
    const struct chart charts[] = {
        plain_chart(NULL, 0), plain_chart(equal, 1), plain_chart(gaps, 5), plain_chart(equal, 2), plain_chart(below, 2),
    };
    for (size_t i = 0; i < sizeof(charts) / sizeof(*charts); i++) {
        struct chart chart = charts[i];
        chart.smooth_points = 3;
        char *text = draw(&chart);
        check_well_formed(text);
        assert_null(strstr(text, "nan"));
        assert_null(strstr(text, "inf"));
        free(text);
    }
    struct chart chart = plain_chart(gaps, 5);
    char *text = draw(&chart);
    assert_int_equal(count_of(text, " M"), 3); /* each gap starts the line anew */
    free(text);
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    static const double values[] = { 1, 2 };
    struct chart chart = plain_chart(values, 2);
    FILE *out = fopen("/dev/full", "w");
    assert_non_null(out);
    assert_false(chart_write(&chart, out));
    fclose(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_stand_where_their_values_say),
        cmocka_unit_test(percents_and_ticks_are_written_out),
        cmocka_unit_test(foreign_text_cannot_break_the_document),
        cmocka_unit_test(smoothing_is_a_centred_mean),
        cmocka_unit_test(marks_are_drawn_and_named),
        cmocka_unit_test(odd_series_give_a_picture_all_the_same),
        cmocka_unit_test(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "examples/grpo_words/settings.h"

#include "tests/support/cmocka_all.h"

static bool parse(struct settings *settings, char *why, size_t why_bytes, int argc, ...)
{
    char *argv[8] = { 0 };
    va_list arguments;
    va_start(arguments, argc);
    for (int i = 0; i < argc; i++)
        argv[i] = va_arg(arguments, char *);
    va_end(arguments);
    return settings_parse(settings, argc, argv, why, why_bytes);
}

static void nothing_said_means_the_defaults(void **state)
{
    (void)state;
    struct settings settings;
    char why[200];
    assert_true(parse(&settings, why, sizeof(why), 0));
    assert_string_equal(settings.words, "/usr/share/dict/words");
    assert_int_equal(settings.group_size, 8);
    assert_true(settings.learning_rate == 0.05);
    assert_int_equal(settings_chunk_samples(&settings), settings.chunk * 8);
    assert_int_equal(settings_step_chunks(&settings) * settings.chunk, settings.groups);
}

static void both_ways_to_write_a_flag_are_read(void **state)
{
    (void)state;
    struct settings settings;
    char why[200];
    assert_true(parse(&settings, why, sizeof(why), 5, "--learning-rate=0", "--seed", "7", "--words", "list"));
    assert_true(settings.learning_rate == 0);
    assert_int_equal(settings.seed, 7);
    assert_string_equal(settings.words, "list");
}

static void check_refused(const char *expected, int argc, char *first, char *second)
{
    struct settings settings;
    char why[200] = "";
    assert_false(parse(&settings, why, sizeof(why), argc, first, second));
    if (strstr(why, expected) == NULL)
        fail_msg("'%s' does not say '%s'", why, expected);
}

static void each_wrong_argument_is_named_with_what_was_expected(void **state)
{
    (void)state;
    check_refused("unknown argument '--colour=red'", 1, "--colour=red", NULL);
    check_refused("unknown argument 'steps'", 1, "steps", NULL);
    check_refused("unknown argument '--learning_rate=1'", 1, "--learning_rate=1", NULL);
    check_refused("--steps: expected a value", 1, "--steps", NULL);
    check_refused("--steps: 'many': expected a whole number from 10 to 100000", 2, "--steps", "many");
    check_refused("--steps: '9'", 2, "--steps", "9");
    check_refused("--steps: '12.5'", 2, "--steps", "12.5");
    check_refused("--steps: '100001'", 2, "--steps", "100001");
    check_refused("--steps: ''", 1, "--steps=", NULL);
    check_refused("--seed: '-1'", 1, "--seed=-1", NULL);
    check_refused("--clip: 'nan': expected a number from", 1, "--clip=nan", NULL);
    check_refused("--clip: '0.2x'", 1, "--clip=0.2x", NULL);
    check_refused("--kl-weight: 'inf'", 1, "--kl-weight=inf", NULL);
    check_refused("--groups: 60: expected a multiple of --chunk, 16", 1, "--groups=60", NULL);
}

static void what_is_printed_reads_back_the_same(void **state)
{
    (void)state;
    struct settings settings;
    struct settings again;
    struct settings_arguments arguments;
    char *argv[SETTINGS_ARGUMENTS_MAX];
    char why[200];
    assert_true(parse(&settings, why, sizeof(why), 4, "--learning-rate=0.30000000000000004", "--seed=4294967295",
                      "--output=a b=c", "--controller=tcp://127.0.0.1:7600"));
    assert_true(settings_print(&settings, &arguments));
    for (size_t i = 0; i < arguments.count; i++)
        argv[i] = arguments.text[i];
    assert_true(settings_parse(&again, (int)arguments.count, argv, why, sizeof(why)));
    assert_string_equal(again.output, "a b=c");
    assert_string_equal(again.controller, settings.controller);
    again.output = settings.output;
    again.controller = settings.controller;
    again.words = settings.words;
    assert_memory_equal(&again, &settings, sizeof(settings));
}

static void a_text_too_long_to_hand_on_is_refused(void **state)
{
    (void)state;
    struct settings settings;
    struct settings_arguments arguments;
    char why[200];
    char text[400] = "--output=";
    memset(text + strlen(text), 'x', sizeof(text) - 1 - strlen(text));
    assert_true(parse(&settings, why, sizeof(why), 1, text));
    assert_false(settings_print(&settings, &arguments));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said_means_the_defaults),
        cmocka_unit_test(both_ways_to_write_a_flag_are_read),
        cmocka_unit_test(each_wrong_argument_is_named_with_what_was_expected),
        cmocka_unit_test(what_is_printed_reads_back_the_same),
        cmocka_unit_test(a_text_too_long_to_hand_on_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

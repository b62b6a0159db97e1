/* One table: defaults, environment, command line, range checks, help. */
#include "server/common/flags.h"

#include "tests/support/cmocka_all.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *listen;
    bool insecure;
    uint64_t calls;
    uint64_t memory;
    const char *bulk;
} got;

static const struct tq_flag rows[] = {
    { .kind = TQ_FLAG_TEXT,
      .name = "listen",
      .into = &got.listen,
      .initial = "here",
      .value = "ADDRESS",
      .help = "h1" },
    { .kind = TQ_FLAG_SWITCH, .name = "insecure", .into = &got.insecure, .initial = "false", .help = "h2" },
    { .kind = TQ_FLAG_NUMBER,
      .name = "max-calls",
      .into = &got.calls,
      .initial = "7",
      .min = 1,
      .max = 9,
      .value = "N" },
    { .kind = TQ_FLAG_BYTES,
      .name = "memory",
      .into = &got.memory,
      .initial = "1KiB",
      .max = UINT64_MAX,
      .value = "B" },
    { .kind = TQ_FLAG_CHOICE, .name = "bulk", .into = &got.bulk, .initial = "auto", .choices = "auto|off|required" },
};
static const struct tq_flags flags = { .program = "prog", .summary = "Does.", .flags = rows, .n_flags = 5 };

static const char *variable, *variable_value;

static char *environment(const char *name)
{
    return variable != NULL && strcmp(name, variable) == 0 ? (char *)variable_value : NULL;
}

/* Up to four arguments. */
static tq_status parse(const char *a, const char *b, const char *c, enum tq_flags_wish *wish, struct tq_error *err)
{
    char *argv[] = { (char *)"prog", (char *)a, (char *)b, (char *)c, NULL };
    int argc = 1;
    while (argv[argc] != NULL)
        argc++;
    return tq_flags_parse(&flags, argc, argv, environment, wish, NULL, err);
}

static int clear_environment(void **state)
{
    (void)state;
    variable = NULL;
    return 0;
}

static void defaults_environment_and_command_line_win_in_this_order(void **state)
{
    enum tq_flags_wish wish;
    (void)state;
    assert_int_equal(parse(NULL, NULL, NULL, &wish, NULL), TQ_OK);
    assert_string_equal(got.listen, "here");
    assert_int_equal(got.calls, 7);
    assert_int_equal(got.memory, 1024);
    assert_false(got.insecure);
    variable = "TQ_MAX_CALLS";
    variable_value = "3";
    assert_int_equal(parse("--insecure", NULL, NULL, &wish, NULL), TQ_OK);
    assert_int_equal(got.calls, 3);
    assert_true(got.insecure);
    assert_int_equal(parse("--max-calls", "4", "--bulk=off", &wish, NULL), TQ_OK);
    assert_int_equal(got.calls, 4);
    assert_string_equal(got.bulk, "off");
    assert_int_equal(wish, TQ_FLAGS_RUN);
    assert_int_equal(parse("--help", NULL, NULL, &wish, NULL), TQ_OK);
    assert_int_equal(wish, TQ_FLAGS_HELP);
}

static void refusals_name_flag_value_and_expectation(void **state)
{
    static const struct {
        const char *a, *b, *message;
    } cases[] = {
        { "--nope", NULL, "--nope: no such flag; --help lists them" },
        { "--max-calls", NULL, "--max-calls: a value must follow: N" },
        { "--max-calls", "0", "--max-calls: '0': expected 1 to 9" },
        { "--max-calls", "10", "--max-calls: '10': expected 1 to 9" },
        { "--max-calls", "-1", "--max-calls: '-1': expected a number without sign" },
        { "--max-calls=5x", NULL, "--max-calls: '5x': expected a number without sign" },
        { "--max-calls=", NULL, "--max-calls: '': expected a number without sign" },
        { "--memory", "12QB", "--memory: '12QB': expected a number of bytes such as 4096, 64KiB or 1GiB" },
        { "--memory", "99999999999TiB",
          "--memory: '99999999999TiB': expected a number of bytes such as 4096, 64KiB or 1GiB" },
        { "--bulk", "aut", "--bulk: 'aut': expected auto|off|required" },
        { "--bulk", "", "--bulk: '': expected auto|off|required" },
        { "--insecure=maybe", NULL, "--insecure: 'maybe': expected true or false" },
        { "file", NULL, "'file': expected flags only; --help lists them" },
    };
    enum tq_flags_wish wish;
    struct tq_error err;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(parse(cases[i].a, cases[i].b, NULL, &wish, &err), TQ_INVALID_ARGUMENT);
        assert_string_equal(err.message, cases[i].message);
    }
    variable = "TQ_MEMORY";
    variable_value = "much";
    assert_int_equal(parse(NULL, NULL, NULL, &wish, &err), TQ_INVALID_ARGUMENT);
    assert_memory_equal(err.message, "TQ_MEMORY: 'much'", 17);
}

static void bytes_have_binary_and_decimal_units(void **state)
{
    uint64_t bytes;
    (void)state;
    assert_true(tq_bytes_parse("64KiB", &bytes));
    assert_int_equal(bytes, 65536);
    assert_true(tq_bytes_parse("2MB", &bytes));
    assert_int_equal(bytes, 2000000);
    assert_true(tq_bytes_parse("18446744073709551615", &bytes));
    assert_true(bytes == UINT64_MAX);
    assert_false(tq_bytes_parse("18446744073709551616", &bytes));
    assert_false(tq_bytes_parse("1 GiB", &bytes));
    assert_false(tq_bytes_parse("", &bytes));
    assert_false(tq_bytes_parse("+1", &bytes));
}

static void operands_are_moved_to_the_front_when_they_are_allowed(void **state)
{
    char *argv[] = { (char *)"prog", (char *)"one", (char *)"--insecure", (char *)"--", (char *)"--two", NULL };
    enum tq_flags_wish wish;
    int operands = 0;
    (void)state;
    assert_int_equal(tq_flags_parse(&flags, 5, argv, environment, &wish, &operands, NULL), TQ_OK);
    assert_int_equal(operands, 2);
    assert_string_equal(argv[1], "one");
    assert_string_equal(argv[2], "--two");
}

static void help_tells_every_flag_with_its_default(void **state)
{
    char *text = NULL;
    size_t len = 0;
    (void)state;
    FILE *out = open_memstream(&text, &len);
    tq_flags_help(&flags, out);
    tq_flags_table(&flags, out);
    fclose(out);
    assert_non_null(strstr(text, "--listen ADDRESS"));
    assert_non_null(strstr(text, "(default 1KiB)"));
    assert_non_null(strstr(text, "| `--max-calls` | 7 | 1 to 9 |"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(defaults_environment_and_command_line_win_in_this_order, clear_environment),
        cmocka_unit_test_setup(refusals_name_flag_value_and_expectation, clear_environment),
        cmocka_unit_test_setup(bytes_have_binary_and_decimal_units, clear_environment),
        cmocka_unit_test_setup(operands_are_moved_to_the_front_when_they_are_allowed, clear_environment),
        cmocka_unit_test_setup(help_tells_every_flag_with_its_default, clear_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

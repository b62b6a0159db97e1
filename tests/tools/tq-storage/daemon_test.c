/* tq-storage from outside: what it prints, how it ends, what a wrong command line gets. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/server/storage/child.h"
#include "tests/support/cmocka_all.h"

enum { MANY = 12 };

static void it_says_ready_and_drains_on_either_signal(void **state)
{
    static const int signals[] = { SIGTERM, SIGINT };
    const char *const args[] = { "--log-level", "off", "--memory", "16MiB", NULL };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct child child;
        child_start_merged(&child, "tq-storage", args);
        child_wait_ready(&child);
        assert_memory_equal(child.address, "tcp://", 6);
        assert_int_equal(child_end(&child, signals[i]), 0);
    }
}

/* One line on stderr and the exit code. */
static void refuses(const char *const *args, int code, const char *says)
{
    struct child child;
    char line[600], more[600];
    child_start_merged(&child, "tq-storage", args);
    assert_true(child_read_line(&child, line, sizeof(line)));
    if (strncmp(line, says, strlen(says)) != 0)
        fail_msg("'%s'; expected '%s'", line, says);
    assert_false(child_read_line(&child, more, sizeof(more)));
    assert_int_equal(child_wait(&child), code);
}

static void a_wrong_command_line_gets_one_line_and_exit_code_2(void **state)
{
    static const struct {
        const char *args[6];
        const char *says;
    } cases[] = {
        { { "--memory", "1" }, "tq-storage: --memory: '1': expected 65536 to" },
        { { "--memory" }, "tq-storage: --memory: a value must follow" },
        { { "--bulk", "yes" }, "tq-storage: --bulk: 'yes': expected auto|off|required" },
        { { "--nope" }, "tq-storage: --nope: no such flag" },
        { { "operand" }, "tq-storage: 'operand': expected flags only" },
        { { "--cluster-id", "12", "--log-level", "off" },
          "tq-storage: --cluster-id: '12': expected 32 hexadecimal digits" },
        { { "--listen", "nowhere", "--log-level", "off" }, "tq-storage: listen 'nowhere'" },
        { { "--listen", "tcp://0.0.0.0:0", "--log-level", "off" },
          "tq-storage: listen 'tcp://0.0.0.0:0': only loopback" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        refuses(cases[i].args, 2, cases[i].says);
}

static void a_taken_port_is_said_at_start(void **state)
{
    const char *const args[] = { "--log-level", "off", "--bulk", "off", NULL };
    struct child first;
    char listen[64];
    (void)state;
    child_start(&first, "tq-storage", args);
    child_wait_ready(&first);
    snprintf(listen, sizeof(listen), "tcp://127.0.0.1%s", strrchr(first.address, ':'));
    const char *const same[] = { "--log-level", "off", "--bulk", "off", "--listen", listen, NULL };
    refuses(same, 1, "tq-storage: ");
    assert_int_equal(child_end(&first, SIGTERM), 0);
}

static void many_units_find_free_ports_at_once(void **state)
{
    const char *const args[] = { "--log-level", "off", "--bulk", "off", "--memory", "1MiB", NULL };
    struct child units[MANY];
    (void)state;
    for (size_t i = 0; i < MANY; i++)
        child_start(&units[i], "tq-storage", args);
    for (size_t i = 0; i < MANY; i++) {
        child_wait_ready(&units[i]);
        for (size_t other = 0; other < i; other++)
            assert_string_not_equal(units[i].address, units[other].address);
    }
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(child_end(&units[i], SIGTERM), 0);
}

static void help_goes_to_stdout(void **state)
{
    const char *const args[] = { "--help", NULL };
    struct child child;
    char line[300];
    bool has_memory = false;
    (void)state;
    child_start(&child, "tq-storage", args);
    while (child_read_line(&child, line, sizeof(line)))
        has_memory = has_memory || strstr(line, "--memory BYTES") != NULL;
    assert_true(has_memory);
    assert_int_equal(child_wait(&child), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_ready_and_drains_on_either_signal),
        cmocka_unit_test(a_wrong_command_line_gets_one_line_and_exit_code_2),
        cmocka_unit_test(a_taken_port_is_said_at_start),
        cmocka_unit_test(many_units_find_free_ports_at_once),
        cmocka_unit_test(help_goes_to_stdout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tq up and tq status: everything on one machine by one command, and nothing left of it afterwards. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/server/storage/child.h"
#include "tests/support/cmocka_all.h"
#include "tq/bytes.h"

enum { MAX_PIDS = 16, GONE_MS = 15000 };

static void up(struct child *child)
{
    const char *const args[] = { "up",     "--listen", "tcp://127.0.0.1:0", "--memory", "16MiB", "--units", "2",
                                 "--bulk", "off",      "--log-level",       "off",      NULL };
    child_start(child, "tq", args);
    child_wait_ready(child);
}

/* Children of a process. */
static size_t list_children(pid_t parent, pid_t *out)
{
    char path[100];
    int pid;
    size_t n = 0;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (n < MAX_PIDS && fscanf(file, "%d", &pid) == 1)
        out[n++] = pid;
    fclose(file);
    return n;
}

/* No process has this number, or only its tombstone that init is about to take. */
static bool is_gone(pid_t pid)
{
    char path[64], state = 'Z';
    if (kill(pid, 0) != 0 && errno == ESRCH)
        return true;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return true;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 'Z';
    fclose(file);
    return state == 'Z' || state == 'X';
}

static void await_gone(const pid_t *pids, size_t n)
{
    int64_t deadline_ns = tq_deadline_after_ms(GONE_MS);
    for (size_t i = 0; i < n; i++)
        while (!is_gone(pids[i]))
            assert_true(tq_now_ns() < deadline_ns);
}

static int status_of(const char *address, char *json, size_t cap)
{
    const char *const args[] = { "status", "--controller", address, "--json", "--timeout-ms", "3000", NULL };
    struct child child;
    char line[400];
    json[0] = '\0';
    child_start_merged(&child, "tq", args);
    while (child_read_line(&child, line, sizeof(line)))
        snprintf(json + strlen(json), cap - strlen(json), "%s\n", line);
    return child_wait(&child);
}

static void everything_serves_when_it_says_ready(void **state)
{
    struct child child;
    char json[8000];
    pid_t pids[MAX_PIDS];
    (void)state;
    up(&child);
    size_t n = list_children(child.pid, pids);
    assert_int_equal(n, 3);
    assert_int_equal(status_of(child.address, json, sizeof(json)), 0);
    assert_non_null(strstr(json, "\"name\": \"unit-1\""));
    assert_non_null(strstr(json, "\"name\": \"unit-2\""));
    assert_non_null(strstr(json, "\"budgetBytes\": \"16777216\""));
    assert_int_equal(child_end(&child, SIGTERM), 0);
    await_gone(pids, n);
    /* 64 + UNAVAILABLE */
    assert_int_equal(status_of(child.address, json, sizeof(json)), 78);
    assert_memory_equal(json, "tq status: UNAVAILABLE: ", 24);
}

static void the_children_end_with_a_killed_parent(void **state)
{
    struct child child;
    pid_t pids[MAX_PIDS];
    (void)state;
    up(&child);
    size_t n = list_children(child.pid, pids);
    assert_int_equal(child_end(&child, SIGKILL), -SIGKILL);
    await_gone(pids, n);
}

static void a_child_that_dies_ends_everything_with_exit_code_1(void **state)
{
    struct child child;
    pid_t pids[MAX_PIDS];
    (void)state;
    up(&child);
    size_t n = list_children(child.pid, pids);
    assert_int_equal(kill(pids[n - 1], SIGKILL), 0);
    assert_int_equal(child_wait(&child), 1);
    await_gone(pids, n);
}

static void wrong_commands_get_one_line_and_exit_code_2(void **state)
{
    static const struct {
        const char *args[8];
        const char *says;
    } cases[] = {
        { { "status", "--controller", "nonsense" }, "tq status: --controller: 'nonsense': expected tcp://HOST:PORT" },
        { { "status", "--controller", "tcp://127.0.0.1:http" }, "tq status: --controller: 'tcp://127.0.0.1:http'" },
        { { "put", "--controller", "nonsense", "--partition", "p", "/dev/null/x.npy" },
          "tq put: --controller: 'nonsense': expected tcp://HOST:PORT" },
        { { "get", "--controller", "nonsense", "--partition", "p", "--fields", "x" },
          "tq get: --controller: 'nonsense': expected tcp://HOST:PORT" },
        { { "up", "--listen", "nonsense" }, "tq up: --listen: 'nonsense': expected tcp://HOST:PORT" },
        { { "up", "--listen", "tcp://0.0.0.0:0" }, "tq up: --listen: 'tcp://0.0.0.0:0': only loopback" },
        { { "fly" }, "tq: 'fly': no such command" },
        { { "up", "--units", "0" }, "tq up: --units: '0': expected 1 to 64" },
        { { "up", "--units", "2", "--tcp-units", "3" }, "tq up: --tcp-units: '3': expected at most --units: 2" },
        { { "up", "here" }, "tq up: 'here': expected flags only" },
        { { "status", "--timeout-ms", "never" }, "tq status: --timeout-ms: 'never': expected a number" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct child child;
        char line[400];
        child_start_merged(&child, "tq", cases[i].args);
        assert_true(child_read_line(&child, line, sizeof(line)));
        if (strncmp(line, cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("'%s'; expected '%s'", line, cases[i].says);
        assert_false(child_read_line(&child, line, sizeof(line)));
        assert_int_equal(child_wait(&child), 2);
    }
}

static void a_taken_address_is_said_and_leaves_nothing(void **state)
{
    struct child child, second;
    char listen[64], line[400];
    (void)state;
    up(&child);
    snprintf(listen, sizeof(listen), "tcp://127.0.0.1%s", strrchr(child.address, ':'));
    const char *const args[] = { "up", "--listen", listen, "--log-level", "off", NULL };
    child_start_merged(&second, "tq", args);
    assert_true(child_read_line(&second, line, sizeof(line)));
    assert_memory_equal(line, "tq-controller: ", 15);
    assert_true(child_read_line(&second, line, sizeof(line)));
    assert_string_equal(line, "tq up: UNAVAILABLE: controller ended with exit code 1");
    assert_int_equal(child_wait(&second), 1);
    assert_int_equal(child_end(&child, SIGINT), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_serves_when_it_says_ready),
        cmocka_unit_test(the_children_end_with_a_killed_parent),
        cmocka_unit_test(a_child_that_dies_ends_everything_with_exit_code_1),
        cmocka_unit_test(wrong_commands_get_one_line_and_exit_code_2),
        cmocka_unit_test(a_taken_address_is_said_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

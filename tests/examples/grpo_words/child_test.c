#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "examples/grpo_words/child.h"

#include "tests/support/cmocka_all.h"

enum { PATIENCE_MS = 10000, LINES_MAX = 8 };

struct heard {
    size_t count;
    char lines[LINES_MAX][64];
    size_t refuse_at; /* the line number at which `listen` says no; 0: never */
};

static bool hear(void *user, struct child *child, const char *line)
{
    struct heard *heard = user;
    (void)child;
    if (heard->count < LINES_MAX)
        snprintf(heard->lines[heard->count], sizeof(heard->lines[0]), "%s", line);
    return ++heard->count != heard->refuse_at;
}

static int log_open(void **state)
{
    static char path[] = "/tmp/grpo_words_child_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    *state = path;
    return 0;
}

static int log_close(void **state)
{
    return unlink(*state);
}

static void start_shell(struct child *child, const char *script, const char *log)
{
    char text[400];
    char *argv[] = { (char[]){ "/bin/sh" }, (char[]){ "-c" }, text, NULL };
    snprintf(text, sizeof(text), "%s", script);
    child_init(child, "shell");
    assert_true(child_start(child, argv, log));
}

/* Reads until its output ends. */
static bool read_all(struct child *child, struct heard *heard)
{
    bool well = true;
    while (well && child->lines >= 0) {
        struct pollfd wait = { .fd = child->lines, .events = POLLIN };
        assert_int_equal(poll(&wait, 1, PATIENCE_MS), 1);
        well = child_read(child, hear, heard);
    }
    return well;
}

static void wait_end(struct child *child)
{
    struct pollfd wait = { .fd = child->pidfd, .events = POLLIN };
    assert_int_equal(poll(&wait, 1, PATIENCE_MS), 1);
    assert_true(child_has_ended(child));
}

static void lines_come_whole_and_in_order(void **state)
{
    struct child child;
    struct heard heard = { 0 };
    start_shell(&child, "printf 'one\\ntw'; printf 'o\\n\\nthree\\nrest'; echo trouble >&2; exit 3", *state);
    assert_true(read_all(&child, &heard));
    assert_int_equal(heard.count, 4); /* the rest has no end */
    assert_string_equal(heard.lines[0], "one");
    assert_string_equal(heard.lines[1], "two");
    assert_string_equal(heard.lines[2], "");
    assert_string_equal(heard.lines[3], "three");
    wait_end(&child);
    char end[40];
    assert_string_equal(child_describe_end(&child, end, sizeof(end)), "exit status 3");
    assert_true(child_stop(&child, 0));
    char logged[32] = "";
    const int log = open(*state, O_RDONLY);
    assert_true(read(log, logged, sizeof(logged) - 1) > 0);
    close(log);
    assert_string_equal(logged, "trouble\n");
}

static void a_line_without_end_is_refused(void **state)
{
    struct child child;
    struct heard heard = { 0 };
    start_shell(&child, "head -c 20000 /dev/zero; cat", *state);
    assert_false(read_all(&child, &heard));
    assert_int_equal(heard.count, 0);
    child_stop(&child, 0);
}

static void a_listener_can_stop_the_reading(void **state)
{
    struct child child;
    struct heard heard = { .refuse_at = 2 };
    start_shell(&child, "printf 'one\\ntwo\\nthree\\n'", *state);
    assert_false(read_all(&child, &heard));
    assert_int_equal(heard.count, 2);
    child_stop(&child, PATIENCE_MS);
}

/* Waits for its first line, so that it has come to where the script wants it. */
static void wait_line(struct child *child)
{
    struct heard heard = { 0 };
    while (heard.count == 0) {
        struct pollfd wait = { .fd = child->lines, .events = POLLIN };
        assert_int_equal(poll(&wait, 1, PATIENCE_MS), 1);
        assert_true(child_read(child, hear, &heard) && child->lines >= 0);
    }
}

static void one_that_obeys_is_not_killed(void **state)
{
    struct child child;
    start_shell(&child, "trap 'exit 0' TERM; echo here; while :; do :; done", *state);
    wait_line(&child);
    assert_true(child_stop(&child, PATIENCE_MS));
    assert_true(WIFEXITED(child.wait_status) && WEXITSTATUS(child.wait_status) == 0);
}

static void one_that_does_not_obey_is_killed(void **state)
{
    struct child child;
    char end[40];
    start_shell(&child, "trap '' TERM; echo here; exec tail -f /dev/null", *state);
    wait_line(&child);
    assert_false(child_stop(&child, 100));
    assert_string_equal(child_describe_end(&child, end, sizeof(end)), "signal 9");
}

static void a_program_that_is_not_there_says_so_in_the_log(void **state)
{
    struct child child;
    char *argv[] = { (char[]){ "/nonexistent/program" }, NULL };
    char logged[100] = "";
    child_init(&child, "ghost");
    assert_true(child_start(&child, argv, *state));
    wait_end(&child);
    assert_int_equal(WEXITSTATUS(child.wait_status), 127);
    child_stop(&child, 0);
    const int log = open(*state, O_RDONLY);
    assert_true(read(log, logged, sizeof(logged) - 1) > 0);
    close(log);
    assert_non_null(strstr(logged, "cannot run /nonexistent/program: No such file"));
}

/* A process between us and the child dies without a word; the child holds a pipe open as long as it lives. */
static void a_child_dies_with_who_started_it(void **state)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t between = fork();
    assert_true(between >= 0);
    if (between == 0) {
        static struct child child;
        char *argv[] = { (char[]){ "/bin/sh" }, (char[]){ "-c" }, (char[]){ "echo; exec tail -f /dev/null >/dev/null" },
                         NULL };
        char line = 0;
        child_init(&child, "orphan");
        if (!child_start(&child, argv, *state) || fcntl(child.lines, F_SETFL, 0) != 0 ||
            read(child.lines, &line, 1) != 1)
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    close(ends[1]);
    int status = 0;
    assert_int_equal(waitpid(between, &status, 0), between);
    assert_true(WIFSIGNALED(status));
    struct pollfd wait = { .fd = ends[0], .events = POLLIN };
    assert_int_equal(poll(&wait, 1, PATIENCE_MS), 1);
    assert_true((wait.revents & POLLHUP) != 0);
    close(ends[0]);
}

static void one_that_was_never_started_can_be_stopped(void **state)
{
    (void)state;
    struct child child;
    child_init(&child, "none");
    assert_false(child_has_ended(&child));
    assert_true(child_stop(&child, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_whole_and_in_order),
        cmocka_unit_test(a_line_without_end_is_refused),
        cmocka_unit_test(a_listener_can_stop_the_reading),
        cmocka_unit_test(one_that_obeys_is_not_killed),
        cmocka_unit_test(one_that_does_not_obey_is_killed),
        cmocka_unit_test(a_program_that_is_not_there_says_so_in_the_log),
        cmocka_unit_test(a_child_dies_with_who_started_it),
        cmocka_unit_test(one_that_was_never_started_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, log_open, log_close);
}

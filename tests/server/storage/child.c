#include "tests/server/storage/child.h"

#include "tests/support/cmocka_all.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ARGS = 40 };

static void start(struct child *child, const char *program, const char *const *args, bool is_merged)
{
    char path[500];
    const char *argv[MAX_ARGS + 2] = { path };
    const char *folder = getenv("TQ_BIN_DIR");
    int ends[2];
    size_t n = 0;
    if (program[0] == '/')
        snprintf(path, sizeof(path), "%s", program);
    else
        snprintf(path, sizeof(path), "%s/%s", folder != NULL ? folder : "bin", program);
    while (args[n] != NULL && n < MAX_ARGS) {
        argv[n + 1] = args[n];
        n++;
    }
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t parent = getpid();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent || dup2(ends[1], STDOUT_FILENO) < 0 || (is_merged && dup2(ends[1], STDERR_FILENO) < 0))
            _exit(127);
        execv(path, (char *const *)argv);
        _exit(127);
    }
    close(ends[1]);
    *child = (struct child){ .pid = pid, .out = ends[0] };
}

void child_start(struct child *child, const char *program, const char *const *args)
{
    start(child, program, args, false);
}

void child_start_merged(struct child *child, const char *program, const char *const *args)
{
    start(child, program, args, true);
}

bool child_read_line(struct child *child, char *line, size_t cap)
{
    size_t len = 0;
    struct pollfd entry = { .fd = child->out, .events = POLLIN };
    for (;;) {
        char c;
        int ready = poll(&entry, 1, CHILD_WAIT_MS);
        if (ready < 0 && errno == EINTR)
            continue;
        assert_int_equal(ready, 1); /* else the child says nothing */
        if (read(child->out, &c, 1) != 1)
            return false;
        if (c == '\n')
            break;
        if (len + 1 < cap)
            line[len++] = c;
    }
    line[len] = '\0';
    return true;
}

void child_wait_ready(struct child *child)
{
    char line[300];
    assert_true(child_read_line(child, line, sizeof(line)));
    assert_memory_equal(line, "ready ", 6);
    size_t len = strlen(line + 6);
    assert_true(len < sizeof(child->address));
    memcpy(child->address, line + 6, len + 1);
}

int child_wait(struct child *child)
{
    int status = 0;
    int handle = (int)syscall(SYS_pidfd_open, child->pid, 0);
    struct pollfd entry = { .fd = handle, .events = POLLIN };
    assert_true(handle >= 0);
    int ready;
    while ((ready = poll(&entry, 1, CHILD_WAIT_MS)) < 0 && errno == EINTR)
        ;
    close(handle);
    assert_int_equal(ready, 1); /* else it does not end */
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    close(child->out);
    child->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int child_end(struct child *child, int signal)
{
    assert_int_equal(kill(child->pid, signal), 0);
    return child_wait(child);
}

void child_kill(struct child *child)
{
    if (child->pid != 0)
        child_end(child, SIGKILL);
}

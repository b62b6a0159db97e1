#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/tq-bench/bench.h"

extern char **environ;

enum { LINE_WAIT_MS = 5000, ARGUMENTS_MAX = 8 };

bool bench_pin(unsigned cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof(set), &set) == 0;
}

bool bench_child_start(struct bench_child *child, const char *program, const char *const *arguments)
{
    int ends[2];
    char *argv[ARGUMENTS_MAX + 2] = { (char *)(uintptr_t)program };
    posix_spawn_file_actions_t actions;
    for (unsigned i = 0; i < ARGUMENTS_MAX && arguments[i] != NULL; i++)
        argv[i + 1] = (char *)(uintptr_t)arguments[i];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        fprintf(stderr, "tq-bench: pipe: %s\n", strerror(errno));
        return false;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int failed = posix_spawn(&child->pid, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    child->out_fd = ends[0];
    if (failed != 0) {
        close(ends[0]);
        fprintf(stderr, "tq-bench: %s: %s\n", program, strerror(failed));
        return false;
    }
    return true;
}

bool bench_child_read_line(struct bench_child *child, char *out, size_t cap)
{
    struct pollfd fd = { .fd = child->out_fd, .events = POLLIN };
    for (size_t len = 0; len + 1 < cap; len++) {
        if (poll(&fd, 1, LINE_WAIT_MS) <= 0 || read(child->out_fd, out + len, 1) != 1)
            return false;
        if (out[len] == '\n') {
            out[len] = 0;
            return true;
        }
    }
    return false;
}

void bench_child_stop(struct bench_child *child)
{
    kill(child->pid, SIGKILL);
    waitpid(child->pid, NULL, 0);
    close(child->out_fd);
}

#include "tools/tq/children.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_CAP = 4096, ARGS_MAX = 40 };

extern char **environ;

/* The program beside ours. */
static bool find_sibling(const char *program, char *out, size_t cap)
{
    ssize_t len = readlink("/proc/self/exe", out, cap - 1);
    if (len <= 0)
        return false;
    out[len] = '\0';
    char *slash = strrchr(out, '/');
    size_t room = slash != NULL ? cap - (size_t)(slash + 1 - out) : 0;
    return slash != NULL && (size_t)snprintf(slash + 1, room, "%s", program) < room && access(out, X_OK) == 0;
}

/* Ours without TQ_ variables; the array is to be freed. */
static char **clean_environment(void)
{
    size_t n = 0;
    while (environ[n] != NULL)
        n++;
    char **clean = calloc(n + 1, sizeof(char *));
    size_t kept = 0;
    for (size_t i = 0; clean != NULL && i < n; i++)
        if (strncmp(environ[i], "TQ_", 3) != 0)
            clean[kept++] = environ[i];
    return clean;
}

/* Between fork and exec: only calls that are safe beside other threads. */
_Noreturn static void become(const char *path, const char *const *args, char **environment, int out, pid_t parent)
{
    const char *argv[ARGS_MAX + 2] = { path };
    sigset_t none;
    for (size_t i = 0; i < ARGS_MAX && args[i] != NULL; i++)
        argv[i + 1] = args[i];
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent && dup2(out, STDOUT_FILENO) >= 0)
        execve(path, (char *const *)argv, environment);
    _exit(127);
}

static tq_status start(struct tq_child *child, const char *path, const char *const *args, char **environment,
                       struct tq_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "pipe: %s", strerror(errno));
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0)
        become(path, args, environment, ends[1], parent);
    close(ends[1]);
    child->out = ends[0];
    if (pid < 0)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "fork: %s", strerror(errno));
    child->pid = pid;
    child->handle = (int)syscall(SYS_pidfd_open, pid, 0);
    if (child->handle < 0)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "pidfd_open: %s", strerror(errno));
    (void)fcntl(child->out, F_SETFL, O_NONBLOCK);
    return TQ_OK;
}

tq_status tq_child_start(struct tq_child *child, const char *name, const char *program, const char *const *args,
                         struct tq_error *err)
{
    char path[PATH_CAP];
    *child = (struct tq_child){ .handle = -1, .out = -1 };
    snprintf(child->name, sizeof(child->name), "%s", name);
    if (!find_sibling(program, path, sizeof(path)))
        return tq_fail(err, TQ_NOT_FOUND, NULL, "%s: no such program beside tq", program);
    char **environment = clean_environment();
    if (environment == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "no memory to start %s", program);
    tq_status status = start(child, path, args, environment, err);
    free(environment);
    return status;
}

bool tq_child_read(struct tq_child *child)
{
    char bytes[256];
    ssize_t n = read(child->out, bytes, sizeof(bytes));
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    for (ssize_t i = 0; i < n && !child->has_line; i++) {
        child->has_line = bytes[i] == '\n';
        if (!child->has_line && child->line_len + 1 < sizeof(child->line))
            child->line[child->line_len++] = bytes[i];
    }
    return n > 0;
}

bool tq_child_reap(struct tq_child *child, int *out_code)
{
    int status;
    if (child->pid == 0 || waitpid(child->pid, &status, WNOHANG) != child->pid)
        return false;
    *out_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    close(child->handle);
    close(child->out);
    child->pid = 0;
    child->handle = child->out = -1;
    return true;
}

void tq_child_signal(const struct tq_child *child, int signal)
{
    if (child->pid != 0)
        kill(child->pid, signal);
}

static bool wait_one(struct tq_child *child, int64_t deadline_ns)
{
    int code;
    struct pollfd entry = { .fd = child->handle, .events = POLLIN };
    while (child->pid != 0 && !tq_child_reap(child, &code)) {
        int64_t left_ms = (deadline_ns - tq_now_ns()) / 1000000;
        if (left_ms < 0)
            return false;
        poll(&entry, 1, (int)(left_ms < 1000 ? left_ms + 1 : 1000));
    }
    return true;
}

bool tq_children_wait(struct tq_child *children, size_t n, int64_t deadline_ns)
{
    bool willing = true;
    for (size_t i = 0; i < n; i++) {
        if (wait_one(&children[i], deadline_ns))
            continue;
        willing = false;
        tq_child_signal(&children[i], SIGKILL);
        wait_one(&children[i], tq_deadline_after_ms(5000));
    }
    return willing;
}

#include "examples/grpo_words/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void child_init(struct child *child, const char *name)
{
    memset(child, 0, sizeof(*child));
    child->name = name;
    child->pidfd = -1;
    child->lines = -1;
}

/* In the new process; between fork and exec only what is async-signal-safe. */
static _Noreturn void child_become(char *const *argv, int log, int lines, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL); /* ours waits for signals by a descriptor */
    setpgid(0, 0);                         /* an interrupt at the terminal is ours to pass on */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent && dup2(lines, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0)
        execv(argv[0], argv);
    dprintf(STDERR_FILENO, "cannot run %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

bool child_start(struct child *child, char *const *argv, const char *log_path)
{
    int ends[2] = { -1, -1 };
    int log = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (log < 0 || pipe2(ends, O_CLOEXEC) != 0)
        goto fail;
    snprintf(child->log, sizeof(child->log), "%s", log_path);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0)
        goto fail;
    if (pid == 0)
        child_become(argv, log, ends[1], parent);
    child->pid = pid;
    close(log);
    close(ends[1]);
    child->lines = ends[0];
    child->pidfd = pidfd_open(pid, 0);
    return child->pidfd >= 0 && fcntl(child->lines, F_SETFL, O_NONBLOCK) == 0;
fail:
    if (log >= 0)
        close(log);
    if (ends[0] >= 0) {
        close(ends[0]);
        close(ends[1]);
    }
    return false;
}

/* Hands out the whole lines of the buffer and moves the rest to its beginning. */
static bool take_lines(struct child *child, child_line_fn *each, void *user)
{
    char *begin = child->line;
    char *end = NULL;
    while ((end = memchr(begin, '\n', (size_t)(child->line + child->pending - begin))) != NULL) {
        *end = '\0';
        if (!each(user, child, begin))
            return false;
        begin = end + 1;
    }
    child->pending = (size_t)(child->line + child->pending - begin);
    memmove(child->line, begin, child->pending);
    return child->pending < sizeof(child->line);
}

bool child_read(struct child *child, child_line_fn *each, void *user)
{
    while (child->lines >= 0) {
        const ssize_t got = read(child->lines, child->line + child->pending, sizeof(child->line) - child->pending);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return true;
        if (got <= 0) {
            close(child->lines);
            child->lines = -1;
            return true;
        }
        child->pending += (size_t)got;
        if (!take_lines(child, each, user))
            return false;
    }
    return true;
}

bool child_has_ended(struct child *child)
{
    if (child->pid == 0)
        return child->pidfd >= 0;
    if (waitpid(child->pid, &child->wait_status, WNOHANG) != child->pid)
        return false;
    child->pid = 0;
    return true;
}

bool child_stop(struct child *child, int grace_ms)
{
    bool went = true;
    if (child->pid != 0 && !child_has_ended(child)) {
        struct pollfd end = { .fd = child->pidfd, .events = POLLIN };
        kill(child->pid, SIGTERM);
        went = child->pidfd >= 0 && poll(&end, 1, grace_ms) == 1;
        if (!went)
            kill(child->pid, SIGKILL);
        waitpid(child->pid, &child->wait_status, 0);
        child->pid = 0;
    }
    if (child->pidfd >= 0)
        close(child->pidfd);
    if (child->lines >= 0)
        close(child->lines);
    child->pidfd = -1;
    child->lines = -1;
    return went;
}

const char *child_describe_end(const struct child *child, char *text, size_t text_bytes)
{
    if (WIFSIGNALED(child->wait_status))
        snprintf(text, text_bytes, "signal %d", WTERMSIG(child->wait_status));
    else
        snprintf(text, text_bytes, "exit status %d", WEXITSTATUS(child->wait_status));
    return text;
}

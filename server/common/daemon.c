#include "server/common/daemon.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "tq/bytes.h"
#include "tq/init.h"
#include "transport/base/log.h"

enum { EXIT_USAGE = 2 };

int tq_daemon_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0)
        return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool tq_daemon_flags(const struct tq_flags *flags, int argc, char **argv, int *out_exit)
{
    struct tq_error err;
    enum tq_flags_wish wish;
    *out_exit = EXIT_SUCCESS;
    if (tq_flags_parse(flags, argc, argv, getenv, &wish, NULL, &err) != TQ_OK) {
        fprintf(stderr, "%s: %s\n", flags->program, err.message);
        *out_exit = EXIT_USAGE;
        return false;
    }
    if (wish == TQ_FLAGS_HELP)
        tq_flags_help(flags, stdout);
    if (wish == TQ_FLAGS_VERSION)
        printf("%s %s\n", flags->program, tq_version());
    return wish == TQ_FLAGS_RUN;
}

/* Waits for a signal; its number, or -1 when waiting is impossible. */
static int wait_for_signal(int signals)
{
    struct signalfd_siginfo info;
    struct pollfd entry = { .fd = signals, .events = POLLIN };
    for (;;) {
        if (poll(&entry, 1, -1) < 0 && errno != EINTR)
            return -1;
        if (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
            return (int)info.ssi_signo;
        if (errno != EAGAIN && errno != EINTR)
            return -1;
    }
}

/* Whoever started us reads this line; when nobody does any more, we serve nevertheless. */
static void say_ready(const char *address)
{
    char line[300];
    int len = snprintf(line, sizeof(line), "ready %s\n", address);
    ssize_t wrote = len > 0 && (size_t)len < sizeof(line) ? write(STDOUT_FILENO, line, (size_t)len) : -1;
    if (wrote != len)
        tq_warn("ready-line", "reason=\"%s\"", strerror(errno));
}

/* libzmq spins at the limit. Returns how many descriptors there may be now; 0: unknown. */
static uint64_t raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    const struct rlimit raised = { limit.rlim_max, limit.rlim_max };
    return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

static int serve(const struct tq_daemon *daemon, int signals, uint64_t descriptors)
{
    const char *address = daemon->ops->address(daemon->self);
    tq_info("ready", "program=%s address=%s pid=%d descriptors=%llu", daemon->name, address, (int)getpid(),
            (unsigned long long)descriptors);
    say_ready(address);
    int signal = wait_for_signal(signals);
    tq_info("draining", "program=%s signal=%d bound_ms=%llu", daemon->name, signal,
            (unsigned long long)daemon->drain_ms);
    int64_t start_ns = tq_now_ns();
    daemon->ops->drain(daemon->self, tq_deadline_after_ms((int64_t)daemon->drain_ms));
    daemon->ops->close(daemon->self);
    tq_info("stopped", "program=%s took_ms=%lld", daemon->name, (long long)((tq_now_ns() - start_ns) / 1000000));
    return signal > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int refuse(const struct tq_daemon *daemon, const struct tq_error *err)
{
    fprintf(stderr, "%s: %s\n", daemon->name, err->message);
    bool is_usage = err->status == TQ_INVALID_ARGUMENT || err->status == TQ_PERMISSION_DENIED;
    return is_usage ? EXIT_USAGE : EXIT_FAILURE;
}

int tq_daemon_run(const struct tq_daemon *daemon)
{
    struct tq_error err;
    int signals = tq_daemon_signals();
    if (signals < 0) {
        tq_fail(&err, TQ_RESOURCE_EXHAUSTED, NULL, "signalfd: %s", strerror(errno));
        return refuse(daemon, &err);
    }
    uint64_t descriptors = raise_descriptors();
    signal(SIGPIPE, SIG_IGN); /* a closed stdout or stderr is no reason to end */
    tq_status status = tq_init(&err);
    if (status == TQ_OK)
        status = daemon->ops->open(daemon->self, &err);
    int code = status == TQ_OK ? serve(daemon, signals, descriptors) : refuse(daemon, &err);
    if (status != TQ_OK)
        daemon->ops->close(daemon->self);
    close(signals);
    return code;
}

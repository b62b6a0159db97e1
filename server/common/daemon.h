/* server/common/daemon.h: the life of a daemon: signals blocked before any thread starts, as many descriptors as
 * the hard limit allows (the line of the log that says ready tells how many), one line "ready ADDRESS" on
 * stdout, logfmt on stderr, a drain in bounded time on SIGTERM and SIGINT, then exit code 0.
 *
 *     opening -> ready -> draining (a signal) -> closed
 *
 * Owns: the signal mask and the descriptor of the signals. Threads: main. For programs, not for libraries. */
#ifndef TQ_SERVER_DAEMON_H
#define TQ_SERVER_DAEMON_H

#include "server/common/flags.h"

/* What the daemon runs. */
struct tq_daemon_ops {
    tq_status (*open)(void *self, struct tq_error *err);
    const char *(*address)(void *self);
    void (*drain)(void *self, int64_t deadline_ns);
    void (*close)(void *self); /* copes with what is half open */
};

struct tq_daemon {
    const char *name; /* "tq-storage", for the log */
    const struct tq_daemon_ops *ops;
    void *self;
    uint64_t drain_ms;
};

/* Parses the command line; handles --help and --version. Returns true when the program is to go on, else *out_exit is
 * its exit code: 0, or 2 after one line on stderr. */
TQ_MUST_CHECK bool tq_daemon_flags(const struct tq_flags *flags, int argc, char **argv, int *out_exit);

/* Opens, serves, drains, closes. Returns the exit code: 0; 1 with one line on stderr when it does not open; 2 when
 * opening fails because of what the flags say (INVALID_ARGUMENT, PERMISSION_DENIED). */
TQ_MUST_CHECK int tq_daemon_run(const struct tq_daemon *daemon);

/* Blocks the signals that end a program and returns a descriptor that reports them; -1 on failure. Before any thread.
 */
int tq_daemon_signals(void);

#endif

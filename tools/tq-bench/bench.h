/* tools/tq-bench/bench.h: what the suites share: arguments, pinning, the other process.
 * Owns: nothing. Threads: one, unless a suite starts more. */
#ifndef TOOLS_TQ_BENCH_BENCH_H
#define TOOLS_TQ_BENCH_BENCH_H

#include <stdint.h>
#include <sys/types.h>

#include "tools/tq-bench/report.h"

struct bench {
    const char *program; /* how to start ourselves again */
    double seconds;      /* of one measurement */
    unsigned rounds;
    struct report *report;
};

/* Each suite fills the report; returns 0, or 1 after saying why on stderr. A suite that was not built is NULL. */
int bench_rpc(const struct bench *bench);
/* The other process of the rpc suite; argv[1] is "serve-rpc". */
int bench_rpc_serve(int argc, char **argv);
int bench_bulk(const struct bench *bench);
int bench_bulk_serve(int argc, char **argv);
int bench_e2e(const struct bench *bench);

/* Pins this process (all its threads to come) to one CPU; false where the machine does not allow it. */
bool bench_pin(unsigned cpu);

/* A child that runs this program with other arguments; its stdout is read by us, its death follows ours. */
struct bench_child {
    pid_t pid;
    int out_fd;
};
/* Returns false after saying why on stderr. */
bool bench_child_start(struct bench_child *child, const char *program, const char *const *arguments);
/* Reads one line (without its end) within five seconds. */
bool bench_child_read_line(struct bench_child *child, char *out, size_t cap);
/* Ends and reaps it. */
void bench_child_stop(struct bench_child *child);

#endif

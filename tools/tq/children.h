/* tools/tq/children.h: sibling programs as child processes: found beside our own executable, started with a clean
 * environment, watched by descriptor, ended in bounded time. They end with us, even when we are killed.
 * Owns: pids and descriptors. Threads: main. */
#ifndef TQ_TOOLS_CHILDREN_H
#define TQ_TOOLS_CHILDREN_H

#include <stdbool.h>
#include <sys/types.h>

#include "tq/bytes.h"
#include "tq/status.h"

struct tq_child {
    pid_t pid;  /* 0: none, or reaped */
    int handle; /* pidfd: readable when it has ended */
    int out;    /* its stdout */
    char name[32];
    char line[300]; /* what it has said so far of its first line */
    size_t line_len;
    bool has_line;
};

/* `args` ends with NULL, without argv[0]. Variables that begin with TQ_ are not passed on: they are meant for us. Fails
 * with NOT_FOUND (no such program), RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_child_start(struct tq_child *child, const char *name, const char *program,
                                       const char *const *args, struct tq_error *err);
/* Reads what is there of its first line. False when its stdout has ended. */
bool tq_child_read(struct tq_child *child);
/* Whether it has ended; reaps it then. *out_code: exit code, or 128 + signal. */
bool tq_child_reap(struct tq_child *child, int *out_code);
void tq_child_signal(const struct tq_child *child, int signal); /* an ended one: no-op */
/* Waits for the end of all; kills what is left at the deadline. False when it had to. */
bool tq_children_wait(struct tq_child *children, size_t n, int64_t deadline_ns);

#endif

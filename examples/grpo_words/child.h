/* child.h: a process that we started: its lines, its log, its end.
 * A child dies with us (PR_SET_PDEATHSIG). Owns: pid, pidfd and pipe. Threads: the one that started it. */
#ifndef GRPO_WORDS_CHILD_H
#define GRPO_WORDS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CHILD_LINE_BYTES = 16384, CHILD_PATH_BYTES = 512 };

struct child {
    const char *name;
    char log[CHILD_PATH_BYTES]; /* where its standard error goes */
    pid_t pid;                  /* 0: not started, or reaped */
    int pidfd;                  /* readable when it has ended; -1: none */
    int lines;                  /* its standard output, non-blocking; -1: closed */
    int wait_status;            /* once it is reaped */
    size_t pending;             /* bytes in `line` that have no end yet */
    char line[CHILD_LINE_BYTES];
};

/* True to go on; false stops the reading and makes child_read fail. `line` has no line end. */
typedef bool child_line_fn(void *user, struct child *child, const char *line);

/* The child that is none: child_stop may be called. */
void child_init(struct child *child, const char *name);
/* Starts `argv` (NULL at its end; argv[0] is a path), with its standard error in `log`. False with errno set. */
bool child_start(struct child *child, char *const *argv, const char *log);
/* Hands out the lines that are there, without waiting. False when a line is too long or `each` said so. */
bool child_read(struct child *child, child_line_fn *each, void *user);
/* Whether it was started and has ended; then its status is in wait_status. Does not wait. */
bool child_has_ended(struct child *child);
/* Asks it to end, waits up to `grace_ms`, then kills it; reaps it and closes everything. True when it had not to be
 * killed. Nothing happens to one that was not started. */
bool child_stop(struct child *child, int grace_ms);
/* "exit status 1", "signal 9" */
const char *child_describe_end(const struct child *child, char *text, size_t text_bytes);

#endif

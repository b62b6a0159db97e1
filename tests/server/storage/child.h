/* tests/server/storage/child.h: a daemon as a child of the test: started, read up to its "ready ADDRESS", ended. It
 * dies with the test. Every wait is bounded; running into the bound fails the test. */
#ifndef TQ_TESTS_CHILD_H
#define TQ_TESTS_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

enum { CHILD_WAIT_MS = 20000 };

struct child {
    pid_t pid; /* 0: none */
    int out;   /* its stdout */
    char address[200];
};

/* `program` is the name of one of our programs, found in $TQ_BIN_DIR, or a path; `args` ends with NULL. */
void child_start(struct child *child, const char *program, const char *const *args);
/* The same with its stderr in the same pipe. */
void child_start_merged(struct child *child, const char *program, const char *const *args);
/* Waits for "ready ADDRESS" on its stdout. */
void child_wait_ready(struct child *child);
/* The next line of its stdout, without the line break; false at its end. */
bool child_read_line(struct child *child, char *line, size_t cap);
/* Sends the signal and waits for the end. Returns the exit code, or -signal. */
int child_end(struct child *child, int signal);
/* Waits for the end without a signal. */
int child_wait(struct child *child);
/* Ends what still runs. For tear-downs; a child that was never started is allowed. */
void child_kill(struct child *child);

#endif

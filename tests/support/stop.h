/* tests/support/stop.h: stop a child so that it is stopped. Owns: nothing. Threads: any. */
#ifndef TQ_TESTS_SUPPORT_STOP_H
#define TQ_TESTS_SUPPORT_STOP_H

#include <sys/types.h>

/* SIGSTOP to a child of ours, and waits until it has taken effect: the signal alone returns while the child still runs.
 * Returns 0, or -1 when there is no such child. */
int test_stop(pid_t child);

#endif

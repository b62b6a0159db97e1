/* tq/init.h: the one call that touches the process: environment for UCX, fork guard, version check.
 * Threads: call it first in main, before any thread and before any other function of tq. */
#ifndef TQ_INIT_H
#define TQ_INIT_H

#include <stdbool.h>

#include "tq/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the environment variables that UCX reads at ucp_init where they are unset (UCX_POSIX_ERROR_HANDLING,
 * UCX_KEEPALIVE_INTERVAL, UCX_HANDLE_ERRORS, ...), checks the versions of the libraries, registers the fork handler.
 * Idempotent. Fails with FAILED_PRECONDITION when a library is too old. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_init(struct tq_error *err);

/* True in a child of fork() whose parent had called tq_init(): every call of tq then fails with FAILED_PRECONDITION,
 * because UCX hangs there. exec makes a process whole again. */
TQ_PUBLIC bool tq_forked(void);

/* "0.1.0" */
TQ_PUBLIC const char *tq_version(void);

#ifdef __cplusplus
}
#endif
#endif

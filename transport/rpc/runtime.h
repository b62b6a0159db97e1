/* transport/rpc/runtime.h: what the channels and servers of a process share: the ZMQ context, who we are, the driver.
 * Owns: all three. Threads: any. */
#ifndef TQ_RPC_RUNTIME_H
#define TQ_RPC_RUNTIME_H

#include <stdatomic.h>

#include "tq/rpc.h"
#include "transport/rpc/driver.h"
#include "transport/rpc/self.h"

struct tq_runtime {
    const struct tq_seam *seam;
    void *zmq;
    struct tq_self self;
    struct tq_driver driver;
    atomic_uint users; /* open channels and servers */
};

/* Marks the calling thread as one that must not block in a call: a driver or a server loop. */
void tq_thread_forbid_blocking(const char *what);
/* What the thread is, or NULL when it may block. */
const char *tq_thread_forbidden(void);

/* Fails with FAILED_PRECONDITION in a child of fork(). */
TQ_MUST_CHECK tq_status tq_runtime_check(struct tq_error *err);

#endif

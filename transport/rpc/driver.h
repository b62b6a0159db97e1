/* transport/rpc/driver.h: the thread that makes progress for channels while nobody blocks on them, and runs callbacks.
 * It starts with the first asynchronous call or tq_channel_keep.
 * Owns: the thread, the list of finished asynchronous calls. Threads: any, except where it says driver thread.
 * Locks: a channel's lock before driver.lock; the driver never takes a channel's lock under its own. */
#ifndef TQ_RPC_DRIVER_H
#define TQ_RPC_DRIVER_H

#include <pthread.h>
#include <stdbool.h>

#include "transport/base/list.h"
#include "transport/base/seam.h"

struct tq_channel;

struct tq_driver {
    const struct tq_seam *seam;
    pthread_mutex_t lock;
    struct tq_list channels; /* under lock: all open channels */
    struct tq_list finished; /* under lock: calls whose callback is to run */
    bool stopping, running;  /* under lock */
    bool asleep;             /* under lock: only wake_fd wakes it */
    bool poked;              /* under lock: to look at everything again before it sleeps */
    pthread_t thread;
    int wake_fd;
};

TQ_MUST_CHECK tq_status tq_driver_init(struct tq_driver *driver, const struct tq_seam *seam, struct tq_error *err);
/* Starts the thread if it does not run. Fails with RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_driver_start(struct tq_driver *driver, struct tq_error *err);
/* Runs what is finished, joins. A zeroed driver is allowed. */
void tq_driver_fini(struct tq_driver *driver);

void tq_driver_add(struct tq_driver *driver, struct tq_channel *channel);
void tq_driver_remove(struct tq_driver *driver, struct tq_channel *channel);
/* Makes it look at its channels again. */
void tq_driver_wake(struct tq_driver *driver);
/* Takes over calls whose callbacks are to run; wakes it. The list is emptied. */
void tq_driver_finish(struct tq_driver *driver, struct tq_list *calls);
/* Whether the calling thread is this driver's. */
bool tq_driver_is_me(const struct tq_driver *driver);

#endif

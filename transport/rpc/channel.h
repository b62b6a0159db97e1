/* transport/rpc/channel.h: the shell around the client core: sockets, the lock, and the question who polls.
 *
 * At any time at most one thread, the poller, sleeps on the channel's sockets:
 *
 *   NOBODY  -- a blocking call waits -->  CALLER    (drives the core until its own call has ended, then hands over)
 *   NOBODY  -- asynchronous calls or keep -->  DRIVER
 *   CALLER  -- done -->  another blocked caller, else DRIVER while asynchronous calls are under way, else NOBODY
 *   DRIVER  -- no asynchronous call left -->  a blocked caller, else NOBODY
 *
 * Another thread that sends also receives what is there, because it may swallow the poller's wake-up.
 * Owns: core, sockets. Threads: any, under its lock. */
#ifndef TQ_RPC_CHANNEL_H
#define TQ_RPC_CHANNEL_H

#include <poll.h>
#include <pthread.h>

#include "transport/rpc/carrier.h"
#include "transport/rpc/client_core.h"
#include "transport/rpc/runtime.h"

enum tq_poller { TQ_POLLER_NOBODY, TQ_POLLER_CALLER, TQ_POLLER_DRIVER };

/* A thread that waits for the end of its call. On its stack. */
struct tq_waiter {
    struct tq_list node; /* in channel->waiters while it is not the poller */
    pthread_cond_t wake;
    bool done, polls;
};

struct tq_channel {
    struct tq_runtime *runtime; /* until it is closed */
    const struct tq_seam *seam; /* outlives the runtime: for whoever still holds the channel */
    const struct tq_carrier *carrier;
    char *address;
    atomic_uint holds;

    struct tq_list node; /* driver's lock */

    pthread_mutex_t lock; /* all below */
    struct tq_client_core core;
    struct tq_carrier_socket *sockets[TQ_LINKS_MAX];
    bool up[TQ_LINKS_MAX];
    enum tq_poller poller;
    bool sleeping;           /* the poller is in poll() or on its way */
    int64_t sleeps_until_ns; /* what it was told */
    unsigned sockets_version, seen_version, kept_version;
    bool keep;
    uint32_t n_async;     /* asynchronous calls that have not been completed */
    uint32_t n_users;     /* threads inside blocking calls */
    pthread_cond_t quiet; /* n_async or n_users fell to 0 while closing */
    struct tq_list waiters;
    struct tq_list spare; /* calls for reuse */
    uint32_t n_spare;
    int wake_fd;
};

enum { TQ_CHANNEL_FDS = TQ_LINKS_MAX + 1 };

void tq_channel_hold(struct tq_channel *channel);
void tq_channel_drop(struct tq_channel *channel);

/* A call for use; NULL without memory. */
struct tq_call *tq_channel_take_call_locked(struct tq_channel *channel);
void tq_channel_return_call_locked(struct tq_channel *channel, struct tq_call *call);

/* Receives, ticks, sends; then gives finished calls to their waiters or to `out_async` (which the caller passes to the
 * driver after unlocking). Returns whether it received anything. */
bool tq_channel_progress_locked(struct tq_channel *channel, struct tq_list *out_async);
/* Only the last part. */
void tq_channel_settle_locked(struct tq_channel *channel, struct tq_list *out_async);
/* After a submission by a thread that is not the poller: receives what its sends may have swallowed and makes the
 * poller look again where its sleep is too long or its sockets are old. */
void tq_channel_nudge_locked(struct tq_channel *channel, struct tq_list *out_async);
/* Fills the descriptors to poll; returns their number (at most TQ_CHANNEL_FDS). */
unsigned tq_channel_fds_locked(struct tq_channel *channel, struct pollfd *fds);
/* Whether something waits that no descriptor will announce any more: ask last thing before sleeping. */
bool tq_channel_ready_locked(struct tq_channel *channel);
/* The poller leaves: the next takes its place. */
void tq_channel_hand_over_locked(struct tq_channel *channel);
/* Sleeps on the channel as its CALLER until something happens or the core's next deadline; unlocks meanwhile. */
void tq_channel_sleep_locked(struct tq_channel *channel);

#endif

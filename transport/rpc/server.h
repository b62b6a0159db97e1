/* transport/rpc/server.h: the shell around the server core: the ROUTER, the loop thread, the mailbox.
 * Owns: all three. Threads: fields are the loop's, except where noted; before start they are the opener's. */
#ifndef TQ_RPC_SERVER_H
#define TQ_RPC_SERVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "transport/base/mailbox.h"
#include "transport/rpc/listen.h"
#include "transport/rpc/outbox.h"
#include "transport/rpc/runtime.h"
#include "transport/rpc/server_core.h"
#include "transport/rpc/server_timers.h"

struct tq_server {
    struct tq_runtime *runtime; /* fixed */
    const struct tq_seam *seam; /* fixed */
    char address[TQ_ADDRESS_BYTES], *advertised;
    void *router;
    int router_fd;
    struct tq_server_core core;
    struct tq_server_timers timers;
    struct tq_outbox outbox;
    struct tq_mailbox mailbox; /* any thread */
    void (*session_ended)(void *user, uint64_t session);
    void *session_ended_user;

    pthread_t thread;
    bool started;
    atomic_bool stopping;   /* any thread */
    atomic_uint holds;      /* the opener's, and one of each orphan */
    pthread_mutex_t lock;   /* orphans; the conversation with whoever waits */
    pthread_cond_t changed; /* under lock: drained, or a question was answered */
    bool drained;           /* under lock */
};

/* The server whose loop this thread is, or NULL. */
struct tq_server *tq_server_here(void);
void tq_server_drop(struct tq_server *server);
/* The loop: returns when stopping is set and what was under way has ended. */
void *tq_server_run(void *server);

#endif

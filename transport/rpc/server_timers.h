/* transport/rpc/server_timers.h: the timers that handlers arm on a server's loop: a binary heap of the application's
 * own structs. Owns: its array, not the timers. Threads: loop thread. */
#ifndef TQ_RPC_SERVER_TIMERS_H
#define TQ_RPC_SERVER_TIMERS_H

#include "tq/rpc.h"
#include "transport/base/seam.h"

struct tq_server_timers {
    const struct tq_seam *seam;
    struct tq_server_timer **heap;
    size_t count, capacity;
};

void tq_server_timers_fini(struct tq_server_timers *timers);
TQ_MUST_CHECK bool tq_server_timers_set(struct tq_server_timers *timers, struct tq_server_timer *timer, int64_t due_ns);
void tq_server_timers_remove(struct tq_server_timers *timers, struct tq_server_timer *timer);
/* Fires what is due at `now_ns`; what is armed meanwhile waits for the next turn. */
void tq_server_timers_fire(struct tq_server_timers *timers, int64_t now_ns);
int64_t tq_server_timers_next_ns(const struct tq_server_timers *timers);

#endif

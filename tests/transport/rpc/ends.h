/* tests/transport/rpc/ends.h: counts the ends of asynchronous calls and lets a test wait for them.
 * Owns: nothing. Threads: any. */
#ifndef TESTS_TRANSPORT_RPC_ENDS_H
#define TESTS_TRANSPORT_RPC_ENDS_H

#include <pthread.h>

#include "tq/rpc.h"

struct ends {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned ended, by_status[17]; /* under lock */
    int64_t last_ns;               /* under lock */
};

void ends_init(struct ends *ends);
/* The callback; user is the struct ends. */
void ends_count(void *user, struct tq_reply *reply);
/* Asserts that at least `n` calls have ended within `timeout_ms`. */
void ends_wait(struct ends *ends, unsigned n, int64_t timeout_ms);

#endif

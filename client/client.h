/* client/client.h: what the operations of one client share: channels, bulk runtime, receive buffers, counters.
 * Owns: all of it. Threads: any; `stats` is under `lock`, the rest is fixed after open or locks itself. */
#ifndef TQ_CLIENT_CLIENT_H
#define TQ_CLIENT_CLIENT_H

#include <pthread.h>

#include "client/buffers.h"
#include "client/undo.h"
#include "client/units.h"
#include "tq/client.h"
#include "tq/rpc.h"

struct tq_client {
    struct tq_runtime *runtime;
    struct tq_channel *controller;
    struct tq_bulk *bulk;
    struct tq_units units;
    struct tq_buffers buffers;
    struct tq_undos undos;
    uint32_t timeout_ms;
    pthread_mutex_t lock;
    struct tq_client_stats stats; /* under lock */
};

/* The absolute deadline of an operation. */
int64_t tq_op_deadline_ns(const struct tq_client *client, const struct tq_op_opts *opts);
/* Adds every counter of `more`. */
void tq_client_count(struct tq_client *client, const struct tq_client_stats *more);
void tq_client_count_calls(struct tq_client *client, uint64_t calls);

/* Puts "what: " in front of the message of an error that is passed on. NULL err is allowed. */
void tq_error_prefix(struct tq_error *err, const char *format, ...) TQ_PRINTF(2, 3);
/* Copies a reply's error to *err (NULL allowed), drops the reply, returns the status. */
tq_status tq_reply_fail(struct tq_reply *reply, struct tq_error *err);

#endif

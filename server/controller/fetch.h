/* server/controller/fetch.h: handing out batches, now or as soon as a change makes it possible.
 *
 * A fetch is served when its sampler can supply the whole batch. In a sealed partition of which everything that the
 * task has left is ready, it is served with the remainder, then ends with OUT_OF_RANGE. Otherwise it is short: it is
 * parked until its due time. Samples that are inserted and not ready keep a sealed partition open: they may still come.
 *
 * Parked fetches are looked at first come first served by every notify, seal, clear, reset or return of a unit that
 * could serve them; one that is still short is passed over, so that a large batch does not stop smaller ones. A fetch
 * may wait for a partition or for fields that do not exist yet.
 * Owns: a waiter is the caller's memory; between tq_fetch_start and its end it is linked here. Threads: the
 * controller's. Reads no clock. */
#ifndef TQ_CONTROLLER_FETCH_H
#define TQ_CONTROLLER_FETCH_H

#include "server/controller/sampler.h"
#include "transport/base/heap.h"

struct tq_table;

/* What is asked for, validated. The texts are borrowed until the waiter has ended. */
struct tq_want {
    const char *partition, *task;
    char *const *fields; /* distinct */
    uint32_t n_fields;
    uint32_t batch_size;
    const struct tq_sampler *sampler;
    uint32_t group_size;
    bool replacement; /* do not mark what is handed out */
    bool polling;     /* short at the due time is an empty success */
};

enum tq_waiter_state { TQ_WAITER_IDLE, TQ_WAITER_PARKED, TQ_WAITER_DONE, TQ_WAITER_STATES };

/* IDLE -> PARKED -> DONE -> IDLE; a fetch that is served at once goes from IDLE to DONE. */
struct tq_waiter {
    struct tq_want want;
    enum tq_waiter_state state;
    struct tq_partition *partition;
    struct tq_feed *feed; /* NULL: not all fields are registered yet */
    struct tq_list in_partition, in_feed, in_done;
    struct tq_heap_node due;
    uint64_t order;
    /* The result, when DONE. Slots are valid until the table changes. */
    struct tq_error error;
    uint32_t *slots;
    uint32_t n;
    bool remainder;
};

/* Zeroed memory and waiter->want are the caller's part. Ends at once when the batch can be served, when there is an
 * error, or when due_ns <= now_ns; else parks. DONE waiters come out of tq_fetch_take_done, in order of their end. */
void tq_fetch_start(struct tq_table *table, struct tq_waiter *waiter, int64_t now_ns, int64_t due_ns);
/* The next one that has ended, IDLE again with its result; NULL when there is none. tq_waiter_fini it after use. */
struct tq_waiter *tq_fetch_take_done(struct tq_table *table);
/* Nobody waits any more: IDLE again, wherever it was. What it was handed out in the meantime stays consumed. */
void tq_fetch_cancel(struct tq_table *table, struct tq_waiter *waiter);
/* The batch that an ended fetch got could not be delivered: others may have it. The table has not changed since. */
void tq_fetch_undo(struct tq_table *table, struct tq_waiter *waiter);
void tq_waiter_fini(struct tq_table *table, struct tq_waiter *waiter);

/* Ends those that are due. */
void tq_fetch_expire(struct tq_table *table, int64_t now_ns);
/* INT64_MAX: nobody waits. */
int64_t tq_fetch_next_due_ns(const struct tq_table *table);

/* To be called after every change of the partition that can serve a waiter: new cells, seal, clear, reset. */
void tq_fetch_wake(struct tq_table *table, struct tq_partition *partition);
/* The same after new fields were registered. */
void tq_fetch_bind(struct tq_table *table, struct tq_partition *partition);
/* The partition goes away: its waiters move to `heir`, a shell, or end with OUT_OF_RANGE when it was sealed. */
void tq_fetch_inherit(struct tq_table *table, struct tq_partition *partition, struct tq_partition *heir);

#endif

/* client/units.h: channels to storage units, one for each life of a unit, opened when first needed.
 * Owns: the channels. A unit that came back with another epoch or address gets a new channel; the old one closes when
 * its last user drops it. Threads: any. */
#ifndef TQ_CLIENT_UNITS_H
#define TQ_CLIENT_UNITS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "client/meta.h"
#include "tq/rpc.h"

struct tq_unit {
    uint32_t number;
    uint64_t epoch;
    struct tq_channel *channel;
    atomic_uint far_parts; /* so many parts of puts are not staged: it did not read our arenas like memory */
    unsigned holds;        /* under the lock of units; the list itself is one holder */
    struct tq_unit *next;  /* under the lock */
};

struct tq_units {
    struct tq_runtime *runtime;
    uint32_t sockets;
    pthread_mutex_t lock;
    struct tq_unit *list; /* under lock */
};

void tq_units_init(struct tq_units *units, struct tq_runtime *runtime, uint32_t sockets);
/* Every unit must have been dropped. */
void tq_units_fini(struct tq_units *units);

/* The unit as `info` tells it. Fails with UNAVAILABLE (no address), INVALID_ARGUMENT, RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_units_hold(struct tq_units *units, const struct tq_unit_info *info,
                                      struct tq_unit **out_unit, struct tq_error *err);
void tq_units_drop(struct tq_units *units, struct tq_unit *unit); /* NULL is allowed */

#endif

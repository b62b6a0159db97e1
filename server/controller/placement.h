/* server/controller/placement.h: which unit gets a new sample.
 *   least loaded  Every unit that serves and has room gets samples in proportion to a weight between 1 and 2, which
 *                 grows with the free part of its budget above that of the fullest unit. So an empty unit that joins
 *                 full ones gets at most twice the share of another: load evens out without all puts going to one
 * place. hash          index modulo the serving units, in the order of their numbers. local first   `near` while it
 * serves and has room, the rest as least loaded. The samples of one request go to each unit as one run, so that a dense
 * column is moved by few transfers. Owns: nothing. Threads: the controller's. */
#ifndef TQ_CONTROLLER_PLACEMENT_H
#define TQ_CONTROLLER_PLACEMENT_H

#include "server/controller/unit.h"

/* The numbers of tq.v1.PlacementPolicy. */
enum tq_placement { TQ_PLACE_DEFAULT = 0, TQ_PLACE_LEAST_LOADED = 1, TQ_PLACE_HASH = 2, TQ_PLACE_LOCAL_FIRST = 3 };

struct tq_place {
    enum tq_placement policy;
    uint32_t near;         /* with local first */
    uint32_t n;            /* samples */
    uint32_t chunk;        /* consecutive samples that stay together (a group); divides n */
    uint64_t sample_bytes; /* expected; 0: not known */
};

/* Fills out_runs[number - 1] for every unit with how many samples it gets (hash: all 0; the index decides, see
 * tq_place_by_index). Fails with UNAVAILABLE, NO_UNIT when no unit serves; RESOURCE_EXHAUSTED, BUDGET when none has
 * room; INVALID_ARGUMENT for `near`. */
TQ_MUST_CHECK tq_status tq_place(struct tq_units *units, const struct tq_place *place, uint32_t *out_runs,
                                 struct tq_error *err);
/* The unit of an index under the policy hash, after tq_place said OK. */
uint32_t tq_place_by_index(const struct tq_units *units, uint64_t index);

#endif

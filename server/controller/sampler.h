/* server/controller/sampler.h: how a batch is chosen among the samples that a task can have. A sampler is a small table
 * of functions without state of its own: all it needs to know is kept up to date in the feed.
 * Owns: nothing. Threads: the controller's. */
#ifndef TQ_CONTROLLER_SAMPLER_H
#define TQ_CONTROLLER_SAMPLER_H

#include <stdint.h>

#include "server/controller/feed.h"

struct tq_sampler {
    const char *name;
    bool grouped; /* needs a feed with a group size */
    /* Whether the sizes go together. Fails with INVALID_ARGUMENT. */
    tq_status (*check)(uint32_t batch_size, uint32_t group_size, struct tq_error *err);
    /* How many samples it could hand out now. */
    uint64_t (*supply)(const struct tq_feed *feed);
    /* Chooses n <= supply samples (a whole number of groups). Does not change the feed. */
    void (*choose)(const struct tq_feed *feed, uint32_t n, uint32_t *out_slots);
};

/* The oldest samples first, in the order of insertion. */
extern const struct tq_sampler tq_sampler_sequential;
/* Only whole groups, that with the oldest available member first: group_size available members of each, by age, or
 * several times as many. Samples without a group and groups with fewer members are never chosen. */
extern const struct tq_sampler tq_sampler_group_n;

/* NULL or "": sequential. Fails with UNIMPLEMENTED for those that are to come, INVALID_ARGUMENT for unknown names. */
TQ_MUST_CHECK tq_status tq_sampler_find(const char *name, const struct tq_sampler **out_sampler, struct tq_error *err);

#endif

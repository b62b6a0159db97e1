/* client/samples_wire.h: lists of samples and their tags between metas and messages.
 * Owns: nothing; results live in the arena that was passed. Threads: one at a time. */
#ifndef TQ_CLIENT_SAMPLES_WIRE_H
#define TQ_CLIENT_SAMPLES_WIRE_H

#include "client/meta.h"
#include "tq/v1/types.pb-c.h"

/* The samples at `positions` of the meta (NULL: 0, 1, ... n - 1), in that order. Consecutive indexes become one run,
 * equal generations one entry. NULL without memory. */
Tq__V1__Samples *tq_samples_to_wire(struct tq_arena *arena, const struct tq_meta *meta, const size_t *positions,
                                    size_t n);
/* Every one of `tags` for each of n samples. NULL without memory. Views of the tags. */
Tq__V1__Tags *tq_tags_to_wire(struct tq_arena *arena, const struct tq_tag *tags, size_t n_tags, size_t n);
/* How many numbers the runs stand for. Fails with INTERNAL (BAD_ANSWER) for unequal columns, runs that wrap, or more
 * than TQ_META_SAMPLES_MAX. NULL runs are none. */
TQ_MUST_CHECK tq_status tq_runs_count(const Tq__V1__IndexRuns *runs, size_t *out_n, struct tq_error *err);
/* A batch from the controller as a meta of our own. Fails with INTERNAL (BAD_ANSWER) when its columns disagree. */
TQ_MUST_CHECK tq_status tq_meta_from_wire(const Tq__V1__Batch *batch, struct tq_meta **out_meta, struct tq_error *err);

#endif

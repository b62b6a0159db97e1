/* server/controller/batch_out.h: samples of the table as a tq.v1.Batch, with columns as short as they can be (a column
 * of equal numbers is one number). Everything is put into an arena; texts are borrowed from the table, so the batch is
 * packed before the table changes.
 * Owns: nothing. Threads: the controller's. */
#ifndef TQ_CONTROLLER_BATCH_OUT_H
#define TQ_CONTROLLER_BATCH_OUT_H

#include "server/controller/table.h"
#include "tq/v1/types.pb-c.h"
#include "transport/base/arena.h"

struct tq_batch_wish {
    const char *partition;
    char *const *fields; /* in this order; NULL with n_fields 0: none */
    size_t n_fields;
    bool all_ready; /* it is known that all fields are ready */
    bool want_tags, want_keys;
};

/* NULL without memory. `partition` may be NULL when n is 0. */
Tq__V1__Batch *tq_batch_out(struct tq_arena *arena, const struct tq_table *table, const struct tq_partition *partition,
                            const uint32_t *slots, uint32_t n, const struct tq_batch_wish *wish);
/* Ascending or not, in this order. NULL without memory. */
Tq__V1__IndexRuns *tq_runs_out(struct tq_arena *arena, const uint64_t *indexes, size_t n);
/* Samples without units: of a release list. NULL without memory. */
Tq__V1__Samples *tq_samples_out(struct tq_arena *arena, const char *partition, const struct tq_sample_ref *refs,
                                uint32_t n);
/* What is known about a unit. NULL without memory. */
Tq__V1__Unit *tq_unit_out(struct tq_arena *arena, const struct tq_unit *unit);
/* Tags of rows; `sample` counts from 0 in the order of the slots. NULL without memory. */
Tq__V1__Tags *tq_tags_out(struct tq_arena *arena, const struct tq_partition *partition, const uint32_t *slots,
                          uint32_t n);

#endif

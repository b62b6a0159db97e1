/* server/storage/sample_runs.h: rows of the table as the Samples of a message: indexes in ascending runs, a generation
 * each. For what a unit tells about what it holds.
 * Owns: the arrays that the message points to. Threads: the loop's. */
#ifndef TQ_STORAGE_SAMPLE_RUNS_H
#define TQ_STORAGE_SAMPLE_RUNS_H

#include "server/storage/store.h"
#include "tq/v1/types.pb-c.h"

struct tq_sample_runs {
    Tq__V1__Samples message;
    Tq__V1__IndexRuns indexes;
};

/* Sorts `rows` (n of them, of one partition). Fails with RESOURCE_EXHAUSTED. Do not move it: the message points into
 * it. */
TQ_MUST_CHECK tq_status tq_sample_runs_open(const struct tq_store *store, struct tq_sample **rows, size_t n,
                                            struct tq_sample_runs *out_runs, struct tq_error *err);
void tq_sample_runs_close(const struct tq_store *store, struct tq_sample_runs *runs); /* zeroed is allowed */

/* Everything that is held, one entry a partition. */
struct tq_held {
    struct tq_sample_runs *runs;
    Tq__V1__Samples **messages;
    size_t count;
};
/* `only` NULL: all partitions. */
TQ_MUST_CHECK tq_status tq_held_open(const struct tq_store *store, const struct tq_shelf *only,
                                     struct tq_held *out_held, struct tq_error *err);
void tq_held_close(const struct tq_store *store, struct tq_held *held); /* zeroed is allowed */

#endif

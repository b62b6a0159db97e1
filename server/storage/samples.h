/* server/storage/samples.h: the Samples of a message, checked and written out: which index and generation each position
 * means; and back, from a list to runs.
 * Owns: its arrays. Threads: the loop's. */
#ifndef TQ_STORAGE_SAMPLES_H
#define TQ_STORAGE_SAMPLES_H

#include "server/storage/store.h"
#include "tq/v1/types.pb-c.h"

struct tq_sample_list {
    struct tq_named_samples named; /* its arrays are ours; the partition's name is the message's */
    uint64_t *index;
    uint32_t *generation;
};

struct tq_sample_rules {
    uint64_t max;     /* samples */
    bool may_be_none; /* no samples at all */
    bool distinct;    /* no index twice */
};

/* Fails with INVALID_ARGUMENT naming field and value; the list is zeroed then. */
TQ_MUST_CHECK tq_status tq_sample_list_open(const struct tq_store *store, const Tq__V1__Samples *samples,
                                            const struct tq_sample_rules *rules, struct tq_sample_list *out_list,
                                            struct tq_error *err);
void tq_sample_list_close(const struct tq_store *store, struct tq_sample_list *list); /* zeroed is allowed */

/* Checks the name of a partition or a field: 1 to limit bytes of UTF-8 without control characters. `what` names it in
 * the message. */
TQ_MUST_CHECK tq_status tq_name_check(const char *what, const char *name, uint64_t max_bytes, struct tq_error *err);

#endif

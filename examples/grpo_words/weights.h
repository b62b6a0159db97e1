/* weights.h: the policy's weights on their way from the trainer to those who draw with them.
 *
 * A version is a group of WEIGHTS_SHARDS samples in a partition of its own stream, each with a dense float32 row of
 * WEIGHTS_SHARD_FLOATS weights, its number and the version. Several samples, because a sample lies on one storage unit:
 * the shards spread over units, and so over engines.
 *
 * Owns: a publisher owns the metas of versions that are still kept. Threads: one. */
#ifndef GRPO_WORDS_WEIGHTS_H
#define GRPO_WORDS_WEIGHTS_H

#include "examples/grpo_words/policy.h"
#include "examples/grpo_words/worker.h"

/* Every version in turn, and the one that everything is compared with. */
#define WEIGHTS_PARTITION   "weights"
#define REFERENCE_PARTITION "reference"

enum {
    WEIGHTS_SHARDS = 4,
    WEIGHTS_SHARD_FLOATS = POLICY_WEIGHTS / WEIGHTS_SHARDS,
    WEIGHTS_KEPT = 3, /* versions; the oldest is cleared when another one is published */
};

_Static_assert(WEIGHTS_SHARD_FLOATS *WEIGHTS_SHARDS == POLICY_WEIGHTS, "shards are equal");

struct weights_publisher {
    const char *partition;
    struct tq_meta *kept[WEIGHTS_KEPT]; /* version v in slot v % WEIGHTS_KEPT */
};

/* Stores a version (0, 1, 2, ... in this order) and clears the one that is WEIGHTS_KEPT older. */
TQ_MUST_CHECK tq_status weights_publish(struct weights_publisher *publisher, struct worker *worker, int64_t version,
                                        const float weights[POLICY_WEIGHTS], struct tq_error *err);
/* Drops the metas; what is stored stays. */
void weights_publisher_fini(struct weights_publisher *publisher);

/* Waits for a version of the partition that this task has not had, skips to the newest one that is there, and copies
 * it. Fails with DATA_LOSS when shards are missing or of different versions. */
TQ_MUST_CHECK tq_status weights_receive(struct worker *worker, const char *partition, float weights[POLICY_WEIGHTS],
                                        int64_t *out_version, struct tq_error *err);

#endif

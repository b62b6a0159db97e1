/* samples.h: completions as columns that travel through tq, and back.
 *
 *   field                  layout            of a sample with L tokens
 *   prompt                 opaque            text/plain
 *   tokens                 jagged int32      [L]
 *   mask                   dense uint8       [COMPLETION_MAX]: 1 where there is a token
 *   logits                 jagged float32    [L, POLICY_VOCAB]
 *   log_probs              jagged float32    [L]
 *   version                dense int64       []: of the weights that drew it
 *   reward                 dense float32     []
 *   reference_log_probs    jagged float32    [L]
 *
 * Owns: a set owns its samples; a pack owns the memory that a batch points to. Threads: one. */
#ifndef GRPO_WORDS_SAMPLES_H
#define GRPO_WORDS_SAMPLES_H

#include "examples/grpo_words/completion.h"
#include "tq/client.h"

enum { SAMPLE_FIELDS = 8, SAMPLES_PARTITION_BYTES = 40 };

struct sample {
    struct completion completion;
    int64_t version;
    float reward;
    float reference_log_probs[COMPLETION_MAX];
};

struct samples {
    struct sample *rows;
    size_t count;
    size_t room;
};

/* The name of the partition that the samples of a step go through. */
void samples_partition(uint64_t step, char name[SAMPLES_PARTITION_BYTES]);

/* False when there is no memory; *samples may be closed in any case. */
bool samples_open(struct samples *samples, size_t room);
void samples_close(struct samples *samples);

/* Memory of columns. */
struct samples_pack;
/* For up to `room` samples. NULL when there is no memory. */
struct samples_pack *samples_pack_open(size_t room);
void samples_pack_close(struct samples_pack *pack); /* NULL is allowed */
/* The columns that rollout, reward and reference add. The batch is valid until the next use of `pack`. */
const struct tq_batch *samples_pack_rollout(struct samples_pack *pack, const struct samples *samples);
const struct tq_batch *samples_pack_reward(struct samples_pack *pack, const struct samples *samples);
const struct tq_batch *samples_pack_reference(struct samples_pack *pack, const struct samples *samples);

/* Fills rows with the columns that `batch` has. Prompt and tokens must be among them. Fails with DATA_LOSS naming
 * sample and field where a column is not of the kind above, a length disagrees with the tokens', a completion is
 * insane, or the log-probabilities are not those of the logits; with RESOURCE_EXHAUSTED when the batch has more than
 * `room` samples. */
TQ_MUST_CHECK tq_status samples_unpack(struct samples *samples, const struct tq_batch *batch, struct tq_error *err);

#endif

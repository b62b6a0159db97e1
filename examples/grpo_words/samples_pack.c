#include "examples/grpo_words/samples.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const DLDataType type_uint8 = { .code = kDLUInt, .bits = 8, .lanes = 1 };
static const DLDataType type_int32 = { .code = kDLInt, .bits = 32, .lanes = 1 };
static const DLDataType type_int64 = { .code = kDLInt, .bits = 64, .lanes = 1 };
static const DLDataType type_float32 = { .code = kDLFloat, .bits = 32, .lanes = 1 };

struct samples_pack {
    size_t room;
    uint8_t *prompts;
    int64_t *prompt_bytes; /* a sample */
    int32_t *tokens;
    int64_t *lengths; /* a sample, in tokens */
    uint8_t *masks;
    float *logits;
    int64_t *logit_sizes; /* two a sample */
    float *log_probs;     /* of the policy or of the reference: whichever is packed */
    int64_t *versions;
    float *rewards;
    int64_t shapes[SAMPLE_FIELDS][2];
    struct tq_column columns[SAMPLE_FIELDS];
    struct tq_batch batch;
};

void samples_partition(uint64_t step, char name[SAMPLES_PARTITION_BYTES])
{
    snprintf(name, SAMPLES_PARTITION_BYTES, "samples_%" PRIu64, step);
}

bool samples_open(struct samples *samples, size_t room)
{
    *samples = (struct samples){ .rows = calloc(room, sizeof(struct sample)), .room = room };
    return samples->rows != NULL;
}

void samples_close(struct samples *samples)
{
    free(samples->rows);
    *samples = (struct samples){ 0 };
}

struct samples_pack *samples_pack_open(size_t room)
{
    struct samples_pack *pack = calloc(1, sizeof(*pack));
    if (pack == NULL)
        return NULL;
    pack->room = room;
    pack->prompts = calloc(room, PROMPT_LONGEST);
    pack->prompt_bytes = calloc(room, sizeof(int64_t));
    pack->tokens = calloc(room * COMPLETION_MAX, sizeof(int32_t));
    pack->lengths = calloc(room, sizeof(int64_t));
    pack->masks = calloc(room, COMPLETION_MAX);
    pack->logits = calloc(room * COMPLETION_MAX * POLICY_VOCAB, sizeof(float));
    pack->logit_sizes = calloc(room * 2, sizeof(int64_t));
    pack->log_probs = calloc(room * COMPLETION_MAX, sizeof(float));
    pack->versions = calloc(room, sizeof(int64_t));
    pack->rewards = calloc(room, sizeof(float));
    if (pack->prompts == NULL || pack->prompt_bytes == NULL || pack->tokens == NULL || pack->lengths == NULL ||
        pack->masks == NULL || pack->logits == NULL || pack->logit_sizes == NULL || pack->log_probs == NULL ||
        pack->versions == NULL || pack->rewards == NULL) {
        samples_pack_close(pack);
        return NULL;
    }
    return pack;
}

void samples_pack_close(struct samples_pack *pack)
{
    if (pack == NULL)
        return;
    free(pack->prompts);
    free(pack->prompt_bytes);
    free(pack->tokens);
    free(pack->lengths);
    free(pack->masks);
    free(pack->logits);
    free(pack->logit_sizes);
    free(pack->log_probs);
    free(pack->versions);
    free(pack->rewards);
    free(pack);
}

static void batch_begin(struct samples_pack *pack, const struct samples *samples)
{
    assert(samples->count > 0 && samples->count <= pack->room);
    pack->batch = (struct tq_batch){ .n_samples = samples->count, .columns = pack->columns };
}

/* Adds a column whose values have the shape [first] or, where `second` is not zero, [first, second]. */
static struct tq_column *column_add(struct samples_pack *pack, const char *name, enum tq_layout layout, void *values,
                                    DLDataType type, int64_t first, int64_t second)
{
    const size_t at = pack->batch.n_columns++;
    pack->shapes[at][0] = first;
    pack->shapes[at][1] = second;
    pack->columns[at] = (struct tq_column){
        .name = name,
        .layout = layout,
        .values = { .data = values,
                    .device = { .device_type = kDLCPU },
                    .ndim = second != 0 ? 2 : 1,
                    .dtype = type,
                    .shape = pack->shapes[at] },
    };
    return &pack->columns[at];
}

static void jagged_add(struct samples_pack *pack, const char *name, void *values, DLDataType type, int64_t total,
                       uint32_t rank, const int64_t *sizes)
{
    struct tq_column *column = column_add(pack, name, TQ_JAGGED, values, type, total, 0);
    column->rank = rank;
    column->sizes = sizes;
}

static void prompts_add(struct samples_pack *pack, const struct samples *samples)
{
    size_t total = 0;
    for (size_t i = 0; i < samples->count; i++) {
        const struct completion *completion = &samples->rows[i].completion;
        memcpy(pack->prompts + total, completion->prompt, completion->prompt_length);
        pack->prompt_bytes[i] = completion->prompt_length;
        total += completion->prompt_length;
    }
    struct tq_column *column = column_add(pack, "prompt", TQ_OPAQUE, pack->prompts, type_uint8, (int64_t)total, 0);
    column->rank = 1;
    column->sizes = pack->prompt_bytes;
    column->content_type = "text/plain";
}

static void drawn_add(struct samples_pack *pack, const struct samples *samples)
{
    size_t total = 0;
    for (size_t i = 0; i < samples->count; i++) {
        const struct completion *completion = &samples->rows[i].completion;
        const size_t length = completion->length;
        memcpy(pack->tokens + total, completion->tokens, length * sizeof(int32_t));
        memcpy(pack->log_probs + total, completion->log_probs, length * sizeof(float));
        memcpy(pack->logits + total * POLICY_VOCAB, completion->logits, length * sizeof(completion->logits[0]));
        for (size_t at = 0; at < COMPLETION_MAX; at++)
            pack->masks[i * COMPLETION_MAX + at] = at < length;
        pack->lengths[i] = (int64_t)length;
        pack->logit_sizes[2 * i] = (int64_t)length;
        pack->logit_sizes[2 * i + 1] = POLICY_VOCAB;
        pack->versions[i] = samples->rows[i].version;
        total += length;
    }
    const int64_t count = (int64_t)samples->count;
    jagged_add(pack, "tokens", pack->tokens, type_int32, (int64_t)total, 1, pack->lengths);
    column_add(pack, "mask", TQ_DENSE, pack->masks, type_uint8, count, COMPLETION_MAX);
    jagged_add(pack, "logits", pack->logits, type_float32, (int64_t)total * POLICY_VOCAB, 2, pack->logit_sizes);
    jagged_add(pack, "log_probs", pack->log_probs, type_float32, (int64_t)total, 1, pack->lengths);
    column_add(pack, "version", TQ_DENSE, pack->versions, type_int64, count, 0);
}

const struct tq_batch *samples_pack_rollout(struct samples_pack *pack, const struct samples *samples)
{
    batch_begin(pack, samples);
    prompts_add(pack, samples);
    drawn_add(pack, samples);
    return &pack->batch;
}

const struct tq_batch *samples_pack_reward(struct samples_pack *pack, const struct samples *samples)
{
    batch_begin(pack, samples);
    for (size_t i = 0; i < samples->count; i++)
        pack->rewards[i] = samples->rows[i].reward;
    column_add(pack, "reward", TQ_DENSE, pack->rewards, type_float32, (int64_t)samples->count, 0);
    return &pack->batch;
}

const struct tq_batch *samples_pack_reference(struct samples_pack *pack, const struct samples *samples)
{
    batch_begin(pack, samples);
    size_t total = 0;
    for (size_t i = 0; i < samples->count; i++) {
        const size_t length = samples->rows[i].completion.length;
        memcpy(pack->log_probs + total, samples->rows[i].reference_log_probs, length * sizeof(float));
        pack->lengths[i] = (int64_t)length;
        total += length;
    }
    jagged_add(pack, "reference_log_probs", pack->log_probs, type_float32, (int64_t)total, 1, pack->lengths);
    return &pack->batch;
}

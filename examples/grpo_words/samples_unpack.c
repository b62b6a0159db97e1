#include "examples/grpo_words/samples.h"

#include <math.h>
#include <string.h>

/* Float sums in another order may differ by this much. */
static const double log_prob_tolerance = 1e-4;

/* What a column must be, and where a sample's elements go. */
struct field {
    const char *name;
    enum tq_layout layout;
    DLDataType type;
    size_t element_bytes;
    size_t per_token; /* jagged: elements a token */
    size_t elements;  /* dense: elements a sample */
    size_t offset;    /* in struct sample */
    bool is_mask;     /* compared with the tokens instead of kept */
};

#define INTO(member) offsetof(struct sample, member)
static const struct field fields[] = {
    { "mask", TQ_DENSE, { kDLUInt, 8, 1 }, 1, 0, COMPLETION_MAX, 0, true },
    { "logits", TQ_JAGGED, { kDLFloat, 32, 1 }, 4, POLICY_VOCAB, 0, INTO(completion.logits), false },
    { "log_probs", TQ_JAGGED, { kDLFloat, 32, 1 }, 4, 1, 0, INTO(completion.log_probs), false },
    { "version", TQ_DENSE, { kDLInt, 64, 1 }, 8, 0, 1, INTO(version), false },
    { "reward", TQ_DENSE, { kDLFloat, 32, 1 }, 4, 0, 1, INTO(reward), false },
    { "reference_log_probs", TQ_JAGGED, { kDLFloat, 32, 1 }, 4, 1, 0, INTO(reference_log_probs), false },
};

static const struct tq_column *column_find(const struct tq_batch *batch, const char *name)
{
    for (size_t i = 0; i < batch->n_columns; i++)
        if (strcmp(batch->columns[i].name, name) == 0)
            return &batch->columns[i];
    return NULL;
}

static tq_status column_check(const struct tq_column *column, const char *name, enum tq_layout layout, DLDataType type,
                              struct tq_error *err)
{
    if (column == NULL)
        return tq_fail(err, TQ_DATA_LOSS, NULL, "field %s is missing", name);
    const DLDataType is = column->values.dtype;
    if (column->layout == layout && is.code == type.code && is.bits == type.bits && is.lanes == 1)
        return TQ_OK;
    return tq_fail(err, TQ_DATA_LOSS, NULL, "field %s: layout %d, type code %d of %d bits: expected %d, %d, %d", name,
                   (int)column->layout, is.code, is.bits, (int)layout, type.code, type.bits);
}

/* Prompt and tokens decide how long everything else must be, so they come first. */
static tq_status unpack_text(struct samples *samples, const struct tq_batch *batch, struct tq_error *err)
{
    const struct tq_column *prompts = column_find(batch, "prompt");
    const struct tq_column *tokens = column_find(batch, "tokens");
    tq_status status = column_check(prompts, "prompt", TQ_OPAQUE, (DLDataType){ kDLUInt, 8, 1 }, err);
    if (status == TQ_OK)
        status = column_check(tokens, "tokens", TQ_JAGGED, (DLDataType){ kDLInt, 32, 1 }, err);
    const char *prompt = status == TQ_OK ? (const char *)prompts->values.data + prompts->values.byte_offset : NULL;
    const uint8_t *token = status == TQ_OK ? (const uint8_t *)tokens->values.data + tokens->values.byte_offset : NULL;
    for (size_t i = 0; status == TQ_OK && i < batch->n_samples; i++) {
        struct completion *completion = &samples->rows[i].completion;
        const int64_t letters = prompts->sizes[i];
        const int64_t length = tokens->sizes[i];
        if (tokens->rank != 1 || letters < 0 || letters > PROMPT_LONGEST || length < 0 || length > COMPLETION_MAX)
            return tq_fail(err, TQ_DATA_LOSS, NULL, "sample %zu: prompt of %lld letters, %lld tokens", i,
                           (long long)letters, (long long)length);
        completion->prompt_length = (uint32_t)letters;
        completion->length = (uint32_t)length;
        memcpy(completion->prompt, prompt, (size_t)letters);
        memcpy(completion->tokens, token, (size_t)length * sizeof(int32_t));
        prompt += letters;
        token += (size_t)length * sizeof(int32_t);
        if (!completion_is_sane(completion))
            return tq_fail(err, TQ_DATA_LOSS, NULL, "sample %zu: prompt or tokens are none of ours", i);
    }
    return status;
}

/* How many elements sample i has, by the column; SIZE_MAX where its shape is none that fits the tokens. */
static size_t elements_of(const struct field *field, const struct tq_column *column, size_t i, size_t tokens)
{
    if (field->layout == TQ_DENSE) {
        int64_t elements = 1;
        for (int32_t axis = 1; axis < column->values.ndim; axis++)
            elements *= column->values.shape[axis];
        return (size_t)elements == field->elements ? field->elements : SIZE_MAX;
    }
    const uint32_t rank = field->per_token == 1 ? 1 : 2;
    if (column->rank != rank || column->sizes[i * rank] != (int64_t)tokens)
        return SIZE_MAX;
    if (rank == 2 && column->sizes[i * rank + 1] != (int64_t)field->per_token)
        return SIZE_MAX;
    return tokens * field->per_token;
}

static bool mask_fits(const uint8_t *mask, size_t tokens)
{
    for (size_t at = 0; at < COMPLETION_MAX; at++)
        if (mask[at] != (at < tokens ? 1 : 0))
            return false;
    return true;
}

static tq_status unpack_field(struct samples *samples, const struct field *field, const struct tq_column *column,
                              struct tq_error *err)
{
    tq_status status = column_check(column, field->name, field->layout, field->type, err);
    if (status != TQ_OK)
        return status;
    const uint8_t *from = (const uint8_t *)column->values.data + column->values.byte_offset;
    for (size_t i = 0; i < samples->count; i++) {
        struct sample *sample = &samples->rows[i];
        const size_t elements = elements_of(field, column, i, sample->completion.length);
        if (elements == SIZE_MAX)
            return tq_fail(err, TQ_DATA_LOSS, NULL, "sample %zu: field %s does not have the shape of its %u tokens", i,
                           field->name, sample->completion.length);
        if (!field->is_mask)
            memcpy((char *)sample + field->offset, from, elements * field->element_bytes);
        else if (!mask_fits(from, sample->completion.length))
            return tq_fail(err, TQ_DATA_LOSS, NULL, "sample %zu: the mask is not that of its tokens", i);
        from += elements * field->element_bytes;
    }
    return TQ_OK;
}

/* The numbers went through four processes: the log-probabilities must still be those of the logits. */
static tq_status check_log_probs(const struct samples *samples, struct tq_error *err)
{
    for (size_t i = 0; i < samples->count; i++) {
        const struct completion *completion = &samples->rows[i].completion;
        for (uint32_t at = 0; at < completion->length; at++) {
            double log_probs[POLICY_VOCAB];
            policy_log_softmax(completion->logits[at], log_probs);
            const double expected = log_probs[completion->tokens[at]];
            if (!(fabs(expected - completion->log_probs[at]) < log_prob_tolerance))
                return tq_fail(err, TQ_DATA_LOSS, NULL,
                               "sample %zu, token %u: log-probability %g: expected %g by its logits", i, at,
                               (double)completion->log_probs[at], expected);
        }
    }
    return TQ_OK;
}

static tq_status check_finite(const struct samples *samples, struct tq_error *err)
{
    for (size_t i = 0; i < samples->count; i++) {
        const struct sample *sample = &samples->rows[i];
        bool fine = isfinite(sample->reward);
        for (uint32_t at = 0; at < sample->completion.length; at++)
            fine = fine && isfinite(sample->reference_log_probs[at]);
        if (!fine)
            return tq_fail(err, TQ_DATA_LOSS, NULL, "sample %zu: reward or reference is not a finite number", i);
    }
    return TQ_OK;
}

tq_status samples_unpack(struct samples *samples, const struct tq_batch *batch, struct tq_error *err)
{
    if (batch->n_samples > samples->room)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "%zu samples: expected at most %zu", batch->n_samples,
                       samples->room);
    memset(samples->rows, 0, batch->n_samples * sizeof(*samples->rows));
    samples->count = batch->n_samples;
    tq_status status = unpack_text(samples, batch, err);
    for (size_t f = 0; status == TQ_OK && f < sizeof(fields) / sizeof(*fields); f++) {
        const struct tq_column *column = column_find(batch, fields[f].name);
        if (column != NULL)
            status = unpack_field(samples, &fields[f], column, err);
    }
    if (status == TQ_OK && column_find(batch, "logits") != NULL && column_find(batch, "log_probs") != NULL)
        status = check_log_probs(samples, err);
    return status == TQ_OK ? check_finite(samples, err) : status;
}

#include "examples/grpo_words/samples.h"
#include "examples/grpo_words/weights.h"
#include "examples/grpo_words/workers.h"

#include <stdlib.h>
#include <string.h>

struct rollout {
    struct worker *worker;
    struct vocabulary *words;
    struct dice dice;
    float *weights;
    int64_t version;        /* of the weights; -1: none yet */
    struct samples samples; /* a chunk */
    struct samples_pack *pack;
};

static tq_status rollout_open(struct rollout *rollout, struct worker *worker, struct tq_error *err)
{
    const size_t chunk = settings_chunk_samples(worker->settings);
    char why[TQ_MESSAGE_MAX];
    *rollout = (struct rollout){ .worker = worker, .version = -1 };
    dice_init(&rollout->dice, worker->settings->seed);
    if (!vocabulary_open(worker->settings->words, &rollout->words, why, sizeof(why)))
        return tq_fail(err, TQ_NOT_FOUND, NULL, "%s", why);
    rollout->weights = malloc(POLICY_WEIGHTS * sizeof(float));
    rollout->pack = samples_pack_open(chunk);
    if (!samples_open(&rollout->samples, chunk) || rollout->weights == NULL || rollout->pack == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "no memory for a chunk of %zu samples", chunk);
    return TQ_OK;
}

static void rollout_close(struct rollout *rollout)
{
    vocabulary_close(rollout->words);
    free(rollout->weights);
    samples_pack_close(rollout->pack);
    samples_close(&rollout->samples);
}

/* Step s may be drawn with weights of version s - staleness or newer. */
static tq_status wait_for_weights(struct rollout *rollout, uint64_t step, struct tq_error *err)
{
    const int64_t oldest = (int64_t)step - (int64_t)rollout->worker->settings->staleness;
    tq_status status = TQ_OK;
    while (status == TQ_OK && (rollout->version < 0 || rollout->version < oldest))
        status = weights_receive(rollout->worker, WEIGHTS_PARTITION, rollout->weights, &rollout->version, err);
    return status;
}

static void draw_group(struct rollout *rollout)
{
    const struct settings *settings = rollout->worker->settings;
    char prompt[PROMPT_LONGEST];
    const size_t length = vocabulary_draw_prompt(rollout->words, &rollout->dice, prompt);
    for (uint64_t i = 0; i < settings->group_size; i++) {
        struct sample *sample = &rollout->samples.rows[rollout->samples.count++];
        *sample = (struct sample){ .version = rollout->version };
        memcpy(sample->completion.prompt, prompt, length);
        sample->completion.prompt_length = (uint32_t)length;
        completion_draw(&sample->completion, rollout->weights, (float)settings->temperature, &rollout->dice);
    }
}

static tq_status put_chunk(struct rollout *rollout, const char *partition, struct tq_error *err)
{
    const struct settings *settings = rollout->worker->settings;
    const struct tq_insert insert = {
        .partition = partition,
        .group_size = (uint32_t)settings->group_size,
    };
    rollout->samples.count = 0;
    for (uint64_t group = 0; group < settings->chunk; group++)
        draw_group(rollout);
    struct tq_meta *meta = NULL;
    const tq_status status = worker_put(rollout->worker, WORKER_put, &insert,
                                        samples_pack_rollout(rollout->pack, &rollout->samples), &meta, err);
    tq_meta_drop(meta);
    return status;
}

static tq_status roll_out_step(struct rollout *rollout, uint64_t step, struct tq_error *err)
{
    char partition[SAMPLES_PARTITION_BYTES];
    samples_partition(step, partition);
    tq_status status = wait_for_weights(rollout, step, err);
    for (size_t i = 0; status == TQ_OK && i < settings_step_chunks(rollout->worker->settings); i++)
        status = put_chunk(rollout, partition, err);
    return status == TQ_OK ? tq_client_seal(rollout->worker->client, partition, NULL, err) : status;
}

tq_status rollout_run(struct worker *worker, struct tq_error *err)
{
    struct rollout rollout;
    tq_status status = rollout_open(&rollout, worker, err);
    for (uint64_t step = 0; status == TQ_OK && step < worker->settings->steps; step++)
        status = roll_out_step(&rollout, step, err);
    rollout_close(&rollout);
    return status;
}

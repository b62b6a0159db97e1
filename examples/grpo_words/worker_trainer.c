#include "examples/grpo_words/learner.h"
#include "examples/grpo_words/samples.h"
#include "examples/grpo_words/weights.h"
#include "examples/grpo_words/workers.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const reads[] = { "prompt",    "tokens",  "mask",   "logits",
                                     "log_probs", "version", "reward", "reference_log_probs" };

struct trainer {
    struct worker *worker;
    struct learner *learner;
    struct weights_publisher stream;
    struct weights_publisher reference;
    struct samples samples; /* a chunk */
    float *rewards;         /* of a group */
    float *advantages;
    double reward_sum; /* of the step, over completions */
    double lag_sum;    /* versions between drawing and learning */
    uint64_t step;
};

static tq_status trainer_open(struct trainer *trainer, struct worker *worker, struct tq_error *err)
{
    const struct settings *settings = worker->settings;
    const struct learner_opts opts = {
        .grpo = { .clip = settings->clip, .kl_weight = settings->kl_weight },
        .learning_rate = settings->learning_rate,
        .temperature = (float)settings->temperature,
    };
    *trainer = (struct trainer){
        .worker = worker,
        .stream = { .partition = WEIGHTS_PARTITION },
        .reference = { .partition = REFERENCE_PARTITION },
    };
    float *weights = malloc(POLICY_WEIGHTS * sizeof(*weights));
    if (weights != NULL) {
        policy_init(weights);
        trainer->learner = learner_open(&opts, weights);
        free(weights);
    }
    trainer->rewards = calloc((size_t)settings->group_size, sizeof(float));
    trainer->advantages = calloc((size_t)settings->group_size, sizeof(float));
    if (!samples_open(&trainer->samples, settings_chunk_samples(settings)) || trainer->learner == NULL ||
        trainer->rewards == NULL || trainer->advantages == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "no memory for policy and samples");
    return TQ_OK;
}

static void trainer_close(struct trainer *trainer)
{
    learner_close(trainer->learner);
    weights_publisher_fini(&trainer->stream);
    weights_publisher_fini(&trainer->reference);
    samples_close(&trainer->samples);
    free(trainer->rewards);
    free(trainer->advantages);
}

static void learn_group(struct trainer *trainer, const struct sample *group)
{
    const size_t size = (size_t)trainer->worker->settings->group_size;
    for (size_t i = 0; i < size; i++) {
        trainer->rewards[i] = group[i].reward;
        trainer->reward_sum += (double)group[i].reward;
        trainer->lag_sum += (double)((int64_t)trainer->step - group[i].version);
    }
    grpo_advantages(trainer->rewards, size, trainer->advantages);
    for (size_t i = 0; i < size; i++)
        learner_add(trainer->learner, &group[i].completion, group[i].reference_log_probs, trainer->advantages[i]);
}

/* The sampler promises whole groups, one after the other. */
static tq_status check_groups(const struct tq_meta *meta, size_t size, struct tq_error *err)
{
    for (size_t i = 0; i < tq_meta_count(meta); i++)
        if (tq_meta_group(meta, i) != tq_meta_group(meta, i - i % size) || tq_meta_group(meta, i) == 0)
            return tq_fail(err, TQ_INTERNAL, NULL,
                           "row %zu of a batch of groups belongs to group %" PRIu64 ": expected %" PRIu64, i,
                           tq_meta_group(meta, i), tq_meta_group(meta, i - i % size));
    return TQ_OK;
}

static tq_status learn_chunk(struct trainer *trainer, const struct tq_fetch *fetch, struct tq_error *err)
{
    const size_t size = (size_t)trainer->worker->settings->group_size;
    struct tq_meta *meta = NULL;
    struct tq_data *data = NULL;
    tq_status status = worker_fetch(trainer->worker, fetch, &meta, err);
    if (status == TQ_OK)
        status = check_groups(meta, size, err);
    if (status == TQ_OK)
        status = worker_get(trainer->worker, WORKER_get, meta, &data, err);
    if (status == TQ_OK)
        status = samples_unpack(&trainer->samples, tq_data_batch(data), err);
    for (size_t i = 0; status == TQ_OK && i + size <= trainer->samples.count; i += size)
        learn_group(trainer, &trainer->samples.rows[i]);
    tq_data_drop(data);
    tq_meta_drop(meta);
    return status;
}

/* The likeliest completion of a prompt: what the policy has learned, for people to read. */
static void print_likeliest(const struct trainer *trainer, const char *prompt)
{
    const float *weights = learner_weights(trainer->learner);
    uint8_t text[POLICY_TEXT_MAX];
    size_t length = 0;
    for (; prompt[length] != '\0'; length++)
        text[length] = (uint8_t)(prompt[length] - 'a');
    for (size_t added = 0; added < COMPLETION_MAX - 1; added++) {
        const struct policy_rows rows = policy_rows_for(text, length);
        float logits[POLICY_VOCAB];
        uint8_t best = 0;
        policy_logits(weights, &rows, 1, logits);
        for (uint8_t token = 1; token < POLICY_VOCAB; token++)
            best = logits[token] > logits[best] ? token : best;
        if (best == POLICY_END)
            break;
        text[length++] = best;
    }
    printf(" ");
    for (size_t i = 0; i < length; i++)
        putchar('a' + text[i]);
}

static void print_step(struct trainer *trainer, const struct learner_report *report)
{
    static const char *const prompts[] = { "th", "gr", "pl", "st" };
    const double completions = report->completions > 0 ? report->completions : 1;
    printf("step %" PRIu64 " %.6f %.6f %.6f %.3f", trainer->step, trainer->reward_sum / completions, report->kl,
           report->clipped, trainer->lag_sum / completions);
    for (size_t i = 0; i < sizeof(prompts) / sizeof(*prompts); i++)
        print_likeliest(trainer, prompts[i]);
    printf("\n");
    fflush(stdout);
    trainer->reward_sum = 0;
    trainer->lag_sum = 0;
}

/* After the last chunk of a sealed partition nothing may be left over: every sample was learned from once. */
static tq_status check_used_up(struct trainer *trainer, const struct tq_fetch *fetch, struct tq_error *err)
{
    struct tq_meta *meta = NULL;
    const tq_status status = worker_fetch(trainer->worker, fetch, &meta, err);
    const size_t left = meta != NULL ? tq_meta_count(meta) : 0;
    tq_meta_drop(meta);
    if (status == TQ_OK)
        return tq_fail(err, TQ_INTERNAL, NULL, "%s: %zu samples are left after the last chunk", fetch->partition, left);
    return status == TQ_OUT_OF_RANGE ? TQ_OK : status;
}

/* Learns from every sample of a step, as complete groups become ready, and clears them. */
static tq_status learn_samples(struct trainer *trainer, struct tq_error *err)
{
    const struct settings *settings = trainer->worker->settings;
    char partition[SAMPLES_PARTITION_BYTES];
    samples_partition(trainer->step, partition);
    const struct tq_fetch fetch = {
        .partition = partition,
        .task = trainer->worker->role,
        .fields = reads,
        .n_fields = sizeof(reads) / sizeof(*reads),
        .batch_size = (uint32_t)settings_chunk_samples(settings),
        .sampler = "group_n",
        .group_size = (uint32_t)settings->group_size,
    };
    tq_status status = TQ_OK;
    for (size_t i = 0; status == TQ_OK && i < settings_step_chunks(settings); i++)
        status = learn_chunk(trainer, &fetch, err);
    if (status == TQ_OK)
        status = check_used_up(trainer, &fetch, err);
    return status == TQ_OK ? worker_clear_partition(trainer->worker, partition, err) : status;
}

static tq_status train_step(struct trainer *trainer, struct tq_error *err)
{
    const tq_status status = learn_samples(trainer, err);
    if (status != TQ_OK)
        return status;
    const struct learner_report report = learner_step(trainer->learner);
    print_step(trainer, &report);
    trainer->step++;
    return weights_publish(&trainer->stream, trainer->worker, (int64_t)trainer->step, learner_weights(trainer->learner),
                           err);
}

tq_status trainer_run(struct worker *worker, struct tq_error *err)
{
    struct trainer trainer;
    tq_status status = trainer_open(&trainer, worker, err);
    if (status == TQ_OK)
        status = weights_publish(&trainer.reference, worker, 0, learner_weights(trainer.learner), err);
    if (status == TQ_OK)
        status = weights_publish(&trainer.stream, worker, 0, learner_weights(trainer.learner), err);
    while (status == TQ_OK && trainer.step < worker->settings->steps)
        status = train_step(&trainer, err);
    trainer_close(&trainer);
    return status;
}

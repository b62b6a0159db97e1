#include "examples/grpo_words/samples.h"
#include "examples/grpo_words/workers.h"

static const char *const reads[] = { "prompt", "tokens" };

/* One chunk of samples: get, judge, put back. */
static tq_status judge(struct worker *worker, struct tq_meta *meta, const struct vocabulary *words,
                       struct samples *samples, struct samples_pack *pack, struct tq_error *err)
{
    struct tq_data *data = NULL;
    tq_status status = worker_get(worker, WORKER_get, meta, &data, err);
    if (status == TQ_OK)
        status = samples_unpack(samples, tq_data_batch(data), err);
    tq_data_drop(data);
    if (status != TQ_OK)
        return status;
    for (size_t i = 0; i < samples->count; i++)
        samples->rows[i].reward = completion_reward(&samples->rows[i].completion, words);
    return worker_put_to(worker, meta, samples_pack_reward(pack, samples), err);
}

tq_status reward_run(struct worker *worker, struct tq_error *err)
{
    const size_t chunk = settings_chunk_samples(worker->settings);
    const struct tq_fetch fetch = {
        .partition = SAMPLES_PARTITION,
        .task = worker->role,
        .fields = reads,
        .n_fields = sizeof(reads) / sizeof(*reads),
        .batch_size = (uint32_t)chunk,
    };
    char why[TQ_MESSAGE_MAX];
    struct vocabulary *words = NULL;
    struct samples samples;
    struct samples_pack *pack = samples_pack_open(chunk);
    tq_status status = TQ_OK;
    if (!samples_open(&samples, chunk) || pack == NULL)
        status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "no memory for %zu samples", chunk);
    else if (!vocabulary_open(worker->settings->words, &words, why, sizeof(why)))
        status = tq_fail(err, TQ_NOT_FOUND, NULL, "%s", why);
    while (status == TQ_OK) {
        struct tq_meta *meta = NULL;
        status = worker_fetch(worker, &fetch, &meta, err);
        if (status == TQ_OK)
            status = judge(worker, meta, words, &samples, pack, err);
        tq_meta_drop(meta);
    }
    samples_pack_close(pack);
    samples_close(&samples);
    vocabulary_close(words);
    return status == TQ_OUT_OF_RANGE ? TQ_OK : status; /* sealed and used up: the end */
}

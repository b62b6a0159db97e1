#include "examples/grpo_words/samples.h"
#include "examples/grpo_words/weights.h"
#include "examples/grpo_words/workers.h"

#include <stdlib.h>

static const char *const reads[] = { "prompt", "tokens", "mask" };

static tq_status compare(struct worker *worker, struct tq_meta *meta, const float *weights, struct samples *samples,
                         struct samples_pack *pack, struct tq_error *err)
{
    struct tq_data *data = NULL;
    tq_status status = worker_get(worker, WORKER_get, meta, &data, err);
    if (status == TQ_OK)
        status = samples_unpack(samples, tq_data_batch(data), err);
    tq_data_drop(data);
    if (status != TQ_OK)
        return status;
    const float temperature = (float)worker->settings->temperature;
    for (size_t i = 0; i < samples->count; i++)
        completion_log_probs(&samples->rows[i].completion, weights, temperature, samples->rows[i].reference_log_probs);
    return worker_put_to(worker, meta, samples_pack_reference(pack, samples), err);
}

tq_status reference_run(struct worker *worker, struct tq_error *err)
{
    const size_t chunk = settings_chunk_samples(worker->settings);
    const struct tq_fetch fetch = {
        .partition = SAMPLES_PARTITION,
        .task = worker->role,
        .fields = reads,
        .n_fields = sizeof(reads) / sizeof(*reads),
        .batch_size = (uint32_t)chunk,
    };
    struct samples samples;
    struct samples_pack *pack = samples_pack_open(chunk);
    float *weights = malloc(POLICY_WEIGHTS * sizeof(*weights));
    int64_t version = 0;
    tq_status status = TQ_OK;
    if (!samples_open(&samples, chunk) || pack == NULL || weights == NULL)
        status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "no memory for %zu samples", chunk);
    else
        status = weights_receive(worker, REFERENCE_PARTITION, weights, &version, err);
    while (status == TQ_OK) {
        struct tq_meta *meta = NULL;
        status = worker_fetch(worker, &fetch, &meta, err);
        if (status == TQ_OK)
            status = compare(worker, meta, weights, &samples, pack, err);
        tq_meta_drop(meta);
    }
    samples_pack_close(pack);
    samples_close(&samples);
    free(weights);
    return status == TQ_OUT_OF_RANGE ? TQ_OK : status; /* sealed and used up: the end */
}

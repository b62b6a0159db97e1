#include "examples/grpo_words/stage.h"

struct buffers {
    struct samples samples;
    struct samples_pack *pack;
};

static tq_status buffers_open(struct buffers *buffers, size_t room, struct tq_error *err)
{
    buffers->pack = samples_pack_open(room);
    if (samples_open(&buffers->samples, room) && buffers->pack != NULL)
        return TQ_OK;
    return tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "no memory for %zu samples", room);
}

static void buffers_close(struct buffers *buffers)
{
    samples_pack_close(buffers->pack);
    samples_close(&buffers->samples);
}

static tq_status work_on(struct worker *worker, const struct stage *stage, struct buffers *buffers,
                         struct tq_meta *meta, struct tq_error *err)
{
    struct tq_data *data = NULL;
    tq_status status = worker_get(worker, WORKER_get, meta, &data, err);
    if (status == TQ_OK)
        status = samples_unpack(&buffers->samples, tq_data_batch(data), err);
    tq_data_drop(data);
    if (status != TQ_OK)
        return status;
    for (size_t i = 0; i < buffers->samples.count; i++)
        stage->work(stage->state, &buffers->samples.rows[i]);
    return worker_put_to(worker, meta, stage->pack(buffers->pack, &buffers->samples), err);
}

static tq_status run_step(struct worker *worker, const struct stage *stage, struct buffers *buffers, uint64_t step,
                          struct tq_error *err)
{
    char partition[SAMPLES_PARTITION_BYTES];
    samples_partition(step, partition);
    const struct tq_fetch fetch = {
        .partition = partition,
        .task = worker->role,
        .fields = stage->reads,
        .n_fields = stage->n_reads,
        .batch_size = (uint32_t)settings_chunk_samples(worker->settings),
    };
    tq_status status = TQ_OK;
    for (size_t i = 0; status == TQ_OK && i < settings_step_chunks(worker->settings); i++) {
        struct tq_meta *meta = NULL;
        status = worker_fetch(worker, &fetch, &meta, err);
        if (status == TQ_OK)
            status = work_on(worker, stage, buffers, meta, err);
        tq_meta_drop(meta);
    }
    return status;
}

tq_status stage_run(struct worker *worker, const struct stage *stage, struct tq_error *err)
{
    struct buffers buffers = { 0 };
    tq_status status = buffers_open(&buffers, settings_chunk_samples(worker->settings), err);
    for (uint64_t step = 0; status == TQ_OK && step < worker->settings->steps; step++)
        status = run_step(worker, stage, &buffers, step, err);
    buffers_close(&buffers);
    return status;
}

#include "examples/grpo_words/weights.h"

#include <string.h>

static const char *const weight_fields[] = { "version", "shard", "weights" };
enum { WEIGHT_FIELDS = sizeof(weight_fields) / sizeof(*weight_fields) };

static DLTensor dense(void *data, uint8_t code, uint8_t bits, int64_t *shape, int32_t ndim)
{
    return (DLTensor){
        .data = data,
        .device = { .device_type = kDLCPU },
        .ndim = ndim,
        .dtype = { .code = code, .bits = bits, .lanes = 1 },
        .shape = shape,
    };
}

static void flow_note(struct worker *worker, enum worker_flow flow, int64_t begin_ns)
{
    worker->flow_bytes[flow] += POLICY_WEIGHTS * sizeof(float);
    worker->flow_ns[flow] += (uint64_t)(tq_now_ns() - begin_ns);
}

/* The rows of the weights are the shards: nothing is copied here. */
static tq_status weights_put(struct worker *worker, const char *partition, int64_t version, const float *weights,
                             struct tq_meta **out_meta, struct tq_error *err)
{
    int64_t versions[WEIGHTS_SHARDS];
    int32_t shards[WEIGHTS_SHARDS];
    int64_t shape[] = { WEIGHTS_SHARDS, WEIGHTS_SHARD_FLOATS };
    for (int32_t shard = 0; shard < WEIGHTS_SHARDS; shard++) {
        versions[shard] = version;
        shards[shard] = shard;
    }
    const struct tq_column columns[WEIGHT_FIELDS] = {
        { .name = "version", .layout = TQ_DENSE, .values = dense(versions, kDLInt, 64, shape, 1) },
        { .name = "shard", .layout = TQ_DENSE, .values = dense(shards, kDLInt, 32, shape, 1) },
        { .name = "weights", .layout = TQ_DENSE, .values = dense((void *)(uintptr_t)weights, kDLFloat, 32, shape, 2) },
    };
    const struct tq_batch batch = { .n_samples = WEIGHTS_SHARDS, .columns = columns, .n_columns = WEIGHT_FIELDS };
    const struct tq_insert insert = {
        .partition = partition,
        .group_size = WEIGHTS_SHARDS,
        .sample_bytes = WEIGHTS_SHARD_FLOATS * sizeof(float),
    };
    const int64_t begin_ns = tq_now_ns();
    const tq_status status = worker_put(worker, WORKER_publish, &insert, &batch, out_meta, err);
    if (status == TQ_OK)
        flow_note(worker, WORKER_PUBLISHED, begin_ns);
    return status;
}

tq_status weights_publish(struct weights_publisher *publisher, struct worker *worker, int64_t version,
                          const float weights[POLICY_WEIGHTS], struct tq_error *err)
{
    struct tq_meta **slot = &publisher->kept[version % WEIGHTS_KEPT];
    if (*slot != NULL) {
        const tq_status status = worker_clear(worker, *slot, err);
        if (status != TQ_OK)
            return status;
        tq_meta_drop(*slot);
        *slot = NULL;
    }
    return weights_put(worker, publisher->partition, version, weights, slot, err);
}

void weights_publisher_fini(struct weights_publisher *publisher)
{
    for (size_t i = 0; i < WEIGHTS_KEPT; i++) {
        tq_meta_drop(publisher->kept[i]);
        publisher->kept[i] = NULL;
    }
}

/* The newest version that nobody of this task had: waits for one, then takes what is there besides. */
static tq_status fetch_newest(struct worker *worker, const char *partition, struct tq_meta **out_meta,
                              struct tq_error *err)
{
    struct tq_fetch fetch = {
        .partition = partition,
        .task = worker->role,
        .fields = weight_fields,
        .n_fields = WEIGHT_FIELDS,
        .batch_size = WEIGHTS_SHARDS,
        .sampler = "group_n",
        .group_size = WEIGHTS_SHARDS,
        .polling = true,
    };
    struct tq_meta *newest = NULL;
    tq_status status = worker_fetch(worker, &fetch, &newest, err);
    while (status == TQ_OK) {
        struct tq_meta *newer = NULL;
        status = tq_client_fetch(worker->client, &fetch, NULL, &newer, err);
        if (status != TQ_OK)
            break;
        if (tq_meta_count(newer) == 0) {
            tq_meta_drop(newer);
            *out_meta = newest;
            return TQ_OK;
        }
        tq_meta_drop(newest);
        newest = newer;
    }
    tq_meta_drop(newest);
    return status;
}

static bool column_is(const struct tq_column *column, uint8_t code, uint8_t bits, int64_t elements)
{
    if (column == NULL || column->layout != TQ_DENSE || column->values.dtype.code != code ||
        column->values.dtype.bits != bits || column->values.shape[0] != WEIGHTS_SHARDS)
        return false;
    return elements == 1 || (column->values.ndim == 2 && column->values.shape[1] == elements);
}

/* Puts the shards where they belong, each once. */
static tq_status weights_copy(const struct tq_data *data, float *weights, int64_t *out_version, struct tq_error *err)
{
    const struct tq_column *versions = tq_data_column(data, "version");
    const struct tq_column *shards = tq_data_column(data, "shard");
    const struct tq_column *values = tq_data_column(data, "weights");
    if (tq_data_batch(data)->n_samples != WEIGHTS_SHARDS || !column_is(versions, kDLInt, 64, 1) ||
        !column_is(shards, kDLInt, 32, 1) || !column_is(values, kDLFloat, 32, WEIGHTS_SHARD_FLOATS))
        return tq_fail(err, TQ_DATA_LOSS, NULL, "weights: not %d shards of %d floats", WEIGHTS_SHARDS,
                       WEIGHTS_SHARD_FLOATS);
    unsigned seen = 0;
    memcpy(out_version, tq_column_cell(versions, 0).ptr, sizeof(*out_version));
    for (size_t i = 0; i < WEIGHTS_SHARDS; i++) {
        int64_t version = 0;
        int32_t shard = 0;
        const struct tq_bytes cell = tq_column_cell(values, i);
        memcpy(&version, tq_column_cell(versions, i).ptr, sizeof(version));
        memcpy(&shard, tq_column_cell(shards, i).ptr, sizeof(shard));
        if (version != *out_version || shard < 0 || shard >= WEIGHTS_SHARDS || (seen & 1u << shard) != 0)
            return tq_fail(err, TQ_DATA_LOSS, NULL, "weights: shard %d of version %lld beside version %lld", (int)shard,
                           (long long)version, (long long)*out_version);
        memcpy(weights + (size_t)shard * WEIGHTS_SHARD_FLOATS, cell.ptr, cell.len);
        seen |= 1u << shard;
    }
    return TQ_OK;
}

tq_status weights_receive(struct worker *worker, const char *partition, float weights[POLICY_WEIGHTS],
                          int64_t *out_version, struct tq_error *err)
{
    for (;;) {
        struct tq_meta *meta = NULL;
        struct tq_data *data = NULL;
        tq_status status = fetch_newest(worker, partition, &meta, err);
        const int64_t begin_ns = tq_now_ns();
        if (status == TQ_OK)
            status = worker_get(worker, WORKER_receive, meta, &data, err);
        tq_meta_drop(meta);
        if (status == TQ_NOT_FOUND || status == TQ_ABORTED)
            continue; /* cleared since it was handed out: a newer one is there or comes */
        if (status == TQ_OK) {
            flow_note(worker, WORKER_RECEIVED, begin_ns);
            status = weights_copy(data, weights, out_version, err);
        }
        tq_data_drop(data);
        return status;
    }
}

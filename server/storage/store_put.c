/* How cells come into the table: reserve, fill, commit. */
#include <string.h>

#include "server/storage/sample.h"
#include "server/storage/store.h"
#include "transport/base/assert.h"

static tq_status no_memory(struct tq_error *err)
{
    return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for the metadata of the put");
}

/* A sample that was cleared, replaced, or lives elsewhere takes no cells. */
static tq_status check_sample(const struct tq_store *store, const char *partition, uint64_t index, uint32_t generation,
                              struct tq_error *err)
{
    const struct tq_sample *sample = tq_map_get(&store->samples, index);
    if (sample != NULL && sample->generation > generation)
        return tq_fail(err, TQ_FAILED_PRECONDITION, "STALE_GENERATION",
                       "samples.generation: %u for sample %llu: it has generation %u now", generation,
                       (unsigned long long)index, sample->generation);
    if (tq_cleared_has(&store->cleared, index, generation))
        return tq_fail(err, TQ_FAILED_PRECONDITION, "STALE_GENERATION",
                       "samples.generation: %u for sample %llu: it has been cleared", generation,
                       (unsigned long long)index);
    if (sample != NULL && sample->generation == generation && strcmp(sample->partition->name->text, partition) != 0)
        return tq_fail(err, TQ_FAILED_PRECONDITION, "OTHER_PARTITION",
                       "samples.partition: '%s' for sample %llu: it belongs to '%s'", partition,
                       (unsigned long long)index, sample->partition->name->text);
    return TQ_OK;
}

static tq_status check_budget(const char *reason, const char *what, uint64_t used, uint64_t wanted, uint64_t budget,
                              struct tq_error *err)
{
    if (used <= budget && wanted <= budget - used)
        return TQ_OK;
    tq_status status =
        tq_fail(err, TQ_RESOURCE_EXHAUSTED, reason, "%llu %s wanted, %llu of the budget of %llu are taken",
                (unsigned long long)wanted, what, (unsigned long long)used, (unsigned long long)budget);
    if (err != NULL && wanted <= budget)
        err->retry_after_ms = 1000;
    return status;
}

/* Looks only; nothing is changed. */
static tq_status check_plan(const struct tq_store *store, const struct tq_put_plan *plan, struct tq_put *put,
                            struct tq_error *err)
{
    const struct tq_named_samples *samples = &plan->samples;
    tq_status status = TQ_OK;
    for (size_t i = 0; i < samples->count && status == TQ_OK; i++) {
        status = check_sample(store, samples->partition, samples->index[i], samples->generation[i], err);
        put->new_samples += tq_map_get(&store->samples, samples->index[i]) == NULL;
    }
    for (size_t c = 0; c < put->n_cells && status == TQ_OK; c++)
        if (__builtin_add_overflow(put->bytes, plan->lengths[c], &put->bytes))
            put->bytes = UINT64_MAX; /* more than any budget */
    const struct tq_storage_limits *limits = &store->limits;
    if (status == TQ_OK)
        status = check_budget("BUDGET_BYTES", "bytes", store->used_bytes + store->reserved_bytes, put->bytes,
                              limits->budget_bytes, err);
    if (status == TQ_OK)
        status = check_budget("BUDGET_SAMPLES", "samples", tq_store_samples(store) + store->reserved_samples,
                              put->new_samples, limits->budget_samples, err);
    if (status == TQ_OK)
        status = check_budget("BUDGET_CELLS", "cells", store->frames + store->reserved_cells, put->n_cells,
                              limits->budget_cells, err);
    return status;
}

static tq_status open_tables(struct tq_store *store, const struct tq_put_plan *plan, struct tq_put *put,
                             struct tq_error *err)
{
    size_t n = put->n_samples;
    put->partition = tq_shelf_hold(store, plan->samples.partition);
    put->index = tq_seam_alloc_array(store->seam, n, sizeof(*put->index));
    put->generation = tq_seam_alloc_array(store->seam, n, sizeof(*put->generation));
    put->rows = tq_seam_alloc_array(store->seam, n, sizeof(struct tq_sample *));
    put->frames = tq_seam_alloc_array(store->seam, put->n_cells, sizeof(struct tq_frame *));
    if (put->partition == NULL || put->index == NULL || put->generation == NULL || put->rows == NULL ||
        put->frames == NULL)
        return no_memory(err);
    memcpy(put->index, plan->samples.index, n * sizeof(*put->index));
    memcpy(put->generation, plan->samples.generation, n * sizeof(*put->generation));
    return TQ_OK;
}

static tq_status open_column(struct tq_store *store, const struct tq_put_plan *plan, size_t field, struct tq_put *put,
                             struct tq_error *err)
{
    struct tq_schema *schema = tq_schemas_hold(&store->schemas, &plan->fields[field]);
    if (schema == NULL)
        return no_memory(err);
    tq_status status = TQ_OK;
    uint32_t rank = tq_schema_sizes(schema);
    for (size_t i = 0; i < put->n_samples && status == TQ_OK; i++) {
        size_t cell = field * put->n_samples + i;
        const uint64_t *sizes = rank > 0 ? plan->sizes[field] + i * rank : NULL;
        status = tq_frame_open(store, schema, plan->lengths[cell], sizes, &put->frames[cell], err);
    }
    tq_schema_drop(&store->schemas, schema);
    return status;
}

/* The part of the reservation that no frame carries yet goes back. */
static void unreserve_rest(struct tq_store *store, const struct tq_put *put)
{
    for (size_t c = 0; c < put->n_cells; c++)
        if (put->frames == NULL || put->frames[c] == NULL)
            store->reserved_cells--;
    uint64_t carried = 0;
    for (size_t c = 0; put->frames != NULL && c < put->n_cells; c++)
        carried += put->frames[c] != NULL ? put->frames[c]->len : 0;
    store->reserved_bytes -= put->bytes - carried;
}

tq_status tq_put_open(struct tq_store *store, const struct tq_put_plan *plan, struct tq_put *put, struct tq_error *err)
{
    *put = (struct tq_put){ .n_samples = plan->samples.count,
                            .n_fields = plan->n_fields,
                            .n_cells = plan->n_fields * plan->samples.count };
    tq_status status = check_plan(store, plan, put, err);
    if (status != TQ_OK) {
        *put = (struct tq_put){ 0 };
        return status;
    }
    store->reserved_bytes += put->bytes;
    store->reserved_cells += put->n_cells;
    store->reserved_samples += put->new_samples;
    status = open_tables(store, plan, put, err);
    for (size_t f = 0; f < plan->n_fields && status == TQ_OK; f++)
        status = open_column(store, plan, f, put, err);
    if (status != TQ_OK) {
        unreserve_rest(store, put);
        tq_put_close(store, put);
    }
    return status;
}

tq_status tq_put_place(const struct tq_store *store, struct tq_put *put, struct tq_error *err)
{
    tq_status status = TQ_OK;
    for (size_t c = 0; c < put->n_cells && status == TQ_OK; c++)
        status = tq_frame_place(store, put->frames[c], err);
    return status;
}

/* Everything that can fail: a row for every sample, with room. Rows made here are not born yet. */
static tq_status prepare_rows(struct tq_store *store, struct tq_put *put, struct tq_error *err)
{
    for (size_t i = 0; i < put->n_samples; i++) {
        put->rows[i] = tq_map_get(&store->samples, put->index[i]);
        if (put->rows[i] == NULL)
            put->rows[i] = tq_sample_open(store, put->index[i]);
        if (put->rows[i] == NULL || !tq_sample_reserve(store, put->rows[i], put->n_fields))
            return no_memory(err);
    }
    return TQ_OK;
}

static void abandon_rows(struct tq_store *store, struct tq_put *put)
{
    for (size_t i = 0; i < put->n_samples; i++)
        if (put->rows[i] != NULL && put->rows[i]->partition == NULL)
            tq_sample_close(store, put->rows[i]);
}

static void settle_rows(struct tq_store *store, struct tq_put *put)
{
    for (size_t i = 0; i < put->n_samples; i++) {
        struct tq_sample *row = put->rows[i];
        if (row->partition != NULL && row->generation == put->generation[i])
            continue;
        tq_sample_empty(store, row); /* of an older generation: its index is used again */
        tq_sample_settle(row, put->partition, put->generation[i]);
    }
}

tq_status tq_put_commit(struct tq_store *store, struct tq_put *put, struct tq_error *err)
{
    tq_status status = TQ_OK;
    for (size_t i = 0; i < put->n_samples && status == TQ_OK; i++)
        status = check_sample(store, put->partition->name->text, put->index[i], put->generation[i], err);
    if (status != TQ_OK)
        return status;
    status = prepare_rows(store, put, err);
    if (status != TQ_OK) {
        abandon_rows(store, put);
        return status;
    }
    settle_rows(store, put);
    for (size_t f = 0; f < put->n_fields; f++)
        for (size_t i = 0; i < put->n_samples; i++) {
            struct tq_frame **frame = &put->frames[f * put->n_samples + i];
            tq_frame_publish(store, *frame);
            tq_sample_set(store, put->rows[i], frame);
        }
    return TQ_OK;
}

void tq_put_close(struct tq_store *store, struct tq_put *put)
{
    for (size_t c = 0; put->frames != NULL && c < put->n_cells; c++)
        tq_frame_drop(store, put->frames[c]);
    store->reserved_samples -= put->new_samples;
    tq_shelf_drop(store, put->partition);
    tq_seam_free(store->seam, put->index);
    tq_seam_free(store->seam, put->generation);
    tq_seam_free(store->seam, put->rows);
    tq_seam_free(store->seam, put->frames);
    *put = (struct tq_put){ 0 };
}

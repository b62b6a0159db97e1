#include "server/storage/store.h"

#include <string.h>

#include "server/storage/sample.h"
#include "transport/base/assert.h"

void tq_store_init(struct tq_store *store, const struct tq_engine *engine, const struct tq_storage_limits *limits,
                   const struct tq_seam *seam)
{
    *store = (struct tq_store){ .seam = seam, .engine = *engine, .limits = *limits };
    tq_names_init(&store->names, seam);
    tq_schemas_init(&store->schemas, &store->names, seam);
    tq_map_init(&store->samples, seam);
    tq_map_init(&store->partitions, seam);
    tq_cleared_init(&store->cleared, (size_t)limits->cleared_samples, seam);
}

/* A map must not change during a walk: the walk starts again after each removal. */
void tq_store_empty(struct tq_store *store)
{
    size_t cursor = 0;
    struct tq_shelf *partition;
    while ((partition = tq_map_next(&store->partitions, &cursor)) != NULL) {
        if (partition->count == 0) /* a put is on its way */
            continue;
        partition->holds++;
        while (!tq_list_empty(&partition->samples))
            tq_sample_close(store, tq_container_of(partition->samples.next, struct tq_sample, in_partition));
        tq_shelf_drop(store, partition);
        cursor = 0;
    }
}

void tq_store_fini(struct tq_store *store)
{
    tq_store_empty(store);
    TQ_ASSERT(store->used_bytes == 0 && store->frames == 0 && store->cells == 0);
    TQ_ASSERT(store->reserved_bytes == 0 && store->reserved_cells == 0 && store->reserved_samples == 0);
    tq_cleared_fini(&store->cleared);
    tq_map_fini(&store->partitions);
    tq_map_fini(&store->samples);
    tq_schemas_fini(&store->schemas);
    tq_names_fini(&store->names);
}

uint64_t tq_store_samples(const struct tq_store *store)
{
    return tq_map_count(&store->samples);
}

tq_status tq_store_find(const struct tq_store *store, const char *partition, uint64_t index, uint32_t generation,
                        struct tq_sample **out_sample, struct tq_error *err)
{
    struct tq_sample *sample = tq_map_get(&store->samples, index);
    if (sample == NULL || sample->generation < generation || strcmp(sample->partition->name->text, partition) != 0)
        return tq_fail(err, TQ_NOT_FOUND, tq_cleared_has(&store->cleared, index, generation) ? "CLEARED" : NULL,
                       "sample %llu of partition '%s' (generation %u) is not here", (unsigned long long)index,
                       partition, generation);
    if (sample->generation > generation)
        return tq_fail(err, TQ_NOT_FOUND, "STALE_GENERATION",
                       "sample %llu of partition '%s': generation %u is gone, here is %u", (unsigned long long)index,
                       partition, generation, sample->generation);
    *out_sample = sample;
    return TQ_OK;
}

static void clear_fields(struct tq_store *store, struct tq_sample *sample, const char *const *fields, size_t n_fields,
                         struct tq_clear_counts *counts)
{
    for (size_t f = 0; f < n_fields; f++) {
        const struct tq_name *field = tq_names_peek(&store->names, fields[f]);
        bool removed = field != NULL && tq_sample_unset(store, sample, field);
        counts->removed += removed;
        counts->absent += !removed;
    }
    if (sample->n_cells == 0)
        tq_sample_close(store, sample);
}

static void clear_one(struct tq_store *store, const struct tq_named_samples *samples, size_t i,
                      const char *const *fields, size_t n_fields, struct tq_clear_counts *counts)
{
    uint64_t cells = n_fields > 0 ? n_fields : 1;
    uint32_t generation = samples->generation[i];
    struct tq_sample *sample = tq_map_get(&store->samples, samples->index[i]);
    if (sample != NULL && sample->generation > generation) {
        counts->stale += cells;
        return;
    }
    bool is_elsewhere = sample != NULL && strcmp(sample->partition->name->text, samples->partition) != 0;
    /* Also when the sample is not here: its put may be on the way. */
    if (n_fields == 0 && !is_elsewhere)
        tq_cleared_add(&store->cleared, samples->index[i], generation);
    if (sample == NULL || is_elsewhere) {
        counts->absent += cells;
    } else if (sample->generation < generation) {
        counts->absent += cells; /* asked for a newer one: what is here has been dead for long */
        tq_sample_close(store, sample);
    } else if (n_fields > 0) {
        clear_fields(store, sample, fields, n_fields, counts);
    } else {
        counts->removed++;
        tq_sample_close(store, sample);
    }
}

void tq_store_clear(struct tq_store *store, const struct tq_named_samples *samples, const char *const *fields,
                    size_t n_fields, struct tq_clear_counts *counts)
{
    uint64_t before = store->used_bytes;
    for (size_t i = 0; i < samples->count; i++)
        clear_one(store, samples, i, fields, n_fields, counts);
    counts->freed_bytes += before - store->used_bytes;
}

#include <string.h>

#include "client/field_wire.h"
#include "client/samples_wire.h"

/* "n or 1": whether a column of a table of n rows has a length that it may have. */
static bool has_rows(size_t length, size_t n)
{
    return length == n || length == 1;
}

/* Row i of such a column. */
static size_t row(size_t length, size_t i)
{
    return length == 1 ? 0 : i;
}

static tq_status check_columns(const Tq__V1__Batch *batch, size_t n, struct tq_error *err)
{
    const Tq__V1__Samples *samples = batch->samples;
    if (n > 0 && (!has_rows(samples->n_generation, n) || !has_rows(samples->n_unit, n)))
        return tq_fail_answer(err, "%zu samples, but %zu generations and %zu units", n, samples->n_generation,
                              samples->n_unit);
    if (n > 0 && batch->n_ready != 0 && !has_rows(batch->n_ready, n))
        return tq_fail_answer(err, "%zu samples, but %zu ready flags", n, batch->n_ready);
    if (batch->n_group != 0 && batch->n_group != n)
        return tq_fail_answer(err, "%zu samples, but %zu groups", n, batch->n_group);
    if (batch->n_key != 0 && batch->n_key != n)
        return tq_fail_answer(err, "%zu samples, but %zu keys", n, batch->n_key);
    const Tq__V1__Tags *tags = batch->tags;
    if (tags != NULL && (tags->n_sample != tags->n_key || tags->n_sample != tags->n_value))
        return tq_fail_answer(err, "tags: %zu samples, %zu keys, %zu values", tags->n_sample, tags->n_key,
                              tags->n_value);
    for (size_t t = 0; tags != NULL && t < tags->n_sample; t++)
        if (tags->sample[t] >= n)
            return tq_fail_answer(err, "tag %zu is of sample %u of %zu", t, tags->sample[t], n);
    return TQ_OK;
}

static void copy_rows(const Tq__V1__Batch *batch, struct tq_meta *meta)
{
    const Tq__V1__Samples *samples = batch->samples;
    const Tq__V1__IndexRuns *runs = samples->indexes;
    size_t i = 0;
    for (size_t r = 0; runs != NULL && r < runs->n_count; r++)
        for (uint64_t k = 0; k < runs->count[r]; k++)
            meta->indexes[i++] = runs->start[r] + k;
    for (i = 0; i < meta->n; i++) {
        meta->generations[i] = samples->generation[row(samples->n_generation, i)];
        meta->units[i] = samples->unit[row(samples->n_unit, i)];
        meta->ready[i] = batch->n_ready > 0 && batch->ready[row(batch->n_ready, i)];
    }
}

static tq_status copy_groups_and_keys(const Tq__V1__Batch *batch, struct tq_meta *meta, struct tq_error *err)
{
    if (batch->n_group > 0) {
        meta->groups = tq_arena_copy(meta->arena, batch->group, meta->n * sizeof(*meta->groups));
        if (meta->groups == NULL)
            return tq_fail_no_memory(err);
    }
    if (batch->n_key > 0) {
        meta->keys = tq_arena_array(meta->arena, meta->n, sizeof(*meta->keys));
        for (size_t i = 0; meta->keys != NULL && i < meta->n; i++)
            if ((meta->keys[i] = tq_arena_text(meta->arena, batch->key[i])) == NULL)
                return tq_fail_no_memory(err);
        if (meta->keys == NULL)
            return tq_fail_no_memory(err);
    }
    return TQ_OK;
}

static tq_status copy_fields(const Tq__V1__Batch *batch, struct tq_meta *meta, struct tq_error *err)
{
    meta->fields = tq_arena_array(meta->arena, batch->n_fields, sizeof(*meta->fields));
    if (meta->fields == NULL)
        return tq_fail_no_memory(err);
    for (size_t f = 0; f < batch->n_fields; f++) {
        const Tq__V1__Field *wire = batch->fields[f];
        struct tq_field field = { .name = wire->name, .content_type = "" };
        /* A field that nobody has produced yet has a name and no type. */
        bool declared = wire->layout != TQ__V1__LAYOUT__LAYOUT_UNSPECIFIED;
        tq_status status = declared ? tq_field_from_wire(wire, &field, err) : TQ_OK;
        if (status != TQ_OK)
            return status;
        if (tq_meta_find_field(meta, wire->name) != NULL)
            return tq_fail_answer(err, "field %s comes twice", wire->name);
        if (!tq_field_copy(meta->arena, &field, &meta->fields[f]))
            return tq_fail_no_memory(err);
        meta->n_fields = f + 1;
    }
    return TQ_OK;
}

static tq_status copy_units(const Tq__V1__Batch *batch, struct tq_meta *meta, struct tq_error *err)
{
    meta->unit_infos = tq_arena_array(meta->arena, batch->n_units, sizeof(*meta->unit_infos));
    if (meta->unit_infos == NULL)
        return tq_fail_no_memory(err);
    for (size_t u = 0; u < batch->n_units; u++) {
        const Tq__V1__Unit *wire = batch->units[u];
        struct tq_unit_info info = { .number = wire->unit,
                                     .name = wire->name,
                                     .address = wire->address,
                                     .epoch = wire->epoch,
                                     .lost = wire->state == TQ__V1__UNIT_STATE__UNIT_STATE_LOST,
                                     .bulk = { wire->bulk.data, wire->bulk.len } };
        if (!tq_unit_info_copy(meta->arena, &info, &meta->unit_infos[u]))
            return tq_fail_no_memory(err);
        meta->n_unit_infos = u + 1;
    }
    return TQ_OK;
}

/* Sorted by sample with one counting pass, because the wire promises no order. */
static tq_status copy_tags(const Tq__V1__Tags *tags, struct tq_meta *meta, struct tq_error *err)
{
    if (tags == NULL || tags->n_sample == 0)
        return TQ_OK;
    size_t *next = tq_arena_array(meta->arena, meta->n + 1, sizeof(*next));
    meta->tag_starts = tq_arena_array(meta->arena, meta->n + 1, sizeof(*meta->tag_starts));
    meta->tags = tq_arena_array(meta->arena, tags->n_sample, sizeof(*meta->tags));
    if (next == NULL || meta->tag_starts == NULL || meta->tags == NULL)
        return tq_fail_no_memory(err);
    for (size_t t = 0; t < tags->n_sample; t++)
        meta->tag_starts[tags->sample[t] + 1]++;
    for (size_t i = 0; i < meta->n; i++)
        meta->tag_starts[i + 1] += meta->tag_starts[i];
    memcpy(next, meta->tag_starts, meta->n * sizeof(*next));
    for (size_t t = 0; t < tags->n_sample; t++) {
        struct tq_tag *tag = &meta->tags[next[tags->sample[t]]++];
        tag->key = tq_arena_text(meta->arena, tags->key[t]);
        tag->value = (struct tq_bytes){ tq_arena_copy(meta->arena, tags->value[t].data, tags->value[t].len),
                                        tags->value[t].len };
        if (tag->key == NULL || tag->value.ptr == NULL)
            return tq_fail_no_memory(err);
    }
    return TQ_OK;
}

static tq_status fill(const Tq__V1__Batch *batch, struct tq_meta *meta, struct tq_error *err)
{
    copy_rows(batch, meta);
    tq_status status = copy_groups_and_keys(batch, meta, err);
    if (status == TQ_OK)
        status = copy_fields(batch, meta, err);
    if (status == TQ_OK)
        status = copy_units(batch, meta, err);
    if (status == TQ_OK)
        status = copy_tags(batch->tags, meta, err);
    return status;
}

tq_status tq_meta_from_wire(const Tq__V1__Batch *batch, struct tq_meta **out_meta, struct tq_error *err)
{
    size_t n = 0;
    if (batch == NULL || batch->samples == NULL)
        return tq_fail_answer(err, "the answer has no batch");
    tq_status status = tq_runs_count(batch->samples->indexes, &n, err);
    if (status == TQ_OK)
        status = check_columns(batch, n, err);
    struct tq_meta *meta = NULL;
    if (status == TQ_OK)
        status = tq_meta_make(batch->samples->partition, n, &meta, err);
    if (status != TQ_OK)
        return status;
    status = fill(batch, meta, err);
    if (status != TQ_OK) {
        tq_meta_drop(meta);
        return status;
    }
    *out_meta = meta;
    return TQ_OK;
}

#include "server/controller/batch_out.h"

#include <string.h>

static size_t count_runs(const uint64_t *indexes, size_t n)
{
    size_t runs = 0;
    for (size_t i = 0; i < n; i++)
        runs += i == 0 || indexes[i] != indexes[i - 1] + 1;
    return runs;
}

Tq__V1__IndexRuns *tq_runs_out(struct tq_arena *arena, const uint64_t *indexes, size_t n)
{
    size_t n_runs = count_runs(indexes, n), at = 0;
    Tq__V1__IndexRuns *runs = tq_arena_alloc(arena, sizeof(*runs));
    uint64_t *start = tq_arena_alloc(arena, n_runs * sizeof(*start));
    uint64_t *count = tq_arena_alloc(arena, n_runs * sizeof(*count));
    if (runs == NULL || start == NULL || count == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || indexes[i] != indexes[i - 1] + 1)
            start[at++] = indexes[i];
        count[at - 1]++;
    }
    tq__v1__index_runs__init(runs);
    runs->n_start = runs->n_count = n_runs;
    runs->start = start;
    runs->count = count;
    return runs;
}

/* How many entries a column needs: none, one for all, or all. */
static size_t shorten(const uint32_t *column, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (column[i] != column[0])
            return n;
    return n > 0 ? 1 : 0;
}

static Tq__V1__Samples *samples_of(struct tq_arena *arena, const char *partition, const uint64_t *indexes,
                                   uint32_t *generations, uint32_t n)
{
    Tq__V1__Samples *samples = tq_arena_alloc(arena, sizeof(*samples));
    if (samples == NULL)
        return NULL;
    tq__v1__samples__init(samples);
    samples->partition = (char *)(uintptr_t)partition;
    samples->indexes = tq_runs_out(arena, indexes, n);
    samples->n_generation = shorten(generations, n);
    samples->generation = generations;
    return samples->indexes != NULL ? samples : NULL;
}

Tq__V1__Samples *tq_samples_out(struct tq_arena *arena, const char *partition, const struct tq_sample_ref *refs,
                                uint32_t n)
{
    uint64_t *indexes = tq_arena_alloc(arena, n * sizeof(*indexes));
    uint32_t *generations = tq_arena_alloc(arena, n * sizeof(*generations));
    if (indexes == NULL || generations == NULL)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        indexes[i] = refs[i].index;
        generations[i] = refs[i].generation;
    }
    return samples_of(arena, partition, indexes, generations, n);
}

static Tq__V1__Samples *rows_out(struct tq_arena *arena, const struct tq_partition *partition, const uint32_t *slots,
                                 uint32_t n, const char *name)
{
    uint64_t *indexes = tq_arena_alloc(arena, n * sizeof(*indexes));
    uint32_t *generations = tq_arena_alloc(arena, n * sizeof(*generations));
    uint32_t *units = tq_arena_alloc(arena, n * sizeof(*units));
    if (indexes == NULL || generations == NULL || units == NULL)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        const struct tq_row *row = tq_partition_row(partition, slots[i]);
        indexes[i] = row->index;
        generations[i] = row->generation;
        units[i] = row->unit;
    }
    Tq__V1__Samples *samples = samples_of(arena, name, indexes, generations, n);
    if (samples == NULL)
        return NULL;
    samples->n_unit = shorten(units, n);
    samples->unit = units;
    return samples;
}

Tq__V1__Unit *tq_unit_out(struct tq_arena *arena, const struct tq_unit *unit)
{
    Tq__V1__Unit *out = tq_arena_alloc(arena, sizeof(*out));
    if (out == NULL)
        return NULL;
    tq__v1__unit__init(out);
    out->unit = unit->number;
    out->name = unit->name;
    out->address = unit->address;
    out->epoch = unit->epoch;
    out->state = (Tq__V1__UnitState)unit->state;
    out->bulk = (ProtobufCBinaryData){ unit->bulk.len, (uint8_t *)(uintptr_t)unit->bulk.ptr };
    return out;
}

/* Every unit that a sample names, once, by number. */
static bool units_out(struct tq_arena *arena, const struct tq_table *table, Tq__V1__Batch *batch)
{
    const Tq__V1__Samples *samples = batch->samples;
    bool *named = tq_arena_alloc(arena, table->units.n + 1);
    Tq__V1__Unit **units = tq_arena_alloc(arena, table->units.n * sizeof(Tq__V1__Unit *));
    if (named == NULL || units == NULL)
        return false;
    for (size_t i = 0; i < samples->n_unit; i++)
        named[samples->unit[i]] = true;
    for (uint32_t number = 1; number <= table->units.n; number++) {
        if (!named[number])
            continue;
        units[batch->n_units] = tq_unit_out(arena, tq_unit_find(&table->units, number));
        if (units[batch->n_units++] == NULL)
            return false;
    }
    batch->units = units;
    return true;
}

static Tq__V1__Field *field_out(struct tq_arena *arena, const char *name, const struct tq_field *field)
{
    Tq__V1__Field *out = tq_arena_alloc(arena, sizeof(*out));
    if (out == NULL)
        return NULL;
    tq__v1__field__init(out);
    out->name = (char *)(uintptr_t)name;
    if (field == NULL)
        return out;
    const struct tq_cell_schema *schema = &field->schema;
    out->layout = (Tq__V1__Layout)schema->layout;
    out->dtype = (Tq__V1__DataType)schema->dtype;
    out->content_type = (char *)(uintptr_t)schema->content_type;
    if (schema->layout == TQ_CELLS_DENSE) {
        out->n_shape = schema->rank;
        out->shape = (uint64_t *)(uintptr_t)schema->shape;
    }
    return out;
}

static bool fields_out(struct tq_arena *arena, const struct tq_partition *partition, const struct tq_batch_wish *wish,
                       Tq__V1__Batch *batch)
{
    Tq__V1__Field **fields = tq_arena_alloc(arena, wish->n_fields * sizeof(Tq__V1__Field *));
    if (fields == NULL)
        return false;
    for (size_t i = 0; i < wish->n_fields; i++) {
        const struct tq_field *field = partition != NULL ? tq_partition_find_field(partition, wish->fields[i]) : NULL;
        fields[i] = field_out(arena, wish->fields[i], field);
        if (fields[i] == NULL)
            return false;
    }
    batch->n_fields = wish->n_fields;
    batch->fields = fields;
    return true;
}

static bool is_ready(uint32_t slot, const struct tq_field *const *fields, size_t n_fields)
{
    for (size_t i = 0; i < n_fields; i++)
        if (fields[i] == NULL || !roaring_bitmap_contains(fields[i]->produced, slot))
            return false;
    return true;
}

static bool ready_out(struct tq_arena *arena, const struct tq_partition *partition, const uint32_t *slots, uint32_t n,
                      const struct tq_batch_wish *wish, Tq__V1__Batch *batch)
{
    const struct tq_field **fields = tq_arena_alloc(arena, wish->n_fields * sizeof(struct tq_field *));
    protobuf_c_boolean *ready = tq_arena_alloc(arena, n * sizeof(*ready));
    if (fields == NULL || ready == NULL)
        return false;
    for (size_t i = 0; i < wish->n_fields; i++)
        fields[i] = partition != NULL ? tq_partition_find_field(partition, wish->fields[i]) : NULL;
    uint32_t n_ready = 0;
    for (uint32_t i = 0; i < n; i++) {
        ready[i] = wish->all_ready || (wish->n_fields > 0 && is_ready(slots[i], fields, wish->n_fields));
        n_ready += ready[i] != 0;
    }
    batch->ready = ready;
    batch->n_ready = n == 0 ? 0 : n_ready == 0 || n_ready == n ? 1 : n;
    return true;
}

static bool groups_out(struct tq_arena *arena, const struct tq_partition *partition, const uint32_t *slots, uint32_t n,
                       Tq__V1__Batch *batch)
{
    bool any = false;
    for (uint32_t i = 0; !any && i < n; i++)
        any = tq_partition_row(partition, slots[i])->group != 0;
    if (!any)
        return true;
    uint64_t *groups = tq_arena_alloc(arena, n * sizeof(*groups));
    if (groups == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++)
        groups[i] = tq_group_id(partition, slots[i]);
    batch->n_group = n;
    batch->group = groups;
    return true;
}

static bool keys_out(struct tq_arena *arena, const struct tq_partition *partition, const uint32_t *slots, uint32_t n,
                     Tq__V1__Batch *batch)
{
    bool any = false;
    char **keys = tq_arena_alloc(arena, n * sizeof(*keys));
    if (keys == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        char *key = tq_partition_row(partition, slots[i])->key;
        keys[i] = key != NULL ? key : (char *)(uintptr_t)protobuf_c_empty_string;
        any = any || key != NULL;
    }
    batch->n_key = any ? n : 0;
    batch->key = keys;
    return true;
}

static size_t count_tags(const struct tq_partition *partition, const uint32_t *slots, uint32_t n)
{
    size_t n_tags = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct tq_tag_set *set = tq_partition_row(partition, slots[i])->tags;
        n_tags += set != NULL ? set->n : 0;
    }
    return n_tags;
}

Tq__V1__Tags *tq_tags_out(struct tq_arena *arena, const struct tq_partition *partition, const uint32_t *slots,
                          uint32_t n)
{
    size_t n_tags = count_tags(partition, slots, n), at = 0;
    Tq__V1__Tags *tags = tq_arena_alloc(arena, sizeof(*tags));
    uint32_t *samples = tq_arena_alloc(arena, n_tags * sizeof(*samples));
    char **keys = tq_arena_alloc(arena, n_tags * sizeof(*keys));
    ProtobufCBinaryData *values = tq_arena_alloc(arena, n_tags * sizeof(*values));
    if (tags == NULL || samples == NULL || keys == NULL || values == NULL)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        const struct tq_tag_set *set = tq_partition_row(partition, slots[i])->tags;
        for (size_t k = 0; set != NULL && k < set->n; k++, at++) {
            samples[at] = i;
            keys[at] = (char *)(uintptr_t)set->tags[k].key;
            values[at].len = set->tags[k].value.len;
            values[at].data = (uint8_t *)(uintptr_t)set->tags[k].value.ptr;
        }
    }
    tq__v1__tags__init(tags);
    tags->n_sample = tags->n_key = tags->n_value = n_tags;
    tags->sample = samples;
    tags->key = keys;
    tags->value = values;
    return tags;
}

Tq__V1__Batch *tq_batch_out(struct tq_arena *arena, const struct tq_table *table, const struct tq_partition *partition,
                            const uint32_t *slots, uint32_t n, const struct tq_batch_wish *wish)
{
    Tq__V1__Batch *batch = tq_arena_alloc(arena, sizeof(*batch));
    if (batch == NULL)
        return NULL;
    tq__v1__batch__init(batch);
    batch->samples = rows_out(arena, partition, slots, n, wish->partition);
    if (batch->samples == NULL || !units_out(arena, table, batch) || !fields_out(arena, partition, wish, batch) ||
        !ready_out(arena, partition, slots, n, wish, batch) || !groups_out(arena, partition, slots, n, batch))
        return NULL;
    if (wish->want_keys && !keys_out(arena, partition, slots, n, batch))
        return NULL;
    if (wish->want_tags && (batch->tags = tq_tags_out(arena, partition, slots, n)) == NULL)
        return NULL;
    return batch;
}

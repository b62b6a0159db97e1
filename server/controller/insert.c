#include <inttypes.h>
#include <string.h>

#include "server/controller/compact.h"
#include "server/controller/discard.h"
#include "server/controller/fields.h"
#include "server/controller/table.h"
#include "transport/base/assert.h"

static tq_status check_keys(const struct tq_partition *partition, const struct tq_insertion *insertion,
                            struct tq_error *err)
{
    uint32_t slot;
    for (uint32_t i = 0; insertion->keys != NULL && i < insertion->n; i++)
        if (tq_partition_find_key(partition, insertion->keys[i], &slot))
            return tq_fail(err, TQ_ALREADY_EXISTS, "KEY", "key[%u]: %.200s exists already in partition %s", i,
                           insertion->keys[i], partition->name);
    return TQ_OK;
}

static uint64_t text_bytes(const struct tq_insertion *insertion)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; insertion->keys != NULL && i < insertion->n; i++)
        bytes += strlen(insertion->keys[i]) + 1;
    uint32_t n_tags = insertion->tags.first != NULL ? insertion->tags.first[insertion->n] : 0;
    for (uint32_t i = 0; i < n_tags; i++)
        bytes += strlen(insertion->tags.entries[i].key) + 1 + insertion->tags.entries[i].value.len;
    return bytes;
}

static tq_status check_limits(const struct tq_table *table, const struct tq_insertion *insertion, struct tq_error *err)
{
    if (insertion->n > table->limits.samples - table->indexes.n_live)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "LIMIT_SAMPLES",
                       "count: %u samples beside %" PRIu64 ", expected at most %" PRIu64 " in all", insertion->n,
                       table->indexes.n_live, table->limits.samples);
    uint64_t bytes = text_bytes(insertion);
    if (bytes > table->limits.text_bytes - table->text_bytes)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "LIMIT_TEXT",
                       "key, tags: %" PRIu64 " bytes beside %" PRIu64 ", expected at most %" PRIu64 " in all", bytes,
                       table->text_bytes, table->limits.text_bytes);
    return TQ_OK;
}

/* Group sizes are bounded because samplers and clears walk a group's members. */
static tq_status check_groups(const struct tq_table *table, const struct tq_partition *partition,
                              const struct tq_insertion *insertion, struct tq_error *err)
{
    uint64_t most = table->limits.group_members;
    if (insertion->group_size > most)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "LIMIT_GROUP", "group_size: %u, expected at most %" PRIu64,
                       insertion->group_size, most);
    if (insertion->groups == NULL)
        return TQ_OK;
    struct tq_map added; /* group -> how many of this request, as a pointer */
    tq_map_init(&added, table->seam);
    tq_status status = TQ_OK;
    for (uint32_t i = 0; status == TQ_OK && i < insertion->n; i++) {
        uint64_t id = insertion->groups[i];
        uintptr_t more = (uintptr_t)tq_map_get(&added, id) + 1;
        const struct tq_group *group = tq_group_find(&partition->groups, id);
        if (id == 0)
            continue;
        if (more + (group != NULL ? group->members : 0) > most)
            status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, "LIMIT_GROUP",
                             "group[%u]: %" PRIu64 " would have more than %" PRIu64 " members", i, id, most);
        else if (!tq_map_put(&added, id, (void *)more))
            status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "count: no memory for %u samples", insertion->n);
    }
    tq_map_fini(&added);
    return status;
}

static tq_status check(const struct tq_table *table, const struct tq_partition *partition,
                       const struct tq_insertion *insertion, struct tq_error *err)
{
    if (partition->sealed)
        return tq_fail(err, TQ_FAILED_PRECONDITION, "SEALED", "partition: %s is sealed, no samples can be added",
                       partition->name);
    tq_status status = check_limits(table, insertion, err);
    if (status == TQ_OK)
        status = check_keys(partition, insertion, err);
    if (status == TQ_OK)
        status = check_groups(table, partition, insertion, err);
    if (status == TQ_OK)
        status = tq_fields_check(partition, insertion->fields, insertion->n_fields, err);
    return status;
}

static uint64_t fresh_group(struct tq_table *table, const struct tq_partition *partition)
{
    do
        table->fresh_group++;
    while (tq_group_find(&partition->groups, table->fresh_group) != NULL);
    return table->fresh_group;
}

static uint64_t group_of(struct tq_table *table, const struct tq_partition *partition,
                         const struct tq_insertion *insertion, uint32_t i)
{
    if (insertion->groups != NULL)
        return insertion->groups[i];
    if (insertion->group_size == 0)
        return 0;
    return i % insertion->group_size == 0 ? fresh_group(table, partition) : table->fresh_group;
}

/* Gives the row what the request says about sample i. False without memory. */
static bool fill_row(struct tq_table *table, struct tq_partition *partition, const struct tq_insertion *insertion,
                     uint32_t i, uint32_t slot)
{
    struct tq_row *row = tq_partition_row(partition, slot);
    uint64_t group = group_of(table, partition, insertion, i);
    if (group != 0 && !tq_group_join(partition, slot, group))
        return false;
    if (insertion->keys != NULL) {
        if (!tq_partition_set_key(partition, slot, insertion->keys[i]))
            return false;
        table->text_bytes += strlen(row->key) + 1;
    }
    const struct tq_tag_changes *tags = &insertion->tags;
    if (tags->first != NULL && tags->first[i + 1] > tags->first[i]) {
        row->tags =
            tq_tag_set_make(table->seam, NULL, tags->entries + tags->first[i], tags->first[i + 1] - tags->first[i]);
        if (row->tags == NULL)
            return false;
        table->text_bytes += row->tags->bytes;
    }
    return true;
}

/* Walks the runs of tq_place: the unit of the next sample. */
static uint32_t next_unit(struct tq_table *table, uint32_t *runs, uint32_t *at)
{
    while (runs[*at] == 0)
        (*at)++;
    TQ_ASSERT(*at < table->units.n);
    runs[*at]--;
    return *at + 1;
}

static bool add_rows(struct tq_table *table, struct tq_partition *partition, const struct tq_insertion *insertion,
                     uint32_t *runs, uint32_t *slots, uint32_t *out_n)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < insertion->n; i++) {
        if (!tq_partition_add_row(partition, &slots[i]))
            return false;
        struct tq_row *row = tq_partition_row(partition, slots[i]);
        row->index = tq_index_take(&table->indexes, partition, slots[i], &row->generation);
        row->unit = insertion->placement == TQ_PLACE_HASH ? tq_place_by_index(&table->units, row->index)
                                                          : next_unit(table, runs, &at);
        row->bytes = insertion->sample_bytes;
        struct tq_unit *unit = tq_unit_find(&table->units, row->unit);
        unit->samples++;
        unit->bytes += row->bytes;
        *out_n = i + 1;
        if (!fill_row(table, partition, insertion, i, slots[i]))
            return false;
    }
    return true;
}

/* Sees to it that there are slots for n rows. Ended fetches that nobody took yet name rows by slot: they stay. */
static bool make_room(struct tq_table *table, struct tq_partition *partition, uint32_t n)
{
    bool fits = n <= TQ_SLOTS_MAX - partition->rows.next;
    if ((fits && !tq_rows_are_sparse(&partition->rows)) || !tq_list_empty(&table->done))
        return fits;
    return tq_partition_compact(partition, &table->indexes) || fits;
}

static tq_status insert(struct tq_table *table, struct tq_partition *partition, const struct tq_insertion *insertion,
                        uint32_t *slots, struct tq_error *err)
{
    uint32_t n_units = table->units.n, n_added = 0;
    struct tq_place place = { .policy = insertion->placement,
                              .near = insertion->near,
                              .n = insertion->n,
                              .chunk = insertion->group_size > 0 ? insertion->group_size : 1,
                              .sample_bytes = insertion->sample_bytes };
    uint32_t *runs = tq_seam_alloc_array(table->seam, n_units, sizeof(*runs));
    if (runs == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "count: no memory for %u samples", insertion->n);
    tq_status status = tq_place(&table->units, &place, runs, err);
    if (status == TQ_OK &&
        (!make_room(table, partition, insertion->n) || !tq_index_reserve(&table->indexes, insertion->n) ||
         !add_rows(table, partition, insertion, runs, slots, &n_added) ||
         !tq_fields_register(partition, insertion->fields, insertion->n_fields))) {
        tq_rows_discard(table, partition, slots, n_added);
        status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "count: no memory for %u samples", insertion->n);
    }
    tq_seam_free(table->seam, runs);
    return status;
}

tq_status tq_table_insert(struct tq_table *table, const struct tq_insertion *insertion,
                          struct tq_partition **out_partition, uint32_t *out_slots, struct tq_error *err)
{
    struct tq_partition *partition;
    tq_status status = tq_table_get(table, insertion->partition, &partition, err);
    if (status != TQ_OK)
        return status;
    status = check(table, partition, insertion, err);
    if (status == TQ_OK)
        status = insert(table, partition, insertion, out_slots, err);
    if (status != TQ_OK) {
        tq_table_drop_shell(table, partition);
        return status;
    }
    partition->exists = true;
    partition->reserved -= partition->reserved < insertion->n ? partition->reserved : insertion->n;
    partition->reserved += insertion->reserve;
    tq_fields_announce(partition, insertion->fields, insertion->n_fields);
    tq_fetch_bind(table, partition);
    *out_partition = partition;
    return TQ_OK;
}

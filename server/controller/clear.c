#include <string.h>

#include "server/controller/discard.h"
#include "server/controller/table.h"
#include "server/controller/view.h"

/* Tells the unit of these rows, if it is silent, when it is back. All rows are of one unit. */
static void tell_unit(struct tq_table *table, const struct tq_partition *partition, const uint32_t *slots, uint32_t n)
{
    struct tq_unit *unit = tq_unit_find(&table->units, tq_partition_row(partition, slots[0])->unit);
    if (unit == NULL ||
        (unit->state != TQ_UNIT_LOST && tq_unit_age_ns(&table->units, unit) <= table->units.heartbeat_ns))
        return;
    struct tq_sample_ref *samples = tq_seam_alloc_array(table->seam, n, sizeof(*samples));
    if (samples == NULL) {
        tq_unit_forget_releases(&table->units, unit);
        unit->resync = true;
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct tq_row *row = tq_partition_row(partition, slots[i]);
        samples[i] = (struct tq_sample_ref){ row->index, row->generation };
    }
    tq_unit_release(&table->units, unit, partition->name, samples, n);
    tq_seam_free(table->seam, samples);
}

static void tell_units(struct tq_table *table, const struct tq_partition *partition, const uint32_t *slots, uint32_t n)
{
    for (uint32_t from = 0, to; from < n; from = to) {
        uint32_t unit = tq_partition_row(partition, slots[from])->unit;
        for (to = from + 1; to < n && tq_partition_row(partition, slots[to])->unit == unit;)
            to++;
        tell_unit(table, partition, slots + from, to - from);
    }
}

/* Sorts the samples into gone and left alone; a repetition is gone already. Slots of the former go to `gone`. */
static void sort_out(const struct tq_table *table, const struct tq_partition *partition,
                     const struct tq_sample_ref *samples, uint32_t n, roaring_bitmap_t *gone,
                     struct tq_cleared *cleared)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct tq_index_entry *entry = tq_index_find(&table->indexes, samples[i].index);
        bool live = entry != NULL && entry->partition != NULL;
        if (live && entry->generation != samples[i].generation)
            cleared->stale++;
        else if (live && entry->partition == partition && roaring_bitmap_add_checked(gone, entry->slot))
            cleared->removed++;
        else
            cleared->absent++;
    }
}

tq_status tq_table_clear(struct tq_table *table, const char *name, const struct tq_sample_ref *samples, uint32_t n,
                         struct tq_cleared *out_cleared, struct tq_error *err)
{
    struct tq_partition *partition = tq_table_find(table, name);
    uint32_t *slots = tq_seam_alloc_array(table->seam, n, sizeof(*slots));
    if (slots == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "samples: no memory for %u of them", n);
    roaring_bitmap_t *gone = roaring_bitmap_create();
    *out_cleared = (struct tq_cleared){ 0 };
    sort_out(table, partition, samples, n, gone, out_cleared);
    uint32_t n_gone = (uint32_t)out_cleared->removed;
    if (n_gone > 0) {
        roaring_bitmap_to_uint32_array(gone, slots);
        tell_units(table, partition, slots, n_gone);
        tq_rows_discard(table, partition, slots, n_gone);
        if (partition->sealed)
            tq_views_touch(partition);
        tq_fetch_wake(table, partition);
    }
    roaring_bitmap_free(gone);
    tq_seam_free(table->seam, slots);
    return TQ_OK;
}

/* Puts a shell in the partition's place for those who wait on. */
static void make_heir(struct tq_table *table, struct tq_partition *partition)
{
    struct tq_partition *heir = NULL;
    tq_text_map_remove(&table->partitions, partition->name);
    bool wait_on = !tq_list_empty(&partition->waiters) && !partition->sealed;
    if (!wait_on || tq_table_get(table, partition->name, &heir, NULL) != TQ_OK)
        partition->sealed = true; /* nobody waits, or there is no memory for it: their wait ends now */
    tq_fetch_inherit(table, partition, heir);
}

tq_status tq_table_clear_partition(struct tq_table *table, const char *name, bool *out_existed, uint64_t *out_removed,
                                   struct tq_error *err)
{
    struct tq_partition *partition = tq_table_find(table, name);
    *out_existed = partition != NULL && partition->exists;
    *out_removed = 0;
    if (!*out_existed)
        return TQ_OK;
    uint64_t n = tq_partition_count(partition);
    uint32_t *slots = tq_seam_alloc_array(table->seam, n, sizeof(*slots));
    if (slots == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "partition: no memory to clear %s", name);
    make_heir(table, partition);
    roaring_bitmap_to_uint32_array(partition->live, slots);
    tell_units(table, partition, slots, (uint32_t)n);
    tq_views_close(partition);
    tq_rows_discard(table, partition, slots, (uint32_t)n);
    tq_seam_free(table->seam, slots);
    tq_partition_close(partition);
    *out_removed = n;
    return TQ_OK;
}

tq_status tq_table_seal(struct tq_table *table, const char *name, uint64_t *out_samples, struct tq_error *err)
{
    struct tq_partition *partition;
    tq_status status = tq_table_need(table, name, &partition, err);
    if (status != TQ_OK)
        return status;
    *out_samples = tq_partition_count(partition);
    partition->reserved = 0;
    if (!partition->sealed) {
        partition->sealed = true;
        tq_views_touch(partition);
        tq_fetch_wake(table, partition);
    }
    return TQ_OK;
}

tq_status tq_table_reset(struct tq_table *table, const char *name, const char *task_name, uint64_t *out_reset,
                         struct tq_error *err)
{
    struct tq_partition *partition;
    tq_status status = tq_table_need(table, name, &partition, err);
    if (status != TQ_OK)
        return status;
    *out_reset = 0;
    tq_list_each (node, &partition->tasks) {
        struct tq_task *task = tq_container_of(node, struct tq_task, in_partition);
        if (task_name == NULL || strcmp(task->name, task_name) == 0)
            *out_reset += tq_task_reset(task);
    }
    tq_fetch_wake(table, partition);
    return TQ_OK;
}

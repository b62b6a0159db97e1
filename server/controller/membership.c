#include <inttypes.h>
#include <string.h>

#include "server/controller/discard.h"
#include "server/controller/table.h"
#include "server/controller/view.h"
#include "transport/base/log.h"

/* ---- the rows of one unit ---- */

struct rows_of {
    const struct tq_partition *partition;
    uint32_t unit;
    const roaring_bitmap_t *without; /* indexes that do not count; NULL: none */
    roaring_bitmap_t *found;
};

static bool look_at_row(uint32_t slot, void *user)
{
    struct rows_of *rows = user;
    const struct tq_row *row = tq_partition_row(rows->partition, slot);
    if (row->unit == rows->unit &&
        (rows->without == NULL || !roaring_bitmap_contains(rows->without, (uint32_t)row->index)))
        roaring_bitmap_add(rows->found, slot);
    return true;
}

/* To be freed by the caller. */
static roaring_bitmap_t *find_rows(const struct tq_partition *partition, uint32_t unit, const roaring_bitmap_t *without)
{
    struct rows_of rows = { partition, unit, without, roaring_bitmap_create() };
    roaring_iterate(partition->live, look_at_row, &rows);
    return rows.found;
}

/* ---- lost units ---- */

static void withhold(struct tq_partition *partition, const struct tq_unit *unit)
{
    roaring_bitmap_t *rows = find_rows(partition, unit->number, NULL);
    roaring_bitmap_or_inplace(partition->withheld, rows);
    tq_views_removed(partition, rows);
    roaring_bitmap_free(rows);
}

void tq_table_tick(struct tq_table *table, int64_t now_ns)
{
    tq_units_tick(&table->units, now_ns);
    for (struct tq_unit *unit; (unit = tq_units_next_lost(&table->units)) != NULL;) {
        tq_warn("unit-lost", "unit=%u name=%s address=%s samples=%" PRIu64, unit->number, unit->name, unit->address,
                unit->samples);
        size_t cursor = 0;
        for (struct tq_partition *partition; (partition = tq_text_map_next(&table->partitions, &cursor)) != NULL;)
            withhold(partition, unit);
    }
}

/* ---- units that come ---- */

static bool is_known(const struct tq_table *table, const struct tq_unit *unit, const struct tq_held *held)
{
    const struct tq_index_entry *entry = tq_index_find(&table->indexes, held->sample.index);
    return entry != NULL && entry->partition != NULL && entry->generation == held->sample.generation &&
           strcmp(entry->partition->name, held->partition) == 0 &&
           tq_partition_row(entry->partition, entry->slot)->unit == unit->number;
}

/* Before the unit can get a sample: none may get an index and generation that it holds from an earlier life of ours. */
static tq_status fence_all(struct tq_table *table, const struct tq_held *held, uint32_t n, struct tq_error *err)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct tq_sample_ref *sample = &held[i].sample;
        if (tq_map_count(&table->indexes.fences) >= table->limits.fences)
            return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "LIMIT_FENCES",
                           "held: samples of an earlier life beside %zu, expected at most %" PRIu64 " in all",
                           tq_map_count(&table->indexes.fences), table->limits.fences);
        if (sample->index < UINT32_MAX && !tq_index_fence(&table->indexes, sample->index, sample->generation))
            return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "held: no memory for %u samples", n);
    }
    return TQ_OK;
}

/* The unit was away, or has lost some of its samples in a restart. */
static void settle(struct tq_table *table, struct tq_partition *partition, const struct tq_unit *unit,
                   const roaring_bitmap_t *still_there, bool restarted)
{
    if (restarted) {
        roaring_bitmap_t *gone = find_rows(partition, unit->number, still_there);
        tq_cells_forget(partition, gone);
        roaring_bitmap_free(gone);
    }
    roaring_bitmap_t *rows = find_rows(partition, unit->number, NULL);
    roaring_bitmap_andnot_inplace(partition->withheld, rows);
    tq_views_restored(partition, rows);
    roaring_bitmap_free(rows);
    tq_fetch_wake(table, partition);
}

tq_status tq_table_join(struct tq_table *table, const struct tq_unit_claim *claim, const struct tq_held *held,
                        uint32_t n_held, bool *release, struct tq_unit **out_unit, struct tq_error *err)
{
    const struct tq_unit *before = tq_unit_find_name(&table->units, claim->name);
    bool restarted = before != NULL && before->epoch != claim->epoch;
    enum tq_unit_state was;
    struct tq_unit *unit;
    tq_status status = fence_all(table, held, n_held, err);
    if (status == TQ_OK)
        status = tq_unit_register(&table->units, claim, &unit, &was, err);
    if (status != TQ_OK)
        return status;
    roaring_bitmap_t *still_there = roaring_bitmap_create();
    for (uint32_t i = 0; i < n_held; i++) {
        release[i] = !is_known(table, unit, &held[i]);
        if (!release[i])
            roaring_bitmap_add(still_there, (uint32_t)held[i].sample.index);
    }
    size_t cursor = 0;
    if (restarted || was == TQ_UNIT_LOST)
        for (struct tq_partition *partition; (partition = tq_text_map_next(&table->partitions, &cursor)) != NULL;)
            settle(table, partition, unit, still_there, restarted);
    roaring_bitmap_free(still_there);
    *out_unit = unit;
    return TQ_OK;
}

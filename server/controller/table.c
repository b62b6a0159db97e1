#include "server/controller/table.h"

#include <inttypes.h>

#include "transport/base/assert.h"

/* Numbers of groups that we make begin here, away from those that people choose. */
#define FIRST_FRESH_GROUP (UINT64_C(1) << 40)

void tq_table_init(struct tq_table *table, const struct tq_seam *seam, const struct tq_controller_limits *limits,
                   int64_t heartbeat_ns, int64_t now_ns)
{
    *table = (struct tq_table){ .seam = seam, .limits = *limits, .fresh_group = FIRST_FRESH_GROUP };
    tq_text_map_init(&table->partitions, seam);
    tq_index_space_init(&table->indexes, seam);
    tq_units_init(&table->units, seam, &table->limits, heartbeat_ns, now_ns);
    tq_heap_init(&table->due, seam);
    tq_list_init(&table->done);
}

void tq_table_fini(struct tq_table *table)
{
    TQ_ASSERT(table->n_parked == 0 && tq_list_empty(&table->done));
    size_t cursor = 0;
    for (struct tq_partition *partition; (partition = tq_text_map_next(&table->partitions, &cursor)) != NULL;)
        tq_partition_close(partition);
    tq_text_map_fini(&table->partitions);
    tq_index_space_fini(&table->indexes);
    tq_units_fini(&table->units);
    tq_heap_fini(&table->due);
}

struct tq_partition *tq_table_find(const struct tq_table *table, const char *name)
{
    return tq_text_map_get(&table->partitions, name);
}

tq_status tq_table_get(struct tq_table *table, const char *name, struct tq_partition **out_partition,
                       struct tq_error *err)
{
    struct tq_partition *partition = tq_table_find(table, name);
    if (partition == NULL) {
        if (table->partitions.count >= table->limits.partitions)
            return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "LIMIT_PARTITIONS",
                           "partition: %s would be number %zu, expected at most %" PRIu64, name,
                           table->partitions.count + 1, table->limits.partitions);
        partition = tq_partition_open(table->seam, &table->limits, name);
        if (partition == NULL || !tq_text_map_put(&table->partitions, partition->name, partition)) {
            tq_partition_close(partition);
            return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "partition: no memory for %s", name);
        }
    }
    *out_partition = partition;
    return TQ_OK;
}

void tq_table_drop_shell(struct tq_table *table, struct tq_partition *partition)
{
    if (partition->exists || !tq_list_empty(&partition->waiters))
        return;
    tq_text_map_remove(&table->partitions, partition->name);
    tq_partition_close(partition);
}

tq_status tq_table_need(const struct tq_table *table, const char *name, struct tq_partition **out_partition,
                        struct tq_error *err)
{
    struct tq_partition *partition = tq_table_find(table, name);
    if (partition == NULL || !partition->exists)
        return tq_fail(err, TQ_NOT_FOUND, "PARTITION", "partition: %s does not exist", name);
    *out_partition = partition;
    return TQ_OK;
}

tq_status tq_table_resolve(const struct tq_table *table, const struct tq_partition *partition,
                           const struct tq_sample_ref *sample, uint32_t *out_slot, struct tq_error *err)
{
    const struct tq_index_entry *entry = tq_index_find(&table->indexes, sample->index);
    if (entry != NULL && entry->partition == partition && entry->generation == sample->generation) {
        *out_slot = entry->slot;
        return TQ_OK;
    }
    if (entry != NULL && entry->generation > sample->generation)
        return tq_fail(err, TQ_FAILED_PRECONDITION, "STALE_GENERATION",
                       "index %" PRIu64 ": generation %u, expected %u: the sample was cleared and its index used again",
                       sample->index, sample->generation, entry->generation);
    return tq_fail(err, TQ_NOT_FOUND, "SAMPLE", "index %" PRIu64 " generation %u: no such sample in partition %s",
                   sample->index, sample->generation, partition->name);
}

#include "server/controller/group.h"

#include <string.h>

#include "server/controller/partition.h"
#include "server/controller/view.h"
#include "transport/base/assert.h"

void tq_groups_init(struct tq_groups *groups, const struct tq_seam *seam)
{
    *groups = (struct tq_groups){ 0 };
    tq_map_init(&groups->by_id, seam);
}

void tq_groups_fini(struct tq_groups *groups)
{
    const struct tq_seam *seam = groups->by_id.seam;
    for (uint32_t i = 0; i < groups->n_ordinals; i++)
        tq_seam_free(seam, groups->by_ordinal[i]);
    tq_seam_free(seam, groups->by_ordinal);
    tq_seam_free(seam, groups->free_ordinals);
    tq_map_fini(&groups->by_id);
}

static bool grow(struct tq_partition *partition)
{
    struct tq_groups *groups = &partition->groups;
    uint32_t capacity = groups->capacity == 0 ? 64 : groups->capacity * 2;
    struct tq_group **by_ordinal = tq_seam_alloc_array(partition->seam, capacity, sizeof(struct tq_group *));
    uint32_t *free_ordinals = tq_seam_alloc_array(partition->seam, capacity, sizeof(*free_ordinals));
    if (by_ordinal == NULL || free_ordinals == NULL || !tq_views_reserve_groups(partition, capacity)) {
        tq_seam_free(partition->seam, by_ordinal);
        tq_seam_free(partition->seam, free_ordinals);
        return false;
    }
    if (groups->n_ordinals > 0)
        memcpy(by_ordinal, groups->by_ordinal, groups->n_ordinals * sizeof(struct tq_group *));
    /* The stack is empty: a group grows only when no ordinal is free. */
    tq_seam_free(partition->seam, groups->by_ordinal);
    tq_seam_free(partition->seam, groups->free_ordinals);
    groups->by_ordinal = by_ordinal;
    groups->free_ordinals = free_ordinals;
    groups->capacity = capacity;
    return true;
}

static struct tq_group *open_group(struct tq_partition *partition, uint64_t id)
{
    struct tq_groups *groups = &partition->groups;
    if (groups->n_free == 0 && groups->n_ordinals == groups->capacity && !grow(partition))
        return NULL;
    struct tq_group *group = tq_seam_alloc(partition->seam, sizeof(*group));
    if (group == NULL)
        return NULL;
    if (!tq_map_put(&groups->by_id, id, group)) {
        tq_seam_free(partition->seam, group);
        return NULL;
    }
    group->id = id;
    group->ordinal = groups->n_free > 0 ? groups->free_ordinals[--groups->n_free] : groups->n_ordinals++;
    groups->by_ordinal[group->ordinal] = group;
    return group;
}

bool tq_group_join(struct tq_partition *partition, uint32_t slot, uint64_t id)
{
    struct tq_group *group = tq_map_get(&partition->groups.by_id, id);
    if (group == NULL && (group = open_group(partition, id)) == NULL)
        return false;
    struct tq_row *row = tq_partition_row(partition, slot);
    TQ_ASSERT(row->group == 0);
    row->group = group->ordinal + 1;
    row->prev = group->last;
    row->next = 0;
    if (group->last != 0)
        tq_partition_row(partition, group->last - 1)->next = slot + 1;
    else
        group->first = slot + 1;
    group->last = slot + 1;
    group->members++;
    return true;
}

void tq_group_leave(struct tq_partition *partition, uint32_t slot)
{
    struct tq_row *row = tq_partition_row(partition, slot);
    if (row->group == 0)
        return;
    struct tq_groups *groups = &partition->groups;
    struct tq_group *group = groups->by_ordinal[row->group - 1];
    if (row->prev != 0)
        tq_partition_row(partition, row->prev - 1)->next = row->next;
    else
        group->first = row->next;
    if (row->next != 0)
        tq_partition_row(partition, row->next - 1)->prev = row->prev;
    else
        group->last = row->prev;
    row->group = row->next = row->prev = 0;
    if (--group->members > 0)
        return;
    tq_map_remove(&groups->by_id, group->id);
    groups->by_ordinal[group->ordinal] = NULL;
    groups->free_ordinals[groups->n_free++] = group->ordinal;
    tq_seam_free(partition->seam, group);
}

uint64_t tq_group_id(const struct tq_partition *partition, uint32_t slot)
{
    uint32_t group = tq_partition_row(partition, slot)->group;
    return group == 0 ? 0 : partition->groups.by_ordinal[group - 1]->id;
}

/* server/controller/group.h: samples of one prompt share a group number. Groups of a partition have dense ordinals, so
 * that a feed can count the ready members of each in an array.
 * Owns: its groups. Threads: the controller's. */
#ifndef TQ_CONTROLLER_GROUP_H
#define TQ_CONTROLLER_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/base/map.h"

struct tq_partition;

struct tq_group {
    uint64_t id; /* never 0 */
    uint32_t ordinal;
    uint32_t members;
    uint32_t first, last; /* member's slot + 1, by arrival */
};

struct tq_groups {
    struct tq_map by_id;
    struct tq_group **by_ordinal; /* NULL: free */
    uint32_t *free_ordinals;      /* a stack */
    uint32_t n_ordinals, n_free, capacity;
};

void tq_groups_init(struct tq_groups *groups, const struct tq_seam *seam);
void tq_groups_fini(struct tq_groups *groups);

/* NULL when no live sample has this number. */
static inline const struct tq_group *tq_group_find(const struct tq_groups *groups, uint64_t id)
{
    return tq_map_get(&groups->by_id, id);
}
/* The row joins the group with this number, which is made when it is new. False without memory. */
TQ_MUST_CHECK bool tq_group_join(struct tq_partition *partition, uint32_t slot, uint64_t id);
/* The row leaves its group, if it has one; the last one closes it. No feed may count the row any more. */
void tq_group_leave(struct tq_partition *partition, uint32_t slot);
/* The number of the row's group; 0: none. */
uint64_t tq_group_id(const struct tq_partition *partition, uint32_t slot);

#endif

/* client/region_list.h: the regions of a request, each once.
 * Owns: nothing; the columns grow in the arena that was passed. Threads: one at a time. */
#ifndef TQ_CLIENT_REGION_LIST_H
#define TQ_CLIENT_REGION_LIST_H

#include "tq/bulk.h"
#include "tq/v1/types.pb-c.h"
#include "transport/base/arena.h"

struct tq_region_list {
    struct tq_arena *arena;
    Tq__V1__Regions regions; /* what was added, at any time */
    size_t capacity;
};

void tq_region_list_init(struct tq_region_list *list, struct tq_arena *arena);
/* Its number in the message, from 1; 0: it is not there. */
uint32_t tq_region_list_find(const struct tq_region_list *list, uint64_t id);
/* Returns its number; 0 without memory. The bytes of the region are copied. */
uint32_t tq_region_list_add(struct tq_region_list *list, const struct tq_region *region);

#endif

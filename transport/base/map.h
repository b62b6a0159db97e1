/* transport/base/map.h: hash map from 64-bit numbers to pointers (open addressing, linear probing, back-shift
 * deletion). Keys from peers are mixed with a secret of the map, so that they cannot be chosen to collide. Owns: its
 * table, not the values. Threads: whoever owns the map. */
#ifndef TQ_BASE_MAP_H
#define TQ_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/base/seam.h"

struct tq_map_slot {
    uint64_t key;
    void *value; /* NULL: free */
};

struct tq_map {
    const struct tq_seam *seam;
    struct tq_map_slot *slots;
    size_t capacity; /* 0 or a power of two */
    size_t count;
    uint64_t secret;
};

void tq_map_init(struct tq_map *map, const struct tq_seam *seam);
void tq_map_fini(struct tq_map *map);

/* NULL when absent. */
void *tq_map_get(const struct tq_map *map, uint64_t key);
/* Adds or replaces; `value` is not NULL. False without memory (the map is unchanged). */
TQ_MUST_CHECK bool tq_map_put(struct tq_map *map, uint64_t key, void *value);
/* Returns what was removed, or NULL. */
void *tq_map_remove(struct tq_map *map, uint64_t key);
static inline size_t tq_map_count(const struct tq_map *map)
{
    return map->count;
}
/* Walks the values in no order: start with *cursor 0; NULL at the end. The map must not change during the walk. */
void *tq_map_next(const struct tq_map *map, size_t *cursor);

#endif

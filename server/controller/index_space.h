/* server/controller/index_space.h: who has which global index. An index belongs to at most one live sample of the whole
 * system; each time it is given out it has a higher generation, so that a late message about its former owner shows.
 * Released indexes are used again first, oldest release first, then new ones in ascending order. An index costs 16
 * bytes for ever.
 * Owns: its entries. Threads: the controller's. */
#ifndef TQ_CONTROLLER_INDEX_SPACE_H
#define TQ_CONTROLLER_INDEX_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/base/map.h"
#include "transport/base/seam.h"

struct tq_partition;

struct tq_index_entry {
    struct tq_partition *partition; /* NULL: free */
    uint32_t slot;                  /* in the partition; while free: the next free index + 1 */
    uint32_t generation;            /* of the sample, or of the last one; 0: never given out */
};

struct tq_index_space {
    const struct tq_seam *seam;
    struct tq_index_entry **chunks;
    size_t n_chunks, capacity;
    uint64_t next;                  /* the first index never given out */
    uint32_t first_free, last_free; /* index + 1; 0: none */
    uint64_t n_free, n_live;
    struct tq_map fences; /* index -> the generation that an earlier life gave out, as a pointer */
};

void tq_index_space_init(struct tq_index_space *space, const struct tq_seam *seam);
void tq_index_space_fini(struct tq_index_space *space);

/* Makes room: `n` calls of tq_index_take cannot fail. False without memory or after 2^32 - 2 indexes. */
TQ_MUST_CHECK bool tq_index_reserve(struct tq_index_space *space, uint64_t n);
/* Gives out an index, after tq_index_reserve. */
uint64_t tq_index_take(struct tq_index_space *space, struct tq_partition *partition, uint32_t slot,
                       uint32_t *out_generation);
/* The sample is gone; its index may be taken again. */
void tq_index_release(struct tq_index_space *space, uint64_t index);
/* NULL when the index was never given out. entry->partition is NULL when it is free. */
struct tq_index_entry *tq_index_find(const struct tq_index_space *space, uint64_t index);
/* Somebody holds a sample of an earlier life of the controller: the next one under this index gets a generation above
 * it. generation < UINT32_MAX. False without memory. */
TQ_MUST_CHECK bool tq_index_fence(struct tq_index_space *space, uint64_t index, uint32_t generation);

#endif

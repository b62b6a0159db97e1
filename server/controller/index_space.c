#include "server/controller/index_space.h"

#include <string.h>

#include "transport/base/assert.h"

enum { CHUNK = 4096 };

void tq_index_space_init(struct tq_index_space *space, const struct tq_seam *seam)
{
    *space = (struct tq_index_space){ .seam = seam };
    tq_map_init(&space->fences, seam);
}

void tq_index_space_fini(struct tq_index_space *space)
{
    for (size_t i = 0; i < space->n_chunks; i++)
        tq_seam_free(space->seam, space->chunks[i]);
    tq_seam_free(space->seam, space->chunks);
    tq_map_fini(&space->fences);
    *space = (struct tq_index_space){ .seam = space->seam };
}

static struct tq_index_entry *entry_of(const struct tq_index_space *space, uint64_t index)
{
    return &space->chunks[index / CHUNK][index % CHUNK];
}

static bool add_chunk(struct tq_index_space *space)
{
    if (space->n_chunks == space->capacity) {
        size_t capacity = space->capacity == 0 ? 64 : space->capacity * 2;
        struct tq_index_entry **chunks = tq_seam_alloc_array(space->seam, capacity, sizeof(struct tq_index_entry *));
        if (chunks == NULL)
            return false;
        if (space->n_chunks > 0)
            memcpy(chunks, space->chunks, space->n_chunks * sizeof(struct tq_index_entry *));
        tq_seam_free(space->seam, space->chunks);
        space->chunks = chunks;
        space->capacity = capacity;
    }
    struct tq_index_entry *chunk = tq_seam_alloc_array(space->seam, CHUNK, sizeof(*chunk));
    if (chunk == NULL)
        return false;
    space->chunks[space->n_chunks++] = chunk;
    return true;
}

bool tq_index_reserve(struct tq_index_space *space, uint64_t n)
{
    uint64_t fresh = n > space->n_free ? n - space->n_free : 0;
    if (fresh > UINT32_MAX - 1 - space->next)
        return false;
    while (space->n_chunks * (uint64_t)CHUNK < space->next + fresh)
        if (!add_chunk(space))
            return false;
    return true;
}

static uint64_t take_free(struct tq_index_space *space)
{
    uint64_t index = space->first_free - 1;
    space->first_free = entry_of(space, index)->slot;
    if (space->first_free == 0)
        space->last_free = 0;
    space->n_free--;
    return index;
}

/* The generation before the next one of this index. */
static uint32_t last_generation(struct tq_index_space *space, uint64_t index)
{
    uint32_t generation = entry_of(space, index)->generation;
    if (tq_map_count(&space->fences) == 0)
        return generation;
    uint32_t fence = (uint32_t)(uintptr_t)tq_map_remove(&space->fences, index);
    return fence > generation ? fence : generation;
}

uint64_t tq_index_take(struct tq_index_space *space, struct tq_partition *partition, uint32_t slot,
                       uint32_t *out_generation)
{
    uint64_t index = space->n_free > 0 ? take_free(space) : space->next++;
    TQ_ASSERT(index / CHUNK < space->n_chunks && partition != NULL);
    struct tq_index_entry *entry = entry_of(space, index);
    *entry = (struct tq_index_entry){ partition, slot, last_generation(space, index) + 1 };
    space->n_live++;
    *out_generation = entry->generation;
    return index;
}

void tq_index_release(struct tq_index_space *space, uint64_t index)
{
    struct tq_index_entry *entry = entry_of(space, index);
    TQ_ASSERT(entry->partition != NULL);
    entry->partition = NULL;
    entry->slot = 0;
    space->n_live--;
    if (entry->generation == UINT32_MAX)
        return; /* no generation is left: the index retires */
    if (space->last_free != 0)
        entry_of(space, space->last_free - 1)->slot = (uint32_t)index + 1;
    else
        space->first_free = (uint32_t)index + 1;
    space->last_free = (uint32_t)index + 1;
    space->n_free++;
}

struct tq_index_entry *tq_index_find(const struct tq_index_space *space, uint64_t index)
{
    return index < space->next ? entry_of(space, index) : NULL;
}

bool tq_index_fence(struct tq_index_space *space, uint64_t index, uint32_t generation)
{
    TQ_ASSERT(generation < UINT32_MAX);
    const struct tq_index_entry *entry = tq_index_find(space, index);
    if (generation == 0 || (entry != NULL && entry->generation >= generation))
        return true;
    uint32_t before = (uint32_t)(uintptr_t)tq_map_get(&space->fences, index);
    return before >= generation || tq_map_put(&space->fences, index, (void *)(uintptr_t)generation);
}

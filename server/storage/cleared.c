#include "server/storage/cleared.h"

#include "transport/base/assert.h"

enum { FIRST_CAPACITY = 256 };

void tq_cleared_init(struct tq_cleared *cleared, size_t max, const struct tq_seam *seam)
{
    *cleared = (struct tq_cleared){ .seam = seam, .max = max };
    tq_map_init(&cleared->dead, seam);
}

void tq_cleared_fini(struct tq_cleared *cleared)
{
    tq_map_fini(&cleared->dead);
    tq_seam_free(cleared->seam, cleared->ring);
    cleared->ring = NULL;
    cleared->capacity = cleared->first = cleared->count = 0;
}

static uint64_t mark_of(const struct tq_cleared *cleared, uint64_t index)
{
    return (uint64_t)(uintptr_t)tq_map_get(&cleared->dead, index);
}

/* Room for one more at the end of the ring: by growing it, or by forgetting the oldest. */
static bool make_room(struct tq_cleared *cleared)
{
    if (cleared->count < cleared->capacity)
        return true;
    if (cleared->capacity >= cleared->max) {
        const struct tq_cleared_at *oldest = &cleared->ring[cleared->first];
        if (mark_of(cleared, oldest->index) == oldest->mark)
            tq_map_remove(&cleared->dead, oldest->index);
        cleared->first = (cleared->first + 1) % cleared->capacity;
        cleared->count--;
        return true;
    }
    TQ_ASSERT(cleared->count == 0 || cleared->capacity > 0);
    size_t capacity = cleared->capacity == 0 ? FIRST_CAPACITY : cleared->capacity * 2;
    if (capacity > cleared->max)
        capacity = cleared->max;
    struct tq_cleared_at *ring = tq_seam_alloc_array(cleared->seam, capacity, sizeof(*ring));
    if (ring == NULL)
        return false;
    for (size_t i = 0; i < cleared->count; i++)
        ring[i] = cleared->ring[(cleared->first + i) % cleared->capacity];
    tq_seam_free(cleared->seam, cleared->ring);
    cleared->ring = ring;
    cleared->capacity = capacity;
    cleared->first = 0;
    return true;
}

void tq_cleared_add(struct tq_cleared *cleared, uint64_t index, uint32_t generation)
{
    uint64_t mark = (uint64_t)generation + 1;
    if (mark_of(cleared, index) >= mark || !make_room(cleared) ||
        !tq_map_put(&cleared->dead, index, (void *)(uintptr_t)mark))
        return;
    size_t at = (cleared->first + cleared->count++) % cleared->capacity;
    cleared->ring[at] = (struct tq_cleared_at){ index, mark };
}

bool tq_cleared_has(const struct tq_cleared *cleared, uint64_t index, uint32_t generation)
{
    return mark_of(cleared, index) > generation;
}

void tq_cleared_forget(struct tq_cleared *cleared)
{
    size_t max = cleared->max;
    const struct tq_seam *seam = cleared->seam;
    tq_cleared_fini(cleared);
    tq_cleared_init(cleared, max, seam);
}

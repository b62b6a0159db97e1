#include "transport/base/map.h"

#include "transport/base/assert.h"

enum { FIRST_CAPACITY = 16 };

void tq_map_init(struct tq_map *map, const struct tq_seam *seam)
{
    *map = (struct tq_map){ .seam = seam, .secret = tq_seam_random64(seam) };
}

void tq_map_fini(struct tq_map *map)
{
    tq_seam_free(map->seam, map->slots);
    map->slots = NULL;
    map->capacity = map->count = 0;
}

/* The finalizer of MurmurHash3 (public domain, Austin Appleby), keyed. */
static size_t home_of(const struct tq_map *map, uint64_t key)
{
    uint64_t h = key ^ map->secret;
    h = (h ^ (h >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ (h >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    h ^= h >> 33;
    return (size_t)h & (map->capacity - 1);
}

/* The slot of the key, or the free slot where it would go. There is always a free slot. */
static struct tq_map_slot *find_slot(const struct tq_map *map, uint64_t key)
{
    size_t at = home_of(map, key);
    while (map->slots[at].value != NULL && map->slots[at].key != key)
        at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

static bool grow(struct tq_map *map)
{
    struct tq_map larger = *map;
    larger.capacity = map->capacity == 0 ? FIRST_CAPACITY : map->capacity * 2;
    larger.slots = tq_seam_alloc_array(map->seam, larger.capacity, sizeof(*larger.slots));
    if (larger.slots == NULL)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].value != NULL)
            *find_slot(&larger, map->slots[i].key) = map->slots[i];
    tq_seam_free(map->seam, map->slots);
    *map = larger;
    return true;
}

void *tq_map_get(const struct tq_map *map, uint64_t key)
{
    return map->count == 0 ? NULL : find_slot(map, key)->value;
}

bool tq_map_put(struct tq_map *map, uint64_t key, void *value)
{
    TQ_ASSERT(value != NULL);
    if ((map->count + 1) * 4 > map->capacity * 3 && !grow(map))
        return false;
    struct tq_map_slot *slot = find_slot(map, key);
    map->count += slot->value == NULL;
    *slot = (struct tq_map_slot){ key, value };
    return true;
}

/* Closes the gap at `hole`: every later element of the run that may live there moves up (Knuth, TAOCP 3, 6.4 R). */
static void shift_back(struct tq_map *map, size_t hole)
{
    size_t mask = map->capacity - 1;
    for (size_t at = (hole + 1) & mask; map->slots[at].value != NULL; at = (at + 1) & mask) {
        size_t home = home_of(map, map->slots[at].key);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole] = (struct tq_map_slot){ 0, NULL };
}

void *tq_map_remove(struct tq_map *map, uint64_t key)
{
    if (map->count == 0)
        return NULL;
    struct tq_map_slot *slot = find_slot(map, key);
    void *value = slot->value;
    if (value != NULL) {
        map->count--;
        shift_back(map, (size_t)(slot - map->slots));
    }
    return value;
}

void *tq_map_next(const struct tq_map *map, size_t *cursor)
{
    while (*cursor < map->capacity) {
        void *value = map->slots[(*cursor)++].value;
        if (value != NULL)
            return value;
    }
    return NULL;
}

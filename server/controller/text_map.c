#include "server/controller/text_map.h"

#include <string.h>

#include "transport/base/assert.h"

enum { FIRST_CAPACITY = 16 };

void tq_text_map_init(struct tq_text_map *map, const struct tq_seam *seam)
{
    *map = (struct tq_text_map){ .seam = seam };
    tq_seam_random(seam, map->secret, sizeof(map->secret));
}

void tq_text_map_fini(struct tq_text_map *map)
{
    tq_seam_free(map->seam, map->slots);
    map->slots = NULL;
    map->capacity = map->count = 0;
}

static uint64_t rotate(uint64_t word, unsigned by)
{
    return (word << by) | (word >> (64 - by));
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

/* SipHash-1-3 (Aumasson and Bernstein, 2012). */
static uint64_t hash_of(const struct tq_text_map *map, const char *text, size_t len)
{
    uint64_t v[4] = { map->secret[0] ^ UINT64_C(0x736f6d6570736575), map->secret[1] ^ UINT64_C(0x646f72616e646f6d),
                      map->secret[0] ^ UINT64_C(0x6c7967656e657261), map->secret[1] ^ UINT64_C(0x7465646279746573) };
    uint64_t last = (uint64_t)len << 56;
    for (; len >= 8; text += 8, len -= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    for (size_t i = 0; i < len; i++)
        last |= (uint64_t)(unsigned char)text[i] << (8 * i);
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The slot of the text, or the free slot where it would go. There is always a free slot. */
static struct tq_text_slot *find_slot(const struct tq_text_map *map, uint64_t hash, const char *text)
{
    size_t mask = map->capacity - 1, at = (size_t)hash & mask;
    while (map->slots[at].text != NULL && (map->slots[at].hash != hash || strcmp(map->slots[at].text, text) != 0))
        at = (at + 1) & mask;
    return &map->slots[at];
}

static bool resize(struct tq_text_map *map, size_t capacity)
{
    struct tq_text_map larger = *map;
    larger.capacity = capacity;
    larger.slots = tq_seam_alloc_array(map->seam, capacity, sizeof(*larger.slots));
    if (larger.slots == NULL)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].text != NULL)
            *find_slot(&larger, map->slots[i].hash, map->slots[i].text) = map->slots[i];
    tq_seam_free(map->seam, map->slots);
    *map = larger;
    return true;
}

bool tq_text_map_reserve(struct tq_text_map *map, size_t more)
{
    size_t capacity = map->capacity == 0 ? FIRST_CAPACITY : map->capacity;
    while ((map->count + more) * 4 > capacity * 3)
        capacity *= 2;
    return capacity == map->capacity || resize(map, capacity);
}

void *tq_text_map_get(const struct tq_text_map *map, const char *text)
{
    if (map->count == 0)
        return NULL;
    const struct tq_text_slot *slot = find_slot(map, hash_of(map, text, strlen(text)), text);
    return slot->text == NULL ? NULL : slot->value;
}

bool tq_text_map_put(struct tq_text_map *map, const char *text, void *value)
{
    TQ_ASSERT(value != NULL);
    if (!tq_text_map_reserve(map, 1))
        return false;
    uint64_t hash = hash_of(map, text, strlen(text));
    struct tq_text_slot *slot = find_slot(map, hash, text);
    TQ_ASSERT(slot->text == NULL);
    *slot = (struct tq_text_slot){ hash, text, value };
    map->count++;
    return true;
}

void tq_text_map_replace(struct tq_text_map *map, const char *text, void *value)
{
    TQ_ASSERT(value != NULL && map->count > 0);
    struct tq_text_slot *slot = find_slot(map, hash_of(map, text, strlen(text)), text);
    TQ_ASSERT(slot->text != NULL);
    slot->value = value;
}

/* Closes the gap at `hole`: every later element of the run that may live there moves up (Knuth, TAOCP 3, 6.4 R). */
static void shift_back(struct tq_text_map *map, size_t hole)
{
    size_t mask = map->capacity - 1;
    for (size_t at = (hole + 1) & mask; map->slots[at].text != NULL; at = (at + 1) & mask) {
        size_t home = (size_t)map->slots[at].hash & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole] = (struct tq_text_slot){ 0, NULL, NULL };
}

void *tq_text_map_remove(struct tq_text_map *map, const char *text)
{
    if (map->count == 0)
        return NULL;
    struct tq_text_slot *slot = find_slot(map, hash_of(map, text, strlen(text)), text);
    if (slot->text == NULL)
        return NULL;
    void *value = slot->value;
    map->count--;
    shift_back(map, (size_t)(slot - map->slots));
    return value;
}

void *tq_text_map_next(const struct tq_text_map *map, size_t *cursor)
{
    while (*cursor < map->capacity) {
        const struct tq_text_slot *slot = &map->slots[(*cursor)++];
        if (slot->text != NULL)
            return slot->value;
    }
    return NULL;
}

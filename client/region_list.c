#include "client/region_list.h"

#include <string.h>

#include "client/meta.h"

enum { FIRST_CAPACITY = 8 };

void tq_region_list_init(struct tq_region_list *list, struct tq_arena *arena)
{
    *list = (struct tq_region_list){ .arena = arena };
    tq__v1__regions__init(&list->regions);
}

uint32_t tq_region_list_find(const struct tq_region_list *list, uint64_t id)
{
    for (size_t r = list->regions.n_id; r > 0; r--) /* mostly the last one again */
        if (list->regions.id[r - 1] == id)
            return (uint32_t)r;
    return 0;
}

static void *grow_column(struct tq_region_list *list, const void *old, size_t size)
{
    void *grown = tq_arena_array(list->arena, list->capacity, size);
    if (grown != NULL && list->regions.n_id > 0)
        memcpy(grown, old, list->regions.n_id * size);
    return grown;
}

static bool grow(struct tq_region_list *list)
{
    Tq__V1__Regions *regions = &list->regions;
    list->capacity = list->capacity == 0 ? FIRST_CAPACITY : list->capacity * 2;
    regions->id = grow_column(list, regions->id, sizeof(*regions->id));
    regions->kind = grow_column(list, regions->kind, sizeof(*regions->kind));
    regions->start = grow_column(list, regions->start, sizeof(*regions->start));
    regions->length = grow_column(list, regions->length, sizeof(*regions->length));
    regions->key = grow_column(list, regions->key, sizeof(*regions->key));
    regions->ticket = grow_column(list, regions->ticket, sizeof(*regions->ticket));
    return regions->id != NULL && regions->kind != NULL && regions->start != NULL && regions->length != NULL &&
           regions->key != NULL && regions->ticket != NULL;
}

static bool copy_binary(struct tq_arena *arena, struct tq_bytes bytes, ProtobufCBinaryData *out)
{
    *out = (ProtobufCBinaryData){ bytes.len, tq_arena_copy(arena, bytes.ptr, bytes.len) };
    return out->data != NULL;
}

uint32_t tq_region_list_add(struct tq_region_list *list, const struct tq_region *region)
{
    Tq__V1__Regions *regions = &list->regions;
    if (regions->n_id == list->capacity && !grow(list))
        return 0;
    size_t at = regions->n_id;
    if (!copy_binary(list->arena, region->key, &regions->key[at]) ||
        !copy_binary(list->arena, region->ticket, &regions->ticket[at]))
        return 0;
    regions->id[at] = region->id;
    regions->kind[at] = region->kind;
    regions->start[at] = region->base;
    regions->length[at] = region->length;
    regions->n_id = regions->n_kind = regions->n_start = regions->n_length = regions->n_key = regions->n_ticket =
        at + 1;
    return (uint32_t)(at + 1);
}

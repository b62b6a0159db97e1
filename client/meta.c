#include "client/meta.h"

#include <string.h>

#include "transport/base/assert.h"

tq_status tq_fail_no_memory(struct tq_error *err)
{
    return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "out of memory");
}

void *tq_arena_array(struct tq_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : tq_arena_alloc(arena, bytes);
}

char *tq_arena_text(struct tq_arena *arena, const char *text)
{
    return tq_arena_copy(arena, text, strlen(text) + 1);
}

static bool fill_arrays(struct tq_meta *meta, const char *partition, size_t n)
{
    meta->partition = tq_arena_text(meta->arena, partition);
    meta->indexes = tq_arena_array(meta->arena, n, sizeof(*meta->indexes));
    meta->generations = tq_arena_array(meta->arena, n, sizeof(*meta->generations));
    meta->units = tq_arena_array(meta->arena, n, sizeof(*meta->units));
    meta->ready = tq_arena_array(meta->arena, n, sizeof(*meta->ready));
    meta->n = n;
    return meta->partition != NULL && meta->indexes != NULL && meta->generations != NULL && meta->units != NULL &&
           meta->ready != NULL;
}

tq_status tq_meta_make(const char *partition, size_t n, struct tq_meta **out_meta, struct tq_error *err)
{
    struct tq_arena *arena = tq_arena_open(NULL, SIZE_MAX);
    struct tq_meta *meta = arena == NULL ? NULL : tq_arena_alloc(arena, sizeof(*meta));
    if (meta == NULL) {
        tq_arena_close(arena);
        return tq_fail_no_memory(err);
    }
    meta->arena = arena;
    if (!fill_arrays(meta, partition, n)) {
        tq_meta_drop(meta);
        return tq_fail_no_memory(err);
    }
    *out_meta = meta;
    return TQ_OK;
}

void tq_meta_drop(struct tq_meta *meta)
{
    if (meta != NULL)
        tq_arena_close(meta->arena); /* the meta lies in it */
}

bool tq_field_copy(struct tq_arena *arena, const struct tq_field *from, struct tq_field *to)
{
    *to = *from;
    to->name = tq_arena_text(arena, from->name);
    to->content_type = tq_arena_text(arena, from->content_type);
    to->shape = tq_arena_copy(arena, from->shape, from->n_dims * sizeof(*from->shape));
    return to->name != NULL && to->content_type != NULL && to->shape != NULL;
}

bool tq_unit_info_copy(struct tq_arena *arena, const struct tq_unit_info *from, struct tq_unit_info *to)
{
    *to = *from;
    to->name = tq_arena_text(arena, from->name);
    to->address = tq_arena_text(arena, from->address);
    to->bulk.ptr = tq_arena_copy(arena, from->bulk.ptr, from->bulk.len);
    return to->name != NULL && to->address != NULL && to->bulk.ptr != NULL;
}

const struct tq_field *tq_meta_find_field(const struct tq_meta *meta, const char *name)
{
    for (size_t f = 0; f < meta->n_fields; f++)
        if (strcmp(meta->fields[f].name, name) == 0)
            return &meta->fields[f];
    return NULL;
}

const struct tq_unit_info *tq_meta_find_unit(const struct tq_meta *meta, uint32_t number)
{
    for (size_t u = 0; u < meta->n_unit_infos; u++)
        if (meta->unit_infos[u].number == number)
            return &meta->unit_infos[u];
    return NULL;
}

/* ---- the public view ---- */

size_t tq_meta_count(const struct tq_meta *meta)
{
    return meta->n;
}

const char *tq_meta_partition(const struct tq_meta *meta)
{
    return meta->partition;
}

uint64_t tq_meta_index(const struct tq_meta *meta, size_t i)
{
    TQ_ASSERT(i < meta->n);
    return meta->indexes[i];
}

uint32_t tq_meta_generation(const struct tq_meta *meta, size_t i)
{
    TQ_ASSERT(i < meta->n);
    return meta->generations[i];
}

uint32_t tq_meta_unit(const struct tq_meta *meta, size_t i)
{
    TQ_ASSERT(i < meta->n);
    return meta->units[i];
}

uint64_t tq_meta_group(const struct tq_meta *meta, size_t i)
{
    TQ_ASSERT(i < meta->n);
    return meta->groups == NULL ? 0 : meta->groups[i];
}

const char *tq_meta_key(const struct tq_meta *meta, size_t i)
{
    TQ_ASSERT(i < meta->n);
    return meta->keys == NULL || meta->keys[i] == NULL || meta->keys[i][0] == '\0' ? NULL : meta->keys[i];
}

bool tq_meta_ready(const struct tq_meta *meta, size_t i)
{
    TQ_ASSERT(i < meta->n);
    return meta->ready[i];
}

size_t tq_meta_n_fields(const struct tq_meta *meta)
{
    return meta->n_fields;
}

const char *tq_meta_field(const struct tq_meta *meta, size_t f)
{
    TQ_ASSERT(f < meta->n_fields);
    return meta->fields[f].name;
}

bool tq_meta_tag(const struct tq_meta *meta, size_t i, const char *key, struct tq_bytes *out_value)
{
    TQ_ASSERT(i < meta->n);
    if (meta->tag_starts == NULL)
        return false;
    for (size_t t = meta->tag_starts[i]; t < meta->tag_starts[i + 1]; t++) {
        if (strcmp(meta->tags[t].key, key) == 0) {
            *out_value = meta->tags[t].value;
            return true;
        }
    }
    return false;
}

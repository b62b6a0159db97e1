#include "server/controller/tag_set.h"

#include <string.h>

const struct tq_tag *tq_tag_set_find(const struct tq_tag_set *set, const char *key)
{
    for (size_t i = 0; set != NULL && i < set->n; i++)
        if (strcmp(set->tags[i].key, key) == 0)
            return &set->tags[i];
    return NULL;
}

static bool named_later(const struct tq_tag *changes, size_t n_changes, size_t from, const char *key)
{
    for (size_t i = from; i < n_changes; i++)
        if (strcmp(changes[i].key, key) == 0)
            return true;
    return false;
}

/* Puts the tag at the end of the set and its bytes at *text. */
static void append(struct tq_tag_set *set, char **text, const struct tq_tag *tag)
{
    size_t key_len = strlen(tag->key) + 1;
    struct tq_tag *copy = &set->tags[set->n++];
    copy->key = memcpy(*text, tag->key, key_len);
    *text += key_len;
    copy->value = (struct tq_bytes){ (uint8_t *)*text, tag->value.len };
    if (tag->value.len > 0)
        memcpy(*text, tag->value.ptr, tag->value.len);
    *text += tag->value.len;
    set->bytes += key_len + tag->value.len;
}

static size_t bytes_of(const struct tq_tag *tag)
{
    return strlen(tag->key) + 1 + tag->value.len;
}

struct tq_tag_set *tq_tag_set_make(const struct tq_seam *seam, const struct tq_tag_set *base,
                                   const struct tq_tag *changes, size_t n_changes)
{
    size_t n = n_changes + (base != NULL ? base->n : 0);
    size_t bytes = base != NULL ? base->bytes : 0;
    for (size_t i = 0; i < n_changes; i++)
        bytes += bytes_of(&changes[i]);
    struct tq_tag_set *set = tq_seam_alloc(seam, sizeof(*set) + n * sizeof(set->tags[0]) + bytes);
    if (set == NULL)
        return NULL;
    char *text = (char *)&set->tags[n];
    for (size_t i = 0; base != NULL && i < base->n; i++)
        if (!named_later(changes, n_changes, 0, base->tags[i].key))
            append(set, &text, &base->tags[i]);
    for (size_t i = 0; i < n_changes; i++)
        if (!named_later(changes, n_changes, i + 1, changes[i].key))
            append(set, &text, &changes[i]);
    return set;
}

void tq_tag_set_drop(const struct tq_seam *seam, struct tq_tag_set *set)
{
    tq_seam_free(seam, set);
}

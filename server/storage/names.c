#include "server/storage/names.h"

#include <string.h>

#include "transport/base/assert.h"

void tq_names_init(struct tq_names *names, const struct tq_seam *seam)
{
    *names = (struct tq_names){ .basis = tq_seam_random64(seam) };
    tq_map_init(&names->by_hash, seam);
}

void tq_names_fini(struct tq_names *names)
{
    TQ_ASSERT(tq_map_count(&names->by_hash) == 0);
    tq_map_fini(&names->by_hash);
}

/* FNV-1a with a secret basis. */
static uint64_t hash_of(const struct tq_names *names, const char *text)
{
    uint64_t hash = names->basis;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

static struct tq_name *find(const struct tq_names *names, uint64_t hash, const char *text)
{
    struct tq_name *name = tq_map_get(&names->by_hash, hash);
    while (name != NULL && strcmp(name->text, text) != 0)
        name = name->next;
    return name;
}

struct tq_name *tq_names_peek(const struct tq_names *names, const char *text)
{
    return find(names, hash_of(names, text), text);
}

struct tq_name *tq_names_hold(struct tq_names *names, const char *text)
{
    uint64_t hash = hash_of(names, text);
    struct tq_name *name = find(names, hash, text);
    if (name != NULL)
        return tq_name_hold(name);
    size_t len = strlen(text);
    name = tq_seam_alloc(names->by_hash.seam, sizeof(*name) + len + 1);
    if (name == NULL)
        return NULL;
    memcpy(name->text, text, len + 1);
    name->hash = hash;
    name->next = tq_map_get(&names->by_hash, hash);
    if (!tq_map_put(&names->by_hash, hash, name)) {
        tq_seam_free(names->by_hash.seam, name);
        return NULL;
    }
    name->id = ++names->last_id;
    name->holds = 1;
    return name;
}

struct tq_name *tq_name_hold(struct tq_name *name)
{
    name->holds++;
    return name;
}

static void unlink_name(struct tq_names *names, struct tq_name *name)
{
    struct tq_name *head = tq_map_get(&names->by_hash, name->hash);
    if (head != name) {
        while (head->next != name)
            head = head->next;
        head->next = name->next;
    } else if (name->next == NULL) {
        tq_map_remove(&names->by_hash, name->hash);
    } else {
        bool replaced = tq_map_put(&names->by_hash, name->hash, name->next);
        TQ_ASSERT(replaced); /* the key is there: nothing grows */
    }
}

void tq_name_drop(struct tq_names *names, struct tq_name *name)
{
    if (name == NULL || --name->holds > 0)
        return;
    unlink_name(names, name);
    tq_seam_free(names->by_hash.seam, name);
}

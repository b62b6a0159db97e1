/* server/controller/text_map.h: hash map from texts to pointers (open addressing, linear probing, back-shift deletion).
 * Texts come from peers, so the hash is SipHash with a secret of the map: nobody can choose texts that collide.
 * Owns: its table; a text is borrowed and lives as long as its entry. Threads: whoever owns the map. */
#ifndef TQ_CONTROLLER_TEXT_MAP_H
#define TQ_CONTROLLER_TEXT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/base/seam.h"

struct tq_text_slot {
    uint64_t hash;
    const char *text; /* NULL: free */
    void *value;
};

struct tq_text_map {
    const struct tq_seam *seam;
    struct tq_text_slot *slots;
    size_t capacity; /* 0 or a power of two */
    size_t count;
    uint64_t secret[2];
};

void tq_text_map_init(struct tq_text_map *map, const struct tq_seam *seam);
void tq_text_map_fini(struct tq_text_map *map);

/* NULL when absent. */
void *tq_text_map_get(const struct tq_text_map *map, const char *text);
/* Makes room for `more` entries: that many tq_text_map_put cannot fail. False without memory. */
TQ_MUST_CHECK bool tq_text_map_reserve(struct tq_text_map *map, size_t more);
/* Adds a text that is not there; `value` is not NULL. False without memory. */
TQ_MUST_CHECK bool tq_text_map_put(struct tq_text_map *map, const char *text, void *value);
/* Another value for a text that is there. */
void tq_text_map_replace(struct tq_text_map *map, const char *text, void *value);
/* Returns what was removed, or NULL. */
void *tq_text_map_remove(struct tq_text_map *map, const char *text);
/* Walks the values in no order: start with *cursor 0; NULL at the end. The map must not change during the walk. */
void *tq_text_map_next(const struct tq_text_map *map, size_t *cursor);

#endif

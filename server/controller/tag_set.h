/* server/controller/tag_set.h: the tags of one sample: a few keys, each with a value that only its writer understands.
 * A set is immutable: setting makes a new one, so that a refused request changes nothing.
 * Owns: a set owns its texts. Threads: the controller's. */
#ifndef TQ_CONTROLLER_TAG_SET_H
#define TQ_CONTROLLER_TAG_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "tq/bytes.h"
#include "transport/base/seam.h"

struct tq_tag {
    const char *key;
    struct tq_bytes value;
};

struct tq_tag_set {
    size_t n;
    size_t bytes; /* keys and values, for the budget */
    struct tq_tag tags[];
};

/* A new set: `base` (NULL: empty) with `changes` over it; of changes with the same key the last counts. NULL without
 * memory. */
struct tq_tag_set *tq_tag_set_make(const struct tq_seam *seam, const struct tq_tag_set *base,
                                   const struct tq_tag *changes, size_t n_changes);
void tq_tag_set_drop(const struct tq_seam *seam, struct tq_tag_set *set); /* NULL is allowed */
/* NULL when there is no such key. */
const struct tq_tag *tq_tag_set_find(const struct tq_tag_set *set, const char *key);

#endif

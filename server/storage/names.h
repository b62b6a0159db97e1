/* server/storage/names.h: names of fields and partitions, each kept once and counted, so that a cell knows its field by
 * a number and comparing names is comparing pointers.
 * Owns: the texts. Threads: the loop's. */
#ifndef TQ_STORAGE_NAMES_H
#define TQ_STORAGE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "transport/base/map.h"

struct tq_name {
    struct tq_name *next; /* another text with the same hash */
    uint64_t hash;
    uint64_t id; /* grows with each new name; never used again */
    uint32_t holds;
    char text[];
};

struct tq_names {
    struct tq_map by_hash;
    uint64_t basis; /* of the hash: a secret, so that names cannot be chosen to collide */
    uint64_t last_id;
};

void tq_names_init(struct tq_names *names, const struct tq_seam *seam);
/* Every name must have been dropped. A zeroed table is allowed. */
void tq_names_fini(struct tq_names *names);

/* NULL when nobody holds it. */
struct tq_name *tq_names_peek(const struct tq_names *names, const char *text);
/* Finds or adds it. NULL without memory. */
struct tq_name *tq_names_hold(struct tq_names *names, const char *text);
struct tq_name *tq_name_hold(struct tq_name *name);
/* NULL is allowed. */
void tq_name_drop(struct tq_names *names, struct tq_name *name);

#endif

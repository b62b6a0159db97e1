/* server/storage/engine.h: where the bytes of large cells lie: a vtable. Memory now, other tiers behind the same five
 * functions.
 * Owns: nothing; an engine outlives the store that uses it. Threads: the loop's, but for alloc. */
#ifndef TQ_STORAGE_ENGINE_H
#define TQ_STORAGE_ENGINE_H

#include "tq/bulk.h"

/* A place for `len` bytes. Zeroed: none. */
struct tq_place {
    struct tq_block block;
};

struct tq_engine {
    void *self;
    /* From any thread: new memory takes its time. Fails with RESOURCE_EXHAUSTED. */
    tq_status (*alloc)(void *self, size_t len, struct tq_place *out_place, struct tq_error *err);
    /* Zeroes the place. A zeroed one is allowed. */
    void (*free)(void *self, struct tq_place *place);
    /* From now on readers find the bytes under this version. */
    void (*publish)(void *self, const struct tq_place *place, uint64_t version);
    /* What a peer must know to read from the place's region; false when it cannot be read from outside. */
    bool (*region)(void *self, const struct tq_place *place, struct tq_region *out_region);
};

#endif

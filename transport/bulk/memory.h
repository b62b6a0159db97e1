/* transport/bulk/memory.h: the memory that peers may read: extents of the arena, cut into blocks, and exposed heap
 * buffers. It answers the owner's question "may these bytes be read, and do they stay?" with a hold, and defers what is
 * freed under a hold: that is the quarantine.
 *
 * Owns: extents and their chunks; an exposure holds memory of the application.
 * Threads: any; one lock guards all. Nothing here calls out with the lock held, except the backing. */
#ifndef TQ_BULK_MEMORY_H
#define TQ_BULK_MEMORY_H

#include <pthread.h>

#include "tq/bulk.h"
#include "transport/base/list.h"
#include "transport/base/map.h"
#include "transport/bulk/chunks.h"
#include "transport/bulk/frame.h"

struct tq_mapping {
    uint8_t *base; /* page aligned, zeroed */
    size_t bytes;
    void *handle; /* of the backing; NULL: plain memory */
    uint8_t *key; /* packed remote key; NULL: no peer can map it */
    size_t key_len;
};

/* Where extents come from that peers can map. */
struct tq_backing {
    void *self;
    TQ_MUST_CHECK tq_status (*map)(void *self, size_t bytes, uint64_t region, struct tq_mapping *out_mapping,
                                   struct tq_error *err);
    void (*unmap)(void *self, struct tq_mapping *mapping);
};

struct tq_extent {
    struct tq_list node;
    struct tq_list order; /* its chunks by address */
    struct tq_map frames; /* used chunks by the offset of their payload */
    struct tq_mapping mapping;
    uint64_t region;
    uint8_t ticket[TQ_TICKET_BYTES];
    size_t used_bytes;
    size_t touched_bytes; /* pages below are there */
    int64_t empty_since_ns;
};

struct tq_exposure {
    struct tq_bulk *bulk;
    struct tq_memory *memory;
    const uint8_t *ptr;
    size_t len;
    uint64_t region;
    uint8_t ticket[TQ_TICKET_BYTES];
    uint32_t holds; /* under the lock: sends that read it */
    bool revoked;
};

struct tq_memory {
    const struct tq_seam *seam;
    struct tq_backing backing; /* map NULL: plain memory only */
    size_t extent_bytes, budget_bytes, quarantine_budget;
    size_t spare_bytes; /* of empty extents kept for a moment */
    size_t keep_bytes;  /* of them kept for good */

    pthread_mutex_t lock;
    pthread_cond_t quiet; /* a hold was dropped */
    struct tq_chunks chunks;
    struct tq_list extents;
    struct tq_map regions; /* extents by region */
    struct tq_map exposed; /* exposures by region */
    size_t extents_bytes, used_bytes, empty_bytes, quarantined_bytes;
    uint64_t registrations;
    bool plain_only; /* shared memory ran out */
};

/* What a reader claims to know about some bytes. */
struct tq_claim {
    uint64_t region;
    struct tq_bytes ticket;
    uint64_t frame, skip, length, version;
};

/* Keeps bytes readable: one of the two is set. */
struct tq_hold {
    struct tq_chunk *chunk;
    struct tq_exposure *exposure;
};

struct tq_memory_opts {
    const struct tq_seam *seam;
    const struct tq_backing *backing; /* NULL: plain memory */
    size_t extent_bytes, budget_bytes, quarantine_bytes;
    bool keep_spare;
    size_t keep_bytes;
};

void tq_memory_init(struct tq_memory *memory, const struct tq_memory_opts *opts);
/* Blocks and exposures must be back, holds dropped. */
void tq_memory_fini(struct tq_memory *memory);

/* ---- extents.c: the arena ---- */

TQ_MUST_CHECK tq_status tq_memory_alloc(struct tq_memory *memory, size_t len, struct tq_block *out_block,
                                        struct tq_error *err);
void tq_memory_free(struct tq_memory *memory, struct tq_block *block);
TQ_MUST_CHECK bool tq_memory_region(struct tq_memory *memory, uint64_t region, struct tq_region *out_region);
/* Returns extents that have been empty for a while. When it wants to be called again; INT64_MAX: not at all. */
int64_t tq_memory_trim(struct tq_memory *memory, int64_t now_ns);
/* The chunk goes back; the last hold is gone and its owner has freed it. */
void tq_extent_give_locked(struct tq_memory *memory, struct tq_chunk *chunk);

/* ---- claims.c: holds ---- */

/* Fails with NOT_FOUND (STALE_REGION), PERMISSION_DENIED (STALE_TICKET), ABORTED (STALE_VERSION), OUT_OF_RANGE (RANGE).
 */
TQ_MUST_CHECK tq_status tq_memory_hold(struct tq_memory *memory, const struct tq_claim *claim, const uint8_t **out_ptr,
                                       struct tq_hold *out_hold, struct tq_error *err);
void tq_memory_drop(struct tq_memory *memory, struct tq_hold *hold);
/* Holds the block in which [ptr, ptr + len) lies, for a writer; tq_memory_drop lets it go. False: not ours, or already
 * held by `last`, which may be empty. */
TQ_MUST_CHECK bool tq_memory_hold_block(struct tq_memory *memory, const uint8_t *ptr, size_t len,
                                        const struct tq_hold *last, struct tq_hold *out_hold);
/* Quarantines the block in which [ptr, ptr + len) lies: it is not used again before tq_memory_land. False: not ours. */
TQ_MUST_CHECK bool tq_memory_adrift(struct tq_memory *memory, const uint8_t *ptr, size_t len, struct tq_hold *out_hold);
void tq_memory_land(struct tq_memory *memory, struct tq_hold *hold);
bool tq_memory_quarantine_is_full(struct tq_memory *memory);
/* Whether the owner of these bytes wants them back. */
bool tq_memory_is_wanted(struct tq_memory *memory, const struct tq_hold *hold);

/* ---- exposures.c ---- */

TQ_MUST_CHECK tq_status tq_memory_expose(struct tq_memory *memory, const void *ptr, size_t len,
                                         struct tq_exposure **out_exposure, struct tq_error *err);
/* No new hold from now on. */
void tq_exposure_revoke(struct tq_exposure *exposure);
/* Whether the last hold was dropped by `deadline_ns`. */
TQ_MUST_CHECK bool tq_exposure_wait(struct tq_exposure *exposure, int64_t deadline_ns);
/* Revoked and quiet. */
void tq_exposure_close(struct tq_exposure *exposure);

#endif

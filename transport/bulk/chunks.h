/* transport/bulk/chunks.h: cuts extents into chunks and joins them again. The books are kept outside the extents,
 * because peers that map an extent can write to it. Good fit: the smallest chunk of the first size class that has one.
 * Owns: the chunks. Threads: whoever owns it; the arena's lock guards it. */
#ifndef TQ_BULK_CHUNKS_H
#define TQ_BULK_CHUNKS_H

#include <stdatomic.h>

#include "transport/base/list.h"
#include "transport/base/seam.h"

enum { TQ_CHUNK_BINS = 384 };

struct tq_extent;

struct tq_chunk {
    struct tq_extent *extent;
    struct tq_list by_address; /* all chunks of the extent */
    struct tq_list in_bin;     /* free chunks of one size class */
    size_t offset, bytes;      /* in the extent; the frame header included; multiples of 64 */
    size_t length;             /* of the payload, as asked for */
    _Atomic uint64_t version;  /* what was published; 0: nothing */
    uint32_t holds;            /* engines that read or write it */
    uint32_t adrift;           /* of these, receives that nobody waits for any more */
    bool used;
    bool freed; /* by its owner, while held: it lives on until it is quiet */
};

struct tq_chunks {
    const struct tq_seam *seam;
    struct tq_list bins[TQ_CHUNK_BINS];
};

void tq_chunks_init(struct tq_chunks *chunks, const struct tq_seam *seam);

/* Enters [offset, offset + bytes) of an extent as one free chunk. False without memory. `order` is the extent's list.
 */
TQ_MUST_CHECK bool tq_chunks_add(struct tq_chunks *chunks, struct tq_extent *extent, struct tq_list *order,
                                 size_t offset, size_t bytes);
/* A used chunk of exactly `bytes` (a multiple of 64), or NULL when none is large enough or without memory. */
struct tq_chunk *tq_chunks_take(struct tq_chunks *chunks, size_t bytes);
/* Frees it and joins it with its free neighbours. */
void tq_chunks_give(struct tq_chunks *chunks, struct tq_chunk *chunk, struct tq_list *order);
/* Forgets the chunks of an extent; all of them are free. */
void tq_chunks_remove(struct tq_chunks *chunks, struct tq_list *order);

#endif

/* client/put_part.h: one Put request: some samples of one unit, all columns. Large cells are described where they lie
 * in exposed memory, the others travel as inline frames: region 0.
 * Owns: nothing; the request lives in the arena that was passed and views the columns. Threads: one at a time. */
#ifndef TQ_CLIENT_PUT_PART_H
#define TQ_CLIENT_PUT_PART_H

#include "client/column.h"
#include "client/shares.h"
#include "tq/v1/storage.pb-c.h"

enum {
    TQ_PART_INLINE_BYTES = 16 << 20, /* of one request; the peer takes 64 MiB */
    TQ_PART_CELLS = 131072,          /* of one request; the peer takes 262144 */
    TQ_PART_SIZES = 1 << 20,         /* entries of all shapes of one request */
};

/* The columns of a put and how each travels. Fixed while parts are made. */
struct tq_put_columns {
    const struct tq_batch *batch;
    struct tq_cells *cells;         /* one a column */
    struct tq_exposure **exposures; /* one a column; NULL: inline */
    struct tq_bytes address;        /* ours, for bulk */
};

struct tq_put_part {
    size_t first, n; /* of the share's positions */
    Tq__V1__PutRequest request;
    struct tq_bytes *frames;
    size_t n_frames;
};

/* How many of the share's samples, from share->next on, one request carries. At least 1. */
size_t tq_put_part_size(const struct tq_put_columns *columns, const struct tq_share *share);
/* Fails with RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_put_part_make(struct tq_arena *arena, const struct tq_put_columns *columns,
                                         const struct tq_meta *meta, const struct tq_share *share, size_t n,
                                         struct tq_put_part *out_part, struct tq_error *err);

#endif

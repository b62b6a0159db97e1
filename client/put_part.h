/* client/put_part.h: one Put request: some samples of one unit, all columns. Small cells travel as inline frames,
 * region 0. The cells of a large column lie where the unit can read them: staged, copied into our arenas, which units
 * of this host read at the speed of memory; or exposed, in the application's own memory. Owns: the staged blocks; the
 * request lives in the arena that was passed and views the columns. Threads: one at a time. */
#ifndef TQ_CLIENT_PUT_PART_H
#define TQ_CLIENT_PUT_PART_H

#include "client/column.h"
#include "client/put_frames.h"
#include "client/shares.h"
#include "tq/v1/storage.pb-c.h"

enum {
    TQ_PART_INLINE_BYTES = 16 << 20, /* of one request; the peer takes 64 MiB */
    TQ_PART_STAGED_BYTES = 8 << 20,  /* of one request: the unit reads one while we copy the next */
    TQ_PART_CELLS = 131072,          /* of one request; the peer takes 262144 */
    TQ_PART_SIZES = 1 << 20,         /* entries of all shapes of one request */
};

enum tq_put_way {
    TQ_PUT_INLINE, /* everything inline */
    TQ_PUT_EXPOSED,
    TQ_PUT_STAGED,
};

/* The columns of a put. Fixed while parts are made. */
struct tq_put_columns {
    struct tq_bulk *bulk;
    const struct tq_batch *batch;
    struct tq_cells *cells;         /* one a column */
    bool *large;                    /* one a column: worth a bulk transfer */
    struct tq_exposure **exposures; /* one a column; NULL until somebody needs it */
};

struct tq_put_part {
    enum tq_put_way way;
    size_t first, n; /* of the share's positions */
    Tq__V1__PutRequest request;
    struct tq_put_frames inlined;
    struct tq_block *blocks; /* staged cells, in the order of the large columns */
    size_t n_blocks;
    uint32_t *digests; /* one a cell; those of staged cells are there already */
};

/* How many of the share's samples, from share->next on, one request carries. At least 1. */
size_t tq_put_part_size(const struct tq_put_columns *columns, const struct tq_share *share, enum tq_put_way way);
/* Takes part->way. Drop the part whatever the outcome. Fails with RESOURCE_EXHAUSTED; reason STAGE when staging has no
 * room, where another way may have. */
TQ_MUST_CHECK tq_status tq_put_part_make(struct tq_arena *arena, const struct tq_put_columns *columns,
                                         const struct tq_meta *meta, const struct tq_share *share, size_t n,
                                         struct tq_put_part *part, struct tq_error *err);
/* Computes the digests that are not there yet. */
void tq_put_part_digest(struct tq_put_part *part, const struct tq_put_columns *columns, const struct tq_share *share);
/* Frees the staged blocks. Zeroed is allowed. */
void tq_put_part_drop(struct tq_put_part *part, struct tq_bulk *bulk);

#endif

/* server/controller/rows.h: the rows of a partition by slot. Slots are given out in ascending order and not again, so
 * that the order of slots is the order of insertion, and the first bit of a bitmap is the oldest sample. Rows lie in
 * chunks, and a chunk goes when its last row goes. What is left between rows that stay for long is closed by compact.c,
 * which renumbers them in their order.
 * Owns: the chunks, not what rows point to. Threads: the controller's. */
#ifndef TQ_CONTROLLER_ROWS_H
#define TQ_CONTROLLER_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "tq/status.h"
#include "transport/base/seam.h"

struct tq_tag_set;

struct tq_row {
    uint64_t index; /* global */
    uint64_t bytes; /* stored or expected, for placement */
    char *key;      /* NULL: none */
    struct tq_tag_set *tags;
    uint32_t generation;
    uint32_t unit;
    uint32_t group;      /* ordinal + 1; 0: none */
    uint32_t next, prev; /* in its group: slot + 1 */
};

enum { TQ_ROW_CHUNK = 1024 };
/* Slots are below it; so slot + 1 is a number too. */
#define TQ_SLOTS_MAX (UINT32_MAX - 1)

struct tq_row_chunk {
    uint32_t n_live;
    struct tq_row rows[TQ_ROW_CHUNK];
};

struct tq_rows {
    const struct tq_seam *seam;
    struct tq_row_chunk **chunks;             /* NULL: without a row */
    uint32_t first_chunk, n_chunks, capacity; /* chunks[0] has the slots from first_chunk * TQ_ROW_CHUNK on */
    uint32_t next;                            /* the slot of the next row */
    uint32_t n_live;
};

void tq_rows_init(struct tq_rows *rows, const struct tq_seam *seam);
void tq_rows_fini(struct tq_rows *rows);

static inline struct tq_row *tq_row_at(const struct tq_rows *rows, uint32_t slot)
{
    return &rows->chunks[slot / TQ_ROW_CHUNK - rows->first_chunk]->rows[slot % TQ_ROW_CHUNK];
}

/* Adds a row of zeros behind all others. False without memory or slots. */
TQ_MUST_CHECK bool tq_rows_add(struct tq_rows *rows, uint32_t *out_slot);
/* The row is live. */
void tq_rows_remove(struct tq_rows *rows, uint32_t slot);
/* Whether the chunks span much more than the rows need. Between two renumberings that it asks for, more rows come and
 * go than the later one has to move. */
bool tq_rows_are_sparse(const struct tq_rows *rows);

#endif

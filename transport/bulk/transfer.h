/* transport/bulk/transfer.h: one tq_bulk_read on its way. The copier serves the ranges that can be read in place, the
 * reader core asks the owner for the rest, piece by piece.
 *
 *   NEW --> COPYING --> READING --> DONE       COPYING and READING are left out where there is nothing to do
 *             |           |
 *             |           +--> CLOSING --> READING | DONE   the link is being closed by force; then again, or the end
 *             |           +--> ADRIFT --> DONE              reported as expired; receives into our own blocks still run
 *             +--> DONE
 *
 * Owns: its copy of the address and the sources, the table of pieces.
 * Threads: made by the caller's thread, then the bulk thread's. */
#ifndef TQ_BULK_TRANSFER_H
#define TQ_BULK_TRANSFER_H

#include "tq/bulk.h"
#include "transport/base/heap.h"
#include "transport/base/list.h"
#include "transport/bulk/address.h"
#include "transport/bulk/memory.h"

enum tq_transfer_state {
    TQ_TRANSFER_NEW,
    TQ_TRANSFER_COPYING,
    TQ_TRANSFER_READING,
    TQ_TRANSFER_CLOSING,
    TQ_TRANSFER_ADRIFT,
    TQ_TRANSFER_DONE,
    TQ_TRANSFER_STATES
};

enum tq_piece_state { TQ_PIECE_OPEN, TQ_PIECE_ASKED, TQ_PIECE_RECEIVING, TQ_PIECE_HERE };

struct tq_transfer;

/* A part of a range, received by one message. */
struct tq_piece {
    struct tq_transfer *transfer;
    uint64_t skip; /* in the frame */
    uint64_t len;
    uint8_t *into;
    uint32_t range;
    uint32_t crc32c;
    enum tq_piece_state state;
    struct tq_hold hold; /* while adrift */
};

struct tq_source {
    struct tq_region region; /* the bytes are the transfer's */
    const uint8_t *view;     /* mapped here: read it in place; NULL: ask the owner */
};

struct tq_link;

struct tq_transfer {
    struct tq_list node;
    struct tq_heap_node timer;
    const struct tq_seam *seam;
    enum tq_transfer_state state;

    tq_wire_BulkAddress *peer;
    struct tq_source *sources;
    size_t n_sources;
    struct tq_bulk_range *ranges;
    size_t n_ranges;
    struct tq_bulk_read_opts opts;
    tq_bulk_done_fn *done;
    void *user;
    struct tq_bulk_result result;

    /* the blocks of ours in which destinations lie: they are not used again before the end */
    struct tq_memory *memory;
    struct tq_hold *holds;
    size_t n_holds;

    /* copier */
    size_t range_at;
    uint64_t done_in_range;

    /* reader core */
    struct tq_link *link;
    uint64_t id; /* on the wire; another for each link, so that late answers find nothing */
    struct tq_piece *pieces;
    uint32_t n_pieces, next_piece; /* pieces before next_piece are asked for or here */
    uint32_t asked, receiving, here;
    uint32_t attempts;
    bool reported; /* done has run */
};

struct tq_read_args {
    struct tq_bytes address;
    const struct tq_region *sources;
    size_t n_sources;
    struct tq_bulk_range *ranges;
    size_t n_ranges;
    const struct tq_bulk_read_opts *opts;
    tq_bulk_done_fn *done;
    void *user;
};

/* Checks and copies. Fails with INVALID_ARGUMENT, RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_transfer_open(const struct tq_seam *seam, const struct tq_read_args *args,
                                         struct tq_transfer **out_transfer, struct tq_error *err);
void tq_transfer_close(struct tq_transfer *transfer);
/* Holds the destinations that lie in blocks of `memory`, so that a free under the transfer is put off. False without
 * memory. */
TQ_MUST_CHECK bool tq_transfer_hold(struct tq_transfer *transfer, struct tq_memory *memory);
/* Drops these holds: the destinations are quiet, or held piece by piece. */
void tq_transfer_let_go(struct tq_transfer *transfer);
/* The one place where the state changes; asserts that the drawing above allows it. */
void tq_transfer_move(struct tq_transfer *transfer, enum tq_transfer_state to);
/* Cuts the ranges of sources without a view into pieces of at most `piece_bytes`. False without memory. */
TQ_MUST_CHECK bool tq_transfer_plan(struct tq_transfer *transfer, size_t piece_bytes);
/* Joins the pieces' digests into the ranges' and counts the bytes: all pieces are here. */
void tq_transfer_gather(struct tq_transfer *transfer);
/* Reports the result to the caller, once. A transfer that lacks bytes is never reported as OK, but as INTERNAL. */
void tq_transfer_report(struct tq_transfer *transfer);

#endif

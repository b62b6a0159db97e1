/* server/storage/frame.h: the bytes of one cell, immutable once published. The table holds a frame once, each pin once
 * more: a cell that is cleared or overwritten under a reader lives until the reader is done.
 *
 *     WRITTEN (a put fills it; version 0) -> PUBLISHED (in the table; version > 0) -> freed with the last hold
 *
 * Owns: its bytes, a hold of its schema, its share of the budget. Threads: the loop's; the bytes of a published frame
 * may be read from any thread while it is held. */
#ifndef TQ_STORAGE_FRAME_H
#define TQ_STORAGE_FRAME_H

#include "server/storage/engine.h"
#include "server/storage/schema.h"

struct tq_store;

struct tq_frame {
    struct tq_place place; /* zeroed: the bytes lie in this object */
    struct tq_schema *schema;
    uint8_t *ptr;
    uint64_t len;
    uint64_t version;
    uint32_t digest; /* CRC-32C of the bytes */
    uint32_t holds;
    uint64_t sizes[]; /* jagged: one a dimension; small bytes follow */
};

/* A frame with one hold; counts as reserved. `sizes` has tq_schema_sizes() entries. A large one has no place for its
 * bytes yet. Fails with RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_frame_open(struct tq_store *store, struct tq_schema *schema, uint64_t len,
                                      const uint64_t *sizes, struct tq_frame **out_frame, struct tq_error *err);
/* Finds a place for its bytes. Any thread, while nobody else uses the frame. Fails with RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_frame_place(const struct tq_store *store, struct tq_frame *frame, struct tq_error *err);
/* Gives it a version, lets readers find it, moves its bytes from reserved to used. */
void tq_frame_publish(struct tq_store *store, struct tq_frame *frame);
struct tq_frame *tq_frame_hold(struct tq_frame *frame);
/* Frees it with the last hold and gives its bytes back to the budget. NULL is allowed. */
void tq_frame_drop(struct tq_store *store, struct tq_frame *frame);
/* Gives the place back while the frame itself must stay: its engine is about to close. */
void tq_frame_free_place(struct tq_store *store, struct tq_frame *frame);
/* Whether the bytes lie with the engine, where peers can read them, and not beside the metadata. */
bool tq_frame_is_placed(const struct tq_frame *frame);

#endif

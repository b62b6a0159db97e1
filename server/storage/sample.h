/* server/storage/sample.h: rows of the table: making them, setting and removing their cells. Used by the store's own
 * files; everybody else goes through store.h. Owns: a row owns its cells. Threads: the loop's. */
#ifndef TQ_STORAGE_SAMPLE_H
#define TQ_STORAGE_SAMPLE_H

#include "server/storage/store.h"

/* The partition, found or made, with one hold more. NULL without memory. */
struct tq_shelf *tq_shelf_hold(struct tq_store *store, const char *name);
void tq_shelf_drop(struct tq_store *store, struct tq_shelf *partition); /* NULL is allowed */
/* NULL when there is none. */
struct tq_shelf *tq_shelf_peek(const struct tq_store *store, const char *name);

/* A row without partition and cells, in the map. NULL without memory. */
struct tq_sample *tq_sample_open(struct tq_store *store, uint64_t index);
/* Out of the map, with all its cells. */
void tq_sample_close(struct tq_store *store, struct tq_sample *sample);
/* Moves the row into a partition and generation; its cells must be gone. */
void tq_sample_settle(struct tq_sample *sample, struct tq_shelf *partition, uint32_t generation);

/* Room for `more` cells. False without memory. */
TQ_MUST_CHECK bool tq_sample_reserve(struct tq_store *store, struct tq_sample *sample, size_t more);
/* Takes the frame, whose hold passes to the table; the old cell's frame is dropped. There must be room. */
void tq_sample_set(struct tq_store *store, struct tq_sample *sample, struct tq_frame **frame);
/* False when there is no such cell. */
bool tq_sample_unset(struct tq_store *store, struct tq_sample *sample, const struct tq_name *field);
void tq_sample_empty(struct tq_store *store, struct tq_sample *sample);

#endif

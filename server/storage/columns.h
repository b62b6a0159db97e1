/* server/storage/columns.h: stored cells of one field as the column of an answer. It comes back as it was declared;
 * where its cells were declared differently, as the least that holds them all. dense cells of several shapes of one
 * rank, or dense and jagged ones: a jagged column opaque cells of several content types: "application/octet-stream"
 *   anything else: refused
 * Owns: the sizes it writes. Threads: the loop's. */
#ifndef TQ_STORAGE_COLUMNS_H
#define TQ_STORAGE_COLUMNS_H

#include "server/storage/store.h"
#include "tq/v1/types.pb-c.h"

struct tq_column_out {
    Tq__V1__Field field;
    Tq__V1__Shapes shapes;
};

/* `frames` are the column's n cells, n > 0. The messages point into schemas of the frames. Fails with
 * FAILED_PRECONDITION (MIXED_FIELD), RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_column_open(const struct tq_store *store, struct tq_frame *const *frames, size_t n,
                                       struct tq_column_out *out_column, struct tq_error *err);
void tq_column_close(const struct tq_store *store, struct tq_column_out *column); /* zeroed is allowed */

#endif

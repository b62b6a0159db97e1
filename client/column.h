/* client/column.h: the rules by which the bytes of a column lie in memory, and the walk over its cells.
 * Owns: the table of offsets of jagged and opaque columns; never the values. Threads: any, once made. */
#ifndef TQ_CLIENT_COLUMN_H
#define TQ_CLIENT_COLUMN_H

#include <stdbool.h>

#include "client/dtype.h"
#include "tq/client.h"

enum {
    TQ_NAME_BYTES_MAX = 128,         /* of a field */
    TQ_CONTENT_TYPE_BYTES_MAX = 128, /* of an opaque field */
    TQ_SAMPLE_DIMS_MAX = 8,          /* of one sample, so nine of a dense tensor */
};

/* The cells of one column: cell i is bytes [starts[i], starts[i + 1]) of base, or, in a dense column (starts NULL),
 * `bytes` bytes at base + i * stride. */
struct tq_cells {
    const uint8_t *base;
    size_t n;
    size_t bytes;
    size_t stride;
    uint64_t *starts; /* n + 1 */
};

/* The column must have passed tq_column_check. Fails with RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_cells_init(struct tq_cells *cells, const struct tq_column *column, size_t n,
                                      struct tq_error *err);
void tq_cells_fini(struct tq_cells *cells); /* zeroed is allowed */
struct tq_bytes tq_cells_at(const struct tq_cells *cells, size_t i);
/* Bytes from the first to behind the last cell, gaps included: what must be exposed to read them all. */
uint64_t tq_cells_span_bytes(const struct tq_cells *cells);
/* Bytes of all cells. */
uint64_t tq_cells_total_bytes(const struct tq_cells *cells);

/* One column of n samples, as tq_batch_check. */
TQ_MUST_CHECK tq_status tq_column_check(const struct tq_column *column, size_t n, struct tq_error *err);
/* 1..128 bytes, no '/', no control characters; `what` names it in the message. */
TQ_MUST_CHECK tq_status tq_name_check(const char *name, const char *what, struct tq_error *err);
/* The same with '/' allowed: partitions and tasks. */
TQ_MUST_CHECK tq_status tq_label_check(const char *label, const char *what, struct tq_error *err);
/* *product *= factor; false when it does not fit. */
TQ_MUST_CHECK bool tq_product(uint64_t *product, uint64_t factor);

#endif

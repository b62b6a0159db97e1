/* client/field_wire.h: fields between the wire, metas and columns.
 * Owns: nothing; results live in the arena that was passed. Threads: one at a time. */
#ifndef TQ_CLIENT_FIELD_WIRE_H
#define TQ_CLIENT_FIELD_WIRE_H

#include "client/meta.h"
#include "tq/v1/types.pb-c.h"

/* A peer's field, checked. A view of the message, whose layout and shape are sane and whose numbers fit our enums.
 * Fails with INTERNAL (BAD_ANSWER): a peer of ours does not send such a thing. */
TQ_MUST_CHECK tq_status tq_field_from_wire(const Tq__V1__Field *wire, struct tq_field *out_field, struct tq_error *err);
/* What a column declares. The column has passed tq_column_check. Arrays are the arena's, strings the column's. */
TQ_MUST_CHECK tq_status tq_field_from_column(struct tq_arena *arena, const struct tq_column *column,
                                             struct tq_field *out_field, struct tq_error *err);
/* One message a column, in order. NULL without memory. Views of the columns. */
Tq__V1__Field **tq_fields_to_wire(struct tq_arena *arena, const struct tq_batch *batch);
/* The sizes of the samples at `positions` (NULL: 0, 1, ... n - 1): one message a column, empty for other than jagged
 * ones. NULL without memory. */
Tq__V1__Shapes **tq_shapes_to_wire(struct tq_arena *arena, const struct tq_batch *batch, const size_t *positions,
                                   size_t n);

/* Bytes of one cell of a dense field; false when they do not fit 63 bits. */
TQ_MUST_CHECK bool tq_field_cell_bytes(const struct tq_field *field, uint64_t *out_bytes);

/* A peer's answer that breaks its contract: INTERNAL, reason BAD_ANSWER. */
#define tq_fail_answer(err, ...) tq_fail((err), TQ_INTERNAL, "BAD_ANSWER", __VA_ARGS__)

#endif

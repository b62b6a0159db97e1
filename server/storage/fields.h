/* server/storage/fields.h: the fields of a message, checked: declarations of a put, names of a get or clear; and back,
 * from schemas to messages.
 * Owns: nothing of the message. Threads: the loop's. */
#ifndef TQ_STORAGE_FIELDS_H
#define TQ_STORAGE_FIELDS_H

#include "server/storage/store.h"
#include "tq/v1/types.pb-c.h"

/* Checks the declarations of a put and the shapes that belong to them, and fills `out_declarations` (n_fields of them)
 * and `out_sizes` (n_fields; NULL for what is not jagged). All point into the messages. Fails with INVALID_ARGUMENT
 * naming field and value. */
struct tq_fields_in {
    Tq__V1__Field *const *fields;
    size_t n_fields;
    Tq__V1__Shapes *const *shapes;
    size_t n_shapes;
    size_t n_samples;
};
TQ_MUST_CHECK tq_status tq_put_fields_check(const struct tq_store *store, const struct tq_fields_in *in,
                                            struct tq_declaration *out_declarations, const uint64_t **out_sizes,
                                            struct tq_error *err);
/* Bytes of a cell: shape (rank sizes) times the element. False when that overflows. */
TQ_MUST_CHECK bool tq_cell_bytes(const uint64_t *shape, uint32_t rank, uint32_t dtype, uint64_t *out_bytes);

/* Checks names of fields: not too many, no duplicates. */
TQ_MUST_CHECK tq_status tq_field_names_check(const struct tq_store *store, char *const *names, size_t n,
                                             struct tq_error *err);

/* The message for a schema; it points into the schema, which must live as long. */
void tq_field_write(const struct tq_schema *schema, Tq__V1__Field *out_field);

#endif

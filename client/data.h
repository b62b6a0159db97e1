/* client/data.h: the columns of a get: layout decided over the answers of all units, memory taken once.
 * Owns: the columns; value buffers go back to the client's cache. Threads: one at a time. */
#ifndef TQ_CLIENT_DATA_H
#define TQ_CLIENT_DATA_H

#include "client/answer.h"
#include "client/buffers.h"
#include "tq/client.h"

struct tq_data {
    struct tq_arena *arena;
    struct tq_buffers *home;
    struct tq_batch batch;
    struct tq_column *columns;
    struct tq_buffer *buffers; /* one a column */
    uint64_t **starts;         /* one a column: where each sample's bytes begin; n_samples + 1 */
};

/* Columns for n samples, as the checked answers describe them; their values are not there yet. Units that disagree:
 * dense columns of one type and rank become jagged; FAILED_PRECONDITION (MIXED_COLUMN) for what cannot be one column.
 * Fails with RESOURCE_EXHAUSTED too. */
TQ_MUST_CHECK tq_status tq_data_make(struct tq_buffers *home, const struct tq_answer *answers, size_t n_answers,
                                     size_t n_samples, size_t n_fields, struct tq_data **out_data,
                                     struct tq_error *err);
/* Where the bytes of a sample go. */
uint8_t *tq_data_cell(const struct tq_data *data, size_t f, size_t position);

#endif

/* server/storage/inline_cells.h: cells that travel in the answer itself. Large ones are sent from where they lie and
 * held until the transport is done with them; the others are gathered in one frame before them. Owns: the gathered
 * bytes and holds of the large cells, until the transport releases them. Threads: built on the loop; released from any
 * thread, through the inbox. */
#ifndef TQ_STORAGE_INLINE_CELLS_H
#define TQ_STORAGE_INLINE_CELLS_H

#include "server/storage/service.h"

struct tq_inline_cells;

/* Room for the `n` cells of `cells` that are not NULL. Sets out_offsets[i], in the concatenation of the frames, for
 * each of them. Fails with RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_inline_cells_open(struct tq_storage *storage, struct tq_frame *const *cells, size_t n,
                                             uint64_t *out_offsets, struct tq_inline_cells **out_inline,
                                             struct tq_error *err);
/* Answers with them; takes *cells. */
void tq_inline_cells_answer(struct tq_inline_cells **cells, struct tq_server_call *call,
                            const Tq__V1__GetResponse *response);
/* For what was not answered. NULL is allowed. */
void tq_inline_cells_close(struct tq_inline_cells *cells);

#endif

/* server/controller/discard.h: taking samples out of a partition, the same way for clears and for inserts that failed
 * half way. Owns: nothing. Threads: the controller's. */
#ifndef TQ_CONTROLLER_DISCARD_H
#define TQ_CONTROLLER_DISCARD_H

#include "server/controller/table.h"

/* Removes live rows from bitmaps, groups, keys, tags and the units' books, and releases their indexes. */
void tq_rows_discard(struct tq_table *table, struct tq_partition *partition, const uint32_t *slots, uint32_t n);
/* The cells of these slots are not ready any more; the samples stay. */
void tq_cells_forget(struct tq_partition *partition, const roaring_bitmap_t *slots);

#endif

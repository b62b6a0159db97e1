/* transport/bulk/copier.h: remote read: copies ranges out of extents of other processes that are mapped here. The owner
 * takes no part and can prevent nothing, so the reader checks: ticket, frame header, version before; version again
 * after.
 *
 * Owns: nothing; the views stay mapped while their transfer is here. Threads: the bulk thread. */
#ifndef TQ_BULK_COPIER_H
#define TQ_BULK_COPIER_H

#include "transport/bulk/transfer.h"

/* Whether `view` of `length` bytes is the extent that `region` describes. Fails with NOT_FOUND (STALE_REGION) and
 * PERMISSION_DENIED (STALE_TICKET). */
TQ_MUST_CHECK tq_status tq_copier_check_view(const uint8_t *view, uint64_t length, const struct tq_region *region,
                                             struct tq_error *err);

/* Copies at most `budget` bytes of the transfer's ranges that have a view. True: all are done, or the result says why
 * not. */
TQ_MUST_CHECK bool tq_copier_step(struct tq_transfer *transfer, size_t budget);

#endif

/* client/answer.h: what a unit answered to one Get, checked: after that its columns may be indexed without a thought.
 * Owns: the reply. Tables live in the arena that was passed. Threads: one at a time. */
#ifndef TQ_CLIENT_ANSWER_H
#define TQ_CLIENT_ANSWER_H

#include "client/frames.h"
#include "client/shares.h"
#include "tq/rpc.h"
#include "tq/v1/storage.pb-c.h"

struct tq_answer {
    struct tq_reply reply;
    const Tq__V1__GetResponse *message;
    const struct tq_share *share;
    size_t first, n;         /* which of the share's positions */
    struct tq_field *fields; /* one a requested field, views of the message */
    uint32_t *ranks;         /* one a field; 0 unless jagged */
    struct tq_frames frames;
    struct tq_region *regions; /* region r of a cell is regions[r - 1] */
    size_t n_regions;
};

/* Checks answer->reply, which must be OK, against what was asked: fields by name and order, every parallel column's
 * length, every cell's length against its type and shape, every place against its region. Fails with INTERNAL
 * (BAD_ANSWER) naming what is wrong, RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_answer_check(struct tq_answer *answer, struct tq_arena *arena, const char *const *fields,
                                        size_t n_fields, struct tq_error *err);
void tq_answer_drop(struct tq_answer *answer); /* zeroed is allowed */

#endif

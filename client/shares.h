/* client/shares.h: the samples of an operation grouped by the unit that holds them, in their order.
 * Owns: a hold on each unit; arrays live in the arena of the operation. Threads: one at a time. */
#ifndef TQ_CLIENT_SHARES_H
#define TQ_CLIENT_SHARES_H

#include "client/client.h"
#include "client/meta.h"

struct tq_share {
    const struct tq_unit_info *info; /* of the meta */
    struct tq_unit *unit;            /* held */
    size_t *positions;               /* in the meta, ascending */
    size_t n;
    size_t next;      /* positions before it are done */
    bool inline_only; /* no UCX between us and this unit */
};

struct tq_shares {
    struct tq_units *units;
    struct tq_share *share;
    size_t n;
};

/* Groups all samples of the meta. Fails with INTERNAL (BAD_ANSWER: a unit nobody told us), UNAVAILABLE (a lost unit),
 * RESOURCE_EXHAUSTED. tq_shares_fini whatever the outcome. */
TQ_MUST_CHECK tq_status tq_shares_init(struct tq_shares *shares, struct tq_client *client, struct tq_arena *arena,
                                       const struct tq_meta *meta, struct tq_error *err);
/* The same, where lost units are left out: clearing them is the controller's business. */
TQ_MUST_CHECK tq_status tq_shares_init_serving(struct tq_shares *shares, struct tq_client *client,
                                               struct tq_arena *arena, const struct tq_meta *meta,
                                               struct tq_error *err);
void tq_shares_fini(struct tq_shares *shares); /* zeroed is allowed */

#endif

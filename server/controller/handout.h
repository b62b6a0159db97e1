/* server/controller/handout.h: what was handed out under which idempotency key, so that asking again gives the same
 * batch also when the answer of the first time has left the memory of the RPC runtime. Bounded in number and size; the
 * oldest is forgotten first.
 * Owns: its entries. Threads: the controller's. */
#ifndef TQ_CONTROLLER_HANDOUT_H
#define TQ_CONTROLLER_HANDOUT_H

#include "server/controller/table.h"

enum { TQ_HANDOUT_KEY = 16 };

struct tq_handout {
    struct tq_list in_order;
    uint8_t key[TQ_HANDOUT_KEY];
    char *partition, *task;
    uint32_t batch_size;
    bool remainder;
    uint32_t n;
    struct tq_sample_ref samples[];
};

struct tq_handouts {
    const struct tq_seam *seam;
    const struct tq_controller_limits *limits;
    struct tq_map by_key; /* by its first half; of two with the same half the later one counts */
    struct tq_list order; /* oldest first */
    uint64_t n, n_samples;
};

void tq_handouts_init(struct tq_handouts *handouts, const struct tq_seam *seam,
                      const struct tq_controller_limits *limits);
void tq_handouts_fini(struct tq_handouts *handouts);
/* Remembers the batch of a waiter that ended with one. Without memory it is not remembered. */
void tq_handout_remember(struct tq_handouts *handouts, const uint8_t key[TQ_HANDOUT_KEY],
                         const struct tq_waiter *waiter);
/* NULL when nothing was handed out under the key. */
const struct tq_handout *tq_handout_find(const struct tq_handouts *handouts, const uint8_t key[TQ_HANDOUT_KEY]);

#endif

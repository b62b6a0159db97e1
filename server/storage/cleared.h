/* server/storage/cleared.h: which generation of recently cleared samples has died, so that a put which was on its way
 * when its sample was cleared does not bring it back. Bounded: the oldest are forgotten first.
 * Owns: its tables. Threads: the loop's. */
#ifndef TQ_STORAGE_CLEARED_H
#define TQ_STORAGE_CLEARED_H

#include "transport/base/map.h"

struct tq_cleared {
    const struct tq_seam *seam;
    struct tq_map dead; /* index -> generation + 1 */
    struct tq_cleared_at {
        uint64_t index;
        uint64_t mark; /* generation + 1 */
    } * ring;          /* in the order of their deaths */
    size_t max, capacity, first, count;
};

void tq_cleared_init(struct tq_cleared *cleared, size_t max, const struct tq_seam *seam);
void tq_cleared_fini(struct tq_cleared *cleared);
/* Generations of `index` up to this one are dead. Without memory it is not remembered. */
void tq_cleared_add(struct tq_cleared *cleared, uint64_t index, uint32_t generation);
bool tq_cleared_has(const struct tq_cleared *cleared, uint64_t index, uint32_t generation);
/* Another controller counts generations anew. */
void tq_cleared_forget(struct tq_cleared *cleared);

#endif

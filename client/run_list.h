/* client/run_list.h: where the cells of a put lie, told in as few runs as their places allow.
 * Owns: nothing; the columns grow in the arena that was passed. Threads: one at a time. */
#ifndef TQ_CLIENT_RUN_LIST_H
#define TQ_CLIENT_RUN_LIST_H

#include <stdbool.h>

#include "tq/status.h"
#include "tq/v1/types.pb-c.h"
#include "transport/base/arena.h"

struct tq_run_list {
    struct tq_arena *arena;
    Tq__V1__CellRuns runs; /* what was added, at any time */
    size_t capacity;
};

void tq_run_list_init(struct tq_run_list *list, struct tq_arena *arena);
/* Adds the next cell. A cell at the distance of the two before it extends their run. False without memory. */
TQ_MUST_CHECK bool tq_run_list_add(struct tq_run_list *list, uint32_t region, uint64_t offset, uint64_t length);

#endif

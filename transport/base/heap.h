/* transport/base/heap.h: binary min-heap of due times, intrusive: the node knows its place, so that a timer is moved or
 * removed in O(log n) without search. Owns: its array, not the nodes. Threads: whoever owns the heap. */
#ifndef TQ_BASE_HEAP_H
#define TQ_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/base/seam.h"

struct tq_heap_node {
    int64_t due_ns;
    size_t slot; /* 1 + index; 0: not in a heap */
};

struct tq_heap {
    const struct tq_seam *seam;
    struct tq_heap_node **nodes;
    size_t count, capacity;
};

void tq_heap_init(struct tq_heap *heap, const struct tq_seam *seam);
void tq_heap_fini(struct tq_heap *heap);

/* Adds the node, or moves it when it is in. False without memory (only when adding). */
TQ_MUST_CHECK bool tq_heap_set(struct tq_heap *heap, struct tq_heap_node *node, int64_t due_ns);
/* Not in: no-op. */
void tq_heap_remove(struct tq_heap *heap, struct tq_heap_node *node);
/* The earliest, still in; NULL when empty. */
struct tq_heap_node *tq_heap_peek(const struct tq_heap *heap);
/* The earliest if it is due at `now_ns`, removed; else NULL. */
struct tq_heap_node *tq_heap_take_due(struct tq_heap *heap, int64_t now_ns);
/* When the earliest is due; INT64_MAX when empty. */
int64_t tq_heap_next_ns(const struct tq_heap *heap);

#endif

#include "transport/base/heap.h"

#include <string.h>

#include "transport/base/assert.h"

enum { FIRST_CAPACITY = 64 };

void tq_heap_init(struct tq_heap *heap, const struct tq_seam *seam)
{
    *heap = (struct tq_heap){ .seam = seam };
}

void tq_heap_fini(struct tq_heap *heap)
{
    for (size_t i = 0; i < heap->count; i++)
        heap->nodes[i]->slot = 0;
    tq_seam_free(heap->seam, heap->nodes);
    *heap = (struct tq_heap){ .seam = heap->seam };
}

static void place(struct tq_heap *heap, size_t at, struct tq_heap_node *node)
{
    heap->nodes[at] = node;
    node->slot = at + 1;
}

static void sift_up(struct tq_heap *heap, size_t at, struct tq_heap_node *node)
{
    while (at > 0 && heap->nodes[(at - 1) / 2]->due_ns > node->due_ns) {
        place(heap, at, heap->nodes[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    place(heap, at, node);
}

static void sift_down(struct tq_heap *heap, size_t at, struct tq_heap_node *node)
{
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && heap->nodes[child + 1]->due_ns < heap->nodes[child]->due_ns)
            child++;
        if (heap->nodes[child]->due_ns >= node->due_ns)
            break;
        place(heap, at, heap->nodes[child]);
    }
    place(heap, at, node);
}

/* Puts `node` where it belongs, starting from the free place `at`. */
static void settle(struct tq_heap *heap, size_t at, struct tq_heap_node *node)
{
    if (at > 0 && heap->nodes[(at - 1) / 2]->due_ns > node->due_ns)
        sift_up(heap, at, node);
    else
        sift_down(heap, at, node);
}

static bool grow(struct tq_heap *heap)
{
    size_t capacity = heap->capacity == 0 ? FIRST_CAPACITY : heap->capacity * 2;
    struct tq_heap_node **nodes = tq_seam_alloc_array(heap->seam, capacity, sizeof(struct tq_heap_node *));
    if (nodes == NULL)
        return false;
    if (heap->count > 0)
        memcpy(nodes, heap->nodes, heap->count * sizeof(struct tq_heap_node *));
    tq_seam_free(heap->seam, heap->nodes);
    heap->nodes = nodes;
    heap->capacity = capacity;
    return true;
}

bool tq_heap_set(struct tq_heap *heap, struct tq_heap_node *node, int64_t due_ns)
{
    if (node->slot != 0) {
        TQ_ASSERT(node->slot <= heap->count && heap->nodes[node->slot - 1] == node);
        node->due_ns = due_ns;
        settle(heap, node->slot - 1, node);
        return true;
    }
    if (heap->count == heap->capacity && !grow(heap))
        return false;
    node->due_ns = due_ns;
    heap->count++;
    sift_up(heap, heap->count - 1, node);
    return true;
}

void tq_heap_remove(struct tq_heap *heap, struct tq_heap_node *node)
{
    if (node->slot == 0)
        return;
    TQ_ASSERT(node->slot <= heap->count && heap->nodes[node->slot - 1] == node);
    size_t at = node->slot - 1;
    struct tq_heap_node *last = heap->nodes[--heap->count];
    node->slot = 0;
    if (last != node)
        settle(heap, at, last);
}

struct tq_heap_node *tq_heap_peek(const struct tq_heap *heap)
{
    return heap->count > 0 ? heap->nodes[0] : NULL;
}

struct tq_heap_node *tq_heap_take_due(struct tq_heap *heap, int64_t now_ns)
{
    struct tq_heap_node *first = tq_heap_peek(heap);
    if (first == NULL || first->due_ns > now_ns)
        return NULL;
    tq_heap_remove(heap, first);
    return first;
}

int64_t tq_heap_next_ns(const struct tq_heap *heap)
{
    return heap->count > 0 ? heap->nodes[0]->due_ns : INT64_MAX;
}

#include "transport/bulk/chunks.h"

#include "transport/base/assert.h"
#include "transport/bulk/frame.h"

enum { LINEAR_BINS = 64, SUB_BITS = 3, SEARCH = 32, SPLIT_BYTES = 2 * TQ_FRAME_ALIGN };

/* Sizes below 4 KiB have a bin each, larger ones eight bins to the power of two. */
static size_t bin_of(size_t bytes)
{
    size_t units = bytes / TQ_FRAME_ALIGN;
    if (units < LINEAR_BINS)
        return units;
    size_t log = (size_t)(63 - __builtin_clzll(units));
    size_t sub = (units >> (log - SUB_BITS)) & ((1u << SUB_BITS) - 1);
    size_t bin = LINEAR_BINS + ((log - 6) << SUB_BITS) + sub;
    return bin < TQ_CHUNK_BINS ? bin : TQ_CHUNK_BINS - 1;
}

void tq_chunks_init(struct tq_chunks *chunks, const struct tq_seam *seam)
{
    chunks->seam = seam;
    for (size_t i = 0; i < TQ_CHUNK_BINS; i++)
        tq_list_init(&chunks->bins[i]);
}

static struct tq_chunk *make(struct tq_chunks *chunks, struct tq_extent *extent, size_t offset, size_t bytes)
{
    struct tq_chunk *chunk = tq_seam_alloc(chunks->seam, sizeof(*chunk));
    if (chunk == NULL)
        return NULL;
    *chunk = (struct tq_chunk){ .extent = extent, .offset = offset, .bytes = bytes };
    tq_list_init(&chunk->by_address);
    tq_list_init(&chunk->in_bin);
    return chunk;
}

static void enter(struct tq_chunks *chunks, struct tq_chunk *chunk)
{
    tq_list_add_head(&chunks->bins[bin_of(chunk->bytes)], &chunk->in_bin);
}

bool tq_chunks_add(struct tq_chunks *chunks, struct tq_extent *extent, struct tq_list *order, size_t offset,
                   size_t bytes)
{
    struct tq_chunk *chunk = make(chunks, extent, offset, bytes);
    if (chunk == NULL)
        return false;
    tq_list_add_tail(order, &chunk->by_address);
    enter(chunks, chunk);
    return true;
}

/* The best of the first few of a bin. */
static struct tq_chunk *best_of(struct tq_list *bin, size_t bytes)
{
    struct tq_chunk *best = NULL;
    int looked = 0;
    tq_list_each (node, bin) {
        struct tq_chunk *chunk = tq_container_of(node, struct tq_chunk, in_bin);
        if (chunk->bytes >= bytes && (best == NULL || chunk->bytes < best->bytes))
            best = chunk;
        if (++looked == SEARCH)
            break;
    }
    return best;
}

static struct tq_chunk *find(struct tq_chunks *chunks, size_t bytes)
{
    for (size_t bin = bin_of(bytes); bin < TQ_CHUNK_BINS; bin++) {
        struct tq_chunk *chunk = best_of(&chunks->bins[bin], bytes);
        if (chunk != NULL)
            return chunk;
    }
    return NULL;
}

struct tq_chunk *tq_chunks_take(struct tq_chunks *chunks, size_t bytes)
{
    TQ_ASSERT(bytes > 0 && bytes % TQ_FRAME_ALIGN == 0);
    struct tq_chunk *chunk = find(chunks, bytes);
    if (chunk == NULL)
        return NULL;
    if (chunk->bytes - bytes >= SPLIT_BYTES) {
        struct tq_chunk *rest = make(chunks, chunk->extent, chunk->offset + bytes, chunk->bytes - bytes);
        if (rest == NULL)
            return NULL;
        tq_list_add_head(&chunk->by_address, &rest->by_address);
        chunk->bytes = bytes;
        enter(chunks, rest);
    }
    tq_list_remove(&chunk->in_bin);
    chunk->used = true;
    return chunk;
}

/* Joins `next` into `chunk`, which lies directly before it. */
static void join(struct tq_chunks *chunks, struct tq_chunk *chunk, struct tq_chunk *next)
{
    TQ_ASSERT(chunk->offset + chunk->bytes == next->offset);
    chunk->bytes += next->bytes;
    tq_list_remove(&next->by_address);
    tq_list_remove(&next->in_bin);
    tq_seam_free(chunks->seam, next);
}

static struct tq_chunk *free_at(struct tq_list *node, const struct tq_list *order)
{
    if (node == order)
        return NULL;
    struct tq_chunk *chunk = tq_container_of(node, struct tq_chunk, by_address);
    return chunk->used ? NULL : chunk;
}

void tq_chunks_give(struct tq_chunks *chunks, struct tq_chunk *chunk, struct tq_list *order)
{
    TQ_ASSERT(chunk->used && chunk->holds == 0);
    chunk->used = chunk->freed = false;
    chunk->length = 0;
    struct tq_chunk *next = free_at(chunk->by_address.next, order);
    if (next != NULL)
        join(chunks, chunk, next);
    struct tq_chunk *before = free_at(chunk->by_address.prev, order);
    if (before != NULL) {
        tq_list_remove(&before->in_bin);
        join(chunks, before, chunk);
        chunk = before;
    }
    enter(chunks, chunk);
}

void tq_chunks_remove(struct tq_chunks *chunks, struct tq_list *order)
{
    for (struct tq_list *node; (node = tq_list_take_head(order)) != NULL;) {
        struct tq_chunk *chunk = tq_container_of(node, struct tq_chunk, by_address);
        TQ_ASSERT(!chunk->used);
        tq_list_remove(&chunk->in_bin);
        tq_seam_free(chunks->seam, chunk);
    }
}

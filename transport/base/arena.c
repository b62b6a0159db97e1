#include "transport/base/arena.h"

#include <stdint.h>
#include <string.h>

#include "transport/base/assert.h"
#include "transport/base/pooling.h"

enum { ALIGNMENT = 16, FIRST_BLOCK = 512, LARGEST_BLOCK = 1 << 20 };

struct block {
    struct block *next;
    size_t capacity;
    size_t used;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

struct tq_arena {
    const struct tq_seam *seam;
    struct block *first;   /* kept over a reset */
    struct block *current; /* the last of the list */
    size_t budget;
    size_t used;
    bool exhausted, failed;
};

static struct block *add_block(struct tq_arena *arena, size_t capacity)
{
    struct block *block = tq_seam_alloc(arena->seam, sizeof(*block) + capacity);
    if (block == NULL)
        return NULL;
    block->capacity = capacity;
    if (arena->current != NULL)
        arena->current->next = block;
    else
        arena->first = block;
    arena->current = block;
    return block;
}

struct tq_arena *tq_arena_open(const struct tq_seam *seam, size_t budget_bytes)
{
    struct tq_arena *arena = tq_seam_alloc(seam, sizeof(*arena));
    if (arena == NULL)
        return NULL;
    arena->seam = seam;
    arena->budget = budget_bytes;
    return arena;
}

static void free_blocks(const struct tq_arena *arena, struct block *block)
{
    while (block != NULL) {
        struct block *next = block->next;
        tq_seam_free(arena->seam, block);
        block = next;
    }
}

void tq_arena_close(struct tq_arena *arena)
{
    if (arena == NULL)
        return;
    free_blocks(arena, arena->first);
    tq_seam_free(arena->seam, arena);
}

static size_t next_capacity(const struct tq_arena *arena, size_t len)
{
    size_t capacity = arena->current == NULL ? FIRST_BLOCK : arena->current->capacity * 2;
    if (capacity > LARGEST_BLOCK)
        capacity = LARGEST_BLOCK;
    return capacity > len ? capacity : len;
}

void *tq_arena_alloc(struct tq_arena *arena, size_t len)
{
    if (len > SIZE_MAX - ALIGNMENT) {
        arena->exhausted = true;
        return NULL;
    }
    size_t rounded = len == 0 ? ALIGNMENT : (len + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (rounded > arena->budget - arena->used) {
        arena->exhausted = true;
        return NULL;
    }
    struct block *block = arena->current;
    if (block == NULL || rounded > block->capacity - block->used)
        block = add_block(arena, next_capacity(arena, rounded));
    if (block == NULL) {
        arena->failed = true;
        return NULL;
    }
    void *memory = block->bytes + block->used;
    block->used += rounded;
    arena->used += rounded;
    TQ_ASSERT(arena->used <= arena->budget && block->used <= block->capacity);
    return memory;
}

void *tq_arena_copy(struct tq_arena *arena, const void *bytes, size_t len)
{
    void *copy = tq_arena_alloc(arena, len);
    if (copy != NULL && len > 0)
        memcpy(copy, bytes, len);
    return copy;
}

void tq_arena_reset(struct tq_arena *arena, size_t budget_bytes)
{
    if (TQ_POOL_KEEPS(1) == 0) {
        free_blocks(arena, arena->first);
        arena->first = NULL;
    }
    struct block *first = arena->first;
    if (first != NULL) {
        free_blocks(arena, first->next);
        memset(first->bytes, 0, first->used);
        first->next = NULL;
        first->used = 0;
    }
    arena->current = first;
    arena->budget = budget_bytes;
    arena->used = 0;
    arena->exhausted = arena->failed = false;
}

size_t tq_arena_used(const struct tq_arena *arena)
{
    return arena->used;
}

bool tq_arena_exhausted(const struct tq_arena *arena)
{
    return arena->exhausted;
}

bool tq_arena_failed(const struct tq_arena *arena)
{
    return arena->failed;
}

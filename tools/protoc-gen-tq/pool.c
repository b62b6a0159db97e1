#include "tools/protoc-gen-tq/pool.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024 };

struct pool_block {
    struct pool_block *next;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

static void die_without_memory(void)
{
    fputs("protoc-gen-tq: out of memory\n", stderr);
    exit(1);
}

static struct pool_block *add_block(struct pool *pool, size_t at_least)
{
    size_t size = at_least > BLOCK_BYTES ? at_least : BLOCK_BYTES;
    struct pool_block *block = calloc(1, sizeof(*block) + size);
    if (block == NULL)
        die_without_memory();
    block->size = size;
    block->next = pool->blocks;
    pool->blocks = block;
    return block;
}

void pool_fini(struct pool *pool)
{
    for (struct pool_block *block = pool->blocks; block != NULL;) {
        struct pool_block *next = block->next;
        free(block);
        block = next;
    }
    pool->blocks = NULL;
}

void *pool_zalloc(struct pool *pool, size_t size_bytes)
{
    size_t mask = alignof(max_align_t) - 1;
    if (size_bytes > SIZE_MAX / 2)
        die_without_memory();
    size_bytes = (size_bytes + mask) & ~mask;
    struct pool_block *block = pool->blocks;
    if (block == NULL || block->size - block->used < size_bytes)
        block = add_block(pool, size_bytes);
    void *at = block->bytes + block->used;
    block->used += size_bytes;
    return at;
}

void *pool_array(struct pool *pool, size_t count, size_t element_bytes)
{
    if (element_bytes != 0 && count > SIZE_MAX / 2 / element_bytes)
        die_without_memory();
    return pool_zalloc(pool, count * element_bytes);
}

void *pool_pointers(struct pool *pool, size_t count)
{
    return pool_array(pool, count, sizeof(void *));
}

static void *allocate(void *pool, size_t size)
{
    return pool_zalloc(pool, size);
}

static void keep(void *pool, void *memory)
{
    (void)pool; /* freed with the pool */
    (void)memory;
}

ProtobufCAllocator pool_allocator(struct pool *pool)
{
    return (ProtobufCAllocator){ .alloc = allocate, .free = keep, .allocator_data = pool };
}

char *pool_copy(struct pool *pool, const char *bytes, size_t len)
{
    char *copy = pool_zalloc(pool, len + 1);
    if (len > 0)
        memcpy(copy, bytes, len);
    return copy;
}

char *pool_printf(struct pool *pool, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    char *out = pool_zalloc(pool, (size_t)(len < 0 ? 0 : len) + 1);
    vsnprintf(out, (size_t)(len < 0 ? 0 : len) + 1, format, again);
    va_end(again);
    va_end(args);
    return out;
}

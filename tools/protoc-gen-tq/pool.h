/* pool.h: memory of one run of the generator. Everything is allocated from the pool and freed with it, so that no
 * function has to say who owns a string.
 * Owns: all that was allocated from it. Threads: one. Out of memory ends the program: this is a tool, not a library. */
#ifndef POOL_H
#define POOL_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

#include "tq/status.h"

struct pool_block;
struct pool {
    struct pool_block *blocks;
};

/* A zeroed struct pool is an empty one. */
void pool_fini(struct pool *pool);
/* Zeroed, aligned for any type. Never NULL. */
void *pool_zalloc(struct pool *pool, size_t size_bytes);
/* The same for an array; the product is checked. */
void *pool_array(struct pool *pool, size_t count, size_t element_bytes);
/* An array of `count` pointers, all NULL. */
void *pool_pointers(struct pool *pool, size_t count);
/* For protobuf-c: what it unpacks lives in the pool and is not freed one by one. */
ProtobufCAllocator pool_allocator(struct pool *pool);
char *pool_printf(struct pool *pool, const char *format, ...) TQ_PRINTF(2, 3);
char *pool_copy(struct pool *pool, const char *bytes, size_t len);

#endif

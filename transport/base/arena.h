/* transport/base/arena.h: a bump allocator with a budget. Decoded messages live here: one reset frees them all, and the
 * budget is the only way to bound what a peer's bytes can make protobuf-c allocate.
 * Owns: its blocks. Threads: one at a time. */
#ifndef TQ_BASE_ARENA_H
#define TQ_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "transport/base/seam.h"

struct tq_arena;

/* At most `budget_bytes` of payload can be allocated. NULL without memory. */
struct tq_arena *tq_arena_open(const struct tq_seam *seam, size_t budget_bytes);
void tq_arena_close(struct tq_arena *arena); /* NULL is allowed */

/* Zeroed, aligned to 16 bytes. NULL when the budget or memory is spent. A length of 0 gives a valid unique pointer. */
void *tq_arena_alloc(struct tq_arena *arena, size_t len);
/* A copy of `len` bytes; NULL as above. */
void *tq_arena_copy(struct tq_arena *arena, const void *bytes, size_t len);

/* Frees everything allocated from it, keeps the first block for the next use (see pooling.h), sets a new budget. */
void tq_arena_reset(struct tq_arena *arena, size_t budget_bytes);
size_t tq_arena_used(const struct tq_arena *arena);
/* Whether an allocation failed because of the budget since the last reset: tells "too big" from "broken". */
bool tq_arena_exhausted(const struct tq_arena *arena);
/* Whether one failed because the system had no memory. */
bool tq_arena_failed(const struct tq_arena *arena);

#endif

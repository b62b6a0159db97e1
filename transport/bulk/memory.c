#include "transport/bulk/memory.h"

#include "transport/base/assert.h"

enum { EXTENT_BYTES = 64 << 20 };

#define ARENA_BYTES      ((size_t)1 << 30)
#define QUARANTINE_BYTES ((size_t)256 << 20)

static size_t or_default(size_t value, size_t fallback)
{
    return value != 0 ? value : fallback;
}

void tq_memory_init(struct tq_memory *memory, const struct tq_memory_opts *opts)
{
    *memory = (struct tq_memory){
        .seam = opts->seam,
        .extent_bytes = or_default(opts->extent_bytes, EXTENT_BYTES),
        .budget_bytes = or_default(opts->budget_bytes, ARENA_BYTES),
        .quarantine_budget = or_default(opts->quarantine_bytes, QUARANTINE_BYTES),
    };
    if (opts->backing != NULL)
        memory->backing = *opts->backing;
    memory->spare_bytes = opts->keep_spare ? memory->extent_bytes : 0;
    memory->keep_bytes = opts->keep_bytes;
    if (memory->spare_bytes < memory->keep_bytes)
        memory->spare_bytes = memory->keep_bytes;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&memory->lock, NULL);
    pthread_cond_init(&memory->quiet, &monotonic);
    pthread_condattr_destroy(&monotonic);
    tq_chunks_init(&memory->chunks, opts->seam);
    tq_list_init(&memory->extents);
    tq_map_init(&memory->regions, opts->seam);
    tq_map_init(&memory->exposed, opts->seam);
}

void tq_memory_fini(struct tq_memory *memory)
{
    memory->spare_bytes = memory->keep_bytes = 0;
    (void)tq_memory_trim(memory, INT64_MAX);
    TQ_ASSERT(tq_list_empty(&memory->extents)); /* every block must be back */
    TQ_ASSERT(tq_map_count(&memory->exposed) == 0);
    tq_map_fini(&memory->regions);
    tq_map_fini(&memory->exposed);
    pthread_cond_destroy(&memory->quiet);
    pthread_mutex_destroy(&memory->lock);
}

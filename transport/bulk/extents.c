#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "transport/base/assert.h"
#include "transport/base/log.h"
#include "transport/bulk/memory.h"

enum { PAGE = 4096, OWN_EXTENT_SHARE = 8 };

static const int64_t keep_empty_ns = INT64_C(2000000000);

/* ---- pages ---- */

static tq_status map_plain(size_t bytes, struct tq_mapping *out_mapping, struct tq_error *err)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "mmap of %zu bytes: %s", bytes, strerror(errno));
    *out_mapping = (struct tq_mapping){ .base = base, .bytes = bytes };
    return TQ_OK;
}

static tq_status map_pages(struct tq_memory *memory, size_t bytes, uint64_t region, struct tq_mapping *out_mapping,
                           struct tq_error *err)
{
    if (tq_seam_fault(memory->seam, TQ_FAULT_ARENA_GROW))
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "arena of %zu bytes: injected fault", bytes);
    if (memory->backing.map != NULL && !memory->plain_only) {
        tq_status status = memory->backing.map(memory->backing.self, bytes, region, out_mapping, err);
        if (status == TQ_OK)
            return status;
        memory->plain_only = true;
        tq_warn("bulk-no-shared-memory", "bytes=%zu why=\"%s\" then=\"rendezvous only\"", bytes,
                err != NULL ? err->message : "");
    }
    return map_plain(bytes, out_mapping, err);
}

static void unmap_pages(struct tq_memory *memory, struct tq_mapping *mapping)
{
    if (mapping->handle == NULL) {
        munmap(mapping->base, mapping->bytes);
        return;
    }
    /* Unmapping frees nothing while a peer maps it. */
    if (madvise(mapping->base, mapping->bytes, MADV_REMOVE) != 0)
        tq_debug("bulk-madvise-remove", "errno=%d", errno);
    memory->backing.unmap(memory->backing.self, mapping);
}

/* Nothing on a hot path may fault. The kernel tells a full /dev/shm here; touching would be SIGBUS. */
static bool touch(uint8_t *from, size_t bytes)
{
    if (bytes == 0 || madvise(from, bytes, MADV_POPULATE_WRITE) == 0)
        return true;
    if (errno != EINVAL)
        return false;
    for (size_t at = 0; at < bytes; at += PAGE) /* a kernel before 5.14 */
        ((volatile uint8_t *)from)[at] = 0;
    return true;
}

/* ---- extents ---- */

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static void extent_close(struct tq_memory *memory, struct tq_extent *extent)
{
    tq_chunks_remove(&memory->chunks, &extent->order);
    tq_list_remove(&extent->node);
    (void)tq_map_remove(&memory->regions, extent->region);
    tq_map_fini(&extent->frames);
    if (extent->mapping.base != NULL) {
        unmap_pages(memory, &extent->mapping);
        memory->extents_bytes -= extent->mapping.bytes;
    }
    tq_seam_free(memory->seam, extent->mapping.key);
    tq_seam_free(memory->seam, extent);
}

static tq_status extent_open_locked(struct tq_memory *memory, size_t bytes, struct tq_error *err)
{
    struct tq_extent *extent = tq_seam_alloc(memory->seam, sizeof(*extent));
    if (extent == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for an extent's books");
    tq_list_init(&extent->node);
    tq_list_init(&extent->order);
    tq_map_init(&extent->frames, memory->seam);
    extent->region = tq_seam_random64(memory->seam);
    tq_seam_random(memory->seam, extent->ticket, sizeof(extent->ticket));
    tq_status status = map_pages(memory, bytes, extent->region, &extent->mapping, err);
    if (status != TQ_OK)
        goto fail;
    memory->extents_bytes += extent->mapping.bytes;
    status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for an extent's pages or books");
    if (!touch(extent->mapping.base, PAGE) || !tq_map_put(&memory->regions, extent->region, extent) ||
        !tq_chunks_add(&memory->chunks, extent, &extent->order, TQ_FRAME_ALIGN, bytes - TQ_FRAME_ALIGN))
        goto fail;
    struct tq_extent_header *header = (struct tq_extent_header *)(void *)extent->mapping.base;
    header->magic = TQ_EXTENT_MAGIC;
    header->region = extent->region;
    header->length = bytes;
    memcpy(header->ticket, extent->ticket, sizeof(header->ticket));
    extent->touched_bytes = PAGE;
    tq_list_add_tail(&memory->extents, &extent->node);
    memory->registrations++;
    memory->empty_bytes += bytes;
    tq_error_clear(err);
    return TQ_OK;
fail:
    extent_close(memory, extent);
    return status;
}

static void return_empty_locked(struct tq_memory *memory, int64_t until_ns, size_t keep_bytes)
{
    tq_list_each_safe (node, &memory->extents) {
        struct tq_extent *extent = tq_container_of(node, struct tq_extent, node);
        if (extent->used_bytes > 0 || memory->empty_bytes <= keep_bytes || extent->empty_since_ns > until_ns)
            continue;
        memory->empty_bytes -= extent->mapping.bytes;
        extent_close(memory, extent);
    }
}

/* How large the next extent is: blocks that would leave much of a common extent unused get their own. */
static size_t extent_size(const struct tq_memory *memory, size_t need)
{
    size_t alone = round_up(TQ_FRAME_ALIGN + need, PAGE);
    if (need > memory->extent_bytes / OWN_EXTENT_SHARE)
        return alone;
    size_t left = memory->budget_bytes > memory->extents_bytes ? memory->budget_bytes - memory->extents_bytes : 0;
    size_t common = memory->extent_bytes < left ? memory->extent_bytes / PAGE * PAGE : left / PAGE * PAGE;
    return common > alone ? common : alone;
}

static tq_status grow_locked(struct tq_memory *memory, size_t need, struct tq_error *err)
{
    if (extent_size(memory, need) > memory->budget_bytes - memory->extents_bytes)
        return_empty_locked(memory, INT64_MAX, 0);
    size_t bytes = extent_size(memory, need);
    if (memory->extents_bytes > memory->budget_bytes || bytes > memory->budget_bytes - memory->extents_bytes)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "BUDGET_BYTES",
                       "block of %zu bytes: the arena holds %zu of %zu bytes, %zu of them used", need,
                       memory->extents_bytes, memory->budget_bytes, memory->used_bytes);
    return extent_open_locked(memory, bytes, err);
}

/* ---- blocks ---- */

static struct tq_frame_header *frame_of(const struct tq_chunk *chunk)
{
    return (struct tq_frame_header *)(void *)(chunk->extent->mapping.base + chunk->offset);
}

static void enter_locked(struct tq_memory *memory, struct tq_chunk *chunk, size_t len, size_t *out_touch_from)
{
    struct tq_extent *extent = chunk->extent;
    size_t end = round_up(chunk->offset + chunk->bytes, PAGE);
    if (end > extent->mapping.bytes)
        end = extent->mapping.bytes;
    *out_touch_from = extent->touched_bytes < end ? extent->touched_bytes : end;
    if (extent->touched_bytes < end)
        extent->touched_bytes = end;
    if (extent->used_bytes == 0)
        memory->empty_bytes -= extent->mapping.bytes;
    extent->used_bytes += chunk->bytes;
    memory->used_bytes += chunk->bytes;
    chunk->length = len;
}

void tq_extent_give_locked(struct tq_memory *memory, struct tq_chunk *chunk)
{
    struct tq_extent *extent = chunk->extent;
    (void)tq_map_remove(&extent->frames, chunk->offset + TQ_FRAME_ALIGN);
    extent->used_bytes -= chunk->bytes;
    memory->used_bytes -= chunk->bytes;
    tq_chunks_give(&memory->chunks, chunk, &extent->order);
    if (extent->used_bytes > 0)
        return;
    memory->empty_bytes += extent->mapping.bytes;
    extent->empty_since_ns = tq_seam_now_ns(memory->seam);
    return_empty_locked(memory, INT64_MAX, memory->spare_bytes);
}

static tq_status take_locked(struct tq_memory *memory, size_t len, struct tq_chunk **out_chunk, size_t *out_touch_from,
                             struct tq_error *err)
{
    size_t need = TQ_FRAME_ALIGN + round_up(len, TQ_FRAME_ALIGN);
    struct tq_chunk *chunk = tq_chunks_take(&memory->chunks, need);
    if (chunk == NULL) {
        tq_status status = grow_locked(memory, need, err);
        if (status != TQ_OK)
            return status;
        chunk = tq_chunks_take(&memory->chunks, need);
    }
    if (chunk == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a block's books");
    enter_locked(memory, chunk, len, out_touch_from);
    if (!tq_map_put(&chunk->extent->frames, chunk->offset + TQ_FRAME_ALIGN, chunk)) {
        tq_extent_give_locked(memory, chunk);
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a block's books");
    }
    *out_chunk = chunk;
    return TQ_OK;
}

static void make_frame(struct tq_chunk *chunk, size_t len)
{
    struct tq_frame_header *header = frame_of(chunk);
    atomic_store_explicit(&header->version, 0, memory_order_release);
    header->length = len;
    header->magic = TQ_FRAME_MAGIC;
}

static tq_status alloc_once(struct tq_memory *memory, size_t len, struct tq_block *out_block, struct tq_error *err)
{
    struct tq_chunk *chunk = NULL;
    size_t touch_from = 0;
    pthread_mutex_lock(&memory->lock);
    tq_status status = take_locked(memory, len, &chunk, &touch_from, err);
    pthread_mutex_unlock(&memory->lock);
    if (status != TQ_OK)
        return status;
    uint8_t *base = chunk->extent->mapping.base;
    size_t end = round_up(chunk->offset + chunk->bytes, PAGE);
    if (end > chunk->extent->mapping.bytes)
        end = chunk->extent->mapping.bytes;
    if (!touch(base + touch_from, end - touch_from)) { /* without the lock: it takes long */
        pthread_mutex_lock(&memory->lock);
        memory->plain_only = true;
        chunk->extent->touched_bytes = touch_from; /* a neighbour touched since is touched again: harmless */
        tq_extent_give_locked(memory, chunk);
        pthread_mutex_unlock(&memory->lock);
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "block of %zu bytes: the system has no pages left",
                       len);
    }
    make_frame(chunk, len);
    *out_block = (struct tq_block){
        .ptr = base + chunk->offset + TQ_FRAME_ALIGN,
        .len = len,
        .region = chunk->extent->region,
        .frame = chunk->offset + TQ_FRAME_ALIGN,
        .extent_ = chunk,
    };
    return TQ_OK;
}

tq_status tq_memory_alloc(struct tq_memory *memory, size_t len, struct tq_block *out_block, struct tq_error *err)
{
    if (len > memory->budget_bytes)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "BUDGET_BYTES", "block of %zu bytes: the arena's budget is %zu", len,
                       memory->budget_bytes);
    return alloc_once(memory, len, out_block, err);
}

void tq_memory_free(struct tq_memory *memory, struct tq_block *block)
{
    struct tq_chunk *chunk = block->extent_;
    *block = (struct tq_block){ 0 };
    if (chunk == NULL)
        return;
    atomic_store_explicit(&frame_of(chunk)->version, 0, memory_order_seq_cst);
    atomic_store_explicit(&chunk->version, 0, memory_order_seq_cst);
    pthread_mutex_lock(&memory->lock);
    TQ_ASSERT(chunk->used && !chunk->freed);
    chunk->freed = true;
    if (chunk->holds == 0)
        tq_extent_give_locked(memory, chunk);
    else if (chunk->adrift == 0)
        memory->quarantined_bytes += chunk->bytes;
    pthread_mutex_unlock(&memory->lock);
}

void tq_block_publish(const struct tq_block *block, uint64_t version)
{
    struct tq_chunk *chunk = block->extent_;
    TQ_ASSERT(chunk != NULL && version != 0);
    atomic_store_explicit(&chunk->version, version, memory_order_release);
    atomic_store_explicit(&frame_of(chunk)->version, version, memory_order_release);
}

bool tq_memory_region(struct tq_memory *memory, uint64_t region, struct tq_region *out_region)
{
    pthread_mutex_lock(&memory->lock);
    struct tq_extent *extent = tq_map_get(&memory->regions, region);
    if (extent != NULL)
        *out_region = (struct tq_region){
            .id = region,
            .kind = TQ_REGION_ARENA,
            .base = (uintptr_t)extent->mapping.base,
            .length = extent->mapping.bytes,
            .key = { extent->mapping.key, extent->mapping.key_len },
            .ticket = { extent->ticket, TQ_TICKET_BYTES },
        };
    pthread_mutex_unlock(&memory->lock);
    return extent != NULL;
}

int64_t tq_memory_trim(struct tq_memory *memory, int64_t now_ns)
{
    pthread_mutex_lock(&memory->lock);
    return_empty_locked(memory, now_ns - keep_empty_ns, memory->keep_bytes);
    int64_t next_ns = memory->empty_bytes > memory->keep_bytes ? now_ns + keep_empty_ns : INT64_MAX;
    pthread_mutex_unlock(&memory->lock);
    return next_ns;
}

#include "transport/base/assert.h"
#include "transport/bulk/memory.h"
#include "transport/bulk/ticket.h"

static tq_status check_range(const struct tq_claim *claim, uint64_t length, struct tq_error *err)
{
    if (claim->skip > length || claim->length > length - claim->skip)
        return tq_fail(err, TQ_OUT_OF_RANGE, "RANGE", "bytes %llu + %llu of a frame of %llu",
                       (unsigned long long)claim->skip, (unsigned long long)claim->length, (unsigned long long)length);
    return TQ_OK;
}

static tq_status stale_version(struct tq_error *err)
{
    return tq_fail(err, TQ_ABORTED, "STALE_VERSION", "the frame was freed or replaced since the ticket was given");
}

static tq_status wrong_ticket(struct tq_error *err)
{
    return tq_fail(err, TQ_PERMISSION_DENIED, "STALE_TICKET", "the ticket is not that of the region");
}

static tq_status hold_exposure_locked(struct tq_exposure *exposure, const struct tq_claim *claim,
                                      const uint8_t **out_ptr, struct tq_hold *out_hold, struct tq_error *err)
{
    if (!tq_ticket_equal(exposure->ticket, claim->ticket))
        return wrong_ticket(err);
    if (claim->frame != 0 || claim->version != 1)
        return stale_version(err);
    tq_status status = check_range(claim, exposure->len, err);
    if (status != TQ_OK)
        return status;
    exposure->holds++;
    *out_ptr = exposure->ptr + claim->skip;
    *out_hold = (struct tq_hold){ .exposure = exposure };
    return TQ_OK;
}

static tq_status hold_frame_locked(struct tq_extent *extent, const struct tq_claim *claim, const uint8_t **out_ptr,
                                   struct tq_hold *out_hold, struct tq_error *err)
{
    if (!tq_ticket_equal(extent->ticket, claim->ticket))
        return wrong_ticket(err);
    struct tq_chunk *chunk = tq_map_get(&extent->frames, claim->frame);
    if (chunk == NULL || chunk->freed || claim->version == 0 ||
        atomic_load_explicit(&chunk->version, memory_order_acquire) != claim->version)
        return stale_version(err);
    tq_status status = check_range(claim, chunk->length, err);
    if (status != TQ_OK)
        return status;
    chunk->holds++;
    *out_ptr = extent->mapping.base + claim->frame + claim->skip;
    *out_hold = (struct tq_hold){ .chunk = chunk };
    return TQ_OK;
}

tq_status tq_memory_hold(struct tq_memory *memory, const struct tq_claim *claim, const uint8_t **out_ptr,
                         struct tq_hold *out_hold, struct tq_error *err)
{
    pthread_mutex_lock(&memory->lock);
    struct tq_exposure *exposure = tq_map_get(&memory->exposed, claim->region);
    struct tq_extent *extent = exposure == NULL ? tq_map_get(&memory->regions, claim->region) : NULL;
    tq_status status;
    if (exposure != NULL)
        status = hold_exposure_locked(exposure, claim, out_ptr, out_hold, err);
    else if (extent != NULL)
        status = hold_frame_locked(extent, claim, out_ptr, out_hold, err);
    else
        status = tq_fail(err, TQ_NOT_FOUND, "STALE_REGION", "region %016llx is not offered (any more)",
                         (unsigned long long)claim->region);
    pthread_mutex_unlock(&memory->lock);
    return status;
}

static void drop_chunk_locked(struct tq_memory *memory, struct tq_chunk *chunk)
{
    TQ_ASSERT(chunk->holds > 0);
    chunk->holds--;
    if (!chunk->freed || chunk->holds > 0)
        return;
    memory->quarantined_bytes -= chunk->bytes;
    tq_extent_give_locked(memory, chunk);
}

void tq_memory_drop(struct tq_memory *memory, struct tq_hold *hold)
{
    pthread_mutex_lock(&memory->lock);
    if (hold->exposure != NULL) {
        TQ_ASSERT(hold->exposure->holds > 0);
        hold->exposure->holds--;
        if (hold->exposure->revoked)
            pthread_cond_broadcast(&memory->quiet);
    } else if (hold->chunk != NULL) {
        drop_chunk_locked(memory, hold->chunk);
    }
    *hold = (struct tq_hold){ 0 };
    pthread_mutex_unlock(&memory->lock);
}

static bool lies_in(const struct tq_chunk *chunk, const uint8_t *ptr, size_t len)
{
    uintptr_t at = (uintptr_t)ptr - ((uintptr_t)chunk->extent->mapping.base + chunk->offset);
    return at <= chunk->bytes && len <= chunk->bytes - at;
}

static struct tq_chunk *find_chunk_locked(struct tq_memory *memory, const uint8_t *ptr, size_t len)
{
    tq_list_each (node, &memory->extents) {
        struct tq_extent *extent = tq_container_of(node, struct tq_extent, node);
        uintptr_t at = (uintptr_t)ptr - (uintptr_t)extent->mapping.base;
        if (at >= extent->mapping.bytes)
            continue;
        struct tq_chunk *whole = tq_map_get(&extent->frames, at); /* mostly a block from its beginning */
        if (whole != NULL)
            return lies_in(whole, ptr, len) ? whole : NULL;
        tq_list_each (place, &extent->order) {
            struct tq_chunk *chunk = tq_container_of(place, struct tq_chunk, by_address);
            if (chunk->used && lies_in(chunk, ptr, len))
                return chunk;
        }
    }
    return NULL;
}

bool tq_memory_hold_block(struct tq_memory *memory, const uint8_t *ptr, size_t len, const struct tq_hold *last,
                          struct tq_hold *out_hold)
{
    if (last->chunk != NULL && lies_in(last->chunk, ptr, len))
        return false;
    pthread_mutex_lock(&memory->lock);
    struct tq_chunk *chunk = find_chunk_locked(memory, ptr, len);
    if (chunk != NULL)
        chunk->holds++;
    pthread_mutex_unlock(&memory->lock);
    *out_hold = (struct tq_hold){ .chunk = chunk };
    return chunk != NULL;
}

bool tq_memory_adrift(struct tq_memory *memory, const uint8_t *ptr, size_t len, struct tq_hold *out_hold)
{
    pthread_mutex_lock(&memory->lock);
    struct tq_chunk *chunk = find_chunk_locked(memory, ptr, len);
    if (chunk != NULL) {
        if (chunk->adrift == 0 && !chunk->freed)
            memory->quarantined_bytes += chunk->bytes;
        chunk->holds++;
        chunk->adrift++;
    }
    pthread_mutex_unlock(&memory->lock);
    *out_hold = (struct tq_hold){ .chunk = chunk };
    return chunk != NULL;
}

void tq_memory_land(struct tq_memory *memory, struct tq_hold *hold)
{
    struct tq_chunk *chunk = hold->chunk;
    *hold = (struct tq_hold){ 0 };
    pthread_mutex_lock(&memory->lock);
    TQ_ASSERT(chunk->adrift > 0);
    chunk->adrift--;
    if (chunk->adrift == 0 && !chunk->freed)
        memory->quarantined_bytes -= chunk->bytes;
    drop_chunk_locked(memory, chunk);
    pthread_mutex_unlock(&memory->lock);
}

bool tq_memory_quarantine_is_full(struct tq_memory *memory)
{
    pthread_mutex_lock(&memory->lock);
    bool full = memory->quarantined_bytes > memory->quarantine_budget;
    pthread_mutex_unlock(&memory->lock);
    return full;
}

bool tq_memory_is_wanted(struct tq_memory *memory, const struct tq_hold *hold)
{
    pthread_mutex_lock(&memory->lock);
    bool wanted = hold->exposure != NULL ? hold->exposure->revoked : hold->chunk != NULL && hold->chunk->freed;
    pthread_mutex_unlock(&memory->lock);
    return wanted;
}

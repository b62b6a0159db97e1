#include "transport/bulk/copier.h"

#include "transport/base/assert.h"
#include "transport/base/crc32c.h"
#include "transport/bulk/copy.h"
#include "transport/bulk/ticket.h"

tq_status tq_copier_check_view(const uint8_t *view, uint64_t length, const struct tq_region *region,
                               struct tq_error *err)
{
    const struct tq_extent_header *header = (const struct tq_extent_header *)(const void *)view;
    if (length < sizeof(*header) || header->magic != TQ_EXTENT_MAGIC || header->region != region->id ||
        header->length > length || region->length > header->length)
        return tq_fail(err, TQ_NOT_FOUND, "STALE_REGION", "region %016llx is not there (any more)",
                       (unsigned long long)region->id);
    if (!tq_ticket_equal(header->ticket, region->ticket))
        return tq_fail(err, TQ_PERMISSION_DENIED, "STALE_TICKET", "the ticket is not that of the region");
    return TQ_OK;
}

static tq_status stale(struct tq_error *err, const char *when)
{
    return tq_fail(err, TQ_ABORTED, "STALE_VERSION", "the frame was freed or replaced %s the copy", when);
}

/* transfer_open has checked that the range lies in the region; here it must lie in its frame. */
static tq_status check_frame(const struct tq_frame_header *header, const struct tq_bulk_range *range,
                             struct tq_error *err)
{
    if (header->magic != TQ_FRAME_MAGIC || range->version == 0 ||
        atomic_load_explicit(&header->version, memory_order_acquire) != range->version)
        return stale(err, "before");
    uint64_t length = header->length;
    if (range->skip > length || range->len > length - range->skip)
        return tq_fail(err, TQ_OUT_OF_RANGE, "RANGE", "bytes %llu + %llu of a frame of %llu",
                       (unsigned long long)range->skip, (unsigned long long)range->len, (unsigned long long)length);
    return TQ_OK;
}

static const struct tq_frame_header *frame_of(const uint8_t *view, const struct tq_bulk_range *range)
{
    return (const struct tq_frame_header *)(const void *)(view + range->frame - TQ_FRAME_ALIGN);
}

/* Copies a part of one range. Returns how many bytes of the budget that took. */
static size_t copy_some(struct tq_transfer *transfer, struct tq_bulk_range *range, const uint8_t *view, size_t budget,
                        struct tq_error *err)
{
    if (range->frame % TQ_FRAME_ALIGN != 0 || range->frame < 2 * TQ_FRAME_ALIGN) {
        (void)stale(err, "before");
        return 0;
    }
    const struct tq_frame_header *header = frame_of(view, range);
    if (transfer->done_in_range == 0 && check_frame(header, range, err) != TQ_OK)
        return 0;
    uint64_t left = range->len - transfer->done_in_range;
    size_t len = left < budget ? (size_t)left : budget;
    const uint8_t *from = view + range->frame + range->skip + transfer->done_in_range;
    if (transfer->opts.no_digest)
        tq_copy(range->into + transfer->done_in_range, from, len);
    else if (len > 0)
        range->crc32c = tq_copy_digest(range->into + transfer->done_in_range, from, len, range->crc32c);
    transfer->done_in_range += len;
    transfer->result.bytes[TQ_ENGINE_REMOTE_READ] += len;
    if (transfer->done_in_range < range->len)
        return len;
    atomic_thread_fence(memory_order_acquire); /* the bytes are read before the version is read again */
    if (atomic_load_explicit(&header->version, memory_order_relaxed) != range->version)
        (void)stale(err, "during");
    transfer->range_at++;
    transfer->done_in_range = 0;
    return len;
}

bool tq_copier_step(struct tq_transfer *transfer, size_t budget)
{
    enum { COST_OF_A_RANGE = 512 }; /* so that many empty ranges do not make a long turn */
    while (transfer->range_at < transfer->n_ranges && transfer->result.error.status == TQ_OK) {
        struct tq_bulk_range *range = &transfer->ranges[transfer->range_at];
        const uint8_t *view = transfer->sources[range->source].view;
        if (view == NULL) {
            transfer->range_at++;
            continue;
        }
        if (budget == 0)
            return false;
        size_t used = copy_some(transfer, range, view, budget, &transfer->result.error) + COST_OF_A_RANGE;
        budget = budget > used ? budget - used : 0;
    }
    return true;
}

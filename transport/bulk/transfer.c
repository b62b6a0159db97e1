#include "transport/bulk/transfer.h"

#include <string.h>

#include "transport/base/assert.h"
#include "transport/base/crc32c.h"

#define TO(state) (1u << TQ_TRANSFER_##state)

static const unsigned next_states[TQ_TRANSFER_STATES] = {
    [TQ_TRANSFER_NEW] = TO(COPYING) | TO(READING) | TO(DONE),
    [TQ_TRANSFER_COPYING] = TO(READING) | TO(DONE),
    [TQ_TRANSFER_READING] = TO(CLOSING) | TO(ADRIFT) | TO(DONE),
    [TQ_TRANSFER_CLOSING] = TO(READING) | TO(DONE),
    [TQ_TRANSFER_ADRIFT] = TO(DONE),
};

void tq_transfer_move(struct tq_transfer *transfer, enum tq_transfer_state to)
{
    TQ_ASSERT((next_states[transfer->state] & (1u << to)) != 0);
    transfer->state = to;
    TQ_ASSERT(to != TQ_TRANSFER_DONE || transfer->receiving == 0); /* the destinations are quiet */
}

/* ---- open ---- */

static tq_status check_range(const struct tq_read_args *args, size_t i, struct tq_error *err)
{
    const struct tq_bulk_range *range = &args->ranges[i];
    if (range->source >= args->n_sources)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "RANGE", "range %zu names source %u of %zu", i,
                       (unsigned)range->source, args->n_sources);
    uint64_t length = args->sources[range->source].length;
    if (range->frame > length || range->skip > length - range->frame ||
        range->len > length - range->frame - range->skip)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "RANGE", "range %zu: %llu + %llu + %llu bytes of a region of %llu", i,
                       (unsigned long long)range->frame, (unsigned long long)range->skip,
                       (unsigned long long)range->len, (unsigned long long)length);
    if (range->into == NULL && range->len > 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "RANGE", "range %zu has no destination", i);
    return TQ_OK;
}

static tq_status check_source(const struct tq_read_args *args, size_t i, struct tq_error *err)
{
    const struct tq_region *region = &args->sources[i];
    if (region->kind != TQ_REGION_ARENA && region->kind != TQ_REGION_HEAP)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "REGION", "source %zu is of kind %u", i, (unsigned)region->kind);
    if (region->ticket.len != TQ_TICKET_BYTES)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "REGION", "source %zu has a ticket of %zu bytes: expected %d", i,
                       region->ticket.len, TQ_TICKET_BYTES);
    if (region->key.len > tq_wire_BulkKey_size)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "REGION", "source %zu has a key of %zu bytes: at most %d", i,
                       region->key.len, tq_wire_BulkKey_size);
    return TQ_OK;
}

static tq_status check_args(const struct tq_read_args *args, struct tq_error *err)
{
    tq_status status = TQ_OK;
    for (size_t i = 0; status == TQ_OK && i < args->n_sources; i++)
        status = check_source(args, i, err);
    for (size_t i = 0; status == TQ_OK && i < args->n_ranges; i++)
        status = check_range(args, i, err);
    return status;
}

static struct tq_bytes copy_bytes(const struct tq_seam *seam, struct tq_bytes bytes)
{
    uint8_t *copy = bytes.len > 0 ? tq_seam_alloc(seam, bytes.len) : NULL;
    if (copy != NULL)
        memcpy(copy, bytes.ptr, bytes.len);
    return (struct tq_bytes){ copy, copy != NULL ? bytes.len : 0 };
}

static bool copy_sources(struct tq_transfer *transfer, const struct tq_read_args *args)
{
    transfer->sources = tq_seam_alloc_array(transfer->seam, args->n_sources + 1, sizeof(*transfer->sources));
    for (; transfer->sources != NULL && transfer->n_sources < args->n_sources; transfer->n_sources++) {
        const struct tq_region *from = &args->sources[transfer->n_sources];
        struct tq_region *to = &transfer->sources[transfer->n_sources].region;
        *to = *from;
        to->key = copy_bytes(transfer->seam, from->key);
        to->ticket = copy_bytes(transfer->seam, from->ticket);
        if (to->key.len != from->key.len || to->ticket.len != from->ticket.len) {
            transfer->n_sources++; /* so that close frees this one too */
            return false;
        }
    }
    return transfer->sources != NULL;
}

tq_status tq_transfer_open(const struct tq_seam *seam, const struct tq_read_args *args,
                           struct tq_transfer **out_transfer, struct tq_error *err)
{
    tq_status status = check_args(args, err);
    if (status != TQ_OK)
        return status;
    struct tq_transfer *transfer = tq_seam_alloc(seam, sizeof(*transfer));
    if (transfer == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a transfer");
    transfer->seam = seam;
    tq_list_init(&transfer->node);
    transfer->ranges = args->ranges;
    transfer->n_ranges = args->n_ranges;
    transfer->opts = *args->opts;
    transfer->done = args->done;
    transfer->user = args->user;
    transfer->peer = tq_seam_alloc(seam, sizeof(*transfer->peer));
    status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a transfer");
    if (transfer->peer == NULL || !copy_sources(transfer, args))
        goto fail;
    status = tq_address_decode(args->address, transfer->peer, err);
    if (status != TQ_OK)
        goto fail;
    for (size_t i = 0; i < args->n_ranges; i++)
        args->ranges[i].crc32c = TQ_CRC32C_EMPTY;
    *out_transfer = transfer;
    tq_error_clear(err);
    return TQ_OK;
fail:
    tq_transfer_close(transfer);
    return status;
}

void tq_transfer_close(struct tq_transfer *transfer)
{
    if (transfer == NULL)
        return;
    const struct tq_seam *seam = transfer->seam;
    tq_transfer_let_go(transfer);
    tq_seam_free(seam, transfer->holds);
    for (size_t i = 0; i < transfer->n_sources; i++) {
        tq_seam_free(seam, (void *)(uintptr_t)transfer->sources[i].region.key.ptr);
        tq_seam_free(seam, (void *)(uintptr_t)transfer->sources[i].region.ticket.ptr);
    }
    tq_seam_free(seam, transfer->sources);
    tq_seam_free(seam, transfer->peer);
    tq_seam_free(seam, transfer->pieces);
    tq_seam_free(seam, transfer);
}

/* ---- destinations ---- */

bool tq_transfer_hold(struct tq_transfer *transfer, struct tq_memory *memory)
{
    transfer->memory = memory;
    struct tq_hold last = { 0 };
    for (size_t i = 0; i < transfer->n_ranges; i++) {
        const struct tq_bulk_range *range = &transfer->ranges[i];
        struct tq_hold hold;
        if (range->len == 0 || !tq_memory_hold_block(memory, range->into, range->len, &last, &hold))
            continue;
        if (transfer->holds == NULL)
            transfer->holds = tq_seam_alloc_array(transfer->seam, transfer->n_ranges, sizeof(*transfer->holds));
        if (transfer->holds == NULL) {
            tq_memory_drop(memory, &hold);
            return false;
        }
        transfer->holds[transfer->n_holds++] = last = hold;
    }
    return true;
}

void tq_transfer_let_go(struct tq_transfer *transfer)
{
    while (transfer->n_holds > 0)
        tq_memory_drop(transfer->memory, &transfer->holds[--transfer->n_holds]);
}

/* ---- pieces ---- */

static bool is_asked_for(const struct tq_transfer *transfer, const struct tq_bulk_range *range)
{
    return transfer->sources[range->source].view == NULL;
}

static uint64_t pieces_of(const struct tq_bulk_range *range, size_t piece_bytes)
{
    return range->len == 0 ? 1
                           : (range->len - 1) / piece_bytes + 1; /* an empty range is asked for, too: it may be stale */
}

bool tq_transfer_plan(struct tq_transfer *transfer, size_t piece_bytes)
{
    uint64_t count = 0;
    for (size_t i = 0; i < transfer->n_ranges; i++)
        if (is_asked_for(transfer, &transfer->ranges[i]))
            count += pieces_of(&transfer->ranges[i], piece_bytes);
    if (count == 0)
        return true;
    if (count > UINT32_MAX)
        return false;
    transfer->pieces = tq_seam_alloc_array(transfer->seam, (size_t)count, sizeof(*transfer->pieces));
    if (transfer->pieces == NULL)
        return false;
    struct tq_piece *piece = transfer->pieces;
    for (size_t i = 0; i < transfer->n_ranges; i++) {
        const struct tq_bulk_range *range = &transfer->ranges[i];
        uint64_t n = is_asked_for(transfer, range) ? pieces_of(range, piece_bytes) : 0;
        for (uint64_t at = 0; n > 0; n--, at += piece_bytes, piece++)
            *piece = (struct tq_piece){
                .transfer = transfer,
                .skip = range->skip + at,
                .len = range->len - at < piece_bytes ? range->len - at : piece_bytes,
                .into = range->len > 0 ? range->into + at : NULL,
                .range = (uint32_t)i,
            };
    }
    transfer->n_pieces = (uint32_t)count;
    return true;
}

void tq_transfer_gather(struct tq_transfer *transfer)
{
    for (uint32_t i = 0; i < transfer->n_pieces; i++) {
        const struct tq_piece *piece = &transfer->pieces[i];
        struct tq_bulk_range *range = &transfer->ranges[piece->range];
        TQ_ASSERT(piece->state == TQ_PIECE_HERE);
        if (piece->skip == range->skip)
            range->crc32c = piece->crc32c;
        else
            range->crc32c = tq_crc32c_combine(range->crc32c, piece->crc32c, piece->len);
        transfer->result.bytes[TQ_ENGINE_RENDEZVOUS] += piece->len;
    }
}

/* Whether every byte of every range was received or copied. */
static bool is_whole(const struct tq_transfer *transfer)
{
    uint64_t left = 0;
    for (size_t i = 0; i < transfer->n_ranges; i++)
        left += transfer->ranges[i].len;
    for (int engine = 0; engine < TQ_ENGINE_COUNT; engine++)
        left -= transfer->result.bytes[engine];
    return left == 0 && transfer->here == transfer->n_pieces;
}

void tq_transfer_report(struct tq_transfer *transfer)
{
    TQ_ASSERT(!transfer->reported);
    if (transfer->result.error.status == TQ_OK && !is_whole(transfer)) /* never let garbage pass for data */
        (void)tq_fail(&transfer->result.error, TQ_INTERNAL, "INCOMPLETE", "a transfer ended with bytes missing");
    transfer->reported = true;
    transfer->done(transfer->user, &transfer->result);
}

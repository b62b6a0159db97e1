/* BulkPiece headers from any owner at the reader's core: a destination is given out only for a piece that was asked
 * for, and only in its length. Input: records of length, announced size (4 bytes) and header. */
#include <stdlib.h>
#include <string.h>

#include "transport/bulk/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(holds)                                                                                                   \
    do {                                                                                                               \
        if (!(holds))                                                                                                  \
            abort();                                                                                                   \
    } while (0)

enum { PIECE = 64, LEN = 5 * PIECE + 1 };

static const struct tq_pace pace = { PIECE, 3 * PIECE };
static struct tq_heap timers;
static struct tq_reader reader;
static struct tq_link link_;
static uint8_t target[LEN];
static bool over;

static tq_status open_link(void *self, struct tq_link *link, struct tq_error *err)
{
    (void)self;
    (void)err;
    link->reply_to = (struct tq_bytes){ (const uint8_t *)"me", 2 };
    return TQ_OK;
}

static tq_status ask(void *self, struct tq_link *link, const uint8_t *bytes, size_t len, struct tq_error *err)
{
    (void)self;
    (void)link;
    (void)bytes;
    (void)len;
    (void)err;
    return TQ_OK;
}

static void close_link(void *self, struct tq_link *link)
{
    (void)self;
    tq_reader_closed(&reader, link);
}

static bool adrift(void *self, const uint8_t *ptr, size_t len, struct tq_hold *out_hold)
{
    (void)self;
    (void)ptr;
    (void)len;
    (void)out_hold;
    return false;
}

static void land(void *self, struct tq_hold *hold)
{
    (void)self;
    (void)hold;
}

static bool no(void *self)
{
    (void)self;
    return false;
}

static bool is_dead(void *self, struct tq_link *link)
{
    (void)self;
    (void)link;
    return false;
}

static void finished(void *self, struct tq_transfer *transfer)
{
    (void)self;
    over = true;
    tq_transfer_close(transfer);
}

static void on_done(void *user, const struct tq_bulk_result *result)
{
    (void)user;
    (void)result;
}

static struct tq_transfer *begin(void)
{
    static uint8_t address[TQ_ADDRESS_MAX];
    static struct tq_bulk_range range;
    struct tq_transfer *transfer = NULL;
    tq_wire_BulkAddress peer = { .version = 1, .process = 7, .port = 1 };
    size_t len = tq_address_encode(&peer, address, sizeof(address));
    const struct tq_region region = {
        .id = 1, .kind = TQ_REGION_HEAP, .length = LEN, .ticket = { (const uint8_t *)"0123456789abcdef", 16 }
    };
    const struct tq_bulk_read_opts opts = { .deadline_ns = INT64_MAX };
    range = (struct tq_bulk_range){ .len = LEN, .version = 1, .into = target };
    const struct tq_read_args args = { { address, len }, &region, 1, &range, 1, &opts, on_done, NULL };
    CHECK(tq_transfer_open(tq_seam_system(), &args, &transfer, NULL) == TQ_OK);
    CHECK(tq_transfer_plan(transfer, PIECE));
    tq_reader_start(&reader, &link_, transfer);
    (void)tq_map_remove(&reader.by_id, transfer->id); /* a number that the fuzzer can guess */
    transfer->id = 1;
    CHECK(tq_map_put(&reader.by_id, 1, transfer));
    return transfer;
}

static void announce(struct tq_transfer *transfer, const uint8_t *record, size_t header_len)
{
    uint32_t len;
    memcpy(&len, record + 1, sizeof(len));
    struct tq_piece *piece = tq_reader_announced(&reader, (struct tq_bytes){ record + 5, header_len }, len);
    if (piece == NULL)
        return;
    CHECK(!over && piece >= transfer->pieces && piece < transfer->pieces + transfer->n_pieces);
    CHECK(piece->len == len && piece->into >= target && piece->into + len <= target + LEN);
    tq_reader_received(&reader, piece, TQ_OK, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tq_reader_port port = { NULL, open_link, ask, close_link, adrift, land, no, is_dead, finished, NULL };
    tq_heap_init(&timers, tq_seam_system());
    tq_reader_init(&reader, tq_seam_system(), &port, &timers);
    tq_link_init(&link_, &pace);
    over = false;
    struct tq_transfer *transfer = begin();
    while (size >= 5 && !over) {
        size_t header_len = data[0] < size - 5 ? data[0] : size - 5;
        announce(transfer, data, header_len);
        data += 5 + header_len;
        size -= 5 + header_len;
    }
    tq_reader_cancel(&reader, &link_);
    CHECK(over && tq_link_is_idle(&link_) && link_.flying == 0);
    tq_reader_fini(&reader);
    tq_heap_fini(&timers);
    return 0;
}

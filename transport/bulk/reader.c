#include "transport/bulk/reader.h"

#include <pb_decode.h>
#include <pb_encode.h>
#include <string.h>

#include "transport/base/assert.h"
#include "transport/base/crc32c.h"

enum {
    WINDOW_PIECES = 128,
    RANGES_IN_MESSAGE = sizeof(((tq_wire_BulkRead *)NULL)->frame) / sizeof(uint64_t),
    ATTEMPTS = 3,
};

const struct tq_pace tq_pace_shm = { 256 << 10, 512 << 10 };
const struct tq_pace tq_pace_tcp = { 1 << 20, 4 << 20 };

static void pump(struct tq_reader *reader, struct tq_link *link);
static void settle(struct tq_reader *reader, struct tq_link *link);

void tq_reader_init(struct tq_reader *reader, const struct tq_seam *seam, const struct tq_reader_port *port,
                    struct tq_heap *timers)
{
    *reader = (struct tq_reader){
        .seam = seam,
        .port = *port,
        .timers = timers,
        .window_pieces = WINDOW_PIECES,
    };
    tq_map_init(&reader->by_id, seam);
}

void tq_reader_fini(struct tq_reader *reader)
{
    TQ_ASSERT(tq_map_count(&reader->by_id) == 0);
    tq_map_fini(&reader->by_id);
}

void tq_link_init(struct tq_link *link, const struct tq_pace *pace)
{
    *link = (struct tq_link){ .pace = pace };
    tq_list_init(&link->waiting);
    tq_list_init(&link->asked);
    tq_list_init(&link->adrift);
}

bool tq_link_is_idle(const struct tq_link *link)
{
    return tq_list_empty(&link->waiting) && tq_list_empty(&link->asked) && tq_list_empty(&link->adrift);
}

bool tq_link_is_silent(const struct tq_link *link, int64_t now_ns, int64_t silence_ns)
{
    return link->state == TQ_LINK_UP && link->flying > 0 && link->receiving == 0 &&
           now_ns - link->heard_ns > silence_ns;
}

static void link_move(struct tq_link *link, enum tq_link_state to)
{
    static const unsigned next[TQ_LINK_STATES] = {
        [TQ_LINK_DOWN] = 1u << TQ_LINK_UP,
        [TQ_LINK_UP] = 1u << TQ_LINK_CLOSING,
        [TQ_LINK_CLOSING] = 1u << TQ_LINK_DOWN,
    };
    TQ_ASSERT((next[link->state] & (1u << to)) != 0);
    TQ_ASSERT(to != TQ_LINK_DOWN || (link->receiving == 0 && link->closed));
    link->state = to;
}

/* ---- transfers enter and leave ---- */

static bool enter_id(struct tq_reader *reader, struct tq_transfer *transfer)
{
    transfer->id = tq_seam_random64(reader->seam);
    return tq_map_put(&reader->by_id, transfer->id, transfer);
}

static void leave_id(struct tq_reader *reader, struct tq_transfer *transfer)
{
    if (transfer->id != 0)
        (void)tq_map_remove(&reader->by_id, transfer->id);
    transfer->id = 0;
}

static void finish(struct tq_reader *reader, struct tq_transfer *transfer)
{
    leave_id(reader, transfer);
    tq_heap_remove(reader->timers, &transfer->timer);
    tq_list_remove(&transfer->node);
    tq_transfer_move(transfer, TQ_TRANSFER_DONE);
    reader->port.finished(reader->port.self, transfer);
}

/* Pieces that were only asked for will never be received: their number is forgotten. */
static void forget_asked(struct tq_reader *reader, struct tq_transfer *transfer)
{
    struct tq_link *link = transfer->link;
    leave_id(reader, transfer);
    for (uint32_t i = 0; i < transfer->next_piece && transfer->asked > 0; i++) {
        struct tq_piece *piece = &transfer->pieces[i];
        if (piece->state != TQ_PIECE_ASKED)
            continue;
        piece->state = TQ_PIECE_OPEN;
        transfer->asked--;
        link->flying--;
        link->flying_bytes -= piece->len;
    }
}

static void close_link(struct tq_reader *reader, struct tq_link *link, const struct tq_error *why)
{
    if (link->state != TQ_LINK_UP)
        return;
    link->closed = false;
    if (why != NULL)
        link->why = *why;
    else
        tq_error_clear(&link->why);
    link_move(link, TQ_LINK_CLOSING);
    reader->port.close(reader->port.self, link);
}

/* The transfer has failed: its result says why. It ends now, or when the link has proved its destinations quiet. */
static void fail(struct tq_reader *reader, struct tq_transfer *transfer)
{
    struct tq_link *link = transfer->link;
    forget_asked(reader, transfer);
    if (transfer->receiving == 0) {
        finish(reader, transfer);
        return;
    }
    if (transfer->state == TQ_TRANSFER_READING)
        tq_transfer_move(transfer, TQ_TRANSFER_CLOSING);
    tq_list_remove(&transfer->node);
    tq_list_add_tail(&link->asked, &transfer->node);
    close_link(reader, link, NULL);
}

void tq_reader_start(struct tq_reader *reader, struct tq_link *link, struct tq_transfer *transfer)
{
    transfer->link = link;
    tq_transfer_move(transfer, TQ_TRANSFER_READING);
    tq_list_add_tail(&link->waiting, &transfer->node);
    if (!enter_id(reader, transfer)) {
        (void)tq_fail(&transfer->result.error, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a transfer");
        finish(reader, transfer);
        return;
    }
    pump(reader, link);
}

/* ---- asking ---- */

static bool window_has_room(const struct tq_reader *reader, const struct tq_link *link, uint64_t len)
{
    return link->flying == 0 ||
           (link->flying < reader->window_pieces && link->flying_bytes + len <= link->pace->window_bytes);
}

static void add_range(tq_wire_BulkRead *message, const struct tq_bulk_range *range, const struct tq_piece *piece)
{
    pb_size_t n = message->frame_count;
    message->frame[n] = range->frame;
    message->skip[n] = piece->skip;
    message->length[n] = piece->len;
    message->version[n] = range->version;
    message->frame_count = message->skip_count = message->length_count = message->version_count = (pb_size_t)(n + 1);
}

/* Fills a message with the next pieces that lie in one region and fit into the window, and marks them as asked for. */
static uint32_t gather_pieces(struct tq_reader *reader, struct tq_transfer *transfer, tq_wire_BulkRead *message)
{
    struct tq_link *link = transfer->link;
    uint32_t source = transfer->ranges[transfer->pieces[transfer->next_piece].range].source;
    message->first_piece = transfer->next_piece;
    while (transfer->next_piece < transfer->n_pieces && message->frame_count < RANGES_IN_MESSAGE) {
        struct tq_piece *piece = &transfer->pieces[transfer->next_piece];
        const struct tq_bulk_range *range = &transfer->ranges[piece->range];
        if (piece->state != TQ_PIECE_OPEN || range->source != source || !window_has_room(reader, link, piece->len))
            break;
        add_range(message, range, piece);
        piece->state = TQ_PIECE_ASKED;
        transfer->asked++;
        transfer->next_piece++;
        link->flying++;
        link->flying_bytes += piece->len;
    }
    return source;
}

static uint64_t time_left_us(const struct tq_reader *reader, const struct tq_transfer *transfer)
{
    int64_t left_ns = transfer->opts.deadline_ns - tq_seam_now_ns(reader->seam);
    return left_ns > 0 ? (uint64_t)left_ns / 1000 : 0;
}

static tq_status ask_next(struct tq_reader *reader, struct tq_transfer *transfer, struct tq_error *err)
{
    struct tq_link *link = transfer->link;
    if (link->flying == 0)
        link->heard_ns = tq_seam_now_ns(reader->seam);
    tq_wire_BulkRead message = tq_wire_BulkRead_init_zero;
    uint8_t bytes[tq_wire_BulkRead_size];
    message.transfer = transfer->id;
    message.process = reader->process;
    message.link = link->number;
    message.expires_us = time_left_us(reader, transfer);
    const struct tq_region *region = &transfer->sources[gather_pieces(reader, transfer, &message)].region;
    message.region = region->id;
    message.ticket.size = (pb_size_t)region->ticket.len;
    memcpy(message.ticket.bytes, region->ticket.ptr, region->ticket.len);
    TQ_ASSERT(link->reply_to.len <= sizeof(message.reply_to.bytes));
    message.reply_to.size = (pb_size_t)link->reply_to.len;
    memcpy(message.reply_to.bytes, link->reply_to.ptr, link->reply_to.len);
    pb_ostream_t stream = pb_ostream_from_buffer(bytes, sizeof(bytes));
    TQ_ASSERT(pb_encode(&stream, tq_wire_BulkRead_fields, &message));
    return reader->port.ask(reader->port.self, link, bytes, stream.bytes_written, err);
}

/* Skips pieces that came before the link was rebuilt. Whether one is left and a quarter of the window is free: so that
 * small pieces are asked for several in a message. */
static bool has_next(struct tq_reader *reader, struct tq_transfer *transfer)
{
    while (transfer->next_piece < transfer->n_pieces && transfer->pieces[transfer->next_piece].state != TQ_PIECE_OPEN)
        transfer->next_piece++;
    if (transfer->next_piece == transfer->n_pieces)
        return false;
    uint64_t quarter = transfer->link->pace->window_bytes / 4;
    uint64_t len = transfer->pieces[transfer->next_piece].len;
    return window_has_room(reader, transfer->link, len > quarter ? len : quarter);
}

static bool open_link(struct tq_reader *reader, struct tq_link *link)
{
    struct tq_error why = { 0 };
    if (link->state == TQ_LINK_UP)
        return true;
    if (link->state == TQ_LINK_CLOSING)
        return false;
    link->number = ++reader->links;
    tq_status status = reader->port.open(reader->port.self, link, &why);
    if (status == TQ_OK) {
        link_move(link, TQ_LINK_UP);
        return true;
    }
    TQ_ASSERT(why.status != TQ_OK); /* it becomes the result of reads that never happened */
    for (struct tq_list *node; (node = tq_list_take_head(&link->waiting)) != NULL;) {
        struct tq_transfer *transfer = tq_container_of(node, struct tq_transfer, node);
        transfer->result.error = why;
        finish(reader, transfer);
    }
    return false;
}

/* Asks for as much as the window allows, one message from each transfer in turn. */
static void pump(struct tq_reader *reader, struct tq_link *link)
{
    while (!tq_list_empty(&link->waiting) && open_link(reader, link)) {
        struct tq_transfer *transfer = tq_container_of(link->waiting.next, struct tq_transfer, node);
        struct tq_error why = { 0 };
        if (!has_next(reader, transfer)) {
            if (transfer->next_piece < transfer->n_pieces)
                return; /* the window is full */
            tq_list_remove(&transfer->node);
            tq_list_add_tail(&link->asked, &transfer->node);
            continue;
        }
        tq_list_remove(&transfer->node);
        tq_list_add_tail(&link->waiting, &transfer->node);
        if (ask_next(reader, transfer, &why) != TQ_OK) {
            tq_reader_failed(reader, link, &why);
            return;
        }
    }
}

/* ---- pieces come in ---- */

static const char *reason_of(tq_status status)
{
    switch (status) {
    case TQ_NOT_FOUND:
        return "STALE_REGION";
    case TQ_PERMISSION_DENIED:
        return "STALE_TICKET";
    case TQ_ABORTED:
        return "STALE_VERSION";
    case TQ_OUT_OF_RANGE:
        return "RANGE";
    case TQ_RESOURCE_EXHAUSTED:
        return "OWNER_BUSY";
    default:
        return NULL;
    }
}

static void refused(struct tq_reader *reader, struct tq_transfer *transfer, const struct tq_piece *piece,
                    uint32_t wire_status)
{
    tq_status status = tq_status_from_wire(wire_status);
    (void)tq_fail(&transfer->result.error, status, reason_of(status), "the owner refuses range %u: %s",
                  (unsigned)piece->range, tq_status_text(status));
    fail(reader, transfer);
}

static void complete_if_whole(struct tq_reader *reader, struct tq_transfer *transfer)
{
    if (transfer->here < transfer->n_pieces)
        return;
    tq_transfer_gather(transfer);
    finish(reader, transfer);
}

static struct tq_piece *find_piece(struct tq_reader *reader, const tq_wire_BulkPiece *header)
{
    struct tq_transfer *transfer = tq_map_get(&reader->by_id, header->transfer);
    if (transfer == NULL || transfer->state != TQ_TRANSFER_READING || header->piece >= transfer->n_pieces)
        return NULL;
    struct tq_piece *piece = &transfer->pieces[header->piece];
    return piece->state == TQ_PIECE_ASKED ? piece : NULL;
}

static void take_off(struct tq_piece *piece)
{
    struct tq_link *link = piece->transfer->link;
    link->flying--;
    link->flying_bytes -= piece->len;
}

struct tq_piece *tq_reader_announced(struct tq_reader *reader, struct tq_bytes header_bytes, size_t len)
{
    tq_wire_BulkPiece header = tq_wire_BulkPiece_init_zero;
    pb_istream_t stream = pb_istream_from_buffer(header_bytes.ptr, header_bytes.len);
    if (!pb_decode(&stream, tq_wire_BulkPiece_fields, &header))
        return NULL;
    struct tq_piece *piece = find_piece(reader, &header);
    if (piece == NULL)
        return NULL;
    struct tq_transfer *transfer = piece->transfer;
    struct tq_link *link = transfer->link;
    link->heard_ns = tq_seam_now_ns(reader->seam);
    if (header.status != 0) {
        refused(reader, transfer, piece, header.status);
    } else if (len != piece->len || header.length != piece->len) { /* UCX aborts on a longer message */
        (void)tq_fail(&transfer->result.error, TQ_INTERNAL, "PIECE_LENGTH", "the owner sends %zu bytes: expected %llu",
                      len, (unsigned long long)piece->len);
        fail(reader, transfer);
    } else if (len > 0) {
        piece->state = TQ_PIECE_RECEIVING;
        transfer->asked--;
        transfer->receiving++;
        link->receiving++;
        return piece;
    } else {
        take_off(piece);
        piece->state = TQ_PIECE_HERE;
        transfer->asked--;
        transfer->here++;
        complete_if_whole(reader, transfer);
    }
    pump(reader, link);
    return NULL;
}

static void land(struct tq_reader *reader, struct tq_piece *piece)
{
    struct tq_transfer *transfer = piece->transfer;
    reader->port.land(reader->port.self, &piece->hold);
    if (transfer->receiving == 0)
        finish(reader, transfer);
}

void tq_reader_received(struct tq_reader *reader, struct tq_piece *piece, tq_status status, uint32_t crc32c)
{
    struct tq_transfer *transfer = piece->transfer;
    struct tq_link *link = transfer->link;
    TQ_ASSERT(piece->state == TQ_PIECE_RECEIVING && transfer->receiving > 0 && link->receiving > 0);
    take_off(piece);
    link->heard_ns = tq_seam_now_ns(reader->seam);
    transfer->receiving--;
    link->receiving--;
    piece->state = status == TQ_OK ? TQ_PIECE_HERE : TQ_PIECE_OPEN;
    piece->crc32c = crc32c;
    if (status == TQ_OK)
        transfer->here++;
    if (transfer->state == TQ_TRANSFER_ADRIFT) {
        land(reader, piece);
    } else if (status == TQ_OK && transfer->state == TQ_TRANSFER_READING) {
        complete_if_whole(reader, transfer);
    } else if (status != TQ_OK && link->state == TQ_LINK_UP) { /* before the endpoint's own report */
        struct tq_error why;
        (void)tq_fail(&why, TQ_UNAVAILABLE, "PEER_LOST", "a receive ended: %s", tq_status_text(status));
        tq_reader_failed(reader, link, &why);
    }
    settle(reader, link);
    pump(reader, link);
}

/* ---- the link breaks ---- */

/* Makes a transfer that lost its link ready for the next one, or ends it. */
static void restart(struct tq_reader *reader, struct tq_link *link, struct tq_transfer *transfer)
{
    bool ours = link->why.status == TQ_OK;
    tq_list_remove(&transfer->node);
    forget_asked(reader, transfer);
    if (transfer->here == transfer->n_pieces && transfer->result.error.status == TQ_OK) {
        tq_transfer_gather(transfer);
        finish(reader, transfer);
        return;
    }
    if (transfer->result.error.status == TQ_OK && !ours &&
        (++transfer->attempts >= ATTEMPTS || reader->port.is_dead(reader->port.self, link)))
        transfer->result.error = link->why;
    if (transfer->result.error.status == TQ_OK && !enter_id(reader, transfer)) {
        transfer->id = 0;
        (void)tq_fail(&transfer->result.error, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory to start again");
    }
    if (transfer->result.error.status != TQ_OK) {
        finish(reader, transfer);
        return;
    }
    if (transfer->state == TQ_TRANSFER_CLOSING)
        tq_transfer_move(transfer, TQ_TRANSFER_READING);
    transfer->next_piece = 0;
    tq_list_add_tail(&link->waiting, &transfer->node);
}

/* When the link is closed and quiet, everything on it ends or begins again. */
static void settle(struct tq_reader *reader, struct tq_link *link)
{
    if (link->state != TQ_LINK_CLOSING || !link->closed || link->receiving > 0)
        return;
    TQ_ASSERT(tq_list_empty(&link->adrift)); /* each ended with its last receive */
    link_move(link, TQ_LINK_DOWN);
    struct tq_list again = { 0 };
    tq_list_init(&again);
    for (struct tq_list *node; (node = tq_list_take_head(&link->waiting)) != NULL;)
        tq_list_add_tail(&again, node);
    for (struct tq_list *node; (node = tq_list_take_head(&link->asked)) != NULL;)
        tq_list_add_tail(&again, node);
    for (struct tq_list *node; (node = tq_list_take_head(&again)) != NULL;)
        restart(reader, link, tq_container_of(node, struct tq_transfer, node));
}

void tq_reader_failed(struct tq_reader *reader, struct tq_link *link, const struct tq_error *why)
{
    close_link(reader, link, why);
    settle(reader, link);
    pump(reader, link);
}

void tq_reader_closed(struct tq_reader *reader, struct tq_link *link)
{
    TQ_ASSERT(link->state == TQ_LINK_CLOSING);
    link->closed = true;
    settle(reader, link);
    pump(reader, link);
}

/* ---- deadlines ---- */

/* Quarantines the destinations of all receives that run. False: one of them is not in our own blocks. */
static bool set_adrift(struct tq_reader *reader, struct tq_transfer *transfer)
{
    for (uint32_t i = 0; i < transfer->n_pieces; i++) {
        struct tq_piece *piece = &transfer->pieces[i];
        if (piece->state != TQ_PIECE_RECEIVING)
            continue;
        if (reader->port.adrift(reader->port.self, piece->into, piece->len, &piece->hold))
            continue;
        for (uint32_t back = 0; back < i; back++)
            if (transfer->pieces[back].state == TQ_PIECE_RECEIVING)
                reader->port.land(reader->port.self, &transfer->pieces[back].hold);
        return false;
    }
    return true;
}

void tq_reader_expire(struct tq_reader *reader, struct tq_transfer *transfer)
{
    struct tq_link *link = transfer->link;
    if (transfer->result.error.status == TQ_OK)
        (void)tq_fail(&transfer->result.error, TQ_DEADLINE_EXCEEDED, NULL,
                      "%u of %u pieces had come when the deadline passed", (unsigned)transfer->here,
                      (unsigned)transfer->n_pieces);
    if (transfer->state != TQ_TRANSFER_READING || link->state == TQ_LINK_CLOSING || transfer->receiving == 0 ||
        !set_adrift(reader, transfer)) {
        fail(reader, transfer);
        pump(reader, link);
        return;
    }
    forget_asked(reader, transfer);
    tq_list_remove(&transfer->node);
    tq_list_add_tail(&link->adrift, &transfer->node);
    tq_transfer_move(transfer, TQ_TRANSFER_ADRIFT);
    reader->port.expired(reader->port.self, transfer);
    if (reader->port.quarantine_is_full(reader->port.self))
        close_link(reader, link, NULL);
    pump(reader, link);
}

static void cancel_list(struct tq_reader *reader, struct tq_list *list)
{
    struct tq_list all;
    tq_list_init(&all);
    for (struct tq_list *node; (node = tq_list_take_head(list)) != NULL;)
        tq_list_add_tail(&all, node);
    for (struct tq_list *node; (node = tq_list_take_head(&all)) != NULL;) {
        struct tq_transfer *transfer = tq_container_of(node, struct tq_transfer, node);
        if (transfer->result.error.status == TQ_OK)
            (void)tq_fail(&transfer->result.error, TQ_CANCELLED, NULL, "the bulk runtime is closing");
        fail(reader, transfer);
    }
}

void tq_reader_cancel(struct tq_reader *reader, struct tq_link *link)
{
    cancel_list(reader, &link->waiting);
    cancel_list(reader, &link->asked);
    close_link(reader, link, NULL);
    settle(reader, link);
}

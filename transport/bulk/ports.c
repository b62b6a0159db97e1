#include <string.h>

#include "transport/base/assert.h"
#include "transport/base/crc32c.h"
#include "transport/base/log.h"
#include "transport/bulk/runtime.h"

static struct tq_peer *peer_of(struct tq_link *link)
{
    return tq_container_of(link, struct tq_peer, link);
}

static void count_endpoint(struct tq_party *party)
{
    struct tq_counters *counters = &party->bulk->counters;
    bool shm = (tq_endpoint_lanes(party->endpoint) & TQ_LANE_SHM) != 0;
    atomic_fetch_add_explicit(&counters->endpoints_made, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(shm ? &counters->shm_endpoints : &counters->tcp_endpoints, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counters->endpoints, 1, memory_order_relaxed);
}

static void close_endpoint(struct tq_party *party)
{
    atomic_fetch_add_explicit(&party->bulk->counters.forced_closes, 1, memory_order_relaxed);
    tq_endpoint_close(party->endpoint);
}

/* ---- the reader core's ---- */

/* The address by which this link is answered: over TCP the owner answers by the connection itself. */
static void set_reply_to(struct tq_peer *peer)
{
    const struct tq_bytes worker = tq_endpoint_answered_at(peer->party.endpoint);
    tq_wire_BulkAddress address = peer->party.bulk->self;
    address.reader.size = 0;
    address.worker.size = (pb_size_t)worker.len;
    TQ_ASSERT(worker.len <= sizeof(address.worker.bytes));
    if (worker.len > 0)
        memcpy(address.worker.bytes, worker.ptr, worker.len);
    size_t len = tq_address_encode(&address, peer->reply_to, sizeof(peer->reply_to));
    TQ_ASSERT(len > 0);
    peer->link.reply_to = (struct tq_bytes){ peer->reply_to, len };
}

static tq_status reader_open(void *self, struct tq_link *link, struct tq_error *err)
{
    struct tq_peer *peer = peer_of(link);
    struct tq_bulk *bulk = self;
    if (peer->dead)
        return tq_fail(err, TQ_UNAVAILABLE, "PEER_DIED", "process %u has ended", (unsigned)peer->address.pid);
    const tq_wire_BulkAddress *address = &peer->address;
    const struct tq_bytes worker = { address->worker.bytes, address->worker.size };
    tq_status status = tq_fail(err, TQ_UNAVAILABLE, "NO_WAY", "process %u is not on this machine and names no port",
                               (unsigned)address->pid);
    if (peer->party.watch_fd >= 0 && peer->avoid_shm_until_ns == 0) /* proved to be on this machine */
        status = tq_endpoint_open(bulk->ucx, TQ_UCX_ASKING, worker, &peer->party, &peer->party.endpoint, err);
    if (status != TQ_OK && address->port != 0)
        status = tq_endpoint_connect(bulk->ucx, address->ipv4, (uint16_t)address->port, &peer->party,
                                     &peer->party.endpoint, err);
    if (status != TQ_OK)
        return status;
    tq_error_clear(err);
    count_endpoint(&peer->party);
    set_reply_to(peer);
    return TQ_OK;
}

static tq_status reader_ask(void *self, struct tq_link *link, const uint8_t *bytes, size_t len, struct tq_error *err)
{
    (void)self;
    return tq_endpoint_ask(peer_of(link)->party.endpoint, bytes, len, err);
}

static void reader_close(void *self, struct tq_link *link)
{
    (void)self;
    close_endpoint(&peer_of(link)->party);
}

static bool reader_adrift(void *self, const uint8_t *ptr, size_t len, struct tq_hold *out_hold)
{
    struct tq_bulk *bulk = self;
    return tq_memory_adrift(&bulk->memory, ptr, len, out_hold);
}

static void reader_land(void *self, struct tq_hold *hold)
{
    struct tq_bulk *bulk = self;
    tq_memory_land(&bulk->memory, hold);
}

static bool reader_quarantine_is_full(void *self)
{
    struct tq_bulk *bulk = self;
    return tq_memory_quarantine_is_full(&bulk->memory);
}

static bool reader_is_dead(void *self, struct tq_link *link)
{
    (void)self;
    return peer_of(link)->dead;
}

static void reader_finished(void *self, struct tq_transfer *transfer)
{
    tq_transfer_end(self, transfer);
}

static void reader_expired(void *self, struct tq_transfer *transfer)
{
    (void)self;
    tq_transfer_let_go(transfer); /* what still runs holds its block by itself */
    tq_transfer_report(transfer);
}

void tq_ports_of_reader(struct tq_bulk *bulk, struct tq_reader_port *out_port)
{
    *out_port = (struct tq_reader_port){
        .self = bulk,
        .open = reader_open,
        .ask = reader_ask,
        .close = reader_close,
        .adrift = reader_adrift,
        .land = reader_land,
        .quarantine_is_full = reader_quarantine_is_full,
        .is_dead = reader_is_dead,
        .finished = reader_finished,
        .expired = reader_expired,
    };
}

/* ---- the owner core's ---- */

static tq_status owner_hold(void *self, const struct tq_claim *claim, const uint8_t **out_ptr, struct tq_hold *out_hold,
                            struct tq_error *err)
{
    struct tq_bulk *bulk = self;
    return tq_memory_hold(&bulk->memory, claim, out_ptr, out_hold, err);
}

static void owner_drop(void *self, struct tq_hold *hold)
{
    struct tq_bulk *bulk = self;
    tq_memory_drop(&bulk->memory, hold);
}

static bool owner_is_wanted(void *self, const struct tq_hold *hold)
{
    struct tq_bulk *bulk = self;
    return tq_memory_is_wanted(&bulk->memory, hold);
}

static tq_status owner_open(void *self, struct tq_caller *caller, const tq_wire_BulkAddress *reader, void *from,
                            struct tq_error *err)
{
    struct tq_bulk *bulk = self;
    const struct tq_bytes worker = { reader->worker.bytes, reader->worker.size };
    struct tq_party *party = tq_seam_alloc(bulk->seam, sizeof(*party));
    if (party == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a caller");
    *party = (struct tq_party){ .bulk = bulk, .watch_fd = -1, .caller = caller, .endpoint = from };
    tq_status status = from != NULL ? tq_endpoint_adopt(from, party, err)
                                    : tq_endpoint_open(bulk->ucx, TQ_UCX_SERVING, worker, party, &party->endpoint, err);
    if (status != TQ_OK) {
        tq_seam_free(bulk->seam, party);
        return status;
    }
    count_endpoint(party);
    tq_party_watch(party, reader);
    caller->endpoint = party;
    return TQ_OK;
}

static tq_status owner_send(void *self, struct tq_send *send, struct tq_error *err)
{
    struct tq_bulk *bulk = self;
    struct tq_party *party = send->caller->endpoint;
    atomic_fetch_add_explicit(&bulk->counters.sends, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bulk->counters.sent_bytes, send->length, memory_order_relaxed);
    return tq_endpoint_send(party->endpoint, send, err);
}

static void owner_close(void *self, struct tq_caller *caller)
{
    (void)self;
    close_endpoint(caller->endpoint);
}

static void owner_gone(void *self, struct tq_caller *caller)
{
    struct tq_bulk *bulk = self;
    struct tq_party *party = caller->endpoint;
    tq_party_unwatch(party);
    tq_seam_free(bulk->seam, party);
}

void tq_ports_of_owner(struct tq_bulk *bulk, struct tq_owner_port *out_port)
{
    *out_port = (struct tq_owner_port){
        .self = bulk,
        .hold = owner_hold,
        .drop = owner_drop,
        .is_wanted = owner_is_wanted,
        .open = owner_open,
        .send = owner_send,
        .close = owner_close,
        .gone = owner_gone,
    };
}

/* ---- UCX's events ---- */

static void on_asked(void *user, struct tq_bytes message, struct tq_endpoint *from)
{
    struct tq_bulk *bulk = user;
    tq_owner_asked(&bulk->loop.owner, message, from);
}

static struct tq_piece *on_announced(void *user, struct tq_bytes header, size_t len)
{
    struct tq_bulk *bulk = user;
    return tq_reader_announced(&bulk->loop.reader, header, len);
}

static void on_received(void *user, struct tq_piece *piece, tq_status status)
{
    struct tq_bulk *bulk = user;
    uint32_t crc32c = TQ_CRC32C_EMPTY;
    if (status == TQ_OK && !piece->transfer->opts.no_digest)
        crc32c = tq_crc32c(piece->into, piece->len); /* of what arrived, while it is hot */
    tq_reader_received(&bulk->loop.reader, piece, status, crc32c);
}

static void on_sent(void *user, struct tq_send *send, tq_status status)
{
    struct tq_bulk *bulk = user;
    tq_owner_sent(&bulk->loop.owner, send, status);
}

static void on_failed(void *user, void *whose, const struct tq_error *why)
{
    struct tq_bulk *bulk = user;
    struct tq_party *party = whose;
    tq_info("bulk-endpoint-failed", "why=\"%s\"", why->message);
    if (party->caller != NULL)
        tq_owner_failed(&bulk->loop.owner, party->caller);
    else
        tq_reader_failed(&bulk->loop.reader, &party->peer->link, why);
}

static void on_closed(void *user, void *whose)
{
    struct tq_bulk *bulk = user;
    struct tq_party *party = whose;
    atomic_fetch_sub_explicit(&bulk->counters.endpoints, 1, memory_order_relaxed);
    party->endpoint = NULL;
    if (party->caller != NULL)
        tq_owner_closed(&bulk->loop.owner, party->caller);
    else
        tq_reader_closed(&bulk->loop.reader, &party->peer->link);
}

void tq_ports_of_ucx(struct tq_bulk *bulk, struct tq_ucx_events *out_events)
{
    *out_events = (struct tq_ucx_events){
        .user = bulk,
        .asked = on_asked,
        .announced = on_announced,
        .received = on_received,
        .sent = on_sent,
        .failed = on_failed,
        .closed = on_closed,
    };
}

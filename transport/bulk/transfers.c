#include "transport/base/assert.h"
#include "transport/bulk/copier.h"
#include "transport/bulk/runtime.h"

enum { TURN_BYTES = 1 << 20 };

static void count(_Atomic uint64_t *counter, uint64_t by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

static void count_result(struct tq_bulk *bulk, const struct tq_transfer *transfer)
{
    struct tq_counters *counters = &bulk->counters;
    const struct tq_bulk_result *result = &transfer->result;
    for (int engine = 0; engine < TQ_ENGINE_COUNT; engine++) {
        count(&counters->reads[engine], result->bytes[engine] > 0);
        count(&counters->read_bytes[engine], result->bytes[engine]);
    }
    count(&counters->failures, result->error.status != TQ_OK);
    count(&counters->expired, result->error.status == TQ_DEADLINE_EXCEEDED);
    count(&counters->stale, result->error.status == TQ_ABORTED || result->error.status == TQ_NOT_FOUND);
}

static void report(struct tq_bulk *bulk, struct tq_transfer *transfer)
{
    tq_transfer_let_go(transfer);
    count_result(bulk, transfer);
    tq_transfer_report(transfer);
}

void tq_transfer_end(struct tq_bulk *bulk, struct tq_transfer *transfer)
{
    TQ_ASSERT(transfer->state == TQ_TRANSFER_DONE);
    atomic_fetch_sub_explicit(&bulk->counters.reads_in_flight, 1, memory_order_relaxed);
    if (!transfer->reported)
        report(bulk, transfer);
    tq_transfer_close(transfer);
}

static void end_now(struct tq_bulk *bulk, struct tq_transfer *transfer)
{
    tq_heap_remove(&bulk->loop.timers, &transfer->timer);
    tq_list_remove(&transfer->node);
    tq_transfer_move(transfer, TQ_TRANSFER_DONE);
    tq_transfer_end(bulk, transfer);
}

static void fail_now(struct tq_bulk *bulk, struct tq_transfer *transfer, tq_status status, const char *reason,
                     const char *why)
{
    (void)tq_fail(&transfer->result.error, status, reason, "%s", why);
    end_now(bulk, transfer);
}

/* ---- engines ---- */

static bool uses_views(const struct tq_transfer *transfer)
{
    for (size_t i = 0; i < transfer->n_sources; i++)
        if (transfer->sources[i].view != NULL)
            return true;
    return false;
}

static bool is_whole_in_views(const struct tq_transfer *transfer)
{
    for (size_t i = 0; i < transfer->n_sources; i++)
        if (transfer->sources[i].view == NULL)
            return false;
    return true;
}

static void ask_for_the_rest(struct tq_bulk *bulk, struct tq_peer *peer, struct tq_transfer *transfer)
{
    if (transfer->n_pieces == 0)
        end_now(bulk, transfer);
    else
        tq_reader_start(&bulk->loop.reader, &peer->link, transfer);
}

static tq_status choose_engines(struct tq_peer *peer, struct tq_transfer *transfer)
{
    struct tq_error *err = &transfer->result.error;
    enum tq_bulk_engine engine = transfer->opts.engine;
    if (engine != TQ_ENGINE_RENDEZVOUS) {
        tq_status status = tq_peer_map_sources(peer, transfer, err);
        if (status != TQ_OK)
            return status;
    }
    if (engine == TQ_ENGINE_REMOTE_READ && !is_whole_in_views(transfer))
        return tq_fail(err, TQ_UNAVAILABLE, "ENGINE", "remote read is impossible: not an arena of this host's user");
    return TQ_OK;
}

void tq_transfer_begin(struct tq_bulk *bulk, struct tq_transfer *transfer)
{
    if (!tq_heap_set(&bulk->loop.timers, &transfer->timer, transfer->opts.deadline_ns)) {
        fail_now(bulk, transfer, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a timer");
        return;
    }
    if (bulk->loop.closing) {
        fail_now(bulk, transfer, TQ_CANCELLED, NULL, "the bulk runtime is closing");
        return;
    }
    struct tq_peer *peer = tq_peer_find(bulk, transfer->peer);
    if (peer == NULL) {
        fail_now(bulk, transfer, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a peer");
        return;
    }
    if (choose_engines(peer, transfer) != TQ_OK) {
        end_now(bulk, transfer);
        return;
    }
    if (!tq_transfer_plan(transfer, peer->link.pace->piece_bytes)) {
        fail_now(bulk, transfer, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for the pieces of a transfer");
        return;
    }
    transfer->link = &peer->link;
    if (!uses_views(transfer)) {
        ask_for_the_rest(bulk, peer, transfer);
        return;
    }
    tq_transfer_move(transfer, TQ_TRANSFER_COPYING);
    peer->copying++;
    tq_list_add_tail(&bulk->loop.copying, &transfer->node);
}

/* ---- copying ---- */

static struct tq_peer *peer_of(const struct tq_transfer *transfer)
{
    return tq_container_of(transfer->link, struct tq_peer, link);
}

bool tq_transfers_copy(struct tq_bulk *bulk)
{
    struct tq_list *node = tq_list_take_head(&bulk->loop.copying);
    if (node == NULL)
        return false;
    struct tq_transfer *transfer = tq_container_of(node, struct tq_transfer, node);
    struct tq_peer *peer = peer_of(transfer);
    if (!tq_copier_step(transfer, TURN_BYTES)) {
        tq_list_add_tail(&bulk->loop.copying, node);
        return true;
    }
    peer->copying--;
    if (transfer->result.error.status != TQ_OK)
        end_now(bulk, transfer);
    else
        ask_for_the_rest(bulk, peer, transfer);
    return true;
}

void tq_transfer_due(struct tq_bulk *bulk, struct tq_transfer *transfer)
{
    if (transfer->state != TQ_TRANSFER_COPYING) {
        tq_reader_expire(&bulk->loop.reader, transfer);
        return;
    }
    peer_of(transfer)->copying--;
    fail_now(bulk, transfer, TQ_DEADLINE_EXCEEDED, NULL, "the deadline passed while copying");
}

void tq_transfers_cancel(struct tq_bulk *bulk)
{
    for (struct tq_list *node; (node = tq_list_take_head(&bulk->loop.copying)) != NULL;) {
        struct tq_transfer *transfer = tq_container_of(node, struct tq_transfer, node);
        peer_of(transfer)->copying--;
        fail_now(bulk, transfer, TQ_CANCELLED, NULL, "the bulk runtime is closing");
    }
}

#include "transport/rpc/client_core.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "transport/base/assert.h"
#include "transport/rpc/wire_body.h"

enum {
    DEFAULT_CALLS = 1024,
    DEFAULT_QUEUE = 65536,
    DEFAULT_KEEPALIVE_MS = 1000,
    GREETINGS_MAX = 3,
    RETRY_TOKENS_MAX = 10,
};
#define DEFAULT_BYTES (UINT64_C(256) << 20)

void tq_client_init(struct tq_client_core *core, const struct tq_channel_opts *opts, const char *address,
                    struct tq_self *who, struct tq_client_io io, const struct tq_seam *seam)
{
    *core = (struct tq_client_core){ .seam = seam, .io = io, .who = who, .opts = *opts, .address = address };
    core->opts.sockets = opts->sockets > 0 ? opts->sockets : 1;
    core->opts.max_calls = opts->max_calls > 0 ? opts->max_calls : DEFAULT_CALLS;
    core->opts.max_bytes = opts->max_bytes > 0 ? opts->max_bytes : DEFAULT_BYTES;
    core->opts.queue_calls = opts->queue_calls > 0 ? opts->queue_calls : DEFAULT_QUEUE;
    core->window_calls = core->opts.max_calls;
    core->window_bytes = core->opts.max_bytes;
    core->keepalive_ns = DEFAULT_KEEPALIVE_MS * INT64_C(1000000);
    core->session = tq_seam_random64(seam);
    core->next_id = tq_seam_random64(seam) >> 1 | 1; /* no small numbers: an id of another life is no id of this one */
    core->retry_tokens = RETRY_TOKENS_MAX;
    core->last_ready_ns = INT64_MIN;
    core->redial_ns = INT64_MIN;
    core->control.seam = seam;
    tq_map_init(&core->calls, seam);
    tq_heap_init(&core->timers, seam);
    tq_list_init(&core->queue);
    tq_list_init(&core->retries);
    tq_list_init(&core->resting);
    tq_list_init(&core->finished);
    for (unsigned i = 0; i < TQ_LINKS_MAX; i++) {
        core->links[i].index = i;
        tq_list_init(&core->links[i].calls);
    }
}

void tq_client_shut(struct tq_client_core *core, int64_t now_ns)
{
    core->closed = true;
    struct tq_call *call;
    for (size_t cursor = 0; (call = tq_map_next(&core->calls, &cursor)) != NULL; cursor = 0)
        tq_client_fail(core, call, TQ_CANCELLED, call->attempt > 0 ? TQ_OUTCOME_UNKNOWN : TQ_OUTCOME_NOT_STARTED,
                       "CLOSED", "the channel to %s is closed", core->address);
    tq_wire_Goodbye goodbye = { .session = core->session };
    bool said = false;
    for (unsigned i = 0; i < TQ_LINKS_MAX; i++) {
        struct tq_link *link = &core->links[i];
        if (link->state == TQ_LINK_READY && !said)
            said = tq_client_send_control(core, link, tq_wire_Kind_KIND_GOODBYE, core->next_id++,
                                          tq_wire_Goodbye_fields, &goodbye, now_ns) == TQ_SENT;
    }
}

void tq_client_fini(struct tq_client_core *core)
{
    TQ_ASSERT(tq_list_empty(&core->finished) && tq_map_count(&core->calls) == 0);
    for (unsigned i = 0; i < TQ_LINKS_MAX; i++)
        if (core->links[i].state != TQ_LINK_EMPTY)
            core->io.hang_up(core->io.self, i);
    tq_packet_fini(&core->control);
    tq_map_fini(&core->calls);
    tq_heap_fini(&core->timers);
}

/* ---- the end of a call ---- */

void tq_client_unsend(struct tq_client_core *core, struct tq_call *call)
{
    struct tq_link *link = call->link;
    TQ_ASSERT(call->state == TQ_CALL_SENT && link != NULL && link->n_calls > 0);
    tq_list_remove(&call->node);
    link->n_calls--;
    core->n_sent--;
    core->bytes_sent -= call->bytes;
    call->link = NULL;
}

void tq_client_finish(struct tq_client_core *core, struct tq_call *call)
{
    if (call->link != NULL)
        tq_client_unsend(core, call);
    else
        core->n_waiting -= call->state == TQ_CALL_QUEUED || call->state == TQ_CALL_RESTING;
    TQ_ASSERT((call->error.status == TQ_OK) == (call->answer.ops != NULL));
    tq_list_remove(&call->node);
    tq_heap_remove(&core->timers, &call->timer);
    tq_map_remove(&core->calls, call->id);
    core->bytes_held -= call->bytes;
    tq_call_move(call, TQ_CALL_DONE);
    tq_list_add_tail(&core->finished, &call->node);
}

void tq_client_fail(struct tq_client_core *core, struct tq_call *call, tq_status status, enum tq_outcome outcome,
                    const char *reason, const char *format, ...)
{
    char message[TQ_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    (void)tq_fail(&call->error, status, reason, "%s: %s", call->method->name, message);
    call->error.outcome = outcome;
    tq_client_finish(core, call);
}

void tq_client_fail_waiting(struct tq_client_core *core, const struct tq_error *error)
{
    struct tq_list *waiting[] = { &core->queue, &core->retries, &core->resting };
    for (unsigned i = 0; i < 3; i++) {
        tq_list_each_safe (node, waiting[i]) {
            struct tq_call *call = tq_container_of(node, struct tq_call, node);
            call->error = *error;
            call->error.outcome = call->attempt > 0 ? TQ_OUTCOME_UNKNOWN : TQ_OUTCOME_NOT_STARTED;
            tq_client_finish(core, call);
        }
    }
}

/* ---- submission and sending ---- */

static tq_status admit(struct tq_client_core *core, const struct tq_call *call, struct tq_error *err)
{
    if (core->closed)
        return tq_fail(err, TQ_CANCELLED, "CLOSED", "the channel to %s is closed", core->address);
    if (core->n_waiting >= core->opts.queue_calls)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "QUEUE_CALLS", "%u calls to %s are waiting already", core->n_waiting,
                       core->address);
    if (call->bytes > core->opts.max_bytes - core->bytes_held)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "BUDGET_BYTES",
                       "%llu bytes of requests to %s are under way: no room for %llu of %llu",
                       (unsigned long long)core->bytes_held, core->address, (unsigned long long)call->bytes,
                       (unsigned long long)core->opts.max_bytes);
    return TQ_OK;
}

tq_status tq_client_submit(struct tq_client_core *core, struct tq_call *call, int64_t now_ns, struct tq_error *err)
{
    call->bytes = call->request.len + TQ_HEADROOM + tq_payload_bytes(call->payload);
    tq_status status = admit(core, call, err);
    if (status != TQ_OK)
        return status;
    call->id = core->next_id++;
    call->submitted_ns = now_ns;
    call->deadline_ns = call->deadline_ns > 0 ? call->deadline_ns : 0; /* so that differences do not overflow */
    if (!tq_map_put(&core->calls, call->id, call))
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a call");
    if (!tq_heap_set(&core->timers, &call->timer, call->deadline_ns)) {
        tq_map_remove(&core->calls, call->id);
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a call");
    }
    core->stats.calls++;
    core->n_waiting++;
    core->bytes_held += call->bytes;
    core->retry_tokens = core->retry_tokens < RETRY_TOKENS_MAX - 0.1 ? core->retry_tokens + 0.1 : RETRY_TOKENS_MAX;
    tq_call_move(call, TQ_CALL_QUEUED);
    tq_list_add_tail(&core->queue, &call->node);
    if (call->deadline_ns <= now_ns)
        tq_client_call_due(core, call, now_ns);
    else if (!core->defers)
        tq_client_pump(core, now_ns);
    return TQ_OK;
}

static uint32_t remaining_us(const struct tq_call *call, int64_t now_ns)
{
    int64_t us = (call->deadline_ns - now_ns + 999) / 1000;
    return us <= 0 ? 1 : us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

static void fill_envelope(const struct tq_client_core *core, const struct tq_call *call, int64_t now_ns,
                          tq_wire_Envelope *out)
{
    *out = (tq_wire_Envelope){ .version = TQ_PROTOCOL_VERSION,
                               .kind = tq_wire_Kind_KIND_REQUEST,
                               .call_id = call->id,
                               .method = call->method->id,
                               .remaining_us = remaining_us(call, now_ns),
                               .attempt = call->attempt,
                               .session = core->session,
                               .epoch = core->who->epoch };
    out->idempotency_key.size = (pb_size_t)call->key_len;
    memcpy(out->idempotency_key.bytes, call->key, call->key_len);
    out->trace.size = (pb_size_t)call->trace_len;
    memcpy(out->trace.bytes, call->trace, call->trace_len);
    if (call->payload != NULL) {
        out->inline_frames = (uint32_t)call->payload->n_frames;
        out->inline_bytes = tq_payload_bytes(call->payload);
    }
}

/* Whether the peer takes a request of this size; if not, the call is failed. */
static bool fits_peer(struct tq_client_core *core, struct tq_call *call)
{
    const tq_wire_Limits *limits = &core->peer_limits;
    uint64_t inline_bytes = tq_payload_bytes(call->payload);
    size_t frames = call->payload != NULL ? call->payload->n_frames : 0;
    if (call->request.len <= limits->body_bytes && frames <= limits->inline_frames &&
        inline_bytes <= limits->inline_bytes)
        return true;
    tq_client_fail(core, call, TQ_INVALID_ARGUMENT, call->attempt > 0 ? TQ_OUTCOME_UNKNOWN : TQ_OUTCOME_NOT_STARTED,
                   "PEER_LIMIT",
                   "request of %zu bytes with %zu frames of %llu bytes: %s takes %u bytes, %u frames of %llu bytes",
                   call->request.len, frames, (unsigned long long)inline_bytes, core->address, limits->body_bytes,
                   limits->inline_frames, (unsigned long long)limits->inline_bytes);
    return false;
}

/* False: the link takes no more now. */
static bool send_call(struct tq_client_core *core, struct tq_call *call, struct tq_link *link, int64_t now_ns)
{
    if (call->attempt > 0 && call->method->idempotency == TQ_KEYED && call->peer_epoch != link->peer_epoch) {
        tq_client_fail(core, call, TQ_UNAVAILABLE, TQ_OUTCOME_UNKNOWN, "PEER_RESTARTED",
                       "%s restarted after attempt %u: its memory of keys is gone", core->address, call->attempt);
        return true;
    }
    if (!fits_peer(core, call))
        return true;
    tq_wire_Envelope envelope;
    call->attempt++;
    fill_envelope(core, call, now_ns, &envelope);
    struct tq_outbound message = { tq_packet_seal(&call->request, &envelope), call->payload };
    enum tq_sent sent = core->io.send(core->io.self, link->index, &message);
    if (sent != TQ_SENT) {
        call->attempt--;
        if (sent == TQ_SENT_GONE)
            tq_client_lose(core, link, now_ns);
        return false;
    }
    core->stats.bytes_sent += message.head.len + envelope.inline_bytes;
    tq_list_remove(&call->node);
    tq_call_move(call, TQ_CALL_SENT);
    call->link = link;
    call->sent_ns = now_ns;
    call->sent_serial = core->serial;
    if (call->attempt == 1)
        call->peer_epoch = link->peer_epoch;
    call->epochs_differ |= call->peer_epoch != link->peer_epoch;
    tq_list_add_tail(&link->calls, &call->node);
    link->n_calls++;
    link->spoke_ns = now_ns;
    core->n_sent++;
    core->n_waiting--;
    core->bytes_sent += call->bytes;
    bool in_heap = tq_heap_set(&core->timers, &call->timer, tq_client_attempt_due_ns(call, now_ns));
    TQ_ASSERT(in_heap); /* it was in: no memory is needed */
    return true;
}

static bool send_lookup(struct tq_client_core *core, struct tq_call *call, struct tq_link *link, int64_t now_ns)
{
    tq_wire_Lookup lookup = { .session = core->session, .call_id = call->id };
    if (tq_client_send_control(core, link, tq_wire_Kind_KIND_LOOKUP, call->id, tq_wire_Lookup_fields, &lookup,
                               now_ns) != TQ_SENT)
        return false;
    call->asked = true;
    tq_list_remove(&call->node); /* it waits in the map and the heap only */
    return true;
}

static bool window_open(const struct tq_client_core *core, const struct tq_call *call)
{
    return core->n_sent < core->window_calls &&
           (core->n_sent == 0 || core->bytes_sent + call->bytes <= core->window_bytes);
}

/* The ready link with the fewest calls, dialled after `after_serial`. */
struct tq_link *tq_client_link_for(struct tq_client_core *core, uint64_t after_serial)
{
    struct tq_link *best = NULL;
    for (unsigned i = 0; i < TQ_LINKS_MAX; i++) {
        struct tq_link *link = &core->links[i];
        if (link->state == TQ_LINK_READY && link->serial > after_serial &&
            (best == NULL || link->n_calls < best->n_calls))
            best = link;
    }
    return best;
}

/* What lost its link goes first. Each wants a link that is fresh for it. */
static uint64_t pump_retries(struct tq_client_core *core, int64_t now_ns)
{
    uint64_t wants_after = 0;
    tq_list_each_safe (node, &core->retries) {
        struct tq_call *call = tq_container_of(node, struct tq_call, node);
        struct tq_link *link = tq_client_link_for(core, call->sent_serial);
        if (link == NULL) {
            wants_after = call->sent_serial > wants_after ? call->sent_serial : wants_after;
            continue;
        }
        if (call->state == TQ_CALL_ASKING ? !send_lookup(core, call, link, now_ns)
                                          : window_open(core, call) && !send_call(core, call, link, now_ns))
            break;
    }
    return wants_after;
}

static bool has_live_link_after(const struct tq_client_core *core, uint64_t serial, unsigned *out_live, bool *out_busy)
{
    bool found = false;
    *out_live = 0;
    *out_busy = true;
    for (unsigned i = 0; i < TQ_LINKS_MAX; i++) {
        const struct tq_link *link = &core->links[i];
        if (link->state == TQ_LINK_EMPTY || link->state == TQ_LINK_SUSPECT)
            continue;
        ++*out_live;
        found |= link->serial > serial;
        *out_busy &= link->state == TQ_LINK_READY && link->n_calls > 0;
    }
    return found;
}

void tq_client_pump(struct tq_client_core *core, int64_t now_ns)
{
    uint64_t wants_after = pump_retries(core, now_ns);
    struct tq_link *link = NULL;
    while (!tq_list_empty(&core->queue)) {
        struct tq_call *call = tq_container_of(core->queue.next, struct tq_call, node);
        if (!window_open(core, call) || (link = tq_client_link_for(core, 0)) == NULL ||
            !send_call(core, call, link, now_ns))
            break;
    }
    unsigned live;
    bool all_busy;
    bool queued = !tq_list_empty(&core->queue), retrying = wants_after > 0;
    core->wants_dial = false;
    if (core->closed || (!queued && !retrying && core->opts.sockets <= 1))
        return;
    bool fresh = has_live_link_after(core, wants_after, &live, &all_busy);
    bool want = (queued && live == 0) || (retrying && !fresh) ||
                (live > 0 && live < core->opts.sockets && all_busy && core->n_sent + core->n_waiting > live);
    if (want && now_ns >= core->redial_ns)
        tq_client_dial(core, now_ns);
    else
        core->wants_dial = want;
}

/* ---- events ---- */

void tq_client_cancel(struct tq_client_core *core, uint64_t call_id, int64_t now_ns)
{
    struct tq_call *call = tq_map_get(&core->calls, call_id);
    if (call == NULL)
        return;
    core->stats.cancels++;
    if (call->state == TQ_CALL_SENT)
        (void)tq_client_send_control(core, call->link, tq_wire_Kind_KIND_CANCEL, call->id, NULL, NULL, now_ns);
    tq_client_fail(core, call, TQ_CANCELLED, call->attempt > 0 ? TQ_OUTCOME_UNKNOWN : TQ_OUTCOME_NOT_STARTED, NULL,
                   "cancelled by the caller");
    tq_client_pump(core, now_ns);
}

/* The peer has no such session, so it has not begun: say hello again and send again. */
static bool send_after_hello(struct tq_client_core *core, struct tq_link *link, struct tq_call *call, int64_t now_ns)
{
    if (strcmp(call->error.reason, "NO_SESSION") != 0)
        return false;
    if (call->state == TQ_CALL_RESTING || call->state == TQ_CALL_QUEUED) { /* it will be sent again anyway */
        tq_error_clear(&call->error);
        return true;
    }
    if (call->state != TQ_CALL_SENT || call->link != link || ++call->greetings > GREETINGS_MAX)
        return false;
    tq_client_unsend(core, call);
    tq_error_clear(&call->error);
    call->attempt--;
    tq_call_move(call, TQ_CALL_QUEUED);
    tq_list_add_head(&core->queue, &call->node);
    core->n_waiting++;
    bool in_heap = tq_heap_set(&core->timers, &call->timer, call->deadline_ns);
    TQ_ASSERT(in_heap);
    if (link->state == TQ_LINK_READY)
        tq_client_greet(core, link, now_ns);
    return true;
}

static void on_reply(struct tq_client_core *core, struct tq_link *link, const tq_wire_Envelope *envelope,
                     struct tq_bytes body, struct tq_inbound *message, int64_t now_ns)
{
    struct tq_call *call = tq_map_get(&core->calls, envelope->call_id);
    if (call == NULL || call->attempt == 0 || envelope->epoch != link->peer_epoch) {
        core->stats.strays++;
        return;
    }
    if (envelope->status != TQ_OK) {
        tq_wire_unpack_error(envelope->status, body, &call->error);
        if (send_after_hello(core, link, call, now_ns))
            return;
        if (call->attempt > 1 && call->error.outcome == TQ_OUTCOME_NOT_STARTED)
            call->error.outcome = TQ_OUTCOME_UNKNOWN; /* true of this attempt only: an earlier one may have begun */
    } else {
        call->answer_at = (size_t)(body.ptr - message->head.ptr);
        tq_inbound_move(&call->answer, message);
    }
    core->stats.replies++;
    tq_client_finish(core, call);
}

void tq_client_receive(struct tq_client_core *core, unsigned index, struct tq_inbound *message, int64_t now_ns)
{
    struct tq_link *link = &core->links[index];
    tq_wire_Envelope envelope;
    struct tq_bytes body;
    if (link->state < TQ_LINK_GREETING || tq_envelope_decode(message->head, &envelope, &body, NULL) != TQ_OK ||
        envelope.version != TQ_PROTOCOL_VERSION || envelope.inline_frames != message->n_frames) {
        core->stats.strays++;
        return;
    }
    core->stats.bytes_received += message->head.len + tq_inbound_payload_bytes(message);
    link->heard_ns = now_ns;
    link->asked_ns = 0;
    if (envelope.kind == tq_wire_Kind_KIND_REPLY)
        on_reply(core, link, &envelope, body, message, now_ns);
    else if (envelope.kind == tq_wire_Kind_KIND_LOOKUP_REPLY)
        tq_client_on_lookup_reply(core, &envelope, body);
    else if (!tq_client_on_link_message(core, link, &envelope, body, now_ns))
        core->stats.strays++;
    if (link->state == TQ_LINK_SUSPECT && link->n_calls == 0)
        tq_client_lose(core, link, now_ns);
}

void tq_client_tick(struct tq_client_core *core, int64_t now_ns)
{
    struct tq_heap_node *node;
    while ((node = tq_heap_take_due(&core->timers, now_ns)) != NULL)
        tq_client_call_due(core, tq_container_of(node, struct tq_call, timer), now_ns);
    tq_client_tend_links(core, now_ns);
    tq_client_pump(core, now_ns);
}

int64_t tq_client_next_ns(const struct tq_client_core *core)
{
    int64_t next = tq_heap_next_ns(&core->timers), links = tq_client_links_next_ns(core);
    next = links < next ? links : next;
    return core->wants_dial && core->redial_ns < next ? core->redial_ns : next;
}

#include "transport/rpc/server_core.h"

#include <string.h>

#include "transport/base/assert.h"
#include "transport/base/crc32c.h"
#include "transport/base/log.h"
#include "transport/base/pooling.h"
#include "transport/rpc/wire_body.h"

enum {
    DEFAULT_CALLS = 16384,
    DEFAULT_SESSION_CALLS = 4096,
    DEFAULT_SESSIONS = 4096,
    DEFAULT_KEEPALIVE_MS = 1000,
    DEFAULT_BODY_BYTES = 16 << 20,
    DEFAULT_REQUEST_BYTES = 65536,
    SPARE_MAX = 4096,
    KEPT_ANSWER_BYTES = 4096,
    OVERLOAD_RETRY_MS = 50,
};
#define MS                    INT64_C(1000000)
#define DEFAULT_INLINE_BYTES  (UINT64_C(64) << 20)
#define DEFAULT_SESSION_BYTES (UINT64_C(256) << 20)
#define DEFAULT_REPLY_BYTES   (UINT64_C(64) << 20)

#define DEFAULT(field, value) core->opts.field = core->opts.field != 0 ? core->opts.field : (value)

void tq_server_core_init(struct tq_server_core *core, const struct tq_server_opts *opts, struct tq_self *who,
                         struct tq_server_io io, const struct tq_seam *seam)
{
    *core = (struct tq_server_core){ .seam = seam, .io = io, .who = who, .opts = *opts };
    DEFAULT(max_calls, DEFAULT_CALLS);
    DEFAULT(session_calls, DEFAULT_SESSION_CALLS);
    DEFAULT(session_bytes, DEFAULT_SESSION_BYTES);
    DEFAULT(reply_queue_bytes, DEFAULT_REPLY_BYTES);
    DEFAULT(max_sessions, DEFAULT_SESSIONS);
    DEFAULT(keepalive_ms, DEFAULT_KEEPALIVE_MS);
    DEFAULT(max_body_bytes, DEFAULT_BODY_BYTES);
    DEFAULT(max_inline_bytes, DEFAULT_INLINE_BYTES);
    core->keepalive_ns = core->opts.keepalive_ms * MS;
    core->retry_replies_ns = INT64_MAX;
    core->control.seam = seam;
    tq_map_init(&core->services, seam);
    tq_map_init(&core->sessions, seam);
    tq_heap_init(&core->session_timers, seam);
    tq_heap_init(&core->call_timers, seam);
    tq_list_init(&core->blocked);
    tq_list_init(&core->running);
    tq_list_init(&core->spare);
    core->planned_ns = INT64_MAX;
    tq_arrivals_init(&core->arrivals, seam);
    tq_window_init(&core->window, seam);
}

void tq_server_call_free(struct tq_server_call *call)
{
    const struct tq_seam *seam = call->answer.seam;
    tq_inbound_release(&call->request);
    tq_payload_drop(call->payload);
    tq_packet_fini(&call->answer);
    tq_arena_close(call->arena);
    tq_seam_free(seam, call);
}

void tq_server_core_fini(struct tq_server_core *core)
{
    TQ_ASSERT(core->stats.running == 0 && core->stats.sessions == 0);
    for (struct tq_list *node; (node = tq_list_take_head(&core->spare)) != NULL;)
        tq_server_call_free(tq_container_of(node, struct tq_server_call, node));
    void *entry;
    for (size_t cursor = 0; (entry = tq_map_next(&core->services, &cursor)) != NULL;)
        tq_seam_free(core->seam, entry);
    tq_map_fini(&core->services);
    tq_map_fini(&core->sessions);
    tq_heap_fini(&core->session_timers);
    tq_heap_fini(&core->call_timers);
    tq_arrivals_fini(&core->arrivals);
    tq_window_fini(&core->window);
    tq_packet_fini(&core->control);
}

tq_status tq_server_core_add(struct tq_server_core *core, const struct tq_service *service, const void *ops,
                             void *state, struct tq_error *err)
{
    for (size_t i = 0; i < service->n_methods; i++)
        if (tq_map_get(&core->services, service->methods[i].id) != NULL)
            return tq_fail(err, TQ_ALREADY_EXISTS, "METHOD_ID", "%s: method id %#x is taken", service->methods[i].name,
                           service->methods[i].id);
    for (size_t i = 0; i < service->n_methods; i++) {
        struct tq_service_entry *entry = tq_seam_alloc(core->seam, sizeof(*entry));
        if (entry == NULL || !tq_map_put(&core->services, service->methods[i].id, entry)) {
            tq_seam_free(core->seam, entry);
            return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for %s", service->name);
        }
        *entry = (struct tq_service_entry){ &service->methods[i], ops, state };
    }
    return TQ_OK;
}

/* ---- calls ---- */

static struct tq_server_call *take_call(struct tq_server_core *core)
{
    struct tq_list *node = tq_list_take_head(&core->spare);
    struct tq_server_call *call;
    if (node != NULL) {
        core->n_spare--;
        return tq_container_of(node, struct tq_server_call, node);
    }
    call = tq_seam_alloc(core->seam, sizeof(*call));
    if (call == NULL)
        return NULL;
    call->core = core;
    call->answer.seam = core->seam;
    tq_list_init(&call->node);
    tq_list_init(&call->letter.node);
    if ((call->arena = tq_arena_open(core->seam, 0)) != NULL)
        return call;
    tq_seam_free(core->seam, call);
    return NULL;
}

static void recycle_call(struct tq_server_core *core, struct tq_server_call *call)
{
    TQ_ASSERT(call->timer.slot == 0);
    if (core->n_spare == TQ_POOL_KEEPS(SPARE_MAX)) {
        tq_server_call_free(call);
        return;
    }
    tq_inbound_release(&call->request);
    tq_payload_drop(call->payload);
    struct tq_packet answer = call->answer;
    struct tq_arena *arena = call->arena;
    tq_packet_trim(&answer, KEPT_ANSWER_BYTES);
    tq_arena_reset(arena, 0);
    *call = (struct tq_server_call){ .core = core, .answer = answer, .arena = arena };
    tq_list_init(&call->letter.node);
    tq_list_add_head(&core->spare, &call->node);
    core->n_spare++;
}

/* Takes the call off all books. */
static void leave(struct tq_server_core *core, struct tq_server_call *call)
{
    struct tq_session *session = call->session;
    tq_list_remove(&call->node);
    tq_heap_remove(&core->call_timers, &call->timer);
    core->n_joiners -= call->n_joiners;
    call->n_joiners = 0; /* told, or the call ends outside */
    if (tq_map_get(&session->running, call->id) == call)
        tq_map_remove(&session->running, call->id);
    session->running_bytes -= call->bytes;
    core->stats.running--;
    tq_session_drop(core, session);
    call->session = NULL;
}

void tq_server_core_forget(struct tq_server_core *core, struct tq_server_call *call)
{
    call->on_gone = NULL;
    if (call->window != NULL)
        tq_window_remove(&core->window, call->window);
    call->window = NULL;
    leave(core, call);
}

static void tell_joiners(struct tq_server_core *core, struct tq_server_call *call, int64_t now_ns)
{
    while (call->n_joiners > 0) { /* a slow peer's session may end in here, and its joiners with it */
        struct tq_joiner joiner = call->joiners[--call->n_joiners];
        core->n_joiners--;
        tq_server_reply(core, tq_map_get(&core->sessions, joiner.session), &joiner.peer, joiner.call_id, &call->error,
                        &call->answer, call->payload, now_ns);
    }
}

/* The key is free again when nothing was executed under it: who was told that it is safe may send it again. The key of
 * a ONCE call is the call itself: whatever comes under it is the same message again. */
static void settle_key(struct tq_server_core *core, struct tq_server_call *call, int64_t now_ns)
{
    bool begun = call->error.status == TQ_OK || call->error.outcome != TQ_OUTCOME_NOT_STARTED;
    if (call->window == NULL)
        return;
    if (begun || call->method->idempotency != TQ_KEYED)
        tq_window_keep(&core->window, call->window, &call->error, &call->answer, call->payload, now_ns);
    else
        tq_window_remove(&core->window, call->window);
    call->window = NULL;
}

void tq_server_core_finish(struct tq_server_core *core, struct tq_server_call *call, int64_t now_ns)
{
    if (call->error.status != TQ_OK && call->error.outcome == TQ_OUTCOME_NONE)
        call->error.outcome = TQ_OUTCOME_FAILED;
    call->on_gone = NULL; /* a slow peer's session may end in here */
    settle_key(core, call, now_ns);
    tq_arrivals_answered(&core->arrivals, call->arrival, call->id);
    core->stats.answered++;
    if (!call->gone)
        tq_server_reply(core, call->session, &call->peer, call->id, &call->error, &call->answer, call->payload, now_ns);
    tell_joiners(core, call, now_ns);
    leave(core, call);
    recycle_call(core, call);
}

/* ---- requests ---- */

/* A request on its way through the checks. */
struct arriving {
    const struct tq_peer *from;
    const tq_wire_Envelope *envelope;
    struct tq_bytes body;
    struct tq_inbound *message;
    struct tq_session *session;
    const struct tq_service_entry *entry;
    uint8_t key[TQ_KEY_BYTES];
    bool has_key; /* the window is asked */
    uint32_t digest;
    uint64_t bytes, arrival;
    int64_t now_ns;
};

/* A refusal without an outcome of its own says NOT_STARTED of a first attempt. What became of the attempts before a
 * later one is not known here. */
static void refuse(struct tq_server_core *core, const struct arriving *arriving, struct tq_error *err)
{
    core->stats.refused++;
    if (err->outcome == TQ_OUTCOME_NONE)
        err->outcome = arriving->envelope->attempt > 1 ? TQ_OUTCOME_UNKNOWN : TQ_OUTCOME_NOT_STARTED;
    tq_arrivals_answered(&core->arrivals, arriving->arrival, arriving->envelope->call_id);
    tq_server_send_error(core, arriving->from, tq_wire_Kind_KIND_REPLY, arriving->envelope->call_id,
                         arriving->envelope->session, err);
}

/* Another attempt of a call that runs: its answer goes to where this one came from. */
static bool join_own(struct tq_server_core *core, const struct arriving *arriving)
{
    struct tq_server_call *call = tq_map_get(&arriving->session->running, arriving->envelope->call_id);
    if (call == NULL)
        return false;
    core->stats.joins++;
    call->peer = *arriving->from;
    return true;
}

/* ONCE methods are repeated by nobody; the call itself is their key, in case a message comes twice. */
static tq_status choose_key(struct arriving *arriving, struct tq_error *err)
{
    const tq_wire_Envelope *envelope = arriving->envelope;
    const struct tq_method *method = arriving->entry->method;
    if (method->idempotency == TQ_IDEMPOTENT)
        return TQ_OK;
    if (method->idempotency == TQ_KEYED && envelope->idempotency_key.size == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "KEY", "%s wants an idempotency key", method->name);
    if (method->idempotency == TQ_KEYED) {
        memcpy(arriving->key, envelope->idempotency_key.bytes, TQ_KEY_BYTES);
    } else {
        memcpy(arriving->key, &envelope->session, 8);
        memcpy(arriving->key + 8, &envelope->call_id, 8);
    }
    arriving->has_key = true;
    arriving->digest = tq_crc32c(arriving->body.ptr, arriving->body.len);
    for (size_t i = 0; i < arriving->message->n_frames; i++)
        arriving->digest =
            tq_crc32c_extend(arriving->digest, arriving->message->frames[i].ptr, arriving->message->frames[i].len);
    return TQ_OK;
}

static tq_status join_running(struct tq_server_core *core, const struct arriving *arriving, struct tq_server_call *call,
                              struct tq_error *err)
{
    int64_t deadline = arriving->now_ns + (int64_t)arriving->envelope->remaining_us * 1000;
    if (call->n_joiners == TQ_JOINERS_MAX) {
        tq_status status =
            tq_fail(err, TQ_RESOURCE_EXHAUSTED, "JOINERS", "%d calls wait for this key already", TQ_JOINERS_MAX);
        err->outcome = TQ_OUTCOME_UNKNOWN; /* it runs, perhaps for an earlier call of the same caller */
        return status;
    }
    if (call->timer.slot != 0 && call->timer.due_ns < deadline) {
        bool in_heap = tq_heap_set(&core->call_timers, &call->timer, deadline);
        TQ_ASSERT(in_heap); /* it is in already: no memory is needed */
    }
    core->stats.joins++;
    core->n_joiners++;
    call->joiners[call->n_joiners++] =
        (struct tq_joiner){ arriving->envelope->session, arriving->envelope->call_id, *arriving->from };
    return TQ_OK;
}

/* True: the window had the key, and the request is dealt with or refused. */
static bool answered_by_window(struct tq_server_core *core, struct arriving *arriving, tq_status *status,
                               struct tq_error *err)
{
    static const struct tq_error success = { .status = TQ_OK };
    struct tq_window_entry *entry = arriving->has_key ? tq_window_find(&core->window, arriving->key) : NULL;
    *status = TQ_OK;
    if (entry == NULL) {
        if (!arriving->has_key || arriving->envelope->attempt <= 1 ||
            !tq_window_forgot(&core->window, arriving->now_ns))
            return false;
        *status = tq_fail(err, TQ_FAILED_PRECONDITION, "KEY_FORGOTTEN",
                          "attempt %u of a key that may have been forgotten: not executed again",
                          arriving->envelope->attempt);
        err->outcome = TQ_OUTCOME_UNKNOWN;
        return true;
    }
    if (entry->method != arriving->envelope->method || entry->digest != arriving->digest) {
        *status = tq_fail(err, TQ_INVALID_ARGUMENT, "KEY_REUSED", "the key was used for another request");
        return true;
    }
    if (entry->call != NULL) {
        *status = join_running(core, arriving, entry->call, err);
        return true;
    }
    core->stats.joins++;
    tq_arrivals_answered(&core->arrivals, arriving->arrival, arriving->envelope->call_id);
    tq_server_reply(core, arriving->session, arriving->from, arriving->envelope->call_id,
                    entry->error != NULL ? entry->error : &success, &entry->answer, entry->payload, arriving->now_ns);
    return true;
}

static tq_status check_sizes(const struct tq_server_core *core, const struct arriving *arriving, struct tq_error *err)
{
    const struct tq_method *method = arriving->entry->method;
    size_t most = method->request_bytes > 0 ? method->request_bytes : DEFAULT_REQUEST_BYTES;
    uint64_t inline_bytes = tq_inbound_payload_bytes(arriving->message);
    if (arriving->body.len > most)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "REQUEST_BYTES", "%s: request of %zu bytes: at most %zu", method->name,
                       arriving->body.len, most);
    if (arriving->message->n_frames != arriving->envelope->inline_frames ||
        inline_bytes != arriving->envelope->inline_bytes)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "INLINE_FRAMES",
                       "%s: %zu frames of %llu bytes came, %u of %llu were announced", method->name,
                       arriving->message->n_frames, (unsigned long long)inline_bytes, arriving->envelope->inline_frames,
                       (unsigned long long)arriving->envelope->inline_bytes);
    if (arriving->message->n_frames > 0 && (method->flags & TQ_METHOD_BULK) == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "INLINE_FRAMES", "%s takes no inline frames", method->name);
    if (inline_bytes > core->opts.max_inline_bytes)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "INLINE_BYTES", "%s: %llu bytes in frames: at most %llu", method->name,
                       (unsigned long long)inline_bytes, (unsigned long long)core->opts.max_inline_bytes);
    return TQ_OK;
}

static tq_status admit(const struct tq_server_core *core, const struct arriving *arriving, struct tq_error *err)
{
    const struct tq_session *session = arriving->session;
    tq_status status = TQ_OK;
    if (core->stats.running >= core->opts.max_calls)
        status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, "CALLS", "%u calls are running already", core->stats.running);
    else if (tq_map_count(&session->running) >= core->opts.session_calls)
        status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, "SESSION_CALLS", "the session has its %u calls already",
                         core->opts.session_calls);
    else if (tq_map_count(&session->running) > 0 && session->running_bytes + arriving->bytes > core->opts.session_bytes)
        status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, "SESSION_BYTES", "the session has its %llu bytes already",
                         (unsigned long long)core->opts.session_bytes);
    if (status != TQ_OK && err != NULL)
        err->retry_after_ms = OVERLOAD_RETRY_MS;
    return status;
}

/* The call goes on the books. On failure it is on none. */
static tq_status enter(struct tq_server_core *core, const struct arriving *arriving, struct tq_server_call *call,
                       struct tq_error *err)
{
    int64_t deadline = arriving->now_ns + (int64_t)arriving->envelope->remaining_us * 1000;
    call->id = arriving->envelope->call_id;
    if (!tq_heap_set(&core->call_timers, &call->timer, deadline))
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a call");
    if (!tq_map_put(&arriving->session->running, call->id, call)) {
        tq_heap_remove(&core->call_timers, &call->timer);
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a call");
    }
    if (arriving->has_key) {
        call->window = tq_window_add(&core->window, arriving->key, arriving->envelope->method, arriving->digest, call,
                                     arriving->now_ns);
        if (call->window == NULL) {
            tq_heap_remove(&core->call_timers, &call->timer);
            tq_map_remove(&arriving->session->running, call->id);
            return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "KEYS", "no room for another key");
        }
    }
    call->deadline_ns = deadline;
    call->session = arriving->session;
    call->session_id = arriving->session->id;
    call->session->holds++;
    call->session->running_bytes += arriving->bytes;
    call->bytes = arriving->bytes;
    call->arrival = arriving->arrival;
    call->entry = arriving->entry;
    call->method = arriving->entry->method;
    call->peer = *arriving->from;
    call->key_len = arriving->envelope->idempotency_key.size;
    memcpy(call->key, arriving->envelope->idempotency_key.bytes, call->key_len);
    core->stats.running++;
    tq_list_add_tail(&core->running, &call->node);
    return TQ_OK;
}

static void start(struct tq_server_core *core, struct arriving *arriving)
{
    struct tq_error err;
    struct tq_server_call *call = take_call(core);
    tq_status status = call == NULL ? tq_fail(&err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a call")
                                    : enter(core, arriving, call, &err);
    if (status != TQ_OK) {
        if (call != NULL)
            recycle_call(core, call);
        refuse(core, arriving, &err);
        return;
    }
    size_t body_at = (size_t)(arriving->body.ptr - arriving->message->head.ptr);
    tq_inbound_move(&call->request, arriving->message);
    call->body = (struct tq_bytes){ call->request.head.ptr + body_at, arriving->body.len };
    core->stats.dispatched++;
    core->io.dispatch(core->io.self, call);
}

static bool was_given_up(const struct tq_session *session, uint64_t call_id)
{
    for (unsigned i = 0; i < session->n_given_up; i++)
        if (session->given_up[i] == call_id)
            return true;
    return false;
}

/* From now on the call is refused when it arrives. False when there is no room to note it: the verdict that it never
 * arrived would not stay true. */
static bool give_up(struct tq_session *session, uint64_t call_id)
{
    if (was_given_up(session, call_id))
        return true;
    if (session->n_given_up == TQ_GIVEN_UP_MAX)
        return false;
    session->given_up[session->n_given_up++] = call_id;
    return true;
}

static tq_status check_request(struct tq_server_core *core, struct arriving *arriving, struct tq_error *err)
{
    const tq_wire_Envelope *envelope = arriving->envelope;
    if (core->draining) {
        tq_status status = tq_fail(err, TQ_UNAVAILABLE, "DRAINING", "this server shuts down");
        err->retry_after_ms = OVERLOAD_RETRY_MS;
        return status;
    }
    if (was_given_up(arriving->session, envelope->call_id))
        return tq_fail(err, TQ_CANCELLED, "GIVEN_UP", "the caller asked for it before it arrived, and gave it up");
    arriving->entry = tq_map_get(&core->services, envelope->method);
    if (arriving->entry == NULL)
        return tq_fail(err, TQ_UNIMPLEMENTED, "METHOD", "no method with id %#x here", envelope->method);
    return choose_key(arriving, err);
}

static void on_request(struct tq_server_core *core, struct arriving *arriving)
{
    struct tq_error err;
    tq_status status;
    arriving->bytes = arriving->message->head.len + tq_inbound_payload_bytes(arriving->message);
    arriving->session = tq_session_find(core, arriving->envelope->session, arriving->from, arriving->now_ns);
    if (arriving->session == NULL) {
        (void)tq_fail(&err, TQ_UNAVAILABLE, "NO_SESSION", "say hello first");
        arriving->arrival = UINT64_MAX;
        refuse(core, arriving, &err);
        return;
    }
    arriving->arrival = tq_arrivals_note(&core->arrivals, arriving->envelope->session, arriving->envelope->call_id,
                                         (size_t)arriving->bytes, arriving->now_ns);
    if (join_own(core, arriving))
        return;
    if ((status = check_request(core, arriving, &err)) == TQ_OK && answered_by_window(core, arriving, &status, &err) &&
        status == TQ_OK)
        return;
    if (status == TQ_OK && arriving->envelope->remaining_us == 0) {
        core->stats.expired++;
        status = tq_fail(&err, TQ_DEADLINE_EXCEEDED, NULL, "the deadline passed before the request arrived");
    }
    if (status == TQ_OK && (status = check_sizes(core, arriving, &err)) == TQ_OK)
        status = admit(core, arriving, &err);
    if (status != TQ_OK)
        refuse(core, arriving, &err);
    else
        start(core, arriving);
}

/* ---- the other kinds ---- */

static void on_cancel(struct tq_server_core *core, const struct arriving *arriving)
{
    struct tq_session *session = tq_session_find(core, arriving->envelope->session, arriving->from, arriving->now_ns);
    struct tq_server_call *call = session != NULL ? tq_map_get(&session->running, arriving->envelope->call_id) : NULL;
    if (call == NULL) {
        if (session != NULL && arriving->envelope->call_id != 0)
            tq_server_drop_joiners(core, session->id, arriving->envelope->call_id);
        return;
    }
    if (call->gone)
        return;
    core->stats.cancelled++;
    tq_server_call_gone(core, call, TQ_CANCELLED);
}

static void on_keepalive(struct tq_server_core *core, const struct arriving *arriving)
{
    tq_wire_KeepAlive body;
    struct tq_error err;
    if (tq_wire_unpack(arriving->body, tq_wire_KeepAlive_fields, &body, sizeof(body), NULL) != TQ_OK) {
        core->stats.garbage++;
        return;
    }
    if (tq_session_find(core, arriving->envelope->session, arriving->from, arriving->now_ns) != NULL) {
        tq_server_send_control(core, arriving->from, tq_wire_Kind_KIND_KEEPALIVE, arriving->envelope->call_id,
                               arriving->envelope->session, tq_wire_KeepAlive_fields, &body);
        return;
    }
    (void)tq_fail(&err, TQ_UNAVAILABLE, "NO_SESSION", "say hello first");
    tq_server_send_error(core, arriving->from, tq_wire_Kind_KIND_KEEPALIVE, arriving->envelope->call_id,
                         arriving->envelope->session, &err);
}

static void on_lookup(struct tq_server_core *core, const struct arriving *arriving)
{
    tq_wire_Lookup lookup;
    tq_wire_LookupReply reply;
    core->stats.lookups++;
    struct tq_session *session = tq_session_find(core, arriving->envelope->session, arriving->from, arriving->now_ns);
    if (session == NULL ||
        tq_wire_unpack(arriving->body, tq_wire_Lookup_fields, &lookup, sizeof(lookup), NULL) != TQ_OK)
        return;
    tq_arrivals_look_up(&core->arrivals, session->id, lookup.call_id, arriving->now_ns, &reply);
    if (reply.verdict == tq_wire_Verdict_VERDICT_NEVER_ARRIVED && !give_up(session, lookup.call_id))
        reply.verdict = tq_wire_Verdict_VERDICT_PEER_FORGOT;
    reply.in_flight = core->stats.running;
    tq_server_send_control(core, arriving->from, tq_wire_Kind_KIND_LOOKUP_REPLY, arriving->envelope->call_id,
                           arriving->envelope->session, tq_wire_LookupReply_fields, &reply);
}

static void on_goodbye(struct tq_server_core *core, const struct arriving *arriving)
{
    struct tq_session *session = tq_session_find(core, arriving->envelope->session, arriving->from, arriving->now_ns);
    if (session != NULL)
        tq_session_end(core, session);
}

static void refuse_version(struct tq_server_core *core, const struct arriving *arriving)
{
    struct tq_error err;
    tq_wire_Kind kind =
        arriving->envelope->kind == tq_wire_Kind_KIND_HELLO ? tq_wire_Kind_KIND_HELLO_REPLY : tq_wire_Kind_KIND_REPLY;
    core->stats.refused++;
    (void)tq_fail(&err, TQ_FAILED_PRECONDITION, "PROTOCOL_RANGE", "envelope of protocol %u: this server speaks %d",
                  arriving->envelope->version, TQ_PROTOCOL_VERSION);
    err.outcome = TQ_OUTCOME_NOT_STARTED;
    tq_server_send_error(core, arriving->from, kind, arriving->envelope->call_id, arriving->envelope->session, &err);
}

void tq_server_core_receive(struct tq_server_core *core, const struct tq_peer *from, struct tq_inbound *message,
                            int64_t now_ns)
{
    tq_wire_Envelope envelope;
    struct arriving arriving = { .from = from, .envelope = &envelope, .message = message, .now_ns = now_ns };
    core->stats.arrivals++;
    if (tq_envelope_decode(message->head, &envelope, &arriving.body, NULL) != TQ_OK) {
        core->stats.garbage++;
        return;
    }
    if (envelope.version != TQ_PROTOCOL_VERSION && envelope.kind != tq_wire_Kind_KIND_HELLO) {
        refuse_version(core, &arriving);
        return;
    }
    switch (envelope.kind) {
    case tq_wire_Kind_KIND_REQUEST:
        on_request(core, &arriving);
        return;
    case tq_wire_Kind_KIND_HELLO:
        tq_session_hello(core, from, &envelope, arriving.body, now_ns);
        return;
    case tq_wire_Kind_KIND_CANCEL:
        on_cancel(core, &arriving);
        return;
    case tq_wire_Kind_KIND_KEEPALIVE:
        on_keepalive(core, &arriving);
        return;
    case tq_wire_Kind_KIND_LOOKUP:
        on_lookup(core, &arriving);
        return;
    case tq_wire_Kind_KIND_GOODBYE:
        on_goodbye(core, &arriving);
        return;
    default:
        core->stats.garbage++; /* kinds that only servers send */
        return;
    }
}

/* ---- time ---- */

/* We ran much later than planned (stopped, starved): the silence of others proves nothing. */
static void forgive_silence(struct tq_server_core *core, int64_t now_ns)
{
    struct tq_session *session;
    for (size_t cursor = 0; (session = tq_map_next(&core->sessions, &cursor)) != NULL;)
        session->heard_ns = now_ns;
}

static void end_silent_sessions(struct tq_server_core *core, int64_t now_ns)
{
    struct tq_heap_node *node;
    while ((node = tq_heap_take_due(&core->session_timers, now_ns)) != NULL) {
        struct tq_session *session = tq_container_of(node, struct tq_session, timer);
        int64_t due = session->heard_ns + 3 * core->keepalive_ns;
        if (due <= now_ns) {
            tq_session_end(core, session);
            continue;
        }
        bool in_heap = tq_heap_set(&core->session_timers, node, due);
        TQ_ASSERT(in_heap); /* there is room: it has just been taken out */
    }
}

void tq_server_core_tick(struct tq_server_core *core, int64_t now_ns)
{
    struct tq_heap_node *node;
    if (core->planned_ns < now_ns - core->keepalive_ns)
        forgive_silence(core, now_ns);
    while ((node = tq_heap_take_due(&core->call_timers, now_ns)) != NULL) {
        core->stats.expired++;
        tq_server_call_gone(core, tq_container_of(node, struct tq_server_call, timer), TQ_DEADLINE_EXCEEDED);
    }
    end_silent_sessions(core, now_ns);
    tq_server_retry_replies(core, now_ns);
    core->planned_ns = tq_server_core_next_ns(core);
}

int64_t tq_server_core_next_ns(const struct tq_server_core *core)
{
    int64_t next = tq_heap_next_ns(&core->call_timers), sessions = tq_heap_next_ns(&core->session_timers);
    next = sessions < next ? sessions : next;
    return core->retry_replies_ns < next ? core->retry_replies_ns : next;
}

void tq_server_core_drain(struct tq_server_core *core)
{
    core->draining = true;
}

void tq_server_core_shut(struct tq_server_core *core)
{
    struct tq_session *session;
    core->draining = true;
    for (size_t cursor = 0; (session = tq_map_next(&core->sessions, &cursor)) != NULL; cursor = 0)
        tq_session_end(core, session);
}

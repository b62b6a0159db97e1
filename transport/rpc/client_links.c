/* The links of the client core: dialling with back-off, hello, keep-alive, suspects, loss. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "transport/base/assert.h"
#include "transport/base/log.h"
#include "transport/rpc/client_core.h"
#include "transport/rpc/wire_body.h"

#define MS INT64_C(1000000)
enum { DIAL_FIRST_MS = 250, DIAL_LONGEST_MS = 2000, MISSED_MAX = 3, REDIAL_FIRST_MS = 10, REDIAL_LONGEST_MS = 1000 };

#define TO(state) (1u << TQ_LINK_##state)
static const unsigned next_states[TQ_LINK_STATES] = {
    [TQ_LINK_EMPTY] = TO(DIALING),
    [TQ_LINK_DIALING] = TO(GREETING) | TO(EMPTY),
    [TQ_LINK_GREETING] = TO(GREETING) | TO(READY) | TO(EMPTY),
    [TQ_LINK_READY] = TO(GREETING) | TO(SUSPECT) | TO(EMPTY),
    [TQ_LINK_SUSPECT] = TO(EMPTY),
};

static void link_move(struct tq_link *link, enum tq_link_state to)
{
    TQ_ASSERT((next_states[link->state] & (1u << to)) != 0);
    link->state = to;
    TQ_ASSERT(to != TQ_LINK_EMPTY || tq_list_empty(&link->calls));
}

/* 250 ms, doubled with each failure up to 2 s. */
static int64_t patience_ns(const struct tq_client_core *core)
{
    unsigned shift = core->dial_failures < 3 ? core->dial_failures : 3;
    int64_t ms = (int64_t)DIAL_FIRST_MS << shift;
    return (ms < DIAL_LONGEST_MS ? ms : DIAL_LONGEST_MS) * MS;
}

/* Full jitter: clients that lost the same server do not come back together. */
static void rest_before_redial(struct tq_client_core *core, int64_t now_ns)
{
    unsigned shift = core->dial_failures < 7 ? core->dial_failures : 7;
    int64_t most = (int64_t)REDIAL_FIRST_MS << shift;
    most = (most < REDIAL_LONGEST_MS ? most : REDIAL_LONGEST_MS) * MS;
    core->redial_ns = now_ns + (int64_t)(tq_seam_random64(core->seam) % (uint64_t)most);
    core->dial_failures++;
    core->wants_dial = true;
}

/* A free place; else the oldest suspect makes room, its calls are lost. */
static struct tq_link *free_link(struct tq_client_core *core, int64_t now_ns)
{
    struct tq_link *oldest = NULL;
    unsigned suspects = 0;
    for (unsigned i = 0; i < TQ_LINKS_MAX; i++) {
        struct tq_link *link = &core->links[i];
        if (link->state != TQ_LINK_SUSPECT)
            continue;
        suspects++;
        if (oldest == NULL || link->serial < oldest->serial)
            oldest = link;
    }
    if (suspects > core->opts.sockets)
        tq_client_lose(core, oldest, now_ns);
    for (unsigned i = 0; i < TQ_LINKS_MAX; i++)
        if (core->links[i].state == TQ_LINK_EMPTY)
            return &core->links[i];
    return NULL;
}

void tq_client_dial(struct tq_client_core *core, int64_t now_ns)
{
    struct tq_error err;
    struct tq_link *link = free_link(core, now_ns);
    if (link == NULL) {
        rest_before_redial(core, now_ns);
        return;
    }
    core->stats.dials++;
    tq_status status = core->io.dial(core->io.self, link->index, &err);
    if (status != TQ_OK) {
        rest_before_redial(core, now_ns);
        if (status == TQ_INVALID_ARGUMENT)
            tq_client_fail_waiting(core, &err);
        return;
    }
    *link = (struct tq_link){ .index = link->index, .serial = ++core->serial };
    tq_list_init(&link->calls);
    link_move(link, TQ_LINK_DIALING);
    link->give_up_ns = now_ns + patience_ns(core);
    link->heard_ns = link->spoke_ns = now_ns;
}

enum tq_sent tq_client_send_control(struct tq_client_core *core, struct tq_link *link, tq_wire_Kind kind,
                                    uint64_t call_id, const pb_msgdesc_t *fields, const void *body, int64_t now_ns)
{
    tq_wire_Envelope envelope = { .version = TQ_PROTOCOL_VERSION,
                                  .kind = kind,
                                  .call_id = call_id,
                                  .session = core->session,
                                  .epoch = core->who->epoch };
    if (fields != NULL ? !tq_wire_pack(&core->control, fields, body) : !tq_packet_resize(&core->control, 0))
        return TQ_SENT_FULL;
    struct tq_outbound message = { tq_packet_seal(&core->control, &envelope), NULL };
    enum tq_sent sent = core->io.send(core->io.self, link->index, &message);
    if (sent == TQ_SENT) {
        core->stats.bytes_sent += message.head.len;
        link->spoke_ns = now_ns;
    }
    return sent;
}

void tq_client_greet(struct tq_client_core *core, struct tq_link *link, int64_t now_ns)
{
    tq_wire_Hello hello = { .protocol_min = TQ_PROTOCOL_VERSION,
                            .protocol_max = TQ_PROTOCOL_VERSION,
                            .session = core->session,
                            .epoch = core->who->epoch,
                            .expect_epoch = core->opts.expect_epoch,
                            .role = (tq_wire_Role)core->who->role,
                            .has_limits = true,
                            .limits = { TQ_PEER_BODY_MAX, TQ_INLINE_FRAMES_MAX, TQ_PEER_INLINE_MAX } };
    hello.cluster_id.size = (pb_size_t)tq_self_claim(core->who, hello.cluster_id.bytes);
    snprintf(hello.name, sizeof(hello.name), "%s", core->who->name);
    link_move(link, TQ_LINK_GREETING);
    link->hello_id = core->next_id++;
    link->greeted_ns = now_ns;
    link->give_up_ns = now_ns + patience_ns(core);
    (void)tq_client_send_control(core, link, tq_wire_Kind_KIND_HELLO, link->hello_id, tq_wire_Hello_fields, &hello,
                                 now_ns); /* not sent: given up in time */
}

void tq_client_up(struct tq_client_core *core, unsigned index, int64_t now_ns)
{
    struct tq_link *link = &core->links[index];
    if (link->state == TQ_LINK_DIALING)
        tq_client_greet(core, link, now_ns);
}

void tq_client_lose(struct tq_client_core *core, struct tq_link *link, int64_t now_ns)
{
    if (link->state == TQ_LINK_EMPTY)
        return;
    if (link->state == TQ_LINK_DIALING || link->state == TQ_LINK_GREETING)
        rest_before_redial(core, now_ns);
    core->io.hang_up(core->io.self, link->index);
    for (struct tq_list *node; !tq_list_empty(&link->calls);) {
        node = link->calls.next;
        tq_client_attempt_over(core, tq_container_of(node, struct tq_call, node), false, now_ns);
    }
    link_move(link, TQ_LINK_EMPTY);
}

void tq_client_down(struct tq_client_core *core, unsigned index, int64_t now_ns)
{
    tq_client_lose(core, &core->links[index], now_ns);
    tq_client_pump(core, now_ns);
}

void tq_client_suspect(struct tq_client_core *core, struct tq_link *link, int64_t now_ns)
{
    if (link->state != TQ_LINK_READY && link->state != TQ_LINK_SUSPECT)
        return;
    if (link->state == TQ_LINK_READY)
        link_move(link, TQ_LINK_SUSPECT);
    if (link->n_calls == 0)
        tq_client_lose(core, link, now_ns);
}

/* A peer that will never take us: nothing that waits has a chance. */
static void refused(struct tq_client_core *core, struct tq_link *link, const struct tq_error *error, int64_t now_ns)
{
    tq_client_lose(core, link, now_ns);
    tq_client_fail_waiting(core, error);
}

static tq_status judge_peer(struct tq_client_core *core, const tq_wire_HelloReply *hello, uint64_t epoch,
                            struct tq_error *err)
{
    if (hello->protocol != TQ_PROTOCOL_VERSION)
        return tq_fail(err, TQ_FAILED_PRECONDITION, "PROTOCOL_RANGE", "%s chose protocol %u: we speak %d",
                       core->address, hello->protocol, TQ_PROTOCOL_VERSION);
    if (!tq_self_meet(core->who, (uint32_t)hello->role, hello->cluster_id.bytes, hello->cluster_id.size))
        return tq_fail(err, TQ_FAILED_PRECONDITION, "CLUSTER_ID", "%s is of another cluster", core->address);
    if (core->opts.expect_epoch != 0 && epoch != core->opts.expect_epoch)
        return tq_fail(err, TQ_FAILED_PRECONDITION, "EPOCH", "%s has epoch %016" PRIx64 ": expected %016" PRIx64,
                       core->address, epoch, core->opts.expect_epoch);
    return TQ_OK;
}

static uint64_t at_most(uint64_t ours, uint64_t theirs)
{
    return theirs > 0 && theirs < ours ? theirs : ours;
}

static void on_hello_reply(struct tq_client_core *core, struct tq_link *link, const tq_wire_Envelope *envelope,
                           struct tq_bytes body, int64_t now_ns)
{
    struct tq_error err;
    tq_wire_HelloReply hello;
    if (envelope->status != TQ_OK) {
        tq_wire_unpack_error(envelope->status, body, &err);
        if (err.status == TQ_UNAVAILABLE || err.status == TQ_RESOURCE_EXHAUSTED)
            tq_client_lose(core, link, now_ns); /* not now: dialled again later */
        else
            refused(core, link, &err, now_ns);
        return;
    }
    if (tq_wire_unpack(body, tq_wire_HelloReply_fields, &hello, sizeof(hello), &err) != TQ_OK ||
        judge_peer(core, &hello, envelope->epoch, &err) != TQ_OK) {
        refused(core, link, &err, now_ns);
        return;
    }
    core->stats.hellos++;
    core->peer_limits = hello.limits;
    core->window_calls = (uint32_t)at_most(core->opts.max_calls, hello.credit.calls);
    core->window_bytes = at_most(core->opts.max_bytes, hello.credit.bytes);
    if (hello.keepalive_ms > 0)
        core->keepalive_ns = hello.keepalive_ms * MS;
    tq_wire_make_printable(hello.name);
    memcpy(core->peer_name, hello.name, sizeof(core->peer_name));
    core->peer_epoch = link->peer_epoch = envelope->epoch;
    core->dial_failures = 0;
    core->redial_ns = now_ns;
    link_move(link, TQ_LINK_READY);
    if (!hello.resumed && core->last_ready_ns != INT64_MIN)
        tq_client_session_lost(core, link, now_ns);
    core->last_ready_ns = now_ns;
    tq_client_pump(core, now_ns);
}

bool tq_client_on_link_message(struct tq_client_core *core, struct tq_link *link, const tq_wire_Envelope *envelope,
                               struct tq_bytes body, int64_t now_ns)
{
    switch (envelope->kind) {
    case tq_wire_Kind_KIND_HELLO_REPLY:
        if (link->state != TQ_LINK_GREETING || envelope->call_id != link->hello_id)
            return false;
        on_hello_reply(core, link, envelope, body, now_ns);
        return true;
    case tq_wire_Kind_KIND_KEEPALIVE: /* an answer with a status says that the session is gone */
        if (envelope->status != TQ_OK && link->state == TQ_LINK_READY)
            tq_client_greet(core, link, now_ns);
        return true;
    case tq_wire_Kind_KIND_GOODBYE:
        tq_client_suspect(core, link, now_ns);
        return true;
    default:
        return false;
    }
}

static void keep_alive(struct tq_client_core *core, struct tq_link *link, int64_t now_ns)
{
    tq_wire_KeepAlive body = { .session = core->session, .sent_ns = (uint64_t)now_ns };
    if (tq_client_send_control(core, link, tq_wire_Kind_KIND_KEEPALIVE, core->next_id++, tq_wire_KeepAlive_fields,
                               &body, now_ns) == TQ_SENT &&
        link->asked_ns == 0)
        link->asked_ns = now_ns;
    link->spoke_ns = now_ns; /* not sent: the next interval tries again, the silence is judged from heard_ns */
}

static int64_t link_next_ns(const struct tq_client_core *core, const struct tq_link *link)
{
    int64_t silent, speak;
    switch (link->state) {
    case TQ_LINK_DIALING:
    case TQ_LINK_GREETING:
        return link->give_up_ns;
    case TQ_LINK_READY:
    case TQ_LINK_SUSPECT:
        silent = link->asked_ns != 0 ? link->asked_ns + MISSED_MAX * core->keepalive_ns : INT64_MAX;
        speak = link->spoke_ns + core->keepalive_ns;
        return silent < speak ? silent : speak;
    default:
        return INT64_MAX;
    }
}

int64_t tq_client_links_next_ns(const struct tq_client_core *core)
{
    int64_t next = INT64_MAX;
    for (unsigned i = 0; i < TQ_LINKS_MAX; i++) {
        int64_t due = link_next_ns(core, &core->links[i]);
        next = due < next ? due : next;
    }
    return next;
}

void tq_client_tend_links(struct tq_client_core *core, int64_t now_ns)
{
    for (unsigned i = 0; i < TQ_LINKS_MAX; i++) {
        struct tq_link *link = &core->links[i];
        if (link->state == TQ_LINK_EMPTY || link_next_ns(core, link) > now_ns)
            continue;
        if (link->state == TQ_LINK_DIALING || link->state == TQ_LINK_GREETING)
            tq_client_lose(core, link, now_ns);
        else if (link->asked_ns != 0 && link->asked_ns + MISSED_MAX * core->keepalive_ns <= now_ns)
            tq_client_lose(core, link, now_ns);
        else
            keep_alive(core, link, now_ns);
    }
}

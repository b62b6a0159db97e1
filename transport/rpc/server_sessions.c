/* Sessions: hello opens or joins one, silence or goodbye ends it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "transport/base/assert.h"
#include "transport/base/log.h"
#include "transport/rpc/server_core.h"
#include "transport/rpc/wire_body.h"

enum { MISSED_MAX = 3 };

static bool same_peer(const struct tq_peer *a, const struct tq_peer *b)
{
    return memcmp(a->id, b->id, sizeof(a->id)) == 0;
}

static bool has_peer(const struct tq_session *session, const struct tq_peer *peer)
{
    for (unsigned i = session->n_peers; i-- > 0;)
        if (same_peer(&session->peers[i], peer))
            return true;
    return false;
}

struct tq_session *tq_session_find(struct tq_server_core *core, uint64_t id, const struct tq_peer *peer, int64_t now_ns)
{
    struct tq_session *session = tq_map_get(&core->sessions, id);
    if (session == NULL || !has_peer(session, peer))
        return NULL;
    session->heard_ns = now_ns; /* the timer looks at it when it fires: no heap work for each message */
    return session;
}

void tq_session_lose_peer(struct tq_session *session, const struct tq_peer *peer)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < session->n_peers; i++)
        if (!same_peer(&session->peers[i], peer))
            session->peers[kept++] = session->peers[i];
    session->n_peers = kept;
}

static void add_peer(struct tq_session *session, const struct tq_peer *peer)
{
    tq_session_lose_peer(session, peer);
    if (session->n_peers == TQ_SESSION_PEERS) {
        memmove(session->peers, session->peers + 1, (TQ_SESSION_PEERS - 1) * sizeof(session->peers[0]));
        session->n_peers--;
    }
    session->peers[session->n_peers++] = *peer;
}

void tq_session_drop(struct tq_server_core *core, struct tq_session *session)
{
    if (--session->holds > 0)
        return;
    TQ_ASSERT(session->ended && tq_map_count(&session->running) == 0 && session->timer.slot == 0);
    tq_map_fini(&session->running);
    tq_seam_free(core->seam, session);
}

void tq_session_end(struct tq_server_core *core, struct tq_session *session)
{
    if (session->ended)
        return;
    session->ended = true;
    core->stats.sessions_ended++;
    core->stats.sessions--;
    tq_map_remove(&core->sessions, session->id);
    tq_heap_remove(&core->session_timers, &session->timer);
    tq_session_drop_replies(core, session);
    struct tq_server_call *call;
    for (size_t cursor = 0; (call = tq_map_next(&session->running, &cursor)) != NULL; cursor = 0) {
        tq_map_remove(&session->running, call->id);
        tq_server_call_gone(core, call, TQ_CANCELLED);
    }
    tq_server_drop_joiners(core, session->id, 0);
    core->io.session_ended(core->io.self, session->id);
    tq_session_drop(core, session);
}

static struct tq_session *open_session(struct tq_server_core *core, uint64_t id, int64_t now_ns)
{
    struct tq_session *session = tq_seam_alloc(core->seam, sizeof(*session));
    if (session == NULL)
        return NULL;
    session->id = id;
    session->holds = 1;
    tq_map_init(&session->running, core->seam);
    tq_list_init(&session->replies);
    tq_list_init(&session->with_replies);
    if (!tq_heap_set(&core->session_timers, &session->timer, now_ns + MISSED_MAX * core->keepalive_ns))
        goto fail;
    if (!tq_map_put(&core->sessions, id, session)) {
        tq_heap_remove(&core->session_timers, &session->timer);
        goto fail;
    }
    core->stats.sessions_opened++;
    core->stats.sessions++;
    return session;
fail:
    session->ended = true;
    tq_session_drop(core, session);
    return NULL;
}

static tq_status judge_hello(struct tq_server_core *core, const tq_wire_Hello *hello, struct tq_error *err)
{
    if (hello->protocol_min > TQ_PROTOCOL_VERSION || hello->protocol_max < TQ_PROTOCOL_VERSION)
        return tq_fail(err, TQ_FAILED_PRECONDITION, "PROTOCOL_RANGE", "protocols %u to %u: this server speaks %d",
                       hello->protocol_min, hello->protocol_max, TQ_PROTOCOL_VERSION);
    if (hello->session == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "SESSION", "session 0");
    if (hello->expect_epoch != 0 && hello->expect_epoch != core->who->epoch)
        return tq_fail(err, TQ_FAILED_PRECONDITION, "EPOCH", "expected epoch %016" PRIx64 ": this is %016" PRIx64,
                       hello->expect_epoch, core->who->epoch);
    if (!tq_self_admits(core->who, hello->cluster_id.bytes, hello->cluster_id.size))
        return tq_fail(err, TQ_FAILED_PRECONDITION, "CLUSTER_ID", "this server is of another cluster");
    if (core->draining)
        return tq_fail(err, TQ_UNAVAILABLE, "DRAINING", "this server shuts down");
    if (tq_map_get(&core->sessions, hello->session) == NULL && core->stats.sessions >= core->opts.max_sessions)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "SESSIONS", "%u sessions are open already", core->stats.sessions);
    return TQ_OK;
}

static void fill_reply(struct tq_server_core *core, uint64_t session, bool resumed, tq_wire_HelloReply *out)
{
    *out = (tq_wire_HelloReply){ .protocol = TQ_PROTOCOL_VERSION,
                                 .session = session,
                                 .epoch = core->who->epoch,
                                 .role = (tq_wire_Role)core->who->role,
                                 .has_limits = true,
                                 .limits = { core->opts.max_body_bytes, TQ_INLINE_FRAMES_MAX - 1,
                                             core->opts.max_inline_bytes },
                                 .has_credit = true,
                                 .credit = { core->opts.session_calls, core->opts.session_bytes },
                                 .keepalive_ms = core->opts.keepalive_ms,
                                 .resumed = resumed };
    out->cluster_id.size = (pb_size_t)tq_self_cluster(core->who, out->cluster_id.bytes);
    snprintf(out->name, sizeof(out->name), "%s", core->who->name);
}

void tq_session_hello(struct tq_server_core *core, const struct tq_peer *from, const tq_wire_Envelope *envelope,
                      struct tq_bytes body, int64_t now_ns)
{
    struct tq_error err;
    tq_wire_Hello hello;
    tq_wire_HelloReply reply;
    core->stats.hellos++;
    tq_status status = tq_wire_unpack(body, tq_wire_Hello_fields, &hello, sizeof(hello), &err);
    if (status == TQ_OK)
        status = judge_hello(core, &hello, &err);
    struct tq_session *session = status == TQ_OK ? tq_map_get(&core->sessions, hello.session) : NULL;
    bool resumed = session != NULL;
    if (status == TQ_OK && !resumed && (session = open_session(core, hello.session, now_ns)) == NULL)
        status = tq_fail(&err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a session");
    if (status != TQ_OK) {
        core->stats.refused++;
        err.outcome = TQ_OUTCOME_NOT_STARTED;
        tq_server_send_error(core, from, tq_wire_Kind_KIND_HELLO_REPLY, envelope->call_id, envelope->session, &err);
        return;
    }
    tq_wire_make_printable(hello.name);
    memcpy(session->name, hello.name, sizeof(session->name));
    session->role = (uint32_t)hello.role;
    session->limits = hello.limits;
    session->heard_ns = now_ns;
    add_peer(session, from);
    fill_reply(core, session->id, resumed, &reply);
    tq_server_send_control(core, from, tq_wire_Kind_KIND_HELLO_REPLY, envelope->call_id, session->id,
                           tq_wire_HelloReply_fields, &reply);
}

/* Messages to peers, and the replies that a peer does not take at once: queued in its session, bounded in bytes. */
#include <string.h>

#include "transport/base/assert.h"
#include "transport/base/log.h"
#include "transport/rpc/server_core.h"
#include "transport/rpc/wire_body.h"

#define RETRY_NS INT64_C(2000000)

/* A reply that waits. */
struct waiting_reply {
    struct tq_list node;
    struct tq_peer to;
    struct tq_payload *payload;
    uint64_t bytes;
    size_t len;
    uint8_t frame[];
};

static struct tq_bytes seal(struct tq_server_core *core, struct tq_packet *packet, tq_wire_Kind kind, uint64_t call_id,
                            uint64_t session, tq_status status, const struct tq_payload *payload)
{
    tq_wire_Envelope envelope = { .version = TQ_PROTOCOL_VERSION,
                                  .kind = kind,
                                  .call_id = call_id,
                                  .session = session,
                                  .epoch = core->who->epoch,
                                  .status = (uint32_t)status };
    if (payload != NULL) {
        envelope.inline_frames = (uint32_t)payload->n_frames;
        envelope.inline_bytes = tq_payload_bytes(payload);
    }
    return tq_packet_seal(packet, &envelope);
}

void tq_server_send_control(struct tq_server_core *core, const struct tq_peer *to, tq_wire_Kind kind, uint64_t call_id,
                            uint64_t session, const pb_msgdesc_t *fields, const void *body)
{
    if (!tq_wire_pack(&core->control, fields, body))
        return;
    struct tq_outbound message = { seal(core, &core->control, kind, call_id, session, TQ_OK, NULL), NULL };
    (void)core->io.send(core->io.self, to, &message); /* lost: the client asks again */
}

void tq_server_send_error(struct tq_server_core *core, const struct tq_peer *to, tq_wire_Kind kind, uint64_t call_id,
                          uint64_t session, const struct tq_error *error)
{
    if (!tq_wire_pack_error(&core->control, error))
        return;
    struct tq_outbound message = { seal(core, &core->control, kind, call_id, session, error->status, NULL), NULL };
    (void)core->io.send(core->io.self, to, &message);
}

static void reply_free(struct tq_server_core *core, struct tq_session *session, struct waiting_reply *reply)
{
    session->reply_bytes -= reply->bytes;
    core->reply_bytes -= reply->bytes;
    tq_list_remove(&reply->node);
    tq_payload_drop(reply->payload);
    tq_seam_free(core->seam, reply);
}

void tq_session_drop_replies(struct tq_server_core *core, struct tq_session *session)
{
    while (!tq_list_empty(&session->replies))
        reply_free(core, session, tq_container_of(session->replies.next, struct waiting_reply, node));
    tq_list_remove(&session->with_replies);
}

/* The connection that asked is gone: any other of the session will do, the client matches by call id. */
static enum tq_sent send_by_another(struct tq_server_core *core, struct tq_session *session, const struct tq_peer *to,
                                    const struct tq_outbound *message)
{
    enum tq_sent sent = TQ_SENT_GONE;
    tq_session_lose_peer(session, to);
    while (sent == TQ_SENT_GONE && session->n_peers > 0) {
        struct tq_peer other = session->peers[session->n_peers - 1];
        sent = core->io.send(core->io.self, &other, message);
        if (sent == TQ_SENT_GONE)
            tq_session_lose_peer(session, &other);
    }
    return sent;
}

static enum tq_sent send_by_any(struct tq_server_core *core, struct tq_session *session, const struct tq_peer *to,
                                const struct tq_outbound *message)
{
    enum tq_sent sent = core->io.send(core->io.self, to, message);
    return sent == TQ_SENT_GONE ? send_by_another(core, session, to, message) : sent;
}

static void queue_reply(struct tq_server_core *core, struct tq_session *session, const struct tq_peer *to,
                        const struct tq_outbound *message, int64_t now_ns)
{
    uint64_t bytes = sizeof(struct waiting_reply) + message->head.len + tq_payload_bytes(message->payload);
    struct waiting_reply *reply = NULL;
    if (session->reply_bytes + bytes <= core->opts.reply_queue_bytes)
        reply = tq_seam_alloc(core->seam, sizeof(*reply) + message->head.len);
    if (reply == NULL) {
        tq_warn("session-slow", "peer=%s queued_bytes=%llu: session ended", session->name,
                (unsigned long long)session->reply_bytes);
        tq_session_end(core, session);
        return;
    }
    reply->to = *to;
    reply->bytes = bytes;
    reply->payload = message->payload;
    if (reply->payload != NULL)
        tq_payload_hold(reply->payload);
    reply->len = message->head.len;
    memcpy(reply->frame, message->head.ptr, message->head.len);
    session->reply_bytes += bytes;
    core->reply_bytes += bytes;
    tq_list_add_tail(&session->replies, &reply->node);
    if (tq_list_empty(&session->with_replies))
        tq_list_add_tail(&core->blocked, &session->with_replies);
    if (core->retry_replies_ns == INT64_MAX)
        core->retry_replies_ns = now_ns + RETRY_NS;
}

/* An answer that its client said it does not take becomes an error. */
static bool fits_client(const struct tq_session *session, const struct tq_packet *packet,
                        const struct tq_payload *payload)
{
    return packet->len <= session->limits.body_bytes &&
           (payload == NULL || (payload->n_frames <= session->limits.inline_frames &&
                                tq_payload_bytes(payload) <= session->limits.inline_bytes));
}

void tq_server_reply(struct tq_server_core *core, struct tq_session *session, const struct tq_peer *to,
                     uint64_t call_id, const struct tq_error *error, struct tq_packet *packet,
                     struct tq_payload *payload, int64_t now_ns)
{
    struct tq_error too_large;
    if (session == NULL || session->ended)
        return;
    if (error->status == TQ_OK && !fits_client(session, packet, payload)) {
        (void)tq_fail(&too_large, TQ_RESOURCE_EXHAUSTED, "PEER_LIMIT",
                      "the answer has %zu bytes and %llu bytes in frames: more than the client takes", packet->len,
                      (unsigned long long)tq_payload_bytes(payload));
        too_large.outcome = TQ_OUTCOME_UNKNOWN;
        error = &too_large;
    }
    if (error->status != TQ_OK) {
        packet = &core->control;
        payload = NULL;
        if (!tq_wire_pack_error(packet, error))
            return;
    }
    struct tq_outbound message = {
        seal(core, packet, tq_wire_Kind_KIND_REPLY, call_id, session->id, error->status, payload), payload
    };
    enum tq_sent sent = tq_list_empty(&session->replies) ? send_by_any(core, session, to, &message) : TQ_SENT_FULL;
    if (sent == TQ_SENT_FULL)
        queue_reply(core, session, to, &message, now_ns);
}

void tq_server_undelivered(struct tq_server_core *core, const struct tq_peer *to, struct tq_bytes frame,
                           enum tq_sent why, int64_t now_ns)
{
    tq_wire_Envelope envelope;
    struct tq_bytes body;
    struct tq_outbound message = { frame, NULL };
    tq_status ours = tq_envelope_decode(frame, &envelope, &body, NULL);
    TQ_ASSERT(ours == TQ_OK);
    struct tq_session *session = tq_map_get(&core->sessions, envelope.session);
    if (envelope.kind != tq_wire_Kind_KIND_REPLY || session == NULL)
        return; /* the client asks again */
    if (why == TQ_SENT_GONE)
        why = send_by_another(core, session, to, &message);
    if (why == TQ_SENT_FULL)
        queue_reply(core, session, to, &message, now_ns);
}

static void send_waiting(struct tq_server_core *core, struct tq_session *session)
{
    while (!tq_list_empty(&session->replies)) {
        struct waiting_reply *reply = tq_container_of(session->replies.next, struct waiting_reply, node);
        struct tq_outbound message = { { reply->frame, reply->len }, reply->payload };
        if (send_by_any(core, session, &reply->to, &message) == TQ_SENT_FULL)
            return;
        reply_free(core, session, reply);
    }
    tq_list_remove(&session->with_replies);
}

void tq_server_retry_replies(struct tq_server_core *core, int64_t now_ns)
{
    if (now_ns < core->retry_replies_ns)
        return;
    tq_list_each_safe (node, &core->blocked)
        send_waiting(core, tq_container_of(node, struct tq_session, with_replies));
    core->retry_replies_ns = tq_list_empty(&core->blocked) ? INT64_MAX : now_ns + RETRY_NS;
}

#include "tests/transport/rpc/server_stage.h"

struct stage stage;

static enum tq_sent send_message(void *self, const struct tq_peer *to, const struct tq_outbound *message)
{
    struct tq_bytes body;
    (void)self;
    if (stage.will != TQ_SENT)
        return stage.will;
    assert_true(stage.n_sent < SENT_MAX);
    unsigned at = stage.n_sent++;
    tq_wire_Envelope *envelope = &stage.sent[at].envelope;
    stage.sent[at].to = *to;
    assert_int_equal(tq_envelope_decode(message->head, envelope, &body, NULL), TQ_OK);
    assert_int_equal(envelope->epoch, stage.self.epoch);
    if (envelope->status != TQ_OK)
        tq_wire_unpack_error(envelope->status, body, &stage.sent[at].error);
    else if (envelope->kind == tq_wire_Kind_KIND_HELLO_REPLY)
        assert_int_equal(
            tq_wire_unpack(body, tq_wire_HelloReply_fields, &stage.sent[at].hello, sizeof(stage.sent[at].hello), NULL),
            TQ_OK);
    else if (envelope->kind == tq_wire_Kind_KIND_LOOKUP_REPLY)
        assert_int_equal(tq_wire_unpack(body, tq_wire_LookupReply_fields, &stage.sent[at].lookup,
                                        sizeof(stage.sent[at].lookup), NULL),
                         TQ_OK);
    return TQ_SENT;
}

void finish(struct tq_server_call *call, tq_status status)
{
    Tqtest__EchoResponse response = TQTEST__ECHO_RESPONSE__INIT;
    tq_error_clear(&call->error);
    if (status != TQ_OK)
        (void)tq_fail(&call->error, status, "TEST", "as the test wants");
    else if (!tq_packet_pack(&call->answer, &response.base))
        (void)tq_fail(&call->error, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory");
    tq_server_core_finish(&stage.core, call, stage.now_ns);
}

static void count_gone(void *user, tq_status why)
{
    (void)user;
    stage.n_gone++;
    stage.gone_why = why;
}

static void dispatch(void *self, struct tq_server_call *call)
{
    (void)self;
    assert_true(stage.n_dispatched < RUNNING_MAX);
    if (stage.answer_at_once) {
        stage.n_dispatched++;
        finish(call, TQ_OK);
        return;
    }
    call->on_gone = count_gone;
    stage.running[stage.n_dispatched++] = call;
}

static void session_ended(void *self, uint64_t session)
{
    (void)self;
    assert_int_not_equal(session, 0);
    stage.n_ended_sessions++;
}

void open_stage(const struct tq_server_opts *opts)
{
    static const uint8_t no_cluster[TQ_CLUSTER_ID_BYTES];
    static const struct tq_server_opts no_opts;
    struct tq_server_io io = { &stage, send_message, dispatch, session_ended };
    memset(&stage, 0, sizeof(stage));
    test_seam_init(&stage.seam, 5);
    stage.now_ns = 1000 * MS;
    tq_self_init(&stage.self, "server", 2, 4711, no_cluster);
    tq_server_core_init(&stage.core, opts != NULL ? opts : &no_opts, &stage.self, io, &stage.seam.seam);
    assert_int_equal(tq_server_core_add(&stage.core, &echo_table, NULL, NULL, NULL), TQ_OK);
}

int close_stage(void **state)
{
    (void)state;
    tq_server_core_shut(&stage.core);
    while (!tq_list_empty(&stage.core.running))
        finish(tq_container_of(stage.core.running.next, struct tq_server_call, node), TQ_CANCELLED);
    tq_server_core_fini(&stage.core);
    tq_self_fini(&stage.self);
    assert_int_equal(atomic_load(&stage.seam.outstanding), 0);
    return 0;
}

struct tq_peer peer(uint8_t number)
{
    struct tq_peer p = { .id = { 'T', 'Q', '1', 1, number } };
    return p;
}

void hear_packet(uint8_t from, const tq_wire_Envelope *envelope, struct tq_packet *packet)
{
    struct tq_inbound message = { .ops = NULL };
    struct tq_peer p = peer(from);
    if (tq_inbound_copy(&message, NULL, tq_packet_seal(packet, envelope), NULL, 0))
        tq_server_core_receive(&stage.core, &p, &message, stage.now_ns);
    tq_inbound_release(&message);
}

void hear(uint8_t from, const tq_wire_Envelope *envelope, const pb_msgdesc_t *fields, const void *body)
{
    struct tq_packet packet = { .seam = NULL };
    assert_true(fields != NULL ? tq_wire_pack(&packet, fields, body) : tq_packet_resize(&packet, 0));
    hear_packet(from, envelope, &packet);
    tq_packet_fini(&packet);
}

tq_wire_Hello hello_of(uint64_t session)
{
    return (tq_wire_Hello){ .protocol_min = 1,
                            .protocol_max = 1,
                            .session = session,
                            .name = "tester",
                            .has_limits = true,
                            .limits = { 1 << 20, 16, 1 << 20 } };
}

void say_hello(uint8_t from, const tq_wire_Hello *hello)
{
    tq_wire_Envelope envelope = { .version = 1, .kind = tq_wire_Kind_KIND_HELLO, .call_id = 1 };
    hear(from, &envelope, tq_wire_Hello_fields, hello);
}

void join(uint8_t from, uint64_t session)
{
    tq_wire_Hello hello = hello_of(session);
    say_hello(from, &hello);
    assert_int_equal(stage.sent[stage.n_sent - 1].envelope.status, TQ_OK);
}

tq_wire_Envelope request_of(uint64_t session, uint64_t call_id, uint32_t method)
{
    tq_wire_Envelope envelope = { .version = 1,
                                  .kind = tq_wire_Kind_KIND_REQUEST,
                                  .call_id = call_id,
                                  .session = session,
                                  .method = 0x7f00 + method,
                                  .attempt = 1,
                                  .remaining_us = 10000000 };
    if (method == ECHO_KEYED || method == ECHO_WAITS) {
        envelope.idempotency_key.size = 16;
        memcpy(envelope.idempotency_key.bytes, &call_id, 8);
    }
    return envelope;
}

void request(uint8_t from, uint64_t session, uint64_t call_id, uint32_t method)
{
    tq_wire_Envelope envelope = request_of(session, call_id, method);
    hear(from, &envelope, NULL, NULL);
}

void assert_refused(tq_status status, enum tq_outcome outcome, const char *reason)
{
    assert_true(stage.n_sent > 0);
    const struct tq_error *error = &stage.sent[stage.n_sent - 1].error;
    if (stage.sent[stage.n_sent - 1].envelope.status != (uint32_t)status || error->outcome != outcome ||
        strcmp(error->reason, reason) != 0)
        fail_msg("refused with %s %s, outcome %d: %s", tq_status_name(error->status), error->reason,
                 (int)error->outcome, error->message);
}

void pass(int64_t ns)
{
    int64_t until = stage.now_ns + ns;
    while (tq_server_core_next_ns(&stage.core) <= until) {
        int64_t next = tq_server_core_next_ns(&stage.core);
        stage.now_ns = next > stage.now_ns ? next : stage.now_ns;
        tq_server_core_tick(&stage.core, stage.now_ns);
    }
    stage.now_ns = until;
    tq_server_core_tick(&stage.core, stage.now_ns);
}

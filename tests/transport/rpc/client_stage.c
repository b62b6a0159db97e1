#include "tests/transport/rpc/client_stage.h"

struct stage stage;

static tq_status dial(void *self, unsigned link, struct tq_error *err)
{
    (void)self;
    if (stage.dial_status != TQ_OK)
        return tq_fail(err, stage.dial_status, "DIAL", "as the test wants");
    assert_false(stage.open[link]);
    stage.open[link] = true;
    stage.n_dials++;
    stage.last_dialled = link;
    return TQ_OK;
}

static enum tq_sent send_message(void *self, unsigned link, const struct tq_outbound *message)
{
    (void)self;
    struct tq_bytes body;
    assert_true(stage.open[link]);
    assert_true(stage.n_sent < SENT_MAX);
    stage.sent[stage.n_sent].link = link;
    assert_int_equal(tq_envelope_decode(message->head, &stage.sent[stage.n_sent].envelope, &body, NULL), TQ_OK);
    assert_true(body.len <= sizeof(stage.sent[0].body));
    memcpy(stage.sent[stage.n_sent].body, body.ptr, body.len);
    stage.sent[stage.n_sent++].body_len = body.len;
    return TQ_SENT;
}

static void hang_up(void *self, unsigned link)
{
    (void)self;
    assert_true(stage.open[link]);
    stage.open[link] = false;
    stage.n_hang_ups++;
}

void open_stage(const struct tq_channel_opts *opts)
{
    static const uint8_t no_cluster[TQ_CLUSTER_ID_BYTES];
    static const struct tq_channel_opts no_opts;
    struct tq_client_io io = { &stage, dial, send_message, hang_up };
    memset(&stage, 0, sizeof(stage));
    test_seam_init(&stage.seam, 5);
    stage.now_ns = 1000 * MS;
    stage.epoch = 4711;
    tq_self_init(&stage.self, "me", 1, 99, no_cluster);
    tq_client_init(&stage.core, opts != NULL ? opts : &no_opts, "sim://x", &stage.self, io, &stage.seam.seam);
}

struct tq_call *next_ended(void)
{
    struct tq_list *node = tq_list_take_head(&stage.core.finished);
    return node != NULL ? tq_container_of(node, struct tq_call, node) : NULL;
}

void free_call(struct tq_call *call)
{
    tq_call_fini(call);
    tq_seam_free(&stage.seam.seam, call);
}

/* The next ended call has this status; frees it. */
void assert_ended(tq_status status, enum tq_outcome outcome, const char *reason)
{
    struct tq_call *call = next_ended();
    assert_non_null(call);
    if (call->error.status != status || call->error.outcome != outcome || strcmp(call->error.reason, reason) != 0)
        fail_msg("ended with %s %s, outcome %d: %s", tq_status_name(call->error.status), call->error.reason,
                 (int)call->error.outcome, call->error.message);
    free_call(call);
}

int close_stage(void **state)
{
    (void)state;
    tq_client_shut(&stage.core, stage.now_ns);
    for (struct tq_call *call; (call = next_ended()) != NULL;)
        free_call(call);
    tq_client_fini(&stage.core);
    tq_self_fini(&stage.self);
    assert_int_equal(atomic_load(&stage.seam.outstanding), 0);
    return 0;
}

tq_status try_submit(uint32_t method, int64_t deadline_ns, struct tq_error *err)
{
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    struct tq_call *call = tq_seam_alloc(&stage.seam.seam, sizeof(*call));
    if (call == NULL)
        return TQ_RESOURCE_EXHAUSTED;
    tq_list_init(&call->node);
    call->request.seam = &stage.seam.seam;
    call->method = echo_method(method);
    call->deadline_ns = deadline_ns;
    call->max_attempts = TQ_ATTEMPTS_MAX;
    call->key_len = call->method->idempotency == TQ_KEYED ? TQ_KEY_BYTES : 0;
    tq_status status = tq_packet_pack(&call->request, &request.base) ? TQ_OK : TQ_RESOURCE_EXHAUSTED;
    if (status == TQ_OK)
        status = tq_client_submit(&stage.core, call, stage.now_ns, err);
    if (status != TQ_OK)
        free_call(call);
    return status;
}

void submit(uint32_t method, int64_t timeout_ns)
{
    struct tq_error err;
    assert_int_equal(try_submit(method, stage.now_ns + timeout_ns, &err), TQ_OK);
}

/* The peer says something on a link. */
void hear(unsigned link, const tq_wire_Envelope *envelope, struct tq_packet *packet)
{
    struct tq_inbound message = { .ops = NULL };
    assert_true(tq_inbound_copy(&message, &stage.seam.seam, tq_packet_seal(packet, envelope), NULL, 0));
    tq_client_receive(&stage.core, link, &message, stage.now_ns);
    tq_inbound_release(&message);
}

void answer_hello(unsigned link, const tq_wire_HelloReply *reply)
{
    struct tq_packet packet = { .seam = &stage.seam.seam };
    tq_wire_Envelope envelope = { .version = 1,
                                  .kind = tq_wire_Kind_KIND_HELLO_REPLY,
                                  .call_id = stage.core.links[link].hello_id,
                                  .epoch = stage.epoch };
    assert_true(tq_wire_pack(&packet, tq_wire_HelloReply_fields, reply));
    hear(link, &envelope, &packet);
    tq_packet_fini(&packet);
}

tq_wire_HelloReply good_hello(void)
{
    return (tq_wire_HelloReply){ .protocol = 1,
                                 .has_limits = true,
                                 .limits = { 1 << 20, 16, 1 << 20 },
                                 .has_credit = true,
                                 .credit = { 100, 1 << 20 },
                                 .keepalive_ms = 1000,
                                 .resumed = stage.core.stats.hellos > 0 };
}

void connect_link(unsigned link)
{
    tq_wire_HelloReply reply = good_hello();
    tq_client_up(&stage.core, link, stage.now_ns);
    assert_int_equal(stage.sent[stage.n_sent - 1].envelope.kind, tq_wire_Kind_KIND_HELLO);
    answer_hello(link, &reply);
    assert_int_equal(stage.core.links[link].state, TQ_LINK_READY);
}

void answer(unsigned link, uint64_t call_id, uint64_t epoch)
{
    Tqtest__EchoResponse response = TQTEST__ECHO_RESPONSE__INIT;
    struct tq_packet packet = { .seam = &stage.seam.seam };
    tq_wire_Envelope envelope = { .version = 1, .kind = tq_wire_Kind_KIND_REPLY, .call_id = call_id, .epoch = epoch };
    assert_true(tq_packet_pack(&packet, &response.base));
    hear(link, &envelope, &packet);
    tq_packet_fini(&packet);
}

void answer_error(unsigned link, tq_wire_Kind kind, uint64_t call_id, tq_status status, const char *reason)
{
    struct tq_packet packet = { .seam = &stage.seam.seam };
    struct tq_error error;
    (void)tq_fail(&error, status, reason, "the peer says no");
    error.outcome = TQ_OUTCOME_NOT_STARTED;
    tq_wire_Envelope envelope = {
        .version = 1, .kind = kind, .call_id = call_id, .epoch = stage.epoch, .status = (uint32_t)status
    };
    assert_true(tq_wire_pack_error(&packet, &error));
    hear(link, &envelope, &packet);
    tq_packet_fini(&packet);
}

void wait_until_due(void)
{
    int64_t next = tq_client_next_ns(&stage.core);
    assert_true(next < INT64_MAX);
    stage.now_ns = next > stage.now_ns ? next : stage.now_ns;
    tq_client_tick(&stage.core, stage.now_ns);
}

const tq_wire_Envelope *last_sent(void)
{
    assert_true(stage.n_sent > 0);
    return &stage.sent[stage.n_sent - 1].envelope;
}

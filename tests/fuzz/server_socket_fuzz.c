/* Everything that clients can say to a server: a script of messages from four connections, with time passing. The
 * server core must answer only in well-formed envelopes, run no key twice, and leave nothing behind. Script: connection
 * (0 to 3; 4 to 7: answer a kept call; 8 to 15: let time pass), length (2 bytes), that many bytes. */
#include <string.h>

#include "echo.pb-c.h"
#include "tests/support/test_seam.h"
#include "transport/base/assert.h"
#include "transport/base/log.h"
#include "transport/rpc/body.h"
#include "transport/rpc/server_core.h"
#include "transport/rpc/wire_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
    struct test_seam seam;
    struct tq_self self;
    struct tq_server_core core;
    int64_t now_ns;
} world;

static enum tq_sent send_message(void *self, const struct tq_peer *to, const struct tq_outbound *message)
{
    tq_wire_Envelope envelope;
    struct tq_bytes body;
    (void)self;
    TQ_ASSERT(tq_envelope_decode(message->head, &envelope, &body, NULL) == TQ_OK);
    TQ_ASSERT(envelope.epoch == world.self.epoch && envelope.version == TQ_PROTOCOL_VERSION);
    TQ_ASSERT(envelope.kind != tq_wire_Kind_KIND_REQUEST);
    return to->id[4] == 3 ? TQ_SENT_FULL : to->id[4] == 2 ? TQ_SENT_GONE : TQ_SENT;
}

static void finish(struct tq_server_call *call)
{
    Tqtest__EchoResponse response = TQTEST__ECHO_RESPONSE__INIT;
    tq_error_clear(&call->error);
    TQ_ASSERT(tq_packet_pack(&call->answer, &response.base));
    tq_server_core_finish(&world.core, call, world.now_ns);
}

static void dispatch(void *self, struct tq_server_call *call)
{
    const ProtobufCMessage *request;
    (void)self;
    TQ_ASSERT(call->session != NULL && call->body.len <= call->method->request_bytes);
    if (tq_body_decode(call->arena, call->method->request, call->body, (struct tq_body_limits){ 0 }, &request,
                       &call->error) != TQ_OK) {
        call->error.outcome = TQ_OUTCOME_NOT_STARTED;
        tq_server_core_finish(&world.core, call, world.now_ns);
        return;
    }
    if (((const Tqtest__EchoRequest *)request)->action == 0)
        finish(call); /* else it is kept until the script or the end answers it */
}

static void session_ended(void *self, uint64_t session)
{
    (void)self;
    TQ_ASSERT(session != 0);
}

#define METHOD(number, how, bits)                                                                                      \
    {                                                                                                                  \
        .id = (number), .name = "fuzz", .request = &tqtest__echo_request__descriptor,                                  \
        .response = &tqtest__echo_response__descriptor, .idempotency = (how), .request_bytes = 4096,                   \
        .response_bytes = 4096, .request_elements = 100, .flags = (bits)                                               \
    }
static const struct tq_method methods[] = { METHOD(1, TQ_ONCE, 0), METHOD(2, TQ_KEYED, 0), METHOD(3, TQ_IDEMPOTENT, 0),
                                            METHOD(4, TQ_IDEMPOTENT, TQ_METHOD_BULK) };
static const struct tq_service service = { "fuzz", methods, 4, { NULL, 0 } };

static void open_world(void)
{
    static const uint8_t no_cluster[TQ_CLUSTER_ID_BYTES];
    struct tq_server_opts opts = { .session_calls = 8, .max_sessions = 4, .reply_queue_bytes = 2000 };
    struct tq_server_io io = { &world, send_message, dispatch, session_ended };
    tq_log_set_level(TQ_LOG_OFF);
    test_seam_init(&world.seam, 1);
    world.now_ns = 1;
    tq_self_init(&world.self, "fuzzed", 2, 4711, no_cluster);
    tq_server_core_init(&world.core, &opts, &world.self, io, &world.seam.seam);
    world.core.window.max_entries = 16;
    TQ_ASSERT(tq_server_core_add(&world.core, &service, NULL, NULL, NULL) == TQ_OK);
}

static void close_world(void)
{
    tq_server_core_shut(&world.core);
    while (!tq_list_empty(&world.core.running))
        finish(tq_container_of(world.core.running.next, struct tq_server_call, node));
    TQ_ASSERT(world.core.reply_bytes == 0);
    tq_server_core_fini(&world.core);
    tq_self_fini(&world.self);
    TQ_ASSERT(atomic_load(&world.seam.outstanding) == 0);
}

static void hear(uint8_t from, struct tq_bytes bytes)
{
    struct tq_peer peer = { .id = { 'T', 'Q', '1', 1, from } };
    struct tq_inbound message = { .ops = NULL };
    TQ_ASSERT(tq_inbound_copy(&message, &world.seam.seam, bytes, NULL, 0));
    tq_server_core_receive(&world.core, &peer, &message, world.now_ns);
    tq_inbound_release(&message);
}

/* So that a script need not begin with a good hello. */
static void say_hello(uint8_t from, uint64_t session)
{
    struct tq_packet packet = { .seam = NULL };
    tq_wire_Hello hello = { .protocol_min = 1, .protocol_max = 1, .session = session, .has_limits = true };
    hello.limits = (tq_wire_Limits){ 1 << 20, 16, 1 << 20 };
    tq_wire_Envelope envelope = { .version = 1, .kind = tq_wire_Kind_KIND_HELLO, .call_id = 1 };
    TQ_ASSERT(tq_wire_pack(&packet, tq_wire_Hello_fields, &hello));
    hear(from, tq_packet_seal(&packet, &envelope));
    tq_packet_fini(&packet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    open_world();
    for (uint8_t i = 0; i < 4; i++)
        say_hello(i, 7 + i / 2);
    while (size >= 3) {
        uint8_t what = data[0] % 16;
        size_t len = (size_t)data[1] | (size_t)data[2] << 8;
        data += 3, size -= 3;
        len = len < size ? len : size;
        if (what < 4) {
            hear(what, (struct tq_bytes){ data, len });
            data += len, size -= len;
        } else if (what < 8) {
            if (!tq_list_empty(&world.core.running))
                finish(tq_container_of(world.core.running.next, struct tq_server_call, node));
        } else {
            world.now_ns += (int64_t)len * 1000000 + 1;
            tq_server_core_tick(&world.core, world.now_ns);
        }
    }
    close_world();
    return 0;
}

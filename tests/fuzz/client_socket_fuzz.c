/* Everything that a server can say to a client: a script of messages on one link, with time passing. Every call must
 * end exactly once and by its deadline, and nothing may be left behind.
 * Script: what (even: a message; odd: time passes), length (2 bytes), that many bytes. */
#include <string.h>

#include "echo.pb-c.h"
#include "tests/support/test_seam.h"
#include "transport/base/assert.h"
#include "transport/base/log.h"
#include "transport/rpc/client_core.h"
#include "transport/rpc/wire_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CALLS = 4 };
#define MS INT64_C(1000000)

static struct {
    struct test_seam seam;
    struct tq_self self;
    struct tq_client_core core;
    int64_t now_ns;
    unsigned ended;
    bool open[TQ_LINKS_MAX];
} world;

static const struct tq_method methods[] = {
    { .id = 1,
      .name = "once",
      .request = &tqtest__echo_request__descriptor,
      .response = &tqtest__echo_response__descriptor,
      .idempotency = TQ_ONCE },
    { .id = 2,
      .name = "keyed",
      .request = &tqtest__echo_request__descriptor,
      .response = &tqtest__echo_response__descriptor,
      .idempotency = TQ_KEYED },
};

static tq_status dial(void *self, unsigned link, struct tq_error *err)
{
    (void)self;
    (void)err;
    TQ_ASSERT(!world.open[link]);
    world.open[link] = true;
    return TQ_OK;
}

static enum tq_sent send_message(void *self, unsigned link, const struct tq_outbound *message)
{
    tq_wire_Envelope envelope;
    struct tq_bytes body;
    (void)self;
    TQ_ASSERT(world.open[link]);
    TQ_ASSERT(tq_envelope_decode(message->head, &envelope, &body, NULL) == TQ_OK);
    return TQ_SENT;
}

static void hang_up(void *self, unsigned link)
{
    (void)self;
    TQ_ASSERT(world.open[link]);
    world.open[link] = false;
}

static void submit(const struct tq_method *method, int64_t timeout_ns)
{
    struct tq_call *call = tq_seam_alloc(&world.seam.seam, sizeof(*call));
    TQ_ASSERT(call != NULL);
    tq_list_init(&call->node);
    call->request.seam = &world.seam.seam;
    call->method = method;
    call->deadline_ns = world.now_ns + timeout_ns;
    call->max_attempts = TQ_ATTEMPTS_MAX;
    call->key_len = method->idempotency == TQ_KEYED ? TQ_KEY_BYTES : 0;
    TQ_ASSERT(tq_packet_resize(&call->request, 0));
    TQ_ASSERT(tq_client_submit(&world.core, call, world.now_ns, NULL) == TQ_OK);
}

static void collect(void)
{
    for (struct tq_list *node; (node = tq_list_take_head(&world.core.finished)) != NULL; world.ended++) {
        struct tq_call *call = tq_container_of(node, struct tq_call, node);
        TQ_ASSERT(call->error.status != TQ_OK || call->answer.head.len >= call->answer_at);
        TQ_ASSERT(world.now_ns <= call->deadline_ns);
        tq_call_fini(call);
        tq_seam_free(&world.seam.seam, call);
    }
}

static void hear(unsigned link, struct tq_bytes bytes)
{
    struct tq_inbound message = { .ops = NULL };
    TQ_ASSERT(tq_inbound_copy(&message, &world.seam.seam, bytes, NULL, 0));
    tq_client_receive(&world.core, link, &message, world.now_ns);
    tq_inbound_release(&message);
    collect();
}

static void answer_hello(unsigned link)
{
    struct tq_packet packet = { .seam = NULL };
    tq_wire_HelloReply reply = { .protocol = 1, .has_limits = true, .limits = { 1 << 20, 16, 1 << 20 } };
    tq_wire_Envelope envelope = {
        .version = 1, .kind = tq_wire_Kind_KIND_HELLO_REPLY, .call_id = world.core.links[link].hello_id, .epoch = 5
    };
    TQ_ASSERT(tq_wire_pack(&packet, tq_wire_HelloReply_fields, &reply));
    hear(link, tq_packet_seal(&packet, &envelope));
    tq_packet_fini(&packet);
}

/* Time passes to the next thing that is due, at most `most_ns`; new links come up and are greeted. */
static void pass(int64_t most_ns)
{
    int64_t next = tq_client_next_ns(&world.core), until = world.now_ns + most_ns;
    world.now_ns = next < until ? (next > world.now_ns ? next : world.now_ns) : until;
    tq_client_tick(&world.core, world.now_ns);
    for (unsigned i = 0; i < TQ_LINKS_MAX; i++)
        if (world.core.links[i].state == TQ_LINK_DIALING) {
            tq_client_up(&world.core, i, world.now_ns);
            answer_hello(i);
        }
    collect();
}

/* Numbers in scripts cannot guess our ids: the first eight bytes of a call id 0xffffffffffffff0N become call N's. */
static void patch_ids(uint8_t *bytes, size_t len, uint64_t first_id)
{
    static const uint8_t mark[7] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
    for (size_t i = 0; i + 8 <= len; i++)
        if (memcmp(bytes + i + 1, mark, 7) == 0 && bytes[i] < 8) {
            uint64_t id = first_id + bytes[i];
            memcpy(bytes + i, &id, 8);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t no_cluster[TQ_CLUSTER_ID_BYTES];
    static uint8_t bytes[65536];
    struct tq_channel_opts opts = { .sockets = 2 };
    struct tq_client_io io = { &world, dial, send_message, hang_up };
    tq_log_set_level(TQ_LOG_OFF);
    test_seam_init(&world.seam, 1);
    world.now_ns = 1000 * MS;
    world.ended = 0;
    tq_self_init(&world.self, "fuzzed", 1, 99, no_cluster);
    tq_client_init(&world.core, &opts, "fuzz://peer", &world.self, io, &world.seam.seam);
    uint64_t first_id = world.core.next_id;
    for (unsigned i = 0; i < CALLS; i++)
        submit(&methods[i % 2], (int64_t)(i + 1) * 1000 * MS);
    pass(0);
    while (size >= 3) {
        uint8_t what = data[0];
        size_t len = (size_t)data[1] | (size_t)data[2] << 8;
        data += 3, size -= 3;
        len = len < size ? len : size;
        if (what % 2 == 0) {
            memcpy(bytes, data, len);
            patch_ids(bytes, len, first_id);
            if (world.core.links[what / 2 % 2].state != TQ_LINK_EMPTY)
                hear(what / 2 % 2, (struct tq_bytes){ bytes, len });
            data += len, size -= len;
        } else {
            pass((int64_t)len * MS);
        }
    }
    for (unsigned i = 0; i < 1000 && tq_map_count(&world.core.calls) > 0; i++)
        pass(INT32_MAX);
    TQ_ASSERT(world.ended == CALLS);
    tq_client_shut(&world.core, world.now_ns);
    tq_client_fini(&world.core);
    tq_self_fini(&world.self);
    TQ_ASSERT(atomic_load(&world.seam.outstanding) == 0);
    return 0;
}

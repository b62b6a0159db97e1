/* The owner's core: what it refuses, what it holds, when it lets go. No I/O, virtual time. */
#include <stdlib.h>
#include <string.h>

#include <pb_decode.h>
#include <pb_encode.h>

#include "transport/bulk/owner.h"

#include "tests/support/cmocka_all.h"

enum { SENDS = 2048 };

struct world {
    struct tq_seam seam;
    int64_t now_ns;
    struct tq_owner owner;
    struct tq_send *sends[SENDS]; /* not called back */
    unsigned n_sends, opened, closes, gone, held, dropped;
    bool fail_send, inline_send, close_at_once, wanted;
    tq_status hold_status;
    struct tq_caller *closing;
    tq_wire_BulkPiece last;
    uint8_t bytes[64];
};

static int64_t world_now(void *self)
{
    return ((struct world *)self)->now_ns;
}

static tq_status fake_hold(void *self, const struct tq_claim *claim, const uint8_t **out_ptr, struct tq_hold *out_hold,
                           struct tq_error *err)
{
    struct world *w = self;
    (void)claim;
    *out_hold = (struct tq_hold){ 0 };
    *out_ptr = w->bytes;
    w->held += w->hold_status == TQ_OK;
    return w->hold_status == TQ_OK ? TQ_OK : tq_fail(err, w->hold_status, "X", "refused by the test");
}

static void fake_drop(void *self, struct tq_hold *hold)
{
    (void)hold;
    ((struct world *)self)->dropped++;
}

static bool fake_wanted(void *self, const struct tq_hold *hold)
{
    (void)hold;
    return ((struct world *)self)->wanted;
}

static tq_status fake_open(void *self, struct tq_caller *caller, const tq_wire_BulkAddress *reader, void *from,
                           struct tq_error *err)
{
    (void)caller;
    (void)from;
    (void)err;
    assert_int_equal(reader->process, 7);
    ((struct world *)self)->opened++;
    return TQ_OK;
}

static tq_status fake_send(void *self, struct tq_send *send, struct tq_error *err)
{
    struct world *w = self;
    pb_istream_t stream = pb_istream_from_buffer(send->header, send->header_len);
    w->last = (tq_wire_BulkPiece)tq_wire_BulkPiece_init_zero;
    assert_true(pb_decode(&stream, tq_wire_BulkPiece_fields, &w->last));
    if (w->fail_send)
        return tq_fail(err, TQ_UNAVAILABLE, "PEER_LOST", "as the test wants it");
    if (w->inline_send)
        tq_owner_sent(&w->owner, send, TQ_OK);
    else
        w->sends[w->n_sends++] = send;
    return TQ_OK;
}

static void fake_close(void *self, struct tq_caller *caller)
{
    struct world *w = self;
    w->closes++;
    if (w->close_at_once)
        tq_owner_closed(&w->owner, caller);
    else
        w->closing = caller;
}

static void fake_gone(void *self, struct tq_caller *caller)
{
    (void)caller;
    ((struct world *)self)->gone++;
}

static void *world_alloc(void *self, size_t len)
{
    (void)self;
    return calloc(1, len);
}

static void world_free(void *self, void *memory)
{
    (void)self;
    free(memory);
}

static void world_random(void *self, void *out, size_t len)
{
    (void)self;
    memset(out, 3, len);
}

static int world_open(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    assert_non_null(w);
    w->seam = (struct tq_seam){ w, world_now, world_random, world_alloc, world_free, NULL };
    const struct tq_owner_port port = { w,         fake_hold, fake_drop,  fake_wanted,
                                        fake_open, fake_send, fake_close, fake_gone };
    tq_owner_init(&w->owner, &w->seam, &port);
    *state = w;
    return 0;
}

static void call_back(struct world *w, tq_status status)
{
    while (w->n_sends > 0)
        tq_owner_sent(&w->owner, w->sends[--w->n_sends], status);
}

static int world_close(void **state)
{
    struct world *w = *state;
    call_back(w, TQ_OK);
    w->close_at_once = true;
    tq_owner_close_all(&w->owner);
    assert_int_equal(w->opened, w->gone);
    tq_owner_fini(&w->owner);
    free(w);
    return 0;
}

static void ask_with(struct world *w, uint32_t link, pb_size_t ranges, uint64_t expires_us)
{
    uint8_t bytes[tq_wire_BulkRead_size];
    tq_wire_BulkRead message = { .transfer = 1, .process = 7, .link = link, .region = 2, .expires_us = expires_us };
    tq_wire_BulkAddress reader = { .version = 1, .process = 7, .port = 9 };
    message.reply_to.size =
        (pb_size_t)tq_address_encode(&reader, message.reply_to.bytes, sizeof(message.reply_to.bytes));
    message.ticket.size = 16;
    message.frame_count = message.skip_count = message.length_count = message.version_count = ranges;
    for (pb_size_t i = 0; i < ranges; i++)
        message.length[i] = 8;
    pb_ostream_t stream = pb_ostream_from_buffer(bytes, sizeof(bytes));
    assert_true(pb_encode(&stream, tq_wire_BulkRead_fields, &message));
    tq_owner_asked(&w->owner, (struct tq_bytes){ bytes, stream.bytes_written }, NULL);
}

static void holds_until_the_send_is_over(void **state)
{
    struct world *w = *state;
    ask_with(w, 1, 3, 1000);
    assert_int_equal(w->n_sends, 3);
    assert_int_equal(w->held, 3);
    assert_int_equal(w->dropped, 0);
    assert_int_equal(w->last.length, 8);
    call_back(w, TQ_OK);
    assert_int_equal(w->dropped, 3);
    assert_int_equal(w->closes, 0);
}

static void refuses_by_a_status_piece(void **state)
{
    struct world *w = *state;
    w->hold_status = TQ_PERMISSION_DENIED;
    ask_with(w, 1, 1, 1000);
    assert_int_equal(w->n_sends, 1);
    assert_int_equal(w->sends[0]->length, 0);
    assert_int_equal(w->last.status, TQ_PERMISSION_DENIED);
    assert_int_equal(w->last.length, 0);
}

static void follows_the_newest_link_only(void **state)
{
    struct world *w = *state;
    ask_with(w, 5, 1, 1000);
    ask_with(w, 6, 1, 1000);
    assert_int_equal(w->opened, 2);
    assert_int_equal(w->closes, 1);
    tq_owner_closed(&w->owner, w->closing);
    assert_int_equal(w->gone, 0); /* its send has not called back */
    ask_with(w, 5, 1, 1000);      /* late */
    assert_int_equal(w->opened, 2);
    assert_int_equal(w->n_sends, 2);
    call_back(w, TQ_OK);
    assert_int_equal(w->gone, 1);
}

static void a_dead_link_is_not_answered(void **state)
{
    struct world *w = *state;
    w->fail_send = w->close_at_once = true;
    ask_with(w, 4, 3, 1000);
    assert_int_equal(w->closes, 1);
    assert_int_equal(w->gone, 1);
    assert_int_equal(w->held, w->dropped - 0u); /* what was held was dropped */
    w->fail_send = false;
    ask_with(w, 4, 1, 1000);
    assert_int_equal(w->opened, 1);
    ask_with(w, 5, 1, 1000);
    assert_int_equal(w->opened, 2);
}

static void sends_inside_the_call(void **state)
{
    struct world *w = *state;
    w->inline_send = true;
    ask_with(w, 1, 32, 1000);
    assert_int_equal(w->held, 32);
    assert_int_equal(w->dropped, 32);
}

static void overdue_sends_close_the_link(void **state)
{
    struct world *w = *state;
    ask_with(w, 1, 2, 1000000);
    int64_t due_ns = tq_owner_tick(&w->owner, 0);
    assert_true(due_ns > INT64_C(1000000000) && due_ns < INT64_C(3000000000));
    assert_int_equal(w->closes, 0);
    (void)tq_owner_tick(&w->owner, due_ns);
    assert_int_equal(w->closes, 1);
    call_back(w, TQ_CANCELLED);
    assert_int_equal(w->gone, 0);
    tq_owner_closed(&w->owner, w->closing);
    assert_int_equal(w->gone, 1);
}

static void bytes_wanted_back_close_the_link(void **state)
{
    struct world *w = *state;
    ask_with(w, 1, 1, 1000000);
    tq_owner_relieve(&w->owner);
    assert_int_equal(w->closes, 0);
    w->wanted = true;
    tq_owner_relieve(&w->owner);
    assert_int_equal(w->closes, 1);
    call_back(w, TQ_CANCELLED);
    tq_owner_closed(&w->owner, w->closing);
}

static void one_caller_cannot_have_everything(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 33; i++)
        ask_with(w, 1, 32, 1000);
    assert_int_equal(w->last.status, TQ_RESOURCE_EXHAUSTED);
    assert_int_equal(w->held, 1023); /* the message itself counts while it is looked at */
}

static void who_only_asks_is_closed(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 100; i++)
        ask_with(w, 1, 32, 1000);
    assert_true(w->n_sends < SENDS);
    assert_int_equal(w->closes, 1);
    assert_int_equal(w->opened, 1);
    call_back(w, TQ_CANCELLED);
    tq_owner_closed(&w->owner, w->closing);
    assert_int_equal(w->gone, 1);
}

static void nobody_comes_in_while_closing(void **state)
{
    struct world *w = *state;
    w->close_at_once = true;
    ask_with(w, 1, 1, 1000);
    tq_owner_close_all(&w->owner);
    ask_with(w, 2, 1, 1000);
    assert_int_equal(w->opened, 1);
    assert_int_equal(w->n_sends, 1);
}

static void garbage_is_counted(void **state)
{
    struct world *w = *state;
    tq_owner_asked(&w->owner, (struct tq_bytes){ (const uint8_t *)"\x16\x03\x01\x02\x00\x01", 6 }, NULL);
    tq_owner_asked(&w->owner, (struct tq_bytes){ NULL, 0 }, NULL);
    assert_int_equal(w->owner.garbage, 2);
    assert_int_equal(w->opened, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)
    const struct CMUnitTest tests[] = {
        TEST(holds_until_the_send_is_over),
        TEST(refuses_by_a_status_piece),
        TEST(follows_the_newest_link_only),
        TEST(a_dead_link_is_not_answered),
        TEST(sends_inside_the_call),
        TEST(overdue_sends_close_the_link),
        TEST(bytes_wanted_back_close_the_link),
        TEST(one_caller_cannot_have_everything),
        TEST(who_only_asks_is_closed),
        TEST(nobody_comes_in_while_closing),
        TEST(garbage_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

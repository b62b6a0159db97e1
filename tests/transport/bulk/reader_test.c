/* The reader's core against a transport that delays, reorders, answers inside the call, fails at the n-th submit, lies
 * about lengths and completes late. No I/O, virtual time. */
#include <stdlib.h>
#include <string.h>

#include <pb_decode.h>
#include <pb_encode.h>

#include "tests/support/cmocka_all.h"
#include "transport/base/crc32c.h"
#include "transport/bulk/reader.h"

enum { PIECE = 4096, PIECES = 12, LEN = PIECE * PIECES - 100, ASKS = 256 };

static const struct tq_pace pace = { PIECE, 4 * PIECE };

/* ---- a world of one link ---- */

struct world {
    struct tq_seam seam;
    int64_t now_ns;
    unsigned fail_ask_at, asks; /* 1: the first */
    bool inline_answers, close_at_once, is_dead, quarantine_full;
    bool own_memory;
    unsigned opened, closes, adrift, landed, finished, expired;
    bool closing;
    struct tq_heap timers;
    struct tq_reader reader;
    struct tq_link link;
    tq_wire_BulkRead asked[ASKS]; /* not answered yet */
    unsigned n_asked;
    struct tq_bulk_result result;
    uint8_t source[LEN], target[LEN];
};

static int64_t world_now(void *self)
{
    return ((struct world *)self)->now_ns;
}

static tq_status fake_open(void *self, struct tq_link *link, struct tq_error *err)
{
    struct world *w = self;
    (void)err;
    w->opened++;
    link->reply_to = (struct tq_bytes){ (const uint8_t *)"me", 2 };
    return TQ_OK;
}

static struct tq_piece *announce(struct world *w, uint64_t transfer, uint32_t number, tq_status status, uint64_t length,
                                 size_t len)
{
    uint8_t bytes[tq_wire_BulkPiece_size];
    const tq_wire_BulkPiece header = { transfer, number, (uint32_t)status, length };
    pb_ostream_t stream = pb_ostream_from_buffer(bytes, sizeof(bytes));
    assert_true(pb_encode(&stream, tq_wire_BulkPiece_fields, &header));
    return tq_reader_announced(&w->reader, (struct tq_bytes){ bytes, stream.bytes_written }, len);
}

static void deliver(struct world *w, struct tq_piece *piece)
{
    memcpy(piece->into, w->source + piece->skip, piece->len);
    tq_reader_received(&w->reader, piece, TQ_OK, tq_crc32c(piece->into, piece->len));
}

static void answer(struct world *w, const tq_wire_BulkRead *ask, pb_size_t i)
{
    struct tq_piece *piece =
        announce(w, ask->transfer, ask->first_piece + i, TQ_OK, ask->length[i], (size_t)ask->length[i]);
    if (piece != NULL)
        deliver(w, piece);
}

static tq_status fake_ask(void *self, struct tq_link *link, const uint8_t *bytes, size_t len, struct tq_error *err)
{
    struct world *w = self;
    tq_wire_BulkRead ask = tq_wire_BulkRead_init_zero;
    pb_istream_t stream = pb_istream_from_buffer(bytes, len);
    assert_true(pb_decode(&stream, tq_wire_BulkRead_fields, &ask));
    assert_int_equal(ask.link, link->number);
    if (++w->asks == w->fail_ask_at)
        return tq_fail(err, TQ_UNAVAILABLE, "PEER_LOST", "as the test wants it");
    if (w->inline_answers) {
        for (pb_size_t i = 0; i < ask.frame_count; i++)
            answer(w, &ask, i);
        return TQ_OK;
    }
    assert_true(w->n_asked < ASKS);
    w->asked[w->n_asked++] = ask;
    return TQ_OK;
}

static void fake_close(void *self, struct tq_link *link)
{
    struct world *w = self;
    w->closes++;
    w->n_asked = 0;
    w->closing = true;
    if (w->close_at_once) {
        w->closing = false;
        tq_reader_closed(&w->reader, link);
    }
}

static bool fake_adrift(void *self, const uint8_t *ptr, size_t len, struct tq_hold *out_hold)
{
    struct world *w = self;
    (void)ptr;
    (void)len;
    *out_hold = (struct tq_hold){ 0 };
    w->adrift += w->own_memory;
    return w->own_memory;
}

static void fake_land(void *self, struct tq_hold *hold)
{
    (void)hold;
    ((struct world *)self)->landed++;
}

static bool fake_full(void *self)
{
    return ((struct world *)self)->quarantine_full;
}

static bool fake_dead(void *self, struct tq_link *link)
{
    (void)link;
    return ((struct world *)self)->is_dead;
}

static void fake_finished(void *self, struct tq_transfer *transfer)
{
    struct world *w = self;
    w->finished++;
    if (!transfer->reported)
        tq_transfer_report(transfer);
    tq_transfer_close(transfer);
}

static void fake_expired(void *self, struct tq_transfer *transfer)
{
    ((struct world *)self)->expired++;
    tq_transfer_report(transfer);
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

static bool world_fault(void *self, enum tq_fault point)
{
    (void)self;
    (void)point;
    return false;
}

static void world_random(void *self, void *out, size_t len)
{
    static uint8_t next = 1;
    (void)self;
    for (size_t i = 0; i < len; i++)
        ((uint8_t *)out)[i] = next++;
}

static int world_open(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    assert_non_null(w);
    w->seam = (struct tq_seam){ w, world_now, world_random, world_alloc, world_free, world_fault };
    w->now_ns = 1000;
    const struct tq_reader_port port = { w,         fake_open, fake_ask,  fake_close,    fake_adrift,
                                         fake_land, fake_full, fake_dead, fake_finished, fake_expired };
    tq_heap_init(&w->timers, &w->seam);
    tq_reader_init(&w->reader, &w->seam, &port, &w->timers);
    tq_link_init(&w->link, &pace);
    for (size_t i = 0; i < LEN; i++)
        w->source[i] = (uint8_t)(i * 7 + i / 251);
    *state = w;
    return 0;
}

static int world_close(void **state)
{
    struct world *w = *state;
    assert_int_equal(w->link.flying, 0);
    assert_int_equal(w->link.flying_bytes, 0);
    assert_int_equal(w->link.receiving, 0);
    assert_true(tq_link_is_idle(&w->link));
    tq_reader_fini(&w->reader);
    tq_heap_fini(&w->timers);
    free(w);
    return 0;
}

static void on_done(void *user, const struct tq_bulk_result *result)
{
    struct world *w = user;
    w->result = *result;
}

static struct tq_bulk_range range;

static struct tq_transfer *begin(struct world *w)
{
    static uint8_t address[TQ_ADDRESS_MAX];
    struct tq_transfer *transfer = NULL;
    struct tq_error err;
    tq_wire_BulkAddress peer = { .version = 1, .process = 77, .port = 1 };
    size_t len = tq_address_encode(&peer, address, sizeof(address));
    const struct tq_region region = {
        .id = 5, .kind = TQ_REGION_HEAP, .length = LEN, .ticket = { (const uint8_t *)"0123456789abcdef", 16 }
    };
    const struct tq_bulk_read_opts opts = { .deadline_ns = 1000000 };
    range = (struct tq_bulk_range){ .len = LEN, .version = 1, .into = w->target };
    const struct tq_read_args args = { { address, len }, &region, 1, &range, 1, &opts, on_done, w };
    assert_int_equal(tq_transfer_open(&w->seam, &args, &transfer, &err), TQ_OK);
    assert_true(tq_heap_set(&w->timers, &transfer->timer, opts.deadline_ns));
    assert_true(tq_transfer_plan(transfer, PIECE));
    assert_int_equal(transfer->n_pieces, PIECES);
    tq_reader_start(&w->reader, &w->link, transfer);
    return transfer;
}

static void check_good(struct world *w)
{
    assert_int_equal(w->finished, 1);
    assert_int_equal(w->result.error.status, TQ_OK);
    assert_int_equal(w->result.bytes[TQ_ENGINE_RENDEZVOUS], LEN);
    assert_memory_equal(w->target, w->source, LEN);
    assert_int_equal(range.crc32c, tq_crc32c(w->source, LEN));
    assert_int_equal(tq_heap_next_ns(&w->timers), INT64_MAX);
}

/* Answers all that was asked for, the last first, until nothing is asked for. */
static void answer_backwards(struct world *w)
{
    while (w->n_asked > 0) {
        tq_wire_BulkRead ask = w->asked[--w->n_asked];
        for (pb_size_t i = ask.frame_count; i > 0; i--)
            answer(w, &ask, (pb_size_t)(i - 1));
    }
}

static void fire(struct world *w)
{
    w->now_ns = 2000000;
    struct tq_heap_node *due = tq_heap_take_due(&w->timers, w->now_ns);
    assert_non_null(due);
    tq_reader_expire(&w->reader, tq_container_of(due, struct tq_transfer, timer));
}

/* ---- tests ---- */

static void pieces_in_any_order_make_one_digest(void **state)
{
    struct world *w = *state;
    begin(w);
    assert_int_equal(w->n_asked, 1);
    assert_int_equal(w->asked[0].frame_count, 4); /* the window */
    answer_backwards(w);
    check_good(w);
}

static void answers_inside_the_call(void **state)
{
    struct world *w = *state;
    w->inline_answers = true;
    begin(w);
    check_good(w);
}

static void every_failing_submit_is_survived(void **state)
{
    struct world *w = *state;
    for (unsigned nth = 1; nth <= 3; nth++) {
        w->asks = w->finished = 0;
        w->fail_ask_at = nth;
        w->close_at_once = nth % 2 == 0;
        memset(w->target, 0, LEN);
        begin(w);
        for (int turn = 0; turn < 20 && w->finished == 0; turn++) {
            answer_backwards(w);
            if (w->closing) {
                w->closing = false;
                tq_reader_closed(&w->reader, &w->link);
            }
        }
        check_good(w);
    }
}

static void gives_up_after_three_links(void **state)
{
    struct world *w = *state;
    struct tq_error why;
    w->close_at_once = true;
    begin(w);
    for (int attempt = 0; attempt < 3; attempt++) {
        assert_int_equal(w->finished, 0);
        (void)tq_fail(&why, TQ_UNAVAILABLE, "PEER_LOST", "lost");
        tq_reader_failed(&w->reader, &w->link, &why);
    }
    assert_int_equal(w->finished, 1);
    assert_int_equal(w->result.error.status, TQ_UNAVAILABLE);
    assert_int_equal(w->opened, 3);
}

static void a_dead_owner_ends_it_at_once(void **state)
{
    struct world *w = *state;
    struct tq_error why;
    w->close_at_once = w->is_dead = true;
    begin(w);
    (void)tq_fail(&why, TQ_UNAVAILABLE, "PEER_DIED", "dead");
    tq_reader_failed(&w->reader, &w->link, &why);
    assert_int_equal(w->finished, 1);
    assert_string_equal(w->result.error.reason, "PEER_DIED");
}

static void wrong_lengths_are_declined(void **state)
{
    struct world *w = *state;
    struct tq_transfer *transfer = begin(w);
    w->close_at_once = true;
    uint64_t id = transfer->id;
    assert_null(announce(w, id, 0, TQ_OK, PIECE, PIECE + 1)); /* UCX would abort */
    assert_int_equal(w->finished, 1);
    assert_int_equal(w->result.error.status, TQ_INTERNAL);
    assert_string_equal(w->result.error.reason, "PIECE_LENGTH");
    assert_null(announce(w, id, 0, TQ_OK, PIECE, PIECE)); /* late */
}

static void foreign_and_double_pieces_are_declined(void **state)
{
    struct world *w = *state;
    struct tq_transfer *transfer = begin(w);
    uint64_t id = transfer->id;
    assert_null(announce(w, id + 1, 0, TQ_OK, PIECE, PIECE));
    assert_null(announce(w, id, PIECES, TQ_OK, PIECE, PIECE));
    assert_null(announce(w, id, UINT32_MAX, TQ_OK, PIECE, PIECE));
    assert_null(announce(w, id, 4, TQ_OK, PIECE, PIECE)); /* not asked for yet */
    struct tq_piece *piece = announce(w, id, 0, TQ_OK, PIECE, PIECE);
    assert_non_null(piece);
    assert_null(announce(w, id, 0, TQ_OK, PIECE, PIECE));
    deliver(w, piece);
    assert_null(announce(w, id, 0, TQ_OK, PIECE, PIECE));
    assert_null(tq_reader_announced(&w->reader, (struct tq_bytes){ (const uint8_t *)"\xff\xff", 2 }, 5));
    answer_backwards(w);
    check_good(w);
}

static void refusals_carry_their_reason(void **state)
{
    struct world *w = *state;
    struct tq_transfer *transfer = begin(w);
    assert_null(announce(w, transfer->id, 2, TQ_ABORTED, 0, 0));
    assert_int_equal(w->finished, 1);
    assert_int_equal(w->result.error.status, TQ_ABORTED);
    assert_string_equal(w->result.error.reason, "STALE_VERSION");
}

static void expired_before_anything_came(void **state)
{
    struct world *w = *state;
    begin(w);
    fire(w);
    assert_int_equal(w->finished, 1);
    assert_int_equal(w->closes, 0); /* nothing was written: no force, no quarantine */
    assert_int_equal(w->adrift, 0);
    assert_int_equal(w->result.error.status, TQ_DEADLINE_EXCEEDED);
    answer_backwards(w); /* late: declined */
}

static void expired_under_the_callers_memory_is_reported_when_quiet(void **state)
{
    struct world *w = *state;
    struct tq_transfer *transfer = begin(w);
    struct tq_piece *piece = announce(w, transfer->id, 1, TQ_OK, PIECE, PIECE);
    assert_non_null(piece);
    fire(w);
    assert_int_equal(w->closes, 1);
    assert_int_equal(w->finished, 0);
    tq_reader_closed(&w->reader, &w->link);
    assert_int_equal(w->finished, 0); /* the receive has not called back: the memory is not quiet */
    tq_reader_received(&w->reader, piece, TQ_CANCELLED, 0);
    assert_int_equal(w->finished, 1);
    assert_int_equal(w->result.error.status, TQ_DEADLINE_EXCEEDED);
}

static void expired_under_our_memory_goes_adrift(void **state)
{
    struct world *w = *state;
    struct tq_transfer *transfer = begin(w);
    struct tq_piece *piece = announce(w, transfer->id, 1, TQ_OK, PIECE, PIECE);
    w->own_memory = true;
    fire(w);
    assert_int_equal(w->expired, 1);
    assert_int_equal(w->result.error.status, TQ_DEADLINE_EXCEEDED);
    assert_int_equal(w->closes, 0);
    assert_int_equal(w->adrift, 1);
    assert_int_equal(w->finished, 0);
    deliver(w, piece); /* late */
    assert_int_equal(w->landed, 1);
    assert_int_equal(w->finished, 1);
}

static void a_full_quarantine_closes_the_link(void **state)
{
    struct world *w = *state;
    struct tq_transfer *transfer = begin(w);
    struct tq_piece *piece = announce(w, transfer->id, 1, TQ_OK, PIECE, PIECE);
    w->own_memory = w->quarantine_full = true;
    fire(w);
    assert_int_equal(w->closes, 1);
    tq_reader_received(&w->reader, piece, TQ_CANCELLED, 0);
    tq_reader_closed(&w->reader, &w->link);
    assert_int_equal(w->landed, 1);
    assert_int_equal(w->finished, 1);
}

static void others_on_the_link_start_again(void **state)
{
    struct world *w = *state;
    struct tq_transfer *doomed = begin(w);
    struct tq_piece *piece = announce(w, doomed->id, 1, TQ_OK, PIECE, PIECE);
    struct tq_transfer *other = begin(w); /* waits for the window */
    assert_true(tq_heap_set(&w->timers, &other->timer, INT64_C(9000000)));
    other->opts.deadline_ns = INT64_C(9000000);
    fire(w);
    assert_int_equal(w->closes, 1);
    tq_reader_received(&w->reader, piece, TQ_CANCELLED, 0);
    tq_reader_closed(&w->reader, &w->link);
    assert_int_equal(w->finished, 1);
    assert_int_equal(w->result.error.status, TQ_DEADLINE_EXCEEDED);
    assert_int_equal(w->opened, 2);
    w->finished = 0;
    answer_backwards(w);
    check_good(w);
}

static void cancel_ends_everything(void **state)
{
    struct world *w = *state;
    struct tq_transfer *transfer = begin(w);
    struct tq_piece *piece = announce(w, transfer->id, 0, TQ_OK, PIECE, PIECE);
    begin(w);
    tq_reader_cancel(&w->reader, &w->link);
    assert_int_equal(w->finished, 1);
    tq_reader_received(&w->reader, piece, TQ_CANCELLED, 0);
    tq_reader_closed(&w->reader, &w->link);
    assert_int_equal(w->finished, 2);
    assert_int_equal(w->result.error.status, TQ_CANCELLED);
}

static void bytes_that_never_came_are_no_success(void **state)
{
    struct world *w = *state;
    struct tq_transfer *transfer = begin(w);
    w->inline_answers = true;
    tq_transfer_report(transfer); /* with no error, and nothing here */
    assert_int_equal(w->result.error.status, TQ_INTERNAL);
    assert_string_equal(w->result.error.reason, "INCOMPLETE");
    w->close_at_once = true;
    tq_reader_cancel(&w->reader, &w->link);
    assert_int_equal(w->finished, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)
    const struct CMUnitTest tests[] = {
        TEST(bytes_that_never_came_are_no_success),
        TEST(pieces_in_any_order_make_one_digest),
        TEST(answers_inside_the_call),
        TEST(every_failing_submit_is_survived),
        TEST(gives_up_after_three_links),
        TEST(a_dead_owner_ends_it_at_once),
        TEST(wrong_lengths_are_declined),
        TEST(foreign_and_double_pieces_are_declined),
        TEST(refusals_carry_their_reason),
        TEST(expired_before_anything_came),
        TEST(expired_under_the_callers_memory_is_reported_when_quiet),
        TEST(expired_under_our_memory_goes_adrift),
        TEST(a_full_quarantine_closes_the_link),
        TEST(others_on_the_link_start_again),
        TEST(cancel_ends_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

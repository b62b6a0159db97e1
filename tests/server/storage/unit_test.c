/* A unit in a process of its own, over real RPC and bulk: what was put comes back, by every way. */
#include "tests/server/storage/child.h"
#include "tests/server/storage/writer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/cmocka_all.h"
#include "tq/init.h"

/* How client and unit reach each other. */
struct setup {
    const char *bulk, *transport;
    enum tq_bulk_mode mode;
    bool tcp_only;
    enum way way;
    enum tq_bulk_engine get_engine; /* of large cells */
};

static const struct setup shared_memory = {
    "required", "auto", TQ_BULK_REQUIRED, false, BY_BULK, TQ_ENGINE_REMOTE_READ
};
static const struct setup tcp = { "required", "tcp", TQ_BULK_REQUIRED, true, BY_BULK, TQ_ENGINE_RENDEZVOUS };
static const struct setup frames_only = { "off", "auto", TQ_BULK_OFF, false, BY_FRAMES, TQ_ENGINE_NONE };

struct fixture {
    const struct setup *setup;
    struct child unit;
    struct writer writer;
};

static struct fixture the;

static void open_with(const struct setup *setup, const char *memory)
{
    const char *const args[] = { "--memory",       memory,        "--bulk", setup->bulk, "--bulk-transport",
                                 setup->transport, "--log-level", "warn",   NULL };
    the = (struct fixture){ .setup = setup };
    child_start(&the.unit, "tq-storage", args);
    child_wait_ready(&the.unit);
    writer_open(&the.writer, the.unit.address, setup->mode, setup->tcp_only);
}

static int open_shared_memory(void **state)
{
    (void)state;
    open_with(&shared_memory, "256MiB");
    return 0;
}

static int open_tcp(void **state)
{
    (void)state;
    open_with(&tcp, "256MiB");
    return 0;
}

static int open_frames(void **state)
{
    (void)state;
    open_with(&frames_only, "256MiB");
    return 0;
}

/* Whatever the test did: nothing is left over, and the unit drains. */
static int close_all(void **state)
{
    (void)state;
    if (the.writer.channel != NULL)
        writer_close(&the.writer);
    if (the.unit.pid != 0)
        assert_int_equal(child_end(&the.unit, SIGTERM), 0);
    return 0;
}

/* Bytes that differ everywhere. */
static uint8_t *make_bytes(uint64_t len, uint64_t seed)
{
    uint8_t *bytes = malloc(len + 8);
    for (uint64_t i = 0; i < len; i += 8) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        memcpy(bytes + i, &seed, 8);
    }
    return bytes;
}

/* n equal lengths. */
static uint64_t *make_lengths(size_t n, uint64_t len)
{
    uint64_t *lengths = calloc(n, sizeof(*lengths));
    for (size_t i = 0; i < n; i++)
        lengths[i] = len;
    return lengths;
}

static void check_field(const struct packed *column, const Tq__V1__GetResponse *response, size_t n)
{
    const Tq__V1__Field *field = response->fields[0];
    assert_int_equal(response->n_fields, 1);
    assert_string_equal(field->name, column->name);
    assert_int_equal(field->layout, column->layout);
    assert_int_equal(field->dtype, column->dtype);
    assert_string_equal(field->content_type, column->content_type != NULL ? column->content_type : "");
    bool is_jagged = column->layout == TQ__V1__LAYOUT__LAYOUT_JAGGED;
    assert_int_equal(field->n_shape, is_jagged ? 0 : column->rank);
    assert_int_equal(response->shapes[0]->n_size, is_jagged ? column->rank * n : 0);
    const uint64_t *shape = is_jagged ? response->shapes[0]->size : field->shape;
    for (size_t i = 0; i < (is_jagged ? column->rank * n : column->rank); i++)
        assert_int_equal(shape[i], column->shape[i]);
}

/* Puts, gets, compares every byte, clears. Returns what the get moved by the expected engine. */
static uint64_t round_trip(const struct packed *column, size_t n)
{
    static uint32_t generation; /* of the last: cleared samples do not come back */
    const struct rows rows = { "train_0", 100, n, ++generation };
    struct tq_reply reply;
    struct fetched got;
    struct tq_error err;
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += column->lengths[i];
    assert_int_equal(writer_put(&the.writer, &rows, column, the.setup->way, &reply), TQ_OK);
    const Tq__V1__PutResponse *put = tq_v1_storage_put_response(&reply);
    assert_int_equal(put->stored_bytes, total);
    assert_int_equal(put->bulk_bytes, the.setup->way == BY_BULK ? total : 0);
    tq_reply_drop(&reply);
    assert_int_equal(writer_get(&the.writer, &rows, column->name, &got, &err), TQ_OK);
    assert_int_equal(got.total, total);
    assert_memory_equal(got.bytes, column->bytes, total);
    check_field(column, got.response, n);
    uint64_t moved = got.engine_bytes[the.setup->get_engine];
    if (got.response->pin != 0)
        writer_release(&the.writer, got.response->pin);
    fetched_drop(&got);
    assert_int_equal(writer_clear(&the.writer, &rows), TQ_OK);
    writer_await_metric(&the.writer, "storage_pins", 0);
    writer_await_metric(&the.writer, "storage_used_bytes", 0);
    return moved;
}

static void dense_column(void)
{
    const uint64_t shape[] = { 5, 400 };
    uint8_t *bytes = make_bytes(40 * 8000, 1);
    uint64_t *lengths = make_lengths(40, 8000);
    const struct packed column = { .name = "logits",
                                   .layout = TQ__V1__LAYOUT__LAYOUT_DENSE,
                                   .dtype = TQ__V1__DATA_TYPE__DATA_TYPE_FLOAT32,
                                   .rank = 2,
                                   .shape = shape,
                                   .bytes = bytes,
                                   .lengths = lengths };
    round_trip(&column, 40);
    free(lengths);
    free(bytes);
}

static void jagged_column(void)
{
    enum { N = 60 };
    uint64_t sizes[N], lengths[N], total = 0;
    for (size_t i = 0; i < N; i++) {
        sizes[i] = i % 7 == 0 ? 0 : i * 37;
        lengths[i] = sizes[i] * 8;
        total += lengths[i];
    }
    uint8_t *bytes = make_bytes(total, 2);
    const struct packed column = { .name = "tokens",
                                   .layout = TQ__V1__LAYOUT__LAYOUT_JAGGED,
                                   .dtype = TQ__V1__DATA_TYPE__DATA_TYPE_INT64,
                                   .rank = 1,
                                   .shape = sizes,
                                   .bytes = bytes,
                                   .lengths = lengths };
    round_trip(&column, N);
    free(bytes);
}

static void opaque_column(void)
{
    const uint64_t lengths[] = { 5, 0, 70000, 1 };
    uint8_t *bytes = make_bytes(70006, 3);
    const struct packed column = { .name = "prompt",
                                   .layout = TQ__V1__LAYOUT__LAYOUT_OPAQUE,
                                   .content_type = "text/plain; charset=utf-8",
                                   .bytes = bytes,
                                   .lengths = lengths };
    round_trip(&column, 4);
    free(bytes);
}

static void many_small_cells(void)
{
    enum { N = 16384 };
    uint8_t *bytes = make_bytes((uint64_t)N * 4, 4);
    uint64_t *lengths = make_lengths(N, 4);
    const struct packed column = { .name = "reward",
                                   .layout = TQ__V1__LAYOUT__LAYOUT_DENSE,
                                   .dtype = TQ__V1__DATA_TYPE__DATA_TYPE_FLOAT32,
                                   .bytes = bytes,
                                   .lengths = lengths };
    round_trip(&column, N);
    free(lengths);
    free(bytes);
}

static void one_large_cell(uint64_t len)
{
    uint8_t *bytes = make_bytes(len, 5);
    const struct packed column = { .name = "weights",
                                   .layout = TQ__V1__LAYOUT__LAYOUT_DENSE,
                                   .dtype = TQ__V1__DATA_TYPE__DATA_TYPE_UINT8,
                                   .rank = 1,
                                   .shape = &len,
                                   .bytes = bytes,
                                   .lengths = &len };
    uint64_t moved = round_trip(&column, 1);
    if (the.setup->way == BY_BULK)
        assert_int_equal(moved, len);
    free(bytes);
}

static void every_layout_comes_back(void **state)
{
    (void)state;
    dense_column();
    jagged_column();
    opaque_column();
    many_small_cells();
}

static void a_large_cell_comes_back_by_its_engine(void **state)
{
    (void)state;
    one_large_cell(UINT64_C(64) << 20);
}

/* The unit reads leased memory at the speed of a copy. */
static void a_cell_of_an_arena_is_read_by_the_faster_engine(void **state)
{
    const uint64_t len = UINT64_C(8) << 20;
    const struct rows rows = { "p", 3, 1, 1 };
    uint8_t *bytes = make_bytes(len, 6);
    const struct packed column = {
        .name = "x", .layout = TQ__V1__LAYOUT__LAYOUT_OPAQUE, .bytes = bytes, .lengths = &len
    };
    struct tq_reply reply;
    struct fetched got;
    struct tq_error err;
    (void)state;
    assert_int_equal(writer_put(&the.writer, &rows, &column, BY_ARENA, &reply), TQ_OK);
    assert_int_equal(tq_v1_storage_put_response(&reply)->engine, the.setup->get_engine);
    assert_int_equal(tq_v1_storage_put_response(&reply)->bulk_bytes, len);
    tq_reply_drop(&reply);
    assert_int_equal(writer_get(&the.writer, &rows, "x", &got, &err), TQ_OK);
    assert_memory_equal(got.bytes, bytes, len);
    fetched_drop(&got);
    free(bytes);
}

/* An answer has so many inline bytes at most; the rest must be asked for in pieces. */
static void a_large_cell_travels_in_frames(void **state)
{
    (void)state;
    one_large_cell(UINT64_C(16) << 20);
}

static void a_put_over_the_budget_is_refused_before_a_byte_moves(void **state)
{
    const uint64_t len = UINT64_C(300) << 20;
    const struct rows rows = { "p", 1, 1, 1 };
    uint8_t *bytes = malloc(len);
    const struct packed column = {
        .name = "x", .layout = TQ__V1__LAYOUT__LAYOUT_OPAQUE, .bytes = bytes, .lengths = &len
    };
    struct tq_reply reply;
    struct tq_bulk_stats stats;
    (void)state;
    assert_int_equal(writer_put(&the.writer, &rows, &column, BY_BULK, &reply), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(reply.error.reason, "BUDGET_BYTES");
    assert_int_equal(reply.error.outcome, TQ_OUTCOME_FAILED);
    tq_reply_drop(&reply);
    tq_bulk_read_stats(the.writer.bulk, &stats);
    assert_int_equal(stats.sent_bytes, 0);
    assert_true(writer_metric(&the.writer, "storage_reserved_bytes") == 0);
    free(bytes);
}

/* A put of one opaque cell; the bytes are `value`. */
static tq_status put_value(uint64_t index, uint64_t len, int value)
{
    const struct rows rows = { "p", index, 1, 1 };
    uint8_t *bytes = malloc(len);
    struct tq_reply reply;
    memset(bytes, value, len);
    const struct packed column = {
        .name = "x", .layout = TQ__V1__LAYOUT__LAYOUT_OPAQUE, .bytes = bytes, .lengths = &len
    };
    tq_status status = writer_put(&the.writer, &rows, &column, BY_BULK, &reply);
    tq_reply_drop(&reply);
    free(bytes);
    return status;
}

enum { CELL = 1 << 20 };

static void a_pinned_reader_sees_the_old_bytes_of_an_overwritten_cell(void **state)
{
    const struct rows rows = { "p", 7, 1, 1 };
    struct fetched old, late;
    struct tq_error err;
    (void)state;
    assert_int_equal(put_value(7, CELL, 1), TQ_OK);
    assert_int_equal(writer_get_answer(&the.writer, &rows, "x", &old), TQ_OK);
    assert_int_equal(writer_get_answer(&the.writer, &rows, "x", &late), TQ_OK);
    assert_int_not_equal(old.response->pin, 0);
    assert_int_equal(put_value(7, CELL, 2), TQ_OK);
    assert_int_equal(writer_read(&the.writer, &old, &err), TQ_OK);
    assert_int_equal(old.bytes[CELL - 1], 1);
    assert_true(writer_metric(&the.writer, "storage_used_bytes") == 2 * CELL);
    writer_release(&the.writer, old.response->pin);
    writer_release(&the.writer, late.response->pin);
    writer_release(&the.writer, late.response->pin); /* unknown ones are ignored */
    assert_true(writer_metric(&the.writer, "storage_used_bytes") == CELL);
    /* Without its pin the frame is gone: a late reader is told, and never gets other bytes. */
    tq_status status = writer_read(&the.writer, &late, &err);
    assert_true(status == TQ_ABORTED || status == TQ_NOT_FOUND);
    fetched_drop(&old);
    fetched_drop(&late);
}

static void a_cleared_sample_is_not_found_and_never_comes_back(void **state)
{
    const struct rows rows = { "p", 7, 1, 1 };
    struct tq_error err;
    (void)state;
    for (int round = 0; round < 50; round++) {
        const struct rows now = { "p", 7, 1, (uint32_t)round + 2 };
        uint64_t len = CELL;
        uint8_t *bytes = malloc(len);
        memset(bytes, round, len);
        const struct packed column = {
            .name = "x", .layout = TQ__V1__LAYOUT__LAYOUT_OPAQUE, .bytes = bytes, .lengths = &len
        };
        struct tq_reply reply;
        struct fetched got;
        assert_int_equal(writer_put(&the.writer, &now, &column, BY_BULK, &reply), TQ_OK);
        tq_reply_drop(&reply);
        assert_int_equal(writer_get(&the.writer, &now, "x", &got, &err), TQ_OK);
        assert_memory_equal(got.bytes, bytes, len);
        writer_release(&the.writer, got.response->pin);
        fetched_drop(&got);
        assert_int_equal(writer_clear(&the.writer, &now), TQ_OK);
        assert_int_equal(writer_get(&the.writer, &now, "x", &got, &err), TQ_NOT_FOUND);
        fetched_drop(&got);
        assert_int_equal(writer_put(&the.writer, &now, &column, BY_BULK, &reply), TQ_FAILED_PRECONDITION);
        assert_string_equal(reply.error.reason, "STALE_GENERATION");
        tq_reply_drop(&reply);
        free(bytes);
    }
    struct fetched got;
    assert_int_equal(writer_get(&the.writer, &rows, "x", &got, &err), TQ_NOT_FOUND);
    assert_non_null(strstr(err.message, "sample 7 of partition 'p'"));
    fetched_drop(&got);
}

static void a_missing_field_is_named(void **state)
{
    const struct rows rows = { "p", 7, 1, 1 };
    struct fetched got;
    struct tq_error err;
    (void)state;
    assert_int_equal(put_value(7, 0, 0), TQ_OK);
    assert_int_equal(writer_get(&the.writer, &rows, "y", &got, &err), TQ_NOT_FOUND);
    assert_string_equal(err.message, "sample 7 of partition 'p' has no field 'y'");
    fetched_drop(&got);
    /* An empty cell is not a missing one. */
    assert_int_equal(writer_get(&the.writer, &rows, "x", &got, &err), TQ_OK);
    assert_int_equal(got.response->cells->n_length, 1);
    assert_int_equal(got.response->cells->digest[0], 0);
    fetched_drop(&got);
}

static void pins_end_with_their_session(void **state)
{
    const struct rows rows = { "p", 7, 1, 1 };
    struct writer other;
    struct fetched got;
    (void)state;
    assert_int_equal(put_value(7, CELL, 1), TQ_OK);
    writer_open(&other, the.unit.address, the.setup->mode, the.setup->tcp_only);
    assert_int_equal(writer_get_answer(&other, &rows, "x", &got), TQ_OK);
    /* A pin belongs to its session: others cannot end it. */
    writer_release(&the.writer, got.response->pin);
    assert_true(writer_metric(&the.writer, "storage_pins") == 1);
    assert_int_equal(writer_clear(&the.writer, &rows), TQ_OK);
    assert_true(writer_metric(&the.writer, "storage_used_bytes") == CELL);
    fetched_drop(&got);
    writer_close(&other);
    writer_await_metric(&the.writer, "storage_pins", 0);
    writer_await_metric(&the.writer, "storage_used_bytes", 0);
}

#define IN(name, open)                                                                                                 \
    {                                                                                                                  \
#name " [" #open "]", name, open, close_all, NULL                                                              \
    }

int main(void)
{
    struct tq_error err;
    if (tq_init(&err) != TQ_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        IN(every_layout_comes_back, open_shared_memory),
        IN(every_layout_comes_back, open_tcp),
        IN(every_layout_comes_back, open_frames),
        IN(a_large_cell_comes_back_by_its_engine, open_shared_memory),
        IN(a_large_cell_comes_back_by_its_engine, open_tcp),
        IN(a_cell_of_an_arena_is_read_by_the_faster_engine, open_shared_memory),
        IN(a_cell_of_an_arena_is_read_by_the_faster_engine, open_tcp),
        IN(a_large_cell_travels_in_frames, open_frames),
        IN(a_put_over_the_budget_is_refused_before_a_byte_moves, open_shared_memory),
        IN(a_pinned_reader_sees_the_old_bytes_of_an_overwritten_cell, open_shared_memory),
        IN(a_pinned_reader_sees_the_old_bytes_of_an_overwritten_cell, open_tcp),
        IN(a_cleared_sample_is_not_found_and_never_comes_back, open_shared_memory),
        IN(a_missing_field_is_named, open_shared_memory),
        IN(pins_end_with_their_session, open_shared_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

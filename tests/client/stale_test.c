/* Cells that a unit says lie in its arena: the good ones arrive, those that are stale, strange or forged are a status,
 * and no byte outside the columns changes. */
#include <stdlib.h>
#include <string.h>

#include "tests/client/fake.h"
#include "tests/support/cmocka_all.h"
#include "tq/client.h"
#include "transport/base/crc32c.h"

enum { CELL = 128 << 10, VERSION = 5 };

struct fixture {
    struct fake fake;
    struct tq_bulk *bulk; /* the unit's */
    struct tq_block block;
    struct tq_region region;
    struct tq_client *client;
    struct tq_meta *meta; /* one sample */
};

static struct fixture fixture;
static uint8_t small[1] = { 7 };

static int open_all(void **state)
{
    struct tq_error err = { 0 };
    struct fixture *f = &fixture;
    int64_t shape[1] = { 1 };
    struct tq_column column = {
        .name = "x",
        .layout = TQ_DENSE,
        .values = { .data = small, .device = { kDLCPU, 0 }, .ndim = 1, .dtype = { kDLUInt, 8, 1 }, .shape = shape }
    };
    struct tq_batch batch = { 1, &column, 1 };
    fake_open(&f->fake);
    assert_int_equal(tq_bulk_open(&(struct tq_bulk_opts){ .mode = TQ_BULK_REQUIRED }, &f->bulk, &err), TQ_OK);
    assert_int_equal(tq_bulk_alloc(f->bulk, CELL, &f->block, &err), TQ_OK);
    for (size_t i = 0; i < CELL; i++)
        f->block.ptr[i] = (uint8_t)(i * 7 + (i >> 9));
    tq_block_publish(&f->block, VERSION);
    assert_true(tq_bulk_region(f->bulk, f->block.region, &f->region));
    f->fake.bulk = tq_bulk_address(f->bulk);
    struct tq_client_opts opts = { .controller = fake_address(&f->fake), .timeout_ms = 10000 };
    if (tq_client_open(&opts, &f->client, &err) != TQ_OK ||
        tq_client_put(f->client, "p", &batch, NULL, NULL, &f->meta, &err) != TQ_OK)
        fail_msg("%s", err.message);
    *state = f;
    return 0;
}

static int close_all(void **state)
{
    struct fixture *f = *state;
    tq_meta_drop(f->meta);
    tq_client_close(f->client);
    tq_bulk_free(f->bulk, &f->block);
    tq_bulk_close(f->bulk);
    fake_close(&f->fake);
    return 0;
}

/* The one cell is the whole block, truly. */
static void tell_region(struct fake_answer *a)
{
    const struct tq_region *region = &fixture.region;
    Tq__V1__Regions *wire = tq_arena_alloc(a->arena, sizeof(*wire));
    tq__v1__regions__init(wire);
    wire->address = (ProtobufCBinaryData){ fixture.fake.bulk.len, (uint8_t *)(uintptr_t)fixture.fake.bulk.ptr };
    wire->n_id = wire->n_kind = wire->n_start = wire->n_length = wire->n_key = wire->n_ticket = 1;
    wire->id = tq_arena_copy(a->arena, &region->id, sizeof(region->id));
    wire->kind = tq_arena_copy(a->arena, &region->kind, sizeof(region->kind));
    wire->start = tq_arena_copy(a->arena, &region->base, sizeof(region->base));
    wire->length = tq_arena_copy(a->arena, &region->length, sizeof(region->length));
    wire->key = tq_arena_alloc(a->arena, sizeof(*wire->key));
    wire->ticket = tq_arena_alloc(a->arena, sizeof(*wire->ticket));
    wire->key[0] = (ProtobufCBinaryData){ region->key.len, tq_arena_copy(a->arena, region->key.ptr, region->key.len) };
    wire->ticket[0] =
        (ProtobufCBinaryData){ region->ticket.len, tq_arena_copy(a->arena, region->ticket.ptr, region->ticket.len) };
    a->response->source = wire;
    static uint64_t shape[1] = { CELL };
    a->response->fields[0]->n_shape = 1;
    a->response->fields[0]->shape = shape;
    Tq__V1__Cells *cells = a->response->cells;
    cells->region[0] = 1;
    cells->frame[0] = fixture.block.frame;
    cells->length[0] = CELL;
    cells->version[0] = VERSION;
    cells->digest[0] = tq_crc32c(fixture.block.ptr, CELL);
    a->response->pin = 1;
}

static void old_version(struct fake_answer *a)
{
    tell_region(a);
    a->response->cells->version[0] = VERSION - 1;
}
static void wrong_digest(struct fake_answer *a)
{
    tell_region(a);
    a->response->cells->digest[0] ^= 1;
}
static void unknown_region(struct fake_answer *a)
{
    tell_region(a);
    a->response->source->id[0] ^= 0x5555;
}
static void forged_ticket(struct fake_answer *a)
{
    tell_region(a);
    a->response->source->ticket[0].data[3] ^= 1;
}
static void longer_than_its_frame(struct fake_answer *a)
{
    static uint64_t shape[1] = { 2 * CELL };
    tell_region(a);
    a->response->fields[0]->shape = shape;
    a->response->cells->length[0] = 2 * CELL;
}
static void not_a_frame(struct fake_answer *a)
{
    tell_region(a);
    a->response->cells->frame[0] += 4096;
    a->response->fields[0]->shape[0] = CELL;
}
static void torn_key(struct fake_answer *a)
{
    tell_region(a);
    a->response->source->key[0].len /= 2;
}
static void nobody_lives_there(struct fake_answer *a)
{
    static uint8_t junk[40];
    tell_region(a);
    a->response->source->address = (ProtobufCBinaryData){ sizeof(junk), junk };
}

static tq_status get(struct fixture *f, void (*lie)(struct fake_answer *answer), struct tq_data **out_data,
                     struct tq_error *err)
{
    struct tq_op_opts opts = { .deadline_ns = tq_deadline_after_ms(3000) };
    f->fake.lie = lie;
    tq_status status = tq_client_get(f->client, f->meta, NULL, 0, &opts, out_data, err);
    assert_true(tq_now_ns() <= opts.deadline_ns + 500000000);
    return status;
}

static void a_cell_in_the_arena_arrives(void **state)
{
    struct fixture *f = *state;
    struct tq_data *data = NULL;
    struct tq_error err = { 0 };
    struct tq_client_stats stats;
    if (get(f, tell_region, &data, &err) != TQ_OK)
        fail_msg("%s", err.message);
    assert_memory_equal(tq_data_column(data, "x")->values.data, f->block.ptr, CELL);
    tq_data_drop(data);
    tq_client_read_stats(f->client, &stats);
    assert_int_equal(stats.get_bytes[TQ_ENGINE_REMOTE_READ] + stats.get_bytes[TQ_ENGINE_RENDEZVOUS], CELL);
}

static void what_is_stale_or_forged_is_a_status(void **state)
{
    struct fixture *f = *state;
    void (*const lies[])(struct fake_answer *) = { old_version,   wrong_digest,          unknown_region,
                                                   forged_ticket, longer_than_its_frame, not_a_frame,
                                                   torn_key,      nobody_lives_there };
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        struct tq_data *data = NULL;
        struct tq_error err = { 0 };
        tq_status status = get(f, lies[i], &data, &err);
        if (lies[i] == torn_key && status == TQ_OK) { /* without a key there is still the other engine */
            assert_memory_equal(tq_data_column(data, "x")->values.data, f->block.ptr, CELL);
            tq_data_drop(data);
            continue;
        }
        if (status == TQ_OK || err.message[0] == '\0')
            fail_msg("lie %zu: %s", i, tq_status_name(status));
        assert_null(data);
    }
    struct tq_error err = { 0 };
    struct tq_data *data = NULL;
    assert_int_equal(get(f, old_version, &data, &err), TQ_ABORTED);
    assert_int_equal(get(f, wrong_digest, &data, &err), TQ_DATA_LOSS);
    assert_int_equal(get(f, tell_region, &data, &err), TQ_OK);
    tq_data_drop(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_in_the_arena_arrives),
        cmocka_unit_test(what_is_stale_or_forged_is_a_status),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

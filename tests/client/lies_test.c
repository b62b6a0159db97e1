/* Units and wires that lie: every wrong answer is a status, none is a crash or a byte outside the columns. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tests/client/columns.h"
#include "tests/client/fake.h"
#include "tests/support/cmocka_all.h"

enum { N = 6 };

struct fixture {
    struct fake fake;
    struct tq_client *client;
    struct test_columns columns;
    struct tq_meta *meta; /* of one good put */
};

static struct fixture fixture;

static int open_all(void **state)
{
    struct tq_error err = { 0 };
    fake_open(&fixture.fake);
    struct tq_client_opts opts = { .controller = fake_address(&fixture.fake),
                                   .bulk = TQ_BULK_OFF,
                                   .timeout_ms = 10000 };
    if (tq_client_open(&opts, &fixture.client, &err) != TQ_OK)
        fail_msg("%s", err.message);
    test_columns_open(&fixture.columns, N, 4, 9, 1);
    if (tq_client_put(fixture.client, "p", &fixture.columns.batch, NULL, NULL, &fixture.meta, &err) != TQ_OK)
        fail_msg("%s", err.message);
    *state = &fixture;
    return 0;
}

static int close_all(void **state)
{
    struct fixture *f = *state;
    tq_meta_drop(f->meta);
    test_columns_close(&f->columns);
    tq_client_close(f->client);
    fake_close(&f->fake);
    return 0;
}

static int no_lies(void **state)
{
    struct fixture *f = *state;
    f->fake.lie = NULL;
    atomic_store(&f->fake.wrong_put_digests, 0);
    atomic_store(&f->fake.short_put_digests, 0);
    atomic_store(&f->fake.fail_unit, 0);
    atomic_store(&f->fake.fail_get_unit, 0);
    atomic_store(&f->fake.hold_unit, 0);
    atomic_store(&f->fake.notifies, 0);
    atomic_store(&f->fake.unit_clears, 0);
    atomic_store(&f->fake.table_clears, 0);
    return 0;
}

static void the_truth_comes_back(void **state)
{
    struct fixture *f = *state;
    struct tq_data *data = NULL;
    struct tq_error err = { 0 };
    if (tq_client_get(f->client, f->meta, NULL, 0, NULL, &data, &err) != TQ_OK)
        fail_msg("%s", err.message);
    assert_true(test_columns_same(&f->columns, data));
    assert_int_equal(tq_data_batch(data)->n_columns, TEST_COLUMNS);
    tq_data_drop(data);
}

/* ---- answers of a get ---- */

static void expect_get(struct fixture *f, void (*lie)(struct fake_answer *answer), tq_status expected,
                       const char *fragment)
{
    struct tq_data *data = NULL;
    struct tq_error err = { 0 };
    f->fake.lie = lie;
    tq_status status = tq_client_get(f->client, f->meta, NULL, 0, NULL, &data, &err);
    f->fake.lie = NULL;
    assert_null(data);
    if (status != expected || strstr(err.message, fragment) == NULL)
        fail_msg("%s: \"%s\"; expected %s saying \"%s\"", tq_status_name(status), err.message, tq_status_name(expected),
                 fragment);
}

static void flip_byte(struct fake_answer *a)
{
    a->bytes[0] ^= 0x80;
}
static void wrong_digest(struct fake_answer *a)
{
    a->response->cells->digest[a->response->cells->n_digest - 1]++;
}
static void fewer_fields(struct fake_answer *a)
{
    a->response->n_fields--;
}
static void other_field(struct fake_answer *a)
{
    a->response->fields[0]->name = "other";
}
static void fewer_shapes(struct fake_answer *a)
{
    a->response->n_shapes--;
}
static void no_cells(struct fake_answer *a)
{
    a->response->cells = NULL;
}
static void fewer_regions_column(struct fake_answer *a)
{
    a->response->cells->n_region--;
}
static void fewer_frames_column(struct fake_answer *a)
{
    a->response->cells->n_frame--;
}
static void fewer_lengths(struct fake_answer *a)
{
    a->response->cells->n_length--;
}
static void fewer_versions(struct fake_answer *a)
{
    a->response->cells->n_version--;
}
static void fewer_digests(struct fake_answer *a)
{
    a->response->cells->n_digest--;
}
static void no_columns(struct fake_answer *a)
{
    Tq__V1__Cells *cells = a->response->cells;
    cells->n_region = cells->n_frame = cells->n_length = cells->n_version = cells->n_digest = 0;
}
static void longer_cell(struct fake_answer *a)
{
    a->response->cells->length[0]++;
}
static void endless_cell(struct fake_answer *a)
{
    Tq__V1__Cells *cells = a->response->cells;
    cells->length[cells->n_length - 1] = UINT64_MAX; /* opaque: any length is its own */
}
static void shorter_cell(struct fake_answer *a)
{
    a->response->cells->length[0]--;
}
static void outside(struct fake_answer *a)
{
    a->response->cells->frame[0] = a->n_bytes - 3;
}
static void far_outside(struct fake_answer *a)
{
    a->response->cells->frame[0] = UINT64_MAX - 2;
}
static void unknown_region(struct fake_answer *a)
{
    a->response->cells->region[0] = 1;
}
static void huge_shape(struct fake_answer *a)
{
    a->response->fields[0]->shape[0] = UINT64_C(1) << 62;
}
static void many_dimensions(struct fake_answer *a)
{
    a->response->fields[0]->n_shape = 9;
    a->response->fields[0]->shape = tq_arena_alloc(a->arena, 9 * sizeof(uint64_t));
}
static void unknown_layout(struct fake_answer *a)
{
    a->response->fields[0]->layout = (Tq__V1__Layout)9;
}
static void unknown_type(struct fake_answer *a)
{
    a->response->fields[0]->dtype = (Tq__V1__DataType)200;
}
static void no_type(struct fake_answer *a)
{
    a->response->fields[0]->dtype = TQ__V1__DATA_TYPE__DATA_TYPE_UNSPECIFIED;
}
static void fewer_sizes(struct fake_answer *a)
{
    a->response->shapes[2]->n_size--;
}
static void rank_zero(struct fake_answer *a)
{
    a->response->shapes[2]->rank = 0;
}
static void rank_huge(struct fake_answer *a)
{
    a->response->shapes[2]->rank = UINT32_MAX;
}
static void wrapping_sizes(struct fake_answer *a)
{
    a->response->shapes[3]->size[0] = a->response->shapes[3]->size[1] = UINT64_C(1) << 33;
}
static void other_type_on_one_unit(struct fake_answer *a)
{
    static atomic_int turn;
    if (atomic_fetch_add(&turn, 1) % 2 == 0)
        a->response->fields[1]->dtype = TQ__V1__DATA_TYPE__DATA_TYPE_UINT64;
}

static Tq__V1__Regions *regions(struct fake_answer *a, uint64_t length)
{
    Tq__V1__Regions *regions = tq_arena_alloc(a->arena, sizeof(*regions));
    tq__v1__regions__init(regions);
    regions->n_id = regions->n_kind = regions->n_start = regions->n_length = regions->n_key = regions->n_ticket = 1;
    regions->id = tq_arena_alloc(a->arena, 8);
    regions->kind = tq_arena_alloc(a->arena, 8);
    regions->kind[0] = 1;
    regions->start = tq_arena_alloc(a->arena, 8);
    regions->length = tq_arena_alloc(a->arena, 8);
    regions->length[0] = length;
    regions->key = tq_arena_alloc(a->arena, sizeof(*regions->key));
    regions->ticket = tq_arena_alloc(a->arena, sizeof(*regions->ticket));
    a->response->source = regions;
    a->response->cells->region[0] = 1;
    a->response->cells->version[0] = 5;
    return regions;
}
static void unreachable_region(struct fake_answer *a)
{
    regions(a, 1 << 20);
}
static void small_region(struct fake_answer *a)
{
    regions(a, 3);
}
static void region_without_kind(struct fake_answer *a)
{
    regions(a, 1 << 20)->n_kind = 0;
}
static void region_of_no_kind(struct fake_answer *a)
{
    regions(a, 1 << 20)->kind[0] = 3;
}
static void region_without_ticket(struct fake_answer *a)
{
    regions(a, 1 << 20)->n_ticket = 0;
}
static void cell_without_version(struct fake_answer *a)
{
    regions(a, 1 << 20);
    a->response->cells->version[0] = 0;
}

static const struct lie {
    void (*lie)(struct fake_answer *answer);
    tq_status expected;
    const char *fragment;
} lies[] = {
    { flip_byte, TQ_DATA_LOSS, "vector" },
    { wrong_digest, TQ_DATA_LOSS, "text" },
    { fewer_fields, TQ_INTERNAL, "4 fields; asked for 5" },
    { other_field, TQ_INTERNAL, "field 0 is other" },
    { fewer_shapes, TQ_INTERNAL, "4 shapes" },
    { no_cells, TQ_INTERNAL, "no cells" },
    { fewer_regions_column, TQ_INTERNAL, "14 regions" },
    { fewer_frames_column, TQ_INTERNAL, "14 frames" },
    { fewer_lengths, TQ_INTERNAL, "14 lengths" },
    { fewer_versions, TQ_INTERNAL, "14 versions" },
    { fewer_digests, TQ_INTERNAL, "14 digests" },
    { no_columns, TQ_INTERNAL, "expected 15" },
    { longer_cell, TQ_INTERNAL, "17 bytes" },
    { shorter_cell, TQ_INTERNAL, "15 bytes" },
    { endless_cell, TQ_INTERNAL, "not inside region 0" },
    { outside, TQ_INTERNAL, "not inside region 0" },
    { far_outside, TQ_INTERNAL, "not inside region 0" },
    { unknown_region, TQ_INTERNAL, "not inside region 1" },
    { huge_shape, TQ_INTERNAL, "field vector" },
    { many_dimensions, TQ_INTERNAL, "9 dimensions" },
    { unknown_layout, TQ_INTERNAL, "layout 9" },
    { unknown_type, TQ_INTERNAL, "data type 200" },
    { no_type, TQ_INTERNAL, "type 0" },
    { fewer_sizes, TQ_INTERNAL, "2 sizes for 3" },
    { rank_zero, TQ_INTERNAL, "rank 0" },
    { rank_huge, TQ_INTERNAL, "rank 4294967295" },
    { wrapping_sizes, TQ_INTERNAL, "field matrix" },
    { other_type_on_one_unit, TQ_FAILED_PRECONDITION, "different layouts" },
    { unreachable_region, TQ_INTERNAL, "cannot reach" },
    { small_region, TQ_INTERNAL, "not inside region 1" },
    { region_without_kind, TQ_INTERNAL, "0 kinds" },
    { region_of_no_kind, TQ_INTERNAL, "kind 3" },
    { region_without_ticket, TQ_INTERNAL, "0 tickets" },
    { cell_without_version, TQ_INTERNAL, "version 0" },
};

static void every_lie_of_a_get_is_a_status(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
        expect_get(f, lies[i].lie, lies[i].expected, lies[i].fragment);
    the_truth_comes_back(state);
}

static void wrong_bytes_are_asked_for_once_more(void **state)
{
    struct fixture *f = *state;
    struct tq_client_stats before, after;
    int gets_before = atomic_load(&f->fake.gets);
    tq_client_read_stats(f->client, &before);
    expect_get(f, flip_byte, TQ_DATA_LOSS, "digest");
    tq_client_read_stats(f->client, &after);
    assert_int_equal(after.digest_failures - before.digest_failures, 2);
    assert_int_equal(after.retries - before.retries, 1);
    assert_int_equal(atomic_load(&f->fake.gets) - gets_before, 4); /* two units, twice */
}

/* ---- puts ---- */

static tq_status put(struct fixture *f, int64_t timeout_ms, struct tq_error *err)
{
    struct tq_meta *meta = NULL;
    struct tq_op_opts opts = { .deadline_ns = tq_deadline_after_ms(timeout_ms) };
    tq_status status = tq_client_put(f->client, "p", &f->columns.batch, NULL, &opts, &meta, err);
    assert_true((status == TQ_OK) == (meta != NULL));
    tq_meta_drop(meta);
    return status;
}

static void waits_for(atomic_int *counter, int value)
{
    int64_t until = tq_deadline_after_ms(10000);
    while (atomic_load(counter) < value && tq_now_ns() < until)
        sched_yield();
    assert_int_equal(atomic_load(counter), value);
}

static void a_wrong_digest_is_put_again_then_data_loss(void **state)
{
    struct fixture *f = *state;
    struct tq_error err = { 0 };
    atomic_store(&f->fake.wrong_put_digests, 1);
    assert_int_equal(put(f, 10000, &err), TQ_OK);
    assert_int_equal(atomic_load(&f->fake.notifies), 1);
    atomic_store(&f->fake.wrong_put_digests, 100);
    assert_int_equal(put(f, 10000, &err), TQ_DATA_LOSS);
    assert_non_null(strstr(err.message, "field text"));
    assert_int_equal(atomic_load(&f->fake.notifies), 1);
    waits_for(&f->fake.table_clears, 1); /* what was made for it is taken back */
    assert_int_equal(atomic_load(&f->fake.unit_clears), 2);
}

static void too_few_digests_are_no_success(void **state)
{
    struct fixture *f = *state;
    struct tq_error err = { 0 };
    atomic_store(&f->fake.short_put_digests, 1);
    assert_int_equal(put(f, 10000, &err), TQ_INTERNAL);
    assert_non_null(strstr(err.message, "14 digests for 15 cells"));
    assert_int_equal(atomic_load(&f->fake.notifies), 0);
}

static void nothing_is_ready_when_one_unit_refuses(void **state)
{
    struct fixture *f = *state;
    struct tq_error err = { 0 };
    for (int unit = 7; unit <= 8; unit++) {
        atomic_store(&f->fake.fail_unit, unit);
        assert_int_equal(put(f, 10000, &err), TQ_RESOURCE_EXHAUSTED);
        assert_string_equal(err.reason, "BUDGET_BYTES");
        assert_int_equal(atomic_load(&f->fake.notifies), 0);
    }
    waits_for(&f->fake.table_clears, 2);
}

static void nothing_is_ready_when_one_unit_never_answers(void **state)
{
    struct fixture *f = *state;
    struct tq_error err = { 0 };
    atomic_store(&f->fake.hold_unit, 8);
    int64_t start = tq_now_ns();
    assert_int_equal(put(f, 500, &err), TQ_DEADLINE_EXCEEDED);
    assert_true(tq_now_ns() - start < 1000000000);
    assert_int_equal(atomic_load(&f->fake.notifies), 0);
    waits_for(&f->fake.table_clears, 1);
}

/* ---- pins ---- */

enum { FAILED_GETS = 50 };

static void pin_it(struct fake_answer *a)
{
    a->response->pin = 77;
}

/* A unit that has no more room for pins would refuse the gets of this client from then on. */
static void a_get_that_fails_at_one_unit_gives_back_the_pin_of_the_other(void **state)
{
    struct fixture *f = *state;
    atomic_store(&f->fake.pins, 0);
    atomic_store(&f->fake.releases, 0);
    for (int unit = 7; unit < 7 + FAKE_UNITS; unit++) {
        atomic_store(&f->fake.fail_get_unit, unit);
        for (int i = 0; i < FAILED_GETS; i++)
            expect_get(f, pin_it, TQ_NOT_FOUND, "no such samples");
    }
    assert_int_equal(atomic_load(&f->fake.pins), FAKE_UNITS * FAILED_GETS);
    int64_t give_up_ns = tq_deadline_after_ms(5000);
    while (atomic_load(&f->fake.releases) < atomic_load(&f->fake.pins) && tq_now_ns() < give_up_ns)
        sched_yield();
    assert_int_equal(atomic_load(&f->fake.releases), atomic_load(&f->fake.pins));
}

static void bad_arguments_reach_nobody(void **state)
{
    struct fixture *f = *state;
    struct tq_error err = { 0 };
    struct tq_meta *meta = NULL;
    struct tq_data *data = NULL;
    int inserts = atomic_load(&f->fake.inserts), puts = atomic_load(&f->fake.puts), asked = atomic_load(&f->fake.gets);
    struct tq_batch empty = { 0, f->columns.columns, 1 };
    assert_int_equal(tq_client_put(f->client, "p", &empty, NULL, NULL, &meta, &err), TQ_INVALID_ARGUMENT);
    assert_int_equal(tq_client_put(f->client, "", &f->columns.batch, NULL, NULL, &meta, &err), TQ_INVALID_ARGUMENT);
    assert_int_equal(tq_client_put(f->client, NULL, &f->columns.batch, NULL, NULL, &meta, &err), TQ_INVALID_ARGUMENT);
    struct tq_insert uneven = { .group_size = 4 };
    assert_int_equal(tq_client_put(f->client, "p", &f->columns.batch, &uneven, NULL, &meta, &err), TQ_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "multiple of group_size"));
    const char *twice[2] = { "vector", "vector" };
    assert_int_equal(tq_client_get(f->client, f->meta, twice, 2, NULL, &data, &err), TQ_INVALID_ARGUMENT);
    assert_int_equal(tq_client_get(f->client, f->meta, twice, 0, NULL, &data, &err), TQ_INVALID_ARGUMENT);
    const char *keys[1] = { "k" }, *unnamed[2] = { "vector", NULL };
    assert_int_equal(tq_client_get(f->client, f->meta, unnamed, 2, NULL, &data, &err), TQ_INVALID_ARGUMENT);
    assert_int_equal(tq_kv_get(f->client, "p", keys, 1, unnamed, 2, NULL, &data, NULL, &err), TQ_INVALID_ARGUMENT);
    assert_string_equal(err.message, "fields[1] is NULL");
    assert_int_equal(tq_kv_put(f->client, "p", keys, NULL, NULL, 0, NULL, &err), TQ_INVALID_ARGUMENT);
    assert_int_equal(tq_kv_put(f->client, "p", keys, NULL, NULL, 1, NULL, &err), TQ_INVALID_ARGUMENT);
    struct tq_batch only_tags = { 1, NULL, 0 };
    assert_int_equal(tq_kv_put(f->client, "p", keys, &only_tags, NULL, 1, NULL, &err), TQ_INVALID_ARGUMENT);
    assert_int_equal(tq_meta_select(f->meta, NULL, 0, &meta, &err), TQ_OK);
    assert_int_equal(tq_client_get(f->client, meta, twice, 1, NULL, &data, &err), TQ_INVALID_ARGUMENT);
    assert_int_equal(tq_client_put_to(f->client, meta, &f->columns.batch, NULL, &err), TQ_INVALID_ARGUMENT);
    tq_meta_drop(meta);
    assert_int_equal(atomic_load(&f->fake.inserts), inserts);
    assert_int_equal(atomic_load(&f->fake.puts), puts);
    assert_int_equal(atomic_load(&f->fake.gets), asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_truth_comes_back, no_lies),
        cmocka_unit_test_setup(every_lie_of_a_get_is_a_status, no_lies),
        cmocka_unit_test_setup(wrong_bytes_are_asked_for_once_more, no_lies),
        cmocka_unit_test_setup(a_wrong_digest_is_put_again_then_data_loss, no_lies),
        cmocka_unit_test_setup(too_few_digests_are_no_success, no_lies),
        cmocka_unit_test_setup(nothing_is_ready_when_one_unit_refuses, no_lies),
        cmocka_unit_test_setup(nothing_is_ready_when_one_unit_never_answers, no_lies),
        cmocka_unit_test_setup(a_get_that_fails_at_one_unit_gives_back_the_pin_of_the_other, no_lies),
        cmocka_unit_test_setup(bad_arguments_reach_nobody, no_lies),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

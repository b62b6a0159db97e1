/* The table of a unit: all-or-nothing puts, generations, budgets, pins. */
#include <stdlib.h>

#include "tests/server/storage/store_fixture.h"
#include "tests/support/cmocka_all.h"

static void a_put_is_visible_after_its_commit_only(void **state)
{
    struct fixture *f = *state;
    struct tq_put put;
    assert_int_equal(open_one(f, "a", 5, 1, 10000, &put, NULL), TQ_OK);
    assert_null(peek_cell(f, "a", 5, 1));
    assert_int_equal(f->store.reserved_bytes, 10000);
    memset(put.frames[0]->ptr, 7, 10000);
    assert_int_equal(tq_put_commit(&f->store, &put, NULL), TQ_OK);
    tq_put_close(&f->store, &put);
    const struct tq_frame *frame = peek_cell(f, "a", 5, 1);
    assert_non_null(frame);
    assert_int_equal(frame->version, f->fake.last_published);
    assert_int_equal(f->store.reserved_bytes, 0);
    assert_int_equal(f->store.used_bytes, 10000);
}

static void an_abandoned_put_gives_everything_back(void **state)
{
    struct fixture *f = *state;
    struct tq_put put;
    assert_int_equal(open_one(f, "a", 5, 1, 10000, &put, NULL), TQ_OK);
    tq_put_close(&f->store, &put);
    tq_put_close(&f->store, &put); /* twice does no harm */
    assert_int_equal(f->store.reserved_bytes, 0);
    assert_int_equal(f->store.reserved_samples, 0);
    assert_int_equal(f->store.reserved_cells, 0);
    assert_int_equal(f->fake.bytes, 0);
    assert_null(tq_names_peek(&f->store.names, "a"));
    assert_null(tq_names_peek(&f->store.names, "p"));
}

static void budgets_refuse_before_memory_is_taken(void **state)
{
    struct fixture *f = *state;
    struct tq_error err;
    struct tq_put put;
    f->store.limits.budget_bytes = 10000;
    f->store.limits.budget_samples = 2;
    f->store.limits.budget_cells = 3;
    assert_int_equal(open_one(f, "a", 1, 1, 10001, &put, &err), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(err.reason, "BUDGET_BYTES");
    assert_int_equal(err.retry_after_ms, 0); /* never will it fit */
    assert_int_equal(put_one(f, "a", 1, 1, 6000, 1, NULL), TQ_OK);
    assert_int_equal(open_one(f, "a", 2, 1, 4001, &put, &err), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(err.message, "4001 bytes wanted, 6000 of the budget of 10000 are taken");
    assert_true(err.retry_after_ms > 0);
    assert_int_equal(put_one(f, "a", 2, 1, 0, 1, NULL), TQ_OK);
    assert_int_equal(open_one(f, "a", 3, 1, 0, &put, &err), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(err.reason, "BUDGET_SAMPLES");
    assert_int_equal(put_one(f, "b", 2, 1, 0, 1, NULL), TQ_OK);
    assert_int_equal(open_one(f, "c", 2, 1, 0, &put, &err), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(err.reason, "BUDGET_CELLS");
    assert_int_equal(f->fake.bytes, 6000);
    assert_int_equal(clear_one(f, 1, 1, NULL).freed_bytes, 6000);
    assert_int_equal(put_one(f, "a", 3, 1, 10000, 1, NULL), TQ_OK);
}

static void overwriting_makes_a_new_frame_and_leaves_the_pinned_one(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(put_one(f, "a", 5, 1, 5000, 1, NULL), TQ_OK);
    struct tq_frame *pinned = tq_frame_hold(peek_cell(f, "a", 5, 1));
    assert_int_equal(put_one(f, "a", 5, 1, 6000, 2, NULL), TQ_OK);
    const struct tq_frame *frame = peek_cell(f, "a", 5, 1);
    assert_ptr_not_equal(frame, pinned);
    assert_true(frame->version > pinned->version);
    assert_int_equal(pinned->ptr[4999], 1);
    assert_int_equal(frame->ptr[5999], 2);
    assert_int_equal(f->store.used_bytes, 11000); /* a pinned frame is still memory */
    assert_int_equal(f->store.cells, 1);
    tq_frame_drop(&f->store, pinned);
    assert_int_equal(f->store.used_bytes, 6000);
}

static void generations_rule_puts_and_clears(void **state)
{
    struct fixture *f = *state;
    struct tq_error err;
    assert_int_equal(put_one(f, "a", 5, 3, 100, 1, NULL), TQ_OK);
    assert_int_equal(put_one(f, "a", 5, 2, 100, 1, &err), TQ_FAILED_PRECONDITION);
    assert_string_equal(err.reason, "STALE_GENERATION");
    assert_int_equal(clear_one(f, 5, 2, NULL).stale, 1);
    assert_non_null(peek_cell(f, "a", 5, 3));
    assert_null(peek_cell(f, "a", 5, 2));
    /* A newer one ends the cells of the old. */
    assert_int_equal(put_one(f, "b", 5, 4, 50, 1, NULL), TQ_OK);
    assert_null(peek_cell(f, "a", 5, 4));
    assert_non_null(peek_cell(f, "b", 5, 4));
    assert_int_equal(f->store.used_bytes, 50);
    assert_int_equal(clear_one(f, 5, 4, NULL).removed, 1);
    assert_int_equal(clear_one(f, 5, 4, NULL).absent, 1);
    assert_int_equal(put_one(f, "a", 5, 4, 1, 1, &err), TQ_FAILED_PRECONDITION);
    assert_int_equal(put_one(f, "a", 5, 5, 1, 1, NULL), TQ_OK);
}

static void a_put_does_not_bring_back_what_was_cleared_under_it(void **state)
{
    struct fixture *f = *state;
    struct tq_error err;
    struct tq_put put;
    assert_int_equal(open_one(f, "a", 5, 1, 9000, &put, NULL), TQ_OK);
    assert_int_equal(clear_one(f, 5, 1, NULL).absent, 1);
    assert_int_equal(tq_put_commit(&f->store, &put, &err), TQ_FAILED_PRECONDITION);
    assert_string_equal(err.reason, "STALE_GENERATION");
    tq_put_close(&f->store, &put);
    assert_null(peek_cell(f, "a", 5, 1));
    assert_int_equal(f->fake.bytes, 0);
    tq_cleared_forget(&f->store.cleared);
    assert_int_equal(put_one(f, "a", 5, 1, 1, 1, NULL), TQ_OK);
}

static void a_refused_put_of_many_changes_nothing(void **state)
{
    struct fixture *f = *state;
    struct tq_error err;
    struct tq_put put;
    const uint64_t index[3] = { 1, 2, 3 };
    const uint32_t generation[3] = { 1, 1, 1 };
    const uint64_t lengths[3] = { 5000, 5000, 5000 };
    assert_int_equal(put_one(f, "a", 2, 9, 10, 3, NULL), TQ_OK);
    assert_int_equal(open_put(f, "p", "a", index, generation, 3, lengths, &put, &err), TQ_FAILED_PRECONDITION);
    assert_int_equal(tq_store_samples(&f->store), 1);
    assert_int_equal(f->store.used_bytes, 10);
    assert_int_equal(clear_one(f, 2, 9, NULL).removed, 1);
    for (size_t nth = 1; nth <= 3; nth++) {
        f->fake.refuse_at = nth;
        const uint32_t newer[3] = { 1, 10, 1 };
        assert_int_equal(open_put(f, "p", "a", index, newer, 3, lengths, &put, &err), TQ_RESOURCE_EXHAUSTED);
        assert_int_equal(f->fake.bytes, 0);
        assert_int_equal(f->store.reserved_bytes + f->store.reserved_cells + f->store.reserved_samples, 0);
    }
}

static void a_sample_keeps_its_partition(void **state)
{
    struct fixture *f = *state;
    struct tq_error err;
    struct tq_put put;
    struct tq_sample *sample;
    const uint64_t index = 5;
    const uint32_t generation = 1;
    const uint64_t len = 1;
    assert_int_equal(put_one(f, "a", 5, 1, 1, 1, NULL), TQ_OK);
    assert_int_equal(open_put(f, "q", "a", &index, &generation, 1, &len, &put, &err), TQ_FAILED_PRECONDITION);
    assert_string_equal(err.reason, "OTHER_PARTITION");
    assert_int_equal(tq_store_find(&f->store, "q", 5, 1, &sample, &err), TQ_NOT_FOUND);
    const struct tq_named_samples elsewhere = { "q", &index, &generation, 1 };
    struct tq_clear_counts counts = { 0 };
    tq_store_clear(&f->store, &elsewhere, NULL, 0, &counts);
    assert_int_equal(counts.absent, 1);
    assert_non_null(peek_cell(f, "a", 5, 1));
    assert_int_equal(put_one(f, "b", 5, 1, 1, 1, NULL), TQ_OK); /* and takes further cells */
}

static void clearing_the_last_field_removes_the_sample(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(put_one(f, "a", 5, 1, 10, 1, NULL), TQ_OK);
    assert_int_equal(put_one(f, "b", 5, 1, 20, 1, NULL), TQ_OK);
    assert_int_equal(clear_one(f, 5, 1, "a").freed_bytes, 10);
    assert_int_equal(clear_one(f, 5, 1, "a").absent, 1);
    assert_int_equal(tq_store_samples(&f->store), 1);
    assert_int_equal(clear_one(f, 5, 1, "b").removed, 1);
    assert_int_equal(tq_store_samples(&f->store), 0);
    assert_int_equal(put_one(f, "a", 5, 1, 10, 1, NULL), TQ_OK); /* clearing fields does not end a generation */
}

/* Fails each allocation in turn: the table is as before, and nothing is lost. */
static void every_failed_allocation_is_survived(void **state)
{
    struct fixture *f = *state;
    tq_status status = TQ_RESOURCE_EXHAUSTED;
    size_t nth = 0;
    assert_int_equal(put_one(f, "old", 1, 1, 10, 1, NULL), TQ_OK);
    size_t out = f->out;
    while (status != TQ_OK) {
        f->fail_at = ++nth;
        const uint64_t index[2] = { 1, 2 };
        const uint32_t generation[2] = { 1, 1 };
        const uint64_t lengths[2] = { 3, 9000 };
        struct tq_put put;
        status = open_put(f, "p", "new", index, generation, 2, lengths, &put, NULL);
        if (status == TQ_OK) {
            status = tq_put_commit(&f->store, &put, NULL);
            tq_put_close(&f->store, &put);
        }
        if (status != TQ_OK) {
            assert_int_equal(status, TQ_RESOURCE_EXHAUSTED);
            assert_int_equal(tq_store_samples(&f->store), 1);
            assert_int_equal(f->store.used_bytes, 10);
            assert_int_equal(f->store.reserved_bytes + f->store.reserved_cells + f->store.reserved_samples, 0);
            assert_in_range(f->out, out, out + 1); /* a row may keep the room that it got */
        }
        assert_in_range(nth, 1, 100);
    }
    f->fail_at = 0;
    assert_true(nth > 8);
    assert_int_equal(f->store.used_bytes, 10 + 3 + 9000);
}

static void the_oldest_of_the_cleared_are_forgotten_first(void **state)
{
    struct fixture *f = *state;
    struct tq_cleared cleared;
    tq_cleared_init(&cleared, 300, &f->seam);
    for (uint64_t index = 0; index < 400; index++)
        tq_cleared_add(&cleared, index, 2);
    assert_false(tq_cleared_has(&cleared, 99, 2));
    assert_true(tq_cleared_has(&cleared, 100, 2));
    assert_true(tq_cleared_has(&cleared, 399, 0));
    assert_false(tq_cleared_has(&cleared, 399, 3));
    tq_cleared_add(&cleared, 399, 7);
    assert_true(tq_cleared_has(&cleared, 399, 7));
    assert_true(tq_map_count(&cleared.dead) <= 300);
    tq_cleared_fini(&cleared);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_put_is_visible_after_its_commit_only),
        STORE_TEST(an_abandoned_put_gives_everything_back),
        STORE_TEST(budgets_refuse_before_memory_is_taken),
        STORE_TEST(overwriting_makes_a_new_frame_and_leaves_the_pinned_one),
        STORE_TEST(generations_rule_puts_and_clears),
        STORE_TEST(a_put_does_not_bring_back_what_was_cleared_under_it),
        STORE_TEST(a_refused_put_of_many_changes_nothing),
        STORE_TEST(a_sample_keeps_its_partition),
        STORE_TEST(clearing_the_last_field_removes_the_sample),
        STORE_TEST(every_failed_allocation_is_survived),
        STORE_TEST(the_oldest_of_the_cleared_are_forgotten_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

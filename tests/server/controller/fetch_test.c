#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tests/server/controller/world.h"

#include "tests/support/cmocka_all.h"

static struct world world;
static struct world_waiter first, second, third;

static int open_world(void **state)
{
    (void)state;
    world_open(&world, NULL, WORLD_UNITS);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    world_drop(&world, &first);
    world_drop(&world, &second);
    world_drop(&world, &third);
    memset(&first, 0, sizeof(first));
    memset(&second, 0, sizeof(second));
    memset(&third, 0, sizeof(third));
    world_close(&world);
    return 0;
}

static void insert_and_produce(uint32_t n, const char *fields)
{
    assert_int_equal(world_insert(&world, "p", n, 0), TQ_OK);
    assert_int_equal(world_produce(&world, "p", world.refs, n, fields, NULL), TQ_OK);
}

static void assert_batch(const struct world_waiter *waiter, uint32_t n)
{
    assert_true(waiter->ended > 0);
    assert_int_equal(waiter->waiter.error.status, TQ_OK);
    assert_int_equal(waiter->waiter.n, n);
}

static void the_notify_that_makes_it_ready_answers(void **state)
{
    (void)state;
    assert_int_equal(world_insert(&world, "p", 4, 0), TQ_OK);
    world_park(&world, &first, "p", "t", "x,y", 4, 0, 1000, false);
    assert_int_equal(world_take_done(&world), 0);
    assert_int_equal(world_produce(&world, "p", world.refs, 4, "x", NULL), TQ_OK);
    assert_int_equal(world_take_done(&world), 0); /* half of the fields */
    assert_int_equal(world_produce(&world, "p", world.refs, 3, "y", NULL), TQ_OK);
    assert_int_equal(world_take_done(&world), 0); /* three of four */
    assert_int_equal(world_produce(&world, "p", world.refs + 3, 1, "y", NULL), TQ_OK);
    assert_int_equal(world_take_done(&world), 1);
    assert_batch(&first, 4);
    assert_int_equal(tq_fetch_next_due_ns(&world.table), INT64_MAX);
    assert_int_equal(world.table.n_parked, 0);
}

static void it_waits_for_a_partition_that_does_not_exist(void **state)
{
    (void)state;
    world_park(&world, &first, "p", "t", "x", 2, 0, 1000, false);
    assert_int_equal(world_take_done(&world), 0);
    assert_false(tq_table_find(&world.table, "p")->exists);
    insert_and_produce(2, "x");
    assert_int_equal(world_take_done(&world), 1);
    assert_batch(&first, 2);
}

static void a_shell_is_gone_with_its_last_waiter(void **state)
{
    (void)state;
    world_park(&world, &first, "p", "t", "x", 2, 0, 1000, true);
    world_park(&world, &second, "p", "t", "x", 2, 0, 1000, true);
    world_drop(&world, &first);
    assert_non_null(tq_table_find(&world.table, "p"));
    world_advance(&world, 1000, true);
    assert_int_equal(world_take_done(&world), 1);
    assert_null(tq_table_find(&world.table, "p"));
    assert_batch(&second, 0);
}

static void max_wait_ends_it_on_virtual_time(void **state)
{
    (void)state;
    insert_and_produce(2, "x");
    world_park(&world, &first, "p", "t", "x", 3, 0, 250, false);
    world_park(&world, &second, "p", "t", "x", 3, 0, 300, true);
    assert_int_equal(tq_fetch_next_due_ns(&world.table), world.now_ns + 250 * WORLD_MS);
    world_advance(&world, 249, true);
    assert_int_equal(world_take_done(&world), 0);
    world_advance(&world, 1, true);
    assert_int_equal(world_take_done(&world), 1);
    assert_true(first.ended > 0);
    assert_int_equal(first.waiter.error.status, TQ_DEADLINE_EXCEEDED);
    assert_int_equal(first.waiter.error.outcome, TQ_OUTCOME_NOT_STARTED);
    assert_non_null(strstr(first.waiter.error.message, "only 2"));
    world_advance(&world, 50, true);
    assert_int_equal(world_take_done(&world), 1);
    assert_batch(&second, 0);
    /* Nothing was consumed by either. */
    assert_int_equal(world_fetch(&world, "p", "t", "x", 2, 0), TQ_OK);
    assert_int_equal(world.n, 2);
}

static void first_come_first_served(void **state)
{
    (void)state;
    assert_int_equal(world_insert(&world, "p", 4, 0), TQ_OK);
    world_park(&world, &first, "p", "t", "x", 2, 0, 1000, false);
    world_park(&world, &second, "p", "t", "x", 2, 0, 1000, false);
    assert_int_equal(world_produce(&world, "p", world.refs, 2, "x", NULL), TQ_OK);
    assert_int_equal(world_take_done(&world), 1);
    assert_batch(&first, 2);
    assert_int_equal(second.ended, 0);
    assert_int_equal(world_produce(&world, "p", world.refs, 4, "x", NULL), TQ_OK);
    assert_int_equal(world_take_done(&world), 1);
    assert_batch(&second, 2);
}

/* Two sets of fields of one task compete: the one that came first wins, whatever its set. */
static void first_come_first_served_across_field_sets(void **state)
{
    (void)state;
    insert_and_produce(2, "y");
    struct tq_sample_ref refs[2] = { world.refs[0], world.refs[1] };
    assert_int_equal(world_fetch(&world, "p", "t", "x,y", 1, 0), TQ_OK);
    world_park(&world, &first, "p", "t", "x", 2, 0, 1000, false);
    world_park(&world, &second, "p", "t", "x,y", 2, 0, 1000, false);
    world_park(&world, &third, "p", "other", "x,y", 2, 0, 1000, false);
    assert_int_equal(world_produce(&world, "p", refs, 2, "x", NULL), TQ_OK);
    assert_int_equal(world_take_done(&world), 2);
    assert_batch(&first, 2);
    assert_batch(&third, 2);
    assert_int_equal(second.ended, 0);
}

static void a_large_batch_does_not_stop_smaller_ones(void **state)
{
    (void)state;
    assert_int_equal(world_insert(&world, "p", 8, 0), TQ_OK);
    world_park(&world, &first, "p", "t", "x", 8, 0, 1000, false);
    world_park(&world, &second, "p", "t", "x", 2, 0, 1000, false);
    assert_int_equal(world_produce(&world, "p", world.refs, 1, "x", NULL), TQ_OK);
    assert_int_equal(world_take_done(&world), 0);
    assert_int_equal(world_produce(&world, "p", world.refs, 3, "x", NULL), TQ_OK);
    assert_int_equal(world_take_done(&world), 1);
    assert_batch(&second, 2);
    /* The small one is gone: the bound of what waiters need follows, and the large one is still found. */
    assert_int_equal(world_insert(&world, "p", 8, 0), TQ_OK);
    assert_int_equal(world_produce(&world, "p", world.refs, 8, "x", NULL), TQ_OK);
    assert_int_equal(world_take_done(&world), 1);
    assert_batch(&first, 8);
}

static void seal_wakes_for_the_remainder_and_the_end(void **state)
{
    uint64_t samples;
    (void)state;
    insert_and_produce(3, "x");
    world_park(&world, &first, "p", "t", "x", 8, 0, 1000, false);
    world_park(&world, &second, "p", "t", "x", 8, 0, 1000, false);
    world_park(&world, &third, "p", "t", "never", 1, 0, 1000, false);
    assert_int_equal(tq_table_seal(&world.table, "p", &samples, &world.err), TQ_OK);
    assert_int_equal(world_take_done(&world), 3);
    assert_batch(&first, 3);
    assert_true(first.waiter.remainder);
    assert_int_equal(second.waiter.error.status, TQ_OUT_OF_RANGE);
    assert_int_equal(third.waiter.error.status, TQ_OUT_OF_RANGE);
}

/* The last pending sample of a sealed partition is cleared: nothing can come any more. */
static void clear_wakes_a_sealed_partition(void **state)
{
    uint64_t samples;
    struct tq_cleared cleared;
    (void)state;
    insert_and_produce(2, "x");
    assert_int_equal(world_insert(&world, "p", 1, 0), TQ_OK);
    assert_int_equal(tq_table_seal(&world.table, "p", &samples, &world.err), TQ_OK);
    world_park(&world, &first, "p", "t", "x", 8, 0, 1000, false);
    assert_int_equal(world_take_done(&world), 0);
    assert_int_equal(tq_table_clear(&world.table, "p", world.refs, 1, &cleared, &world.err), TQ_OK);
    assert_int_equal(world_take_done(&world), 1);
    assert_batch(&first, 2);
    assert_true(first.waiter.remainder);
}

/* A hand-out under one field set takes the last pending sample of another one of the same task. */
static void a_hand_out_can_end_another_field_set(void **state)
{
    uint64_t samples;
    (void)state;
    insert_and_produce(2, "x");
    assert_int_equal(world_produce(&world, "p", world.refs, 1, "y", NULL), TQ_OK);
    assert_int_equal(tq_table_seal(&world.table, "p", &samples, &world.err), TQ_OK);
    world_park(&world, &first, "p", "t", "x,y", 2, 0, 1000, false);
    assert_int_equal(world_take_done(&world), 0);
    assert_int_equal(world_fetch(&world, "p", "t", "x", 2, 0), TQ_OK);
    assert_int_equal(world.n, 2);
    assert_int_equal(world_take_done(&world), 1);
    assert_int_equal(first.waiter.error.status, TQ_OUT_OF_RANGE);
}

static void clear_partition_keeps_waiters_of_an_open_one(void **state)
{
    bool existed;
    uint64_t removed, samples;
    (void)state;
    insert_and_produce(1, "x");
    world_park(&world, &first, "p", "t", "x", 2, 0, 1000, false);
    world_park(&world, &second, "p", "t", "z", 2, 0, 1000, false);
    assert_int_equal(tq_table_clear_partition(&world.table, "p", &existed, &removed, &world.err), TQ_OK);
    assert_true(existed);
    assert_int_equal(world_take_done(&world), 0);
    assert_int_equal(tq_table_clear_partition(&world.table, "p", &existed, &removed, &world.err), TQ_OK);
    assert_false(existed);
    insert_and_produce(2, "x");
    assert_int_equal(world_take_done(&world), 1);
    assert_batch(&first, 2);
    assert_int_equal(world_insert(&world, "p", 1, 0), TQ_OK);
    assert_int_equal(tq_table_seal(&world.table, "p", &samples, &world.err), TQ_OK);
    assert_int_equal(world_take_done(&world), 0);
    assert_int_equal(tq_table_clear_partition(&world.table, "p", &existed, &removed, &world.err), TQ_OK);
    assert_int_equal(world_take_done(&world), 1);
    assert_int_equal(second.waiter.error.status, TQ_OUT_OF_RANGE);
    assert_null(tq_table_find(&world.table, "p"));
}

static void reset_wakes(void **state)
{
    uint64_t reset;
    (void)state;
    insert_and_produce(2, "x");
    assert_int_equal(world_fetch(&world, "p", "t", "x", 2, 0), TQ_OK);
    world_park(&world, &first, "p", "t", "x", 2, 0, 1000, false);
    assert_int_equal(world_take_done(&world), 0);
    assert_int_equal(tq_table_reset(&world.table, "p", "t", &reset, &world.err), TQ_OK);
    assert_int_equal(world_take_done(&world), 1);
    assert_batch(&first, 2);
}

static void a_cancelled_fetch_takes_nothing(void **state)
{
    (void)state;
    assert_int_equal(world_insert(&world, "p", 2, 0), TQ_OK);
    world_park(&world, &first, "p", "t", "x", 2, 0, 1000, false);
    world_park(&world, &second, "p", "t", "x", 2, 0, 1000, false);
    tq_fetch_cancel(&world.table, &first.waiter);
    tq_fetch_cancel(&world.table, &first.waiter);
    assert_int_equal(world_produce(&world, "p", world.refs, 2, "x", NULL), TQ_OK);
    assert_int_equal(world_take_done(&world), 1);
    assert_int_equal(first.ended, 0);
    assert_batch(&second, 2);
}

static void parked_fetches_are_bounded(void **state)
{
    struct tq_controller_limits limits = { .waiters = 1, .partitions = 1 };
    (void)state;
    world_close(&world);
    world_open(&world, &limits, 1);
    world_park(&world, &first, "p", "t", "x", 2, 0, 1000, true);
    world_park(&world, &second, "p", "t", "x", 2, 0, 1000, true);
    assert_int_equal(world_take_done(&world), 1);
    assert_int_equal(second.waiter.error.status, TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(second.waiter.error.reason, "LIMIT_WAITERS");
    world_park(&world, &third, "q", "t", "x", 2, 0, 1000, true);
    assert_int_equal(world_take_done(&world), 1);
    assert_string_equal(third.waiter.error.reason, "LIMIT_PARTITIONS");
}

/* Ten thousand wait; each notify of a batch answers exactly one, in order. */
static void many_waiters_are_answered_in_order(void **state)
{
    enum { MANY = 10000, BATCH = 4 };
    struct world_waiter *many = calloc(MANY, sizeof(*many));
    (void)state;
    assert_non_null(many);
    for (uint32_t i = 0; i < MANY; i++)
        world_park(&world, &many[i], "p", "t", "x", BATCH, 0, 1000, false);
    for (uint32_t i = 0; i < MANY; i++) {
        insert_and_produce(BATCH, "x");
        assert_int_equal(world_take_done(&world), 1);
        assert_batch(&many[i], BATCH);
    }
    for (uint32_t i = 0; i < MANY; i++)
        world_drop(&world, &many[i]);
    free(many);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_notify_that_makes_it_ready_answers),
        TEST(it_waits_for_a_partition_that_does_not_exist),
        TEST(a_shell_is_gone_with_its_last_waiter),
        TEST(max_wait_ends_it_on_virtual_time),
        TEST(first_come_first_served),
        TEST(first_come_first_served_across_field_sets),
        TEST(a_large_batch_does_not_stop_smaller_ones),
        TEST(seal_wakes_for_the_remainder_and_the_end),
        TEST(clear_wakes_a_sealed_partition),
        TEST(a_hand_out_can_end_another_field_set),
        TEST(clear_partition_keeps_waiters_of_an_open_one),
        TEST(reset_wakes),
        TEST(a_cancelled_fetch_takes_nothing),
        TEST(parked_fetches_are_bounded),
        TEST(many_waiters_are_answered_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

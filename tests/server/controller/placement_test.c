#include <stddef.h>
#include <string.h>

#include "tests/server/controller/world.h"

#include "tests/support/cmocka_all.h"

enum { UNITS_MAX = 8 };
static struct world world;
static uint32_t runs[UNITS_MAX];

static int open_world(void **state)
{
    (void)state;
    world_open(&world, NULL, 0);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    world_close(&world);
    return 0;
}

static tq_status place(enum tq_placement policy, uint32_t near, uint32_t n, uint32_t chunk, uint64_t sample_bytes)
{
    const struct tq_place wish = {
        .policy = policy, .near = near, .n = n, .chunk = chunk, .sample_bytes = sample_bytes
    };
    return tq_place(&world.table.units, &wish, runs, &world.err);
}

static void report(uint32_t number, uint64_t bytes)
{
    assert_true(tq_unit_heartbeat(&world.table.units, number, 1, bytes, 0, 0));
}

static void equal_units_share_equally(void **state)
{
    uint64_t got[3] = { 0 };
    (void)state;
    for (unsigned i = 0; i < 3; i++)
        world_join(&world, (const char *[]){ "a", "b", "c" }[i], 1, 1000000);
    for (unsigned i = 0; i < 300; i++) { /* one by one: no remainder may favour anybody */
        assert_int_equal(place(TQ_PLACE_DEFAULT, 0, 1, 1, 0), TQ_OK);
        for (unsigned k = 0; k < 3; k++)
            got[k] += runs[k];
    }
    for (unsigned k = 0; k < 3; k++)
        assert_int_equal(got[k], 100);
    assert_int_equal(place(TQ_PLACE_LEAST_LOADED, 0, 100, 1, 0), TQ_OK);
    for (unsigned k = 0; k < 3; k++)
        assert_in_range(runs[k], 33, 34);
}

/* BR-096: three units 80 % full, one joins: it gets at most twice the share of another, not everything. */
static void a_unit_that_joins_does_not_take_all(void **state)
{
    uint64_t got[4] = { 0 };
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        world_join(&world, (const char *[]){ "a", "b", "c", "new" }[i], 1, 1000000);
        report(i + 1, i < 3 ? 800000 : 0);
    }
    for (unsigned i = 0; i < 10000; i++) {
        assert_int_equal(place(TQ_PLACE_LEAST_LOADED, 0, 1, 1, 1), TQ_OK);
        for (unsigned k = 0; k < 4; k++)
            got[k] += runs[k];
    }
    assert_int_equal(got[0] + got[1] + got[2] + got[3], 10000);
    assert_true(got[3] > got[0] * 3 / 2); /* it does get more */
    assert_true(got[3] <= got[0] * 2 && got[3] <= got[1] * 2 && got[3] <= got[2] * 2);
}

static void a_full_unit_gets_nothing(void **state)
{
    (void)state;
    world_join(&world, "a", 1, 1000);
    world_join(&world, "b", 1, 1000);
    report(1, 950);
    assert_int_equal(place(TQ_PLACE_LEAST_LOADED, 0, 8, 1, 100), TQ_OK);
    assert_int_equal(runs[0], 0);
    assert_int_equal(runs[1], 8);
    assert_int_equal(place(TQ_PLACE_LEAST_LOADED, 0, 10, 1, 100), TQ_OK);
    assert_int_equal(place(TQ_PLACE_LEAST_LOADED, 0, 11, 1, 100), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(world.err.reason, "BUDGET_UNITS");
    report(2, 1000);
    assert_int_equal(place(TQ_PLACE_LEAST_LOADED, 0, 1, 1, 100), TQ_RESOURCE_EXHAUSTED);
}

static void groups_stay_together(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++)
        world_join(&world, (const char *[]){ "a", "b", "c" }[i], 1, 0);
    assert_int_equal(place(TQ_PLACE_LEAST_LOADED, 0, 40, 8, 0), TQ_OK);
    uint32_t sum = 0;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(runs[i] % 8, 0);
        assert_in_range(runs[i], 8, 16);
        sum += runs[i];
    }
    assert_int_equal(sum, 40);
}

static void local_first_fills_the_near_unit(void **state)
{
    (void)state;
    world_join(&world, "a", 1, 1000);
    world_join(&world, "b", 1, 1000);
    assert_int_equal(place(TQ_PLACE_LOCAL_FIRST, 2, 5, 1, 100), TQ_OK);
    assert_int_equal(runs[1], 5);
    assert_int_equal(place(TQ_PLACE_LOCAL_FIRST, 2, 15, 1, 100), TQ_OK);
    assert_int_equal(runs[1], 10);
    assert_int_equal(runs[0], 5);
    assert_int_equal(tq_unit_drain(tq_unit_find(&world.table.units, 2), false, &world.err), TQ_OK);
    assert_int_equal(place(TQ_PLACE_LOCAL_FIRST, 2, 5, 1, 100), TQ_OK);
    assert_int_equal(runs[0], 5);
    assert_int_equal(place(TQ_PLACE_LOCAL_FIRST, 0, 5, 1, 100), TQ_INVALID_ARGUMENT);
    assert_int_equal(place(TQ_PLACE_LOCAL_FIRST, 9, 5, 1, 100), TQ_INVALID_ARGUMENT);
    assert_int_equal(place(TQ_PLACE_DEFAULT, 1, 5, 1, 100), TQ_INVALID_ARGUMENT);
}

static void hash_follows_the_index(void **state)
{
    struct tq_insertion insertion = { .partition = "p", .n = 12, .placement = TQ_PLACE_HASH };
    struct tq_partition *partition;
    uint32_t slots[12];
    (void)state;
    assert_int_equal(place(TQ_PLACE_HASH, 0, 1, 1, 0), TQ_UNAVAILABLE);
    for (unsigned i = 0; i < 3; i++)
        world_join(&world, (const char *[]){ "a", "b", "c" }[i], 1, 0);
    assert_int_equal(tq_table_insert(&world.table, &insertion, &partition, slots, &world.err), TQ_OK);
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(tq_partition_row(partition, slots[i])->unit, i % 3 + 1);
    assert_int_equal(tq_unit_find(&world.table.units, 1)->samples, 4);
}

static void without_units_there_is_no_place(void **state)
{
    (void)state;
    assert_int_equal(place(TQ_PLACE_DEFAULT, 0, 1, 1, 0), TQ_UNAVAILABLE);
    assert_string_equal(world.err.reason, "NO_UNIT");
    assert_int_equal(world_insert(&world, "p", 1, 0), TQ_UNAVAILABLE);
    assert_null(tq_table_find(&world.table, "p"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(equal_units_share_equally),       TEST(a_unit_that_joins_does_not_take_all),
        TEST(a_full_unit_gets_nothing),        TEST(groups_stay_together),
        TEST(local_first_fills_the_near_unit), TEST(hash_follows_the_index),
        TEST(without_units_there_is_no_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

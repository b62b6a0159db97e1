#include <stddef.h>
#include <string.h>

#include "tests/server/controller/world.h"

#include "tests/support/cmocka_all.h"

static struct world world;
static struct world_waiter waiter;

static int open_world(void **state)
{
    (void)state;
    world_open(&world, NULL, WORLD_UNITS);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    world_close(&world);
    return 0;
}

static const struct tq_unit *unit(uint32_t number)
{
    return tq_unit_find(&world.table.units, number);
}

static bool beat(uint32_t number, uint64_t epoch)
{
    return tq_unit_heartbeat(&world.table.units, number, epoch, 0, 0, 0);
}

static tq_status join(const char *name, uint64_t epoch, const struct tq_held *held, uint32_t n, bool *release)
{
    const struct tq_unit_claim claim = { .name = name, .address = "tcp://127.0.0.1:2", .host = "h", .epoch = epoch };
    struct tq_unit *found;
    return tq_table_join(&world.table, &claim, held, n, release, &found, &world.err);
}

static void three_missed_intervals_lose_a_unit(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        world_advance(&world, 500, false);
        assert_true(beat(1, 1));
    }
    assert_int_equal(unit(2)->state, TQ_UNIT_SERVING); /* three intervals, not more */
    world_advance(&world, 500, false);
    assert_int_equal(unit(1)->state, TQ_UNIT_SERVING);
    assert_int_equal(unit(2)->state, TQ_UNIT_LOST);
    assert_false(beat(2, 1)); /* it must register again */
    assert_int_equal(world_join(&world, "u2", 1, 0), 2);
    assert_int_equal(unit(2)->state, TQ_UNIT_SERVING);
    assert_true(beat(2, 1));
}

/* BR-093: the controller was stopped for a minute; nobody is lost before one more whole interval. */
static void a_pause_of_the_observer_loses_nobody(void **state)
{
    (void)state;
    world_advance(&world, 2500, false); /* already late */
    world.now_ns += 60000 * WORLD_MS;
    tq_table_tick(&world.table, world.now_ns);
    assert_int_equal(unit(1)->state, TQ_UNIT_SERVING);
    world_advance(&world, 1000, false);
    assert_int_equal(unit(1)->state, TQ_UNIT_SERVING);
    assert_true(beat(1, 1));
    world_advance(&world, 500, false);
    assert_int_equal(unit(1)->state, TQ_UNIT_SERVING);
    assert_int_equal(unit(2)->state, TQ_UNIT_LOST); /* that one stayed silent */
    world.now_ns -= 1000 * WORLD_MS;                /* and a clock that goes back does no harm */
    tq_table_tick(&world.table, world.now_ns);
    assert_int_equal(unit(1)->state, TQ_UNIT_SERVING);
}

static void samples_of_a_lost_unit_are_withheld_until_it_is_back(void **state)
{
    (void)state;
    assert_int_equal(world_insert(&world, "p", 4, 0), TQ_OK);
    assert_int_equal(world.units[0], 1);
    assert_int_equal(world.units[3], 2);
    struct tq_held held[2] = { { "p", world.refs[2] }, { "p", world.refs[3] } };
    bool release[2];
    assert_int_equal(world_produce(&world, "p", world.refs, 4, "x", NULL), TQ_OK);
    for (unsigned i = 0; i < 7; i++) {
        world_advance(&world, 500, false);
        assert_true(beat(1, 1));
    }
    assert_int_equal(unit(2)->state, TQ_UNIT_LOST);
    assert_int_equal(world_fetch(&world, "p", "t", "x", 4, 0), TQ_OK);
    assert_int_equal(world.n, 0);
    assert_int_equal(world_fetch(&world, "p", "t", "x", 1, 0), TQ_OK);
    assert_int_equal(world.n, 1);
    world_park(&world, &waiter, "p", "t", "x", 3, 0, 10000, false);
    assert_int_equal(world_take_done(&world), 0);
    assert_int_equal(join("u2", 1, held, 2, release), TQ_OK);
    assert_false(release[0] || release[1]);
    assert_int_equal(world_take_done(&world), 1);
    assert_int_equal(waiter.waiter.n, 3);
    world_drop(&world, &waiter);
}

/* A unit that died lost its cells: they are not ready any more, and can be produced again. */
static void a_restarted_unit_takes_readiness_with_it(void **state)
{
    (void)state;
    assert_int_equal(world_insert(&world, "p", 4, 0), TQ_OK);
    struct tq_sample_ref refs[4];
    memcpy(refs, world.refs, sizeof(refs));
    assert_int_equal(world_produce(&world, "p", refs, 4, "x", NULL), TQ_OK);
    assert_int_equal(join("u2", 2, NULL, 0, NULL), TQ_ALREADY_EXISTS); /* the old one may still live */
    assert_string_equal(world.err.reason, "NAME_TAKEN");
    assert_true(world.err.retry_after_ms > 0);
    world_advance(&world, 1500, false);
    const struct tq_held held = { "p", refs[2] };
    bool release;
    assert_int_equal(join("u2", 2, &held, 1, &release), TQ_OK);
    assert_false(release);
    assert_false(beat(2, 1)); /* its former life */
    assert_int_equal(world_fetch(&world, "p", "t", "x", 4, 0), TQ_OK);
    assert_int_equal(world.n, 0);
    assert_int_equal(world_fetch(&world, "p", "t", "x", 3, 0), TQ_OK);
    assert_int_equal(world.n, 3);
    assert_int_equal(world_produce(&world, "p", &refs[3], 1, "x", NULL), TQ_OK);
    assert_int_equal(world_fetch(&world, "p", "t", "x", 1, 0), TQ_OK);
    assert_int_equal(world.n, 1);
    assert_int_equal(world.refs[0].index, refs[3].index);
}

/* BR-094: a fresh controller hands out no index and generation that a unit holds from the life before. */
static void what_units_hold_of_an_earlier_life_is_released_and_fenced(void **state)
{
    struct tq_held held[3] = { { "p", { 0, 1 } }, { "p", { 1, 5 } }, { "q", { 700, 2 } } };
    bool release[3];
    (void)state;
    assert_int_equal(world_insert(&world, "p", 1, 0), TQ_OK); /* index 0 generation 1, at another unit */
    assert_int_equal(join("old", 9, held, 3, release), TQ_OK);
    assert_true(release[0] && release[1] && release[2]);
    assert_int_equal(world_insert(&world, "p", 1, 0), TQ_OK);
    assert_int_equal(world.refs[0].index, 1);
    assert_int_equal(world.refs[0].generation, 6);
    assert_int_equal(tq_partition_count(tq_table_find(&world.table, "p")), 2);
    held[0].sample.index = UINT64_MAX;
    assert_int_equal(join("older", 9, held, 1, release), TQ_OK);
    assert_true(release[0]);
}

static unsigned count_releases(struct tq_unit *unit_)
{
    unsigned n = 0;
    for (const struct tq_release *at = NULL; (at = tq_unit_next_release(unit_, at)) != NULL;)
        n += at->n;
    return n;
}

static void a_silent_unit_is_told_later_what_was_cleared(void **state)
{
    struct tq_cleared cleared;
    struct tq_unit *first = tq_unit_find(&world.table.units, 1);
    (void)state;
    assert_int_equal(world_insert(&world, "p", 8, 0), TQ_OK);
    assert_int_equal(tq_table_clear(&world.table, "p", world.refs, 1, &cleared, &world.err), TQ_OK);
    assert_int_equal(count_releases(first), 0); /* it is there: the client has cleared it itself */
    world_advance(&world, 1500, false);
    assert_int_equal(tq_table_clear(&world.table, "p", world.refs + 1, 2, &cleared, &world.err), TQ_OK);
    assert_true(beat(1, 1));
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(count_releases(first), 2);
        tq_unit_forget_told(&world.table.units, first);
    }
    assert_int_equal(count_releases(first), 0);
    assert_int_equal(world.table.units.n_releases, 0);
}

static void too_many_releases_make_it_register_again(void **state)
{
    const struct tq_controller_limits limits = { .releases = 2 };
    struct tq_cleared cleared;
    (void)state;
    world_close(&world);
    world_open(&world, &limits, 1);
    assert_int_equal(world_insert(&world, "p", 8, 0), TQ_OK);
    world_advance(&world, 1500, false);
    assert_int_equal(tq_table_clear(&world.table, "p", world.refs, 2, &cleared, &world.err), TQ_OK);
    assert_int_equal(tq_table_clear(&world.table, "p", world.refs + 2, 2, &cleared, &world.err), TQ_OK);
    assert_int_equal(world.table.units.n_releases, 0);
    assert_false(beat(1, 1));
    const struct tq_held held[2] = { { "p", world.refs[0] }, { "p", world.refs[5] } };
    bool release[2];
    assert_int_equal(join("u1", 1, held, 2, release), TQ_OK);
    assert_true(release[0]);
    assert_false(release[1]);
    assert_true(beat(1, 1));
}

static void a_draining_unit_gets_nothing_new(void **state)
{
    (void)state;
    assert_int_equal(tq_unit_drain(tq_unit_find(&world.table.units, 1), false, &world.err), TQ_OK);
    assert_int_equal(world_insert(&world, "p", 4, 0), TQ_OK);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(world.units[i], 2);
    assert_int_equal(tq_unit_drain(tq_unit_find(&world.table.units, 2), false, &world.err), TQ_OK);
    assert_int_equal(world_insert(&world, "p", 1, 0), TQ_UNAVAILABLE);
    assert_string_equal(world.err.reason, "NO_UNIT");
    assert_int_equal(tq_unit_drain(tq_unit_find(&world.table.units, 1), true, &world.err), TQ_OK);
    assert_int_equal(world_insert(&world, "p", 1, 0), TQ_OK);
    world_advance(&world, 4000, false);
    assert_int_equal(tq_unit_drain(tq_unit_find(&world.table.units, 1), false, &world.err), TQ_FAILED_PRECONDITION);
}

static void a_unit_whose_bulk_thread_hangs_gets_nothing_new(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++)
        assert_true(tq_unit_heartbeat(&world.table.units, 1, 1, 0, 0, 77));
    assert_int_equal(world_insert(&world, "p", 4, 0), TQ_OK);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(world.units[i], 2);
    assert_true(tq_unit_heartbeat(&world.table.units, 1, 1, 0, 0, 78));
    assert_int_equal(world_insert(&world, "p", 4, 0), TQ_OK);
    assert_int_equal(world.units[0], 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(three_missed_intervals_lose_a_unit),
        TEST(a_pause_of_the_observer_loses_nobody),
        TEST(samples_of_a_lost_unit_are_withheld_until_it_is_back),
        TEST(a_restarted_unit_takes_readiness_with_it),
        TEST(what_units_hold_of_an_earlier_life_is_released_and_fenced),
        TEST(a_silent_unit_is_told_later_what_was_cleared),
        TEST(too_many_releases_make_it_register_again),
        TEST(a_draining_unit_gets_nothing_new),
        TEST(a_unit_whose_bulk_thread_hangs_gets_nothing_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

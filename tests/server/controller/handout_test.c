#include <stddef.h>
#include <string.h>

#include "server/controller/handout.h"
#include "tests/server/controller/world.h"
#include "tests/support/cmocka_all.h"

static struct world world;
static struct tq_handouts handouts;
static const uint8_t keys[3][TQ_HANDOUT_KEY] = { { 1, 1 }, { 2, 2 }, { 3, 3 } };

static void open_all(const struct tq_controller_limits *limits)
{
    world_open(&world, limits, 1);
    tq_handouts_init(&handouts, NULL, &world.table.limits);
    assert_int_equal(world_insert(&world, "p", 12, 0), TQ_OK);
    assert_int_equal(world_produce(&world, "p", world.refs, 12, "x", NULL), TQ_OK);
}

static void close_all(void)
{
    tq_handouts_fini(&handouts);
    world_close(&world);
}

/* Fetches n and remembers it under the key. */
static void hand_out(const uint8_t *key, uint32_t n)
{
    struct world_waiter waiter;
    world_park(&world, &waiter, "p", "t", "x", n, 0, 0, false);
    assert_int_equal(world_take_done(&world), 1);
    assert_int_equal(waiter.waiter.n, n);
    tq_handout_remember(&handouts, key, &waiter.waiter);
    world_drop(&world, &waiter);
}

static void a_batch_is_found_by_its_key(void **state)
{
    (void)state;
    open_all(NULL);
    hand_out(keys[0], 4);
    hand_out(keys[1], 3);
    const struct tq_handout *found = tq_handout_find(&handouts, keys[0]);
    assert_int_equal(found->n, 4);
    assert_string_equal(found->task, "t");
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(found->samples[i].index, i);
    assert_int_equal(tq_handout_find(&handouts, keys[1])->samples[0].index, 4);
    assert_null(tq_handout_find(&handouts, keys[2]));
    uint8_t other[TQ_HANDOUT_KEY];
    memcpy(other, keys[0], sizeof(other));
    other[TQ_HANDOUT_KEY - 1] = 9; /* the same first half */
    assert_null(tq_handout_find(&handouts, other));
    hand_out(other, 1);
    assert_int_equal(tq_handout_find(&handouts, other)->n, 1);
    assert_null(tq_handout_find(&handouts, keys[0]));
    close_all();
}

static void the_oldest_is_forgotten_first(void **state)
{
    const struct tq_controller_limits few = { .handouts = 2 }, small = { .handout_samples = 5 };
    (void)state;
    open_all(&few);
    for (unsigned i = 0; i < 3; i++)
        hand_out(keys[i], 1);
    assert_null(tq_handout_find(&handouts, keys[0]));
    assert_non_null(tq_handout_find(&handouts, keys[1]));
    close_all();
    open_all(&small);
    hand_out(keys[0], 2);
    hand_out(keys[1], 2);
    hand_out(keys[2], 3);
    assert_null(tq_handout_find(&handouts, keys[0]));
    assert_int_equal(handouts.n_samples, 5);
    hand_out(keys[0], 5);
    assert_int_equal(handouts.n, 1);
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_found_by_its_key),
        cmocka_unit_test(the_oldest_is_forgotten_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

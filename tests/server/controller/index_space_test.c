#include <stddef.h>
#include <stdint.h>

#include "server/controller/index_space.h"

#include "tests/support/cmocka_all.h"

/* The space only compares and stores it. */
static struct tq_partition *const owner = (struct tq_partition *)(uintptr_t)64;

static void take_n(struct tq_index_space *space, uint32_t n, uint64_t *indexes, uint32_t *generations)
{
    assert_true(tq_index_reserve(space, n));
    for (uint32_t i = 0; i < n; i++)
        indexes[i] = tq_index_take(space, owner, i, &generations[i]);
}

static void released_indexes_come_first_in_order_of_release(void **state)
{
    struct tq_index_space space;
    uint64_t first[48], second[64];
    uint32_t generations[64];
    (void)state;
    tq_index_space_init(&space, NULL);
    take_n(&space, 48, first, generations);
    for (uint32_t i = 0; i < 48; i++) {
        assert_int_equal(first[i], i);
        assert_int_equal(generations[i], 1);
    }
    for (uint32_t i = 0; i < 32; i++)
        tq_index_release(&space, first[i]);
    take_n(&space, 64, second, generations);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(second[i], i < 32 ? i : i + 16);
        assert_int_equal(generations[i], i < 32 ? 2 : 1);
    }
    assert_int_equal(space.n_live, 16 + 64);
    tq_index_space_fini(&space);
}

static void a_fence_lifts_the_generation_once(void **state)
{
    struct tq_index_space space;
    uint64_t index;
    uint32_t generation;
    (void)state;
    tq_index_space_init(&space, NULL);
    assert_true(tq_index_fence(&space, 0, 7));
    assert_true(tq_index_fence(&space, 0, 3)); /* a lower one changes nothing */
    take_n(&space, 1, &index, &generation);
    assert_int_equal(index, 0);
    assert_int_equal(generation, 8);
    assert_int_equal(tq_map_count(&space.fences), 0);
    tq_index_release(&space, 0);
    take_n(&space, 1, &index, &generation);
    assert_int_equal(generation, 9);
    /* Held elsewhere with a higher generation while it lives here: the next one is above both. */
    assert_true(tq_index_fence(&space, 0, 20));
    tq_index_release(&space, 0);
    take_n(&space, 1, &index, &generation);
    assert_int_equal(generation, 21);
    tq_index_space_fini(&space);
}

static void an_index_without_generations_retires(void **state)
{
    struct tq_index_space space;
    uint64_t index;
    uint32_t generation;
    (void)state;
    tq_index_space_init(&space, NULL);
    assert_true(tq_index_fence(&space, 0, UINT32_MAX - 1));
    take_n(&space, 1, &index, &generation);
    assert_int_equal(generation, UINT32_MAX);
    tq_index_release(&space, 0);
    take_n(&space, 1, &index, &generation);
    assert_int_equal(index, 1);
    tq_index_space_fini(&space);
}

static void unknown_and_free_indexes_are_told_apart(void **state)
{
    struct tq_index_space space;
    uint64_t index;
    uint32_t generation;
    (void)state;
    tq_index_space_init(&space, NULL);
    assert_null(tq_index_find(&space, 0));
    take_n(&space, 1, &index, &generation);
    assert_ptr_equal(tq_index_find(&space, 0)->partition, owner);
    tq_index_release(&space, 0);
    assert_non_null(tq_index_find(&space, 0));
    assert_null(tq_index_find(&space, 0)->partition);
    assert_null(tq_index_find(&space, UINT64_MAX));
    assert_false(tq_index_reserve(&space, UINT64_C(1) << 33));
    tq_index_space_fini(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(released_indexes_come_first_in_order_of_release),
        cmocka_unit_test(a_fence_lifts_the_generation_once),
        cmocka_unit_test(an_index_without_generations_retires),
        cmocka_unit_test(unknown_and_free_indexes_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

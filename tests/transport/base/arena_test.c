#include "transport/base/arena.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/test_seam.h"
#include "transport/base/pooling.h"

static void memory_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    struct tq_arena *arena = tq_arena_open(NULL, 1 << 20);
    uint8_t *before = NULL;
    for (size_t len = 0; len < 3000; len += 7) {
        uint8_t *memory = tq_arena_alloc(arena, len);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 16, 0);
        assert_ptr_not_equal(memory, before);
        for (size_t i = 0; i < len; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xa5, len);
        before = memory;
    }
    tq_arena_close(arena);
}

static void a_reset_frees_all_and_zeroes_what_it_keeps(void **state)
{
    (void)state;
    struct test_seam seam;
    test_seam_init(&seam, 1);
    struct tq_arena *arena = tq_arena_open(&seam.seam, 1 << 20);
    memset(tq_arena_alloc(arena, 100), 0xff, 100);
    for (int i = 0; i < 100; i++)
        assert_non_null(tq_arena_alloc(arena, 5000));
    tq_arena_reset(arena, 1 << 10);
    assert_int_equal(tq_arena_used(arena), 0);
    assert_int_equal(seam.outstanding, 1 + TQ_POOL_KEEPS(1)); /* the arena and its first block */
    const uint8_t *memory = tq_arena_alloc(arena, 100);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(memory[i], 0);
    tq_arena_close(arena);
    assert_int_equal(seam.outstanding, 0);
}

static void the_budget_is_never_passed(void **state)
{
    (void)state;
    struct tq_arena *arena = tq_arena_open(NULL, 1000);
    assert_non_null(tq_arena_alloc(arena, 496));
    assert_non_null(tq_arena_alloc(arena, 496));
    assert_false(tq_arena_exhausted(arena));
    assert_null(tq_arena_alloc(arena, 17));
    assert_true(tq_arena_exhausted(arena));
    assert_null(tq_arena_alloc(arena, SIZE_MAX));
    assert_null(tq_arena_alloc(arena, SIZE_MAX - 15));
    assert_int_equal(tq_arena_used(arena), 992);
    tq_arena_close(arena);
}

static void without_memory_it_says_so_and_goes_on(void **state)
{
    (void)state;
    struct test_seam seam;
    test_seam_init(&seam, 1);
    test_seam_fail_allocation(&seam, 0, false);
    assert_null(tq_arena_open(&seam.seam, 100));
    struct tq_arena *arena = tq_arena_open(&seam.seam, 1 << 20);
    test_seam_fail_allocation(&seam, 0, false);
    assert_null(tq_arena_alloc(arena, 10));
    assert_false(tq_arena_exhausted(arena)); /* it was not the budget */
    assert_non_null(tq_arena_copy(arena, "0123456789", 10));
    tq_arena_close(arena);
    assert_int_equal(seam.outstanding, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(a_reset_frees_all_and_zeroes_what_it_keeps),
        cmocka_unit_test(the_budget_is_never_passed),
        cmocka_unit_test(without_memory_it_says_so_and_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

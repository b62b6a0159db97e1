#include "transport/base/heap.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/test_seam.h"

enum { NODES = 300, STEPS = 20000 };

static int64_t earliest(const struct tq_heap_node *nodes)
{
    int64_t due = INT64_MAX;
    for (size_t i = 0; i < NODES; i++)
        if (nodes[i].slot != 0 && nodes[i].due_ns < due)
            due = nodes[i].due_ns;
    return due;
}

static void the_earliest_comes_first_whatever_is_moved_or_removed(void **state)
{
    (void)state;
    struct test_seam seam;
    test_seam_init(&seam, 42);
    struct tq_heap heap;
    struct tq_heap_node nodes[NODES] = { 0 };
    tq_heap_init(&heap, &seam.seam);
    for (int step = 0; step < STEPS; step++) {
        uint64_t dice = tq_seam_random64(&seam.seam);
        struct tq_heap_node *node = &nodes[dice % NODES];
        if ((dice >> 32) % 3 == 0)
            tq_heap_remove(&heap, node);
        else
            assert_true(tq_heap_set(&heap, node, (int64_t)(dice >> 40)));
        assert_int_equal(tq_heap_next_ns(&heap), earliest(nodes));
    }
    int64_t last = 0;
    for (struct tq_heap_node *node; (node = tq_heap_take_due(&heap, INT64_MAX)) != NULL; last = node->due_ns)
        assert_true(node->due_ns >= last && node->slot == 0);
    assert_null(tq_heap_peek(&heap));
    tq_heap_fini(&heap);
    assert_int_equal(seam.outstanding, 0);
}

static void what_is_not_due_stays(void **state)
{
    (void)state;
    struct tq_heap heap;
    struct tq_heap_node node = { 0 };
    tq_heap_init(&heap, NULL);
    assert_true(tq_heap_set(&heap, &node, 100));
    assert_null(tq_heap_take_due(&heap, 99));
    assert_ptr_equal(tq_heap_take_due(&heap, 100), &node);
    assert_int_equal(tq_heap_next_ns(&heap), INT64_MAX);
    tq_heap_fini(&heap);
}

static void without_memory_nothing_is_added(void **state)
{
    (void)state;
    struct test_seam seam;
    test_seam_init(&seam, 1);
    struct tq_heap heap;
    struct tq_heap_node node = { 0 };
    tq_heap_init(&heap, &seam.seam);
    test_seam_fail_allocation(&seam, 0, false);
    assert_false(tq_heap_set(&heap, &node, 1));
    assert_int_equal(node.slot, 0);
    assert_true(tq_heap_set(&heap, &node, 1));
    tq_heap_fini(&heap);
    assert_int_equal(node.slot, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_earliest_comes_first_whatever_is_moved_or_removed),
        cmocka_unit_test(what_is_not_due_stays),
        cmocka_unit_test(without_memory_nothing_is_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "transport/base/list.h"

#include "tests/support/cmocka_all.h"

struct item {
    int number;
    struct tq_list link;
};

static void order_is_kept_and_removal_inside_a_walk_is_allowed(void **state)
{
    (void)state;
    struct tq_list list;
    struct item items[5];
    tq_list_init(&list);
    for (int i = 0; i < 5; i++) {
        items[i].number = i;
        tq_list_add_tail(&list, &items[i].link);
    }
    tq_list_each_safe (node, &list)
        if (tq_container_of(node, struct item, link)->number % 2 == 1)
            tq_list_remove(node);
    int expected = 0;
    tq_list_each (node, &list) {
        assert_int_equal(tq_container_of(node, struct item, link)->number, expected);
        expected += 2;
    }
    assert_int_equal(expected, 6);
    tq_list_remove(&items[1].link); /* twice does no harm */
    tq_list_add_head(&list, &items[1].link);
    assert_ptr_equal(tq_list_take_head(&list), &items[1].link);
    while (tq_list_take_head(&list) != NULL) {
    }
    assert_true(tq_list_empty(&list));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(order_is_kept_and_removal_inside_a_walk_is_allowed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "transport/base/map.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/test_seam.h"

enum { KEYS = 500, STEPS = 50000 };

static int values[KEYS];

/* Against a model: an array indexed by key. Keys are chosen to crowd, so that runs are long and gaps get closed. */
static void it_agrees_with_a_plain_array(void **state)
{
    (void)state;
    struct test_seam seam;
    test_seam_init(&seam, 7);
    struct tq_map map;
    void *model[KEYS] = { NULL };
    tq_map_init(&map, &seam.seam);
    size_t count = 0;
    for (int step = 0; step < STEPS; step++) {
        uint64_t dice = tq_seam_random64(&seam.seam);
        uint64_t key = dice % KEYS;
        if ((dice >> 32) % 2 == 0) {
            void *value = &values[(dice >> 40) % KEYS];
            count += model[key] == NULL;
            model[key] = value;
            assert_true(tq_map_put(&map, key << 8, value));
        } else {
            assert_ptr_equal(tq_map_remove(&map, key << 8), model[key]);
            count -= model[key] != NULL;
            model[key] = NULL;
        }
        assert_int_equal(tq_map_count(&map), count);
        uint64_t probe = (dice >> 16) % KEYS;
        assert_ptr_equal(tq_map_get(&map, probe << 8), model[probe]);
    }
    size_t cursor = 0, seen = 0;
    while (tq_map_next(&map, &cursor) != NULL)
        seen++;
    assert_int_equal(seen, count);
    for (uint64_t key = 0; key < KEYS; key++)
        assert_ptr_equal(tq_map_get(&map, key << 8), model[key]);
    tq_map_fini(&map);
    assert_int_equal(seam.outstanding, 0);
}

static void without_memory_it_stays_as_it_was(void **state)
{
    (void)state;
    struct test_seam seam;
    test_seam_init(&seam, 1);
    struct tq_map map;
    tq_map_init(&map, &seam.seam);
    uint64_t key = 0;
    while (!seam.failed) {
        test_seam_fail_allocation(&seam, 1, false);
        while (!seam.failed && tq_map_put(&map, key, &values[0]))
            key++;
    }
    assert_int_equal(tq_map_count(&map), key);
    for (uint64_t k = 0; k < key; k++)
        assert_non_null(tq_map_get(&map, k));
    assert_null(tq_map_get(&map, key));
    tq_map_fini(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_agrees_with_a_plain_array),
        cmocka_unit_test(without_memory_it_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

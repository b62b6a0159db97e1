#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/controller/text_map.h"

#include "tests/support/cmocka_all.h"

enum { TEXTS = 2000, STEPS = 100000 };

/* Against an array of flags, with random additions and removals. */
static void random_steps_agree_with_an_array(void **state)
{
    static char texts[TEXTS][16];
    static bool present[TEXTS];
    struct tq_text_map map;
    size_t count = 0;
    unsigned random = 7;
    (void)state;
    tq_text_map_init(&map, NULL);
    for (unsigned i = 0; i < TEXTS; i++)
        snprintf(texts[i], sizeof(texts[i]), "%.*s%u", (int)(i % 9), "abcdefgh", i);
    for (unsigned step = 0; step < STEPS; step++) {
        random = random * 1664525 + 1013904223;
        unsigned i = (random >> 8) % TEXTS;
        void *expected = present[i] ? texts[i] : NULL;
        assert_ptr_equal(tq_text_map_get(&map, texts[i]), expected);
        if (present[i])
            assert_ptr_equal(tq_text_map_remove(&map, texts[i]), expected);
        else
            assert_true(tq_text_map_put(&map, texts[i], texts[i]));
        count = present[i] ? count - 1 : count + 1;
        present[i] = !present[i];
        assert_int_equal(map.count, count);
    }
    size_t walked = 0, cursor = 0;
    while (tq_text_map_next(&map, &cursor) != NULL)
        walked++;
    assert_int_equal(walked, count);
    assert_null(tq_text_map_remove(&map, "absent"));
    tq_text_map_fini(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_steps_agree_with_an_array) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

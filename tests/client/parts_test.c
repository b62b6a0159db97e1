/* The small parts of the client that need nobody else: runs of cells, inline frames, receive buffers. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "client/buffers.h"
#include "client/frames.h"
#include "client/run_list.h"
#include "tests/support/cmocka_all.h"

static void a_dense_column_is_one_run(void **state)
{
    (void)state;
    struct tq_run_list list;
    struct tq_arena *arena = tq_arena_open(NULL, SIZE_MAX);
    tq_run_list_init(&list, arena);
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(tq_run_list_add(&list, 1, 8 + i * 96, 64));
    assert_int_equal(list.runs.n_count, 1);
    assert_int_equal(list.runs.n_region, 1);
    assert_int_equal(list.runs.count[0], 1000);
    assert_int_equal(list.runs.stride[0], 96);
    assert_int_equal(list.runs.offset[0], 8);
    tq_arena_close(arena);
}

/* Whatever is added comes back from the runs, cell by cell. */
static void runs_stand_for_exactly_what_was_added(void **state)
{
    (void)state;
    enum { CELLS = 2000 };
    static uint64_t offsets[CELLS], lengths[CELLS];
    static uint32_t regions[CELLS];
    struct tq_run_list list;
    struct tq_arena *arena = tq_arena_open(NULL, SIZE_MAX);
    tq_run_list_init(&list, arena);
    srand(7);
    for (size_t i = 0; i < CELLS; i++) {
        regions[i] = (uint32_t)(rand() % 8 == 0);
        lengths[i] = (uint64_t)(rand() % 3) * 8;
        offsets[i] = (uint64_t)(rand() % 4) * 16;
        assert_true(tq_run_list_add(&list, regions[i], offsets[i], lengths[i]));
    }
    size_t cell = 0;
    const Tq__V1__CellRuns *runs = &list.runs;
    for (size_t r = 0; r < runs->n_count; r++)
        for (uint64_t k = 0; k < runs->count[r]; k++, cell++) {
            assert_int_equal(runs->region[r], regions[cell]);
            assert_int_equal(runs->length[r], lengths[cell]);
            assert_int_equal(runs->offset[r] + k * runs->stride[r], offsets[cell]);
        }
    assert_int_equal(cell, CELLS);
    assert_true(runs->n_count < CELLS);
    tq_arena_close(arena);
}

static void frames_read_as_one_run_of_bytes(void **state)
{
    (void)state;
    static const uint8_t text[] = "abcdefghij";
    const struct tq_bytes list[5] = { { text, 3 }, { text + 3, 0 }, { text + 3, 1 }, { text + 4, 6 }, { NULL, 0 } };
    struct tq_frames frames;
    struct tq_arena *arena = tq_arena_open(NULL, SIZE_MAX);
    assert_true(tq_frames_init(&frames, arena, list, 5));
    assert_int_equal(tq_frames_bytes(&frames), 10);
    for (size_t from = 0; from <= 10; from++)
        for (size_t len = 0; len <= 10 - from; len++) {
            uint8_t out[12];
            memset(out, '.', sizeof(out));
            tq_frames_copy(&frames, from, len, out);
            assert_memory_equal(out, text + from, len);
            assert_int_equal(out[len], '.');
        }
    tq_arena_close(arena);
}

static void buffers_come_back_within_the_limit(void **state)
{
    (void)state;
    struct tq_buffers buffers;
    struct tq_buffer a, b, c;
    tq_buffers_init(&buffers, 5 << 20);
    assert_true(tq_buffers_take(&buffers, 2 << 20, &a));
    assert_true(tq_buffers_take(&buffers, 3 << 20, &b));
    assert_int_equal((uintptr_t)a.ptr % 64, 0);
    memset(a.ptr, 1, 2 << 20);
    uint8_t *first = a.ptr;
    tq_buffers_give(&buffers, &a);
    assert_null(a.ptr);
    assert_true(tq_buffers_take(&buffers, (2 << 20) - 5, &c));
    assert_ptr_equal(c.ptr, first); /* touched already: that is the point */
    tq_buffers_give(&buffers, &c);
    tq_buffers_give(&buffers, &b); /* the older one makes room */
    assert_true(tq_buffers_bytes(&buffers) <= 5 << 20);
    assert_true(tq_buffers_bytes(&buffers) > 0);
    assert_true(tq_buffers_take(&buffers, 64 << 20, &c));
    tq_buffers_give(&buffers, &c); /* larger than the cache: freed */
    assert_true(tq_buffers_bytes(&buffers) <= 5 << 20);
    assert_true(tq_buffers_take(&buffers, 0, &c));
    assert_non_null(c.ptr);
    tq_buffers_give(&buffers, &c);
    assert_false(tq_buffers_take(&buffers, SIZE_MAX - 10, &c));
    tq_buffers_fini(&buffers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dense_column_is_one_run),
        cmocka_unit_test(runs_stand_for_exactly_what_was_added),
        cmocka_unit_test(frames_read_as_one_run_of_bytes),
        cmocka_unit_test(buffers_come_back_within_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What is handed out is the oldest that is ready, also in a partition that lives long and is cleared while it streams;
 * and renumbering its rows changes nothing that anybody sees. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/controller/compact.h"
#include "tests/server/controller/world.h"
#include "tests/support/cmocka_all.h"

enum { ROUNDS = 20000, MOST = 256, GROUP = 4 };

static struct world world;

/* Live samples in the order of insertion. */
static struct live {
    struct tq_sample_ref ref;
    uint64_t group;
    bool ready, consumed;
} live[MOST];
static unsigned n_live;

static uint64_t random_;
static uint32_t below(uint32_t n)
{
    random_ = random_ * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_ >> 33) % n;
}

static int open_world(void **state)
{
    (void)state;
    random_ = 1;
    n_live = 0;
    world_open(&world, NULL, WORLD_UNITS);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    world_close(&world);
    return 0;
}

static struct tq_partition *partition(void)
{
    return tq_table_find(&world.table, "p");
}

static void insert(uint32_t n, uint32_t group_size)
{
    if (n_live + n > MOST)
        return;
    assert_int_equal(world_insert(&world, "p", n, group_size), TQ_OK);
    for (uint32_t i = 0; i < n; i++)
        live[n_live++] = (struct live){ .ref = world.refs[i], .group = world.groups[i] };
}

static void produce(struct live *sample)
{
    assert_int_equal(world_produce(&world, "p", &sample->ref, 1, "x", NULL), TQ_OK);
    sample->ready = true;
}

static void clear(unsigned at)
{
    struct tq_cleared cleared;
    assert_int_equal(tq_table_clear(&world.table, "p", &live[at].ref, 1, &cleared, &world.err), TQ_OK);
    assert_int_equal(cleared.removed, 1);
    memmove(&live[at], &live[at + 1], (--n_live - at) * sizeof(live[0]));
}

/* Clears about half of what was consumed, and now and then a sample that was not: it was given up. */
static void clear_some(void)
{
    for (unsigned i = n_live; i-- > 0;)
        if (live[i].consumed ? below(2) == 0 : below(100) == 0)
            clear(i);
}

static unsigned count_ready(uint64_t group)
{
    unsigned n = 0;
    for (unsigned i = 0; i < n_live; i++)
        n += live[i].ready && !live[i].consumed && (group == 0 || live[i].group == group);
    return n;
}

/* The oldest sample that can be handed out; with a group size, that is in a whole group. */
static const struct live *oldest(uint32_t group_size)
{
    for (unsigned i = 0; i < n_live; i++)
        if (live[i].ready && !live[i].consumed && (group_size == 0 || count_ready(live[i].group) >= group_size))
            return &live[i];
    return NULL;
}

static void mark_consumed(void)
{
    for (uint32_t k = 0; k < world.n; k++)
        for (unsigned i = 0; i < n_live; i++)
            if (live[i].ref.index == world.refs[k].index)
                live[i].consumed = true;
}

/* The first of a batch is the oldest of all. Returns whether there was one. */
static bool fetch(uint32_t n, uint32_t group_size)
{
    const struct live *first = oldest(group_size);
    assert_int_equal(world_fetch(&world, "p", "t", "x", n, group_size), TQ_OK);
    if (world.n == 0)
        return false;
    assert_non_null(first);
    assert_int_equal(world.refs[0].index, first->ref.index);
    assert_int_equal(world.refs[0].generation, first->ref.generation);
    mark_consumed();
    return true;
}

static void the_oldest_ready_sample_is_in_the_next_batch(void **state)
{
    unsigned batches = 0;
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        insert(1 + below(8), 0);
        for (unsigned i = 0; i < n_live; i++)
            if (!live[i].ready && below(3) == 0)
                produce(&live[i]);
        batches += fetch(1 + below(6), 0);
        clear_some();
    }
    assert_true(batches > ROUNDS / 2);
}

static void the_oldest_whole_group_is_in_the_next_batch(void **state)
{
    unsigned batches = 0;
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        insert(GROUP * (1 + below(2)), GROUP);
        for (unsigned i = 0; i < n_live; i++)
            if (!live[i].ready && below(3) == 0)
                produce(&live[i]);
        batches += fetch(GROUP * (1 + below(2)), GROUP);
        clear_some();
    }
    assert_true(batches > ROUNDS / 2);
}

/* What the demo did: groups are cleared as soon as they are used, and newer ones took their places. */
static void a_group_that_is_late_goes_first_when_it_is_whole(void **state)
{
    (void)state;
    insert(GROUP, GROUP);
    struct live *late = &live[0];
    insert(GROUP, GROUP);
    for (unsigned i = GROUP; i < 2 * GROUP; i++)
        produce(&live[i]);
    for (unsigned i = 0; i < GROUP; i++)
        produce(&late[i]);
    assert_true(fetch(GROUP, GROUP));
    assert_int_equal(world.refs[0].index, late->ref.index);
    assert_true(fetch(GROUP, GROUP));
}

/* The age of a group is that of what it still has: one that is fed for ever does not stop others. */
static void a_group_without_end_lets_others_pass(void **state)
{
    const uint64_t groups[] = { 7, 7, 8, 8, 7, 7 };
    struct tq_insertion insertion = { .partition = "p", .n = 6, .groups = groups };
    struct tq_partition *found;
    uint32_t slots[6];
    (void)state;
    assert_int_equal(tq_table_insert(&world.table, &insertion, &found, slots, &world.err), TQ_OK);
    struct tq_sample_ref refs[6];
    for (unsigned i = 0; i < 6; i++) {
        const struct tq_row *row = tq_partition_row(found, slots[i]);
        refs[i] = (struct tq_sample_ref){ row->index, row->generation };
    }
    assert_int_equal(world_produce(&world, "p", refs, 6, "x", NULL), TQ_OK);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(world_fetch(&world, "p", "t", "x", 2, 2), TQ_OK);
        assert_int_equal(world.n, 2);
        assert_int_equal(world.groups[0], i == 1 ? 8 : 7);
        assert_int_equal(world.refs[0].index, refs[2 * i].index);
    }
}

/* ---- renumbering ---- */

static void keys_and_order_survive_the_end_of_the_slots(void **state)
{
    char *keys[] = { (char *)"k0", (char *)"k1", (char *)"k2", (char *)"k3" };
    struct tq_insertion insertion = { .partition = "p", .n = 4, .keys = keys };
    struct tq_partition *found;
    uint32_t slots[4], slot;
    (void)state;
    assert_int_equal(tq_table_get(&world.table, "p", &found, &world.err), TQ_OK);
    found->rows.next = TQ_SLOTS_MAX - 5;
    assert_int_equal(tq_table_insert(&world.table, &insertion, &found, slots, &world.err), TQ_OK);
    const struct tq_row *row = tq_partition_row(found, slots[2]);
    uint64_t index = row->index;
    struct tq_sample_ref first = { tq_partition_row(found, slots[0])->index, 1 };
    struct tq_cleared cleared;
    assert_int_equal(tq_table_clear(&world.table, "p", &first, 1, &cleared, &world.err), TQ_OK);
    insert(1, 0);
    assert_int_equal(found->rows.next, TQ_SLOTS_MAX);
    insert(2, 0);
    assert_int_equal(found->rows.next, 6);
    assert_int_equal(found->rows.n_chunks, 1);
    assert_false(tq_partition_find_key(found, "k0", &slot));
    assert_true(tq_partition_find_key(found, "k2", &slot));
    assert_int_equal(slot, 1);
    assert_int_equal(tq_partition_row(found, slot)->index, index);
    assert_string_equal(tq_partition_row(found, slot)->key, "k2");
    assert_int_equal(tq_index_find(&world.table.indexes, index)->slot, 1);
}

/* One sample in each chunk stays: as many chunks as samples, until the rows are renumbered. */
static void samples_that_stay_do_not_keep_their_neighbours_space(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        assert_int_equal(world_insert(&world, "p", TQ_ROW_CHUNK, 0), TQ_OK);
        struct tq_cleared cleared;
        assert_int_equal(tq_table_clear(&world.table, "p", world.refs + 1, TQ_ROW_CHUNK - 1, &cleared, &world.err),
                         TQ_OK);
        assert_true(partition()->rows.n_chunks <= 24);
    }
    assert_int_equal(tq_partition_count(partition()), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_oldest_ready_sample_is_in_the_next_batch, open_world, close_world),
        cmocka_unit_test_setup_teardown(the_oldest_whole_group_is_in_the_next_batch, open_world, close_world),
        cmocka_unit_test_setup_teardown(a_group_that_is_late_goes_first_when_it_is_whole, open_world, close_world),
        cmocka_unit_test_setup_teardown(a_group_without_end_lets_others_pass, open_world, close_world),
        cmocka_unit_test_setup_teardown(keys_and_order_survive_the_end_of_the_slots, open_world, close_world),
        cmocka_unit_test_setup_teardown(samples_that_stay_do_not_keep_their_neighbours_space, open_world, close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

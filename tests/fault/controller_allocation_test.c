/* Each allocation of the controller's core fails once, one after the other: the request that meets it is refused and
 * has changed nothing, the same request then succeeds, and at the end nothing is left over. (CRoaring allocates by
 * itself, past the seam.) */
#include "tests/support/cmocka_all.h"

#include <inttypes.h>

#include "server/controller/view.h"
#include "tests/server/controller/world.h"
#include "tests/support/test_seam.h"

enum { N = 8 };

static struct test_seam seam;
static struct world world;
static struct tq_sample_ref refs[N];
static uint32_t slots[N];
static struct world_waiter waiter;

/* What must not change in a refused request. */
struct picture {
    uint64_t live, text_bytes, cells, consumed, parked, partitions, fields, keys, unit_samples, unit_bytes, tags;
};

static struct picture take_picture(void)
{
    struct picture picture = { .live = world.table.indexes.n_live,
                               .text_bytes = world.table.text_bytes,
                               .parked = world.table.n_parked,
                               .partitions = world.table.partitions.count };
    const struct tq_partition *partition = tq_table_find(&world.table, "p");
    for (uint32_t i = 0; i < world.table.units.n; i++) {
        picture.unit_samples += world.table.units.by_number[i]->samples;
        picture.unit_bytes += world.table.units.by_number[i]->bytes;
    }
    if (partition == NULL)
        return picture;
    picture.keys = partition->keys.count;
    for (uint32_t i = 0; i < partition->n_fields; i++) {
        picture.cells += roaring_bitmap_get_cardinality(partition->fields[i]->produced);
        picture.fields += partition->fields[i]->schema.layout != TQ_CELLS_UNKNOWN;
    }
    tq_list_each (node, &partition->tasks)
        picture.consumed +=
            roaring_bitmap_get_cardinality(tq_container_of(node, struct tq_task, in_partition)->consumed);
    roaring_uint32_iterator_t at;
    for (roaring_init_iterator(partition->live, &at); at.has_value; roaring_advance_uint32_iterator(&at)) {
        const struct tq_tag_set *tags = tq_partition_row(partition, at.current_value)->tags;
        picture.tags += tags != NULL ? tags->n : 0;
    }
    return picture;
}

/* ---- the requests ---- */

static const struct tq_field_claim claims[2] = {
    { .name = "x", .schema = { .layout = TQ_CELLS_DENSE, .dtype = 7 } },
    { .name = "y", .schema = { .layout = TQ_CELLS_OPAQUE, .content_type = "text/plain" } },
};
static const uint32_t tag_first[N + 1] = { 0, 1, 1, 1, 1, 1, 1, 1, 2 };
static const struct tq_tag tag_entries[2] = { { "a", { (const uint8_t *)"1", 1 } }, { "b", { NULL, 0 } } };

static tq_status insert(void)
{
    static char *const keys[N] = { "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7" };
    const struct tq_insertion insertion = { .partition = "p",
                                            .n = N,
                                            .group_size = 4,
                                            .keys = keys,
                                            .tags = { tag_first, tag_entries },
                                            .fields = claims,
                                            .n_fields = 1,
                                            .sample_bytes = 10 };
    struct tq_partition *partition;
    tq_status status = tq_table_insert(&world.table, &insertion, &partition, slots, &world.err);
    for (uint32_t i = 0; status == TQ_OK && i < N; i++) {
        const struct tq_row *row = tq_partition_row(partition, slots[i]);
        refs[i] = (struct tq_sample_ref){ row->index, row->generation };
    }
    return status;
}

static tq_status produce(void)
{
    uint64_t bytes[N], cells;
    for (uint32_t i = 0; i < N; i++)
        bytes[i] = 20;
    const struct tq_production production = { .partition = "p",
                                              .samples = refs,
                                              .n = N,
                                              .fields = claims,
                                              .n_fields = 2,
                                              .bytes = bytes,
                                              .tags = { tag_first, tag_entries } };
    return tq_table_produce(&world.table, &production, &cells, &world.err);
}

static tq_status fetch(const char *task, const char *fields, uint32_t batch, uint32_t group_size)
{
    return world_fetch(&world, "p", task, fields, batch, group_size);
}

static tq_status fetch_first(void)
{
    tq_status status = fetch("t", "x", 2, 0);
    return status;
}

static tq_status fetch_group(void)
{
    return fetch("g", "x,y", 4, 4);
}

static tq_status park(void)
{
    world_park(&world, &waiter, "q", "t", "x", 1, 0, 1000, true);
    if (world_take_done(&world) == 0)
        return TQ_OK;
    tq_status status = waiter.waiter.error.status;
    world_drop(&world, &waiter);
    return status;
}

static tq_status set_tags(void)
{
    const struct tq_tag_changes tags = { tag_first, tag_entries };
    return tq_table_set_tags(&world.table, "p", refs, N, &tags, true, &world.err);
}

static tq_status clear_some(void)
{
    struct tq_cleared cleared;
    return tq_table_clear(&world.table, "p", refs, 3, &cleared, &world.err);
}

static tq_status clear_all(void)
{
    bool existed;
    uint64_t removed;
    return tq_table_clear_partition(&world.table, "p", &existed, &removed, &world.err);
}

static tq_status join(void)
{
    const struct tq_unit_claim claim = { .name = "late", .address = "tcp://h:1", .host = "h", .epoch = 1 };
    const struct tq_held held = { "z", { 4000, 3 } };
    bool release;
    struct tq_unit *unit;
    return tq_table_join(&world.table, &claim, &held, 1, &release, &unit, &world.err);
}

static tq_status (*const requests[])(void) = { insert,   produce,    fetch_first, fetch_group, park,
                                               set_tags, clear_some, clear_all,   join };

/* Runs all of them, the nth allocation failing. Returns whether one failed. */
static bool run(int64_t nth)
{
    unsigned refused = 0;
    test_seam_init(&seam, 1);
    seam.now_ns = 1000;
    world_open_on(&world, &seam.seam, NULL, WORLD_UNITS);
    test_seam_fail_allocation(&seam, nth, false);
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        struct picture before = take_picture();
        tq_status status = requests[i]();
        if (status == TQ_OK)
            continue;
        if (status != TQ_RESOURCE_EXHAUSTED || !seam.failed)
            fail_msg("request %zu, allocation %" PRId64 ": %s", i, nth, world.err.message);
        struct picture after = take_picture();
        if (memcmp(&before, &after, sizeof(before)) != 0)
            fail_msg("request %zu, allocation %" PRId64 ": refused, but something changed", i, nth);
        refused++;
        assert_int_equal(requests[i](), TQ_OK);
    }
    assert_true(refused <= 1);
    bool failed = seam.failed;
    world_drop(&world, &waiter);
    assert_int_equal(world.table.partitions.count, 0);
    assert_int_equal(world.table.text_bytes, 0);
    world_close(&world);
    assert_int_equal(seam.outstanding, 0);
    return failed;
}

static void every_allocation_may_fail_once(void **state)
{
    int64_t nth = 0;
    (void)state;
    while (run(nth))
        nth++;
    print_message("%" PRId64 " allocations\n", nth);
    assert_true(nth > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_may_fail_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

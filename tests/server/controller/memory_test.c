/* What fails without memory leaves no trace: each allocation of a request fails once. */
#include <string.h>

#include "server/controller/compact.h"
#include "tests/server/controller/world.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/test_seam.h"

static struct world world;
static struct test_seam seam;

static int open_world(void **state)
{
    (void)state;
    test_seam_init(&seam, 1);
    world_open_on(&world, &seam.seam, NULL, WORLD_UNITS);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    world_close(&world);
    assert_int_equal(seam.outstanding, 0);
    return 0;
}

static void a_notify_without_memory_registers_no_field(void **state)
{
    (void)state;
    assert_int_equal(world_insert(&world, "p", 1, 0), TQ_OK);
    const struct tq_sample_ref ref = world.refs[0];
    const struct tq_partition *partition = tq_table_find(&world.table, "p");
    unsigned failures = 0;
    for (;; failures++) {
        test_seam_fail_allocation(&seam, failures, false);
        tq_status status = world_produce(&world, "p", &ref, 1, "x,y,z", NULL);
        if (status == TQ_OK)
            break;
        assert_int_equal(status, TQ_RESOURCE_EXHAUSTED);
        assert_int_equal(partition->n_fields, 0);
        assert_int_equal(partition->field_names.count, 0);
        assert_null(tq_partition_find_field(partition, "x"));
    }
    test_seam_fail_allocation(&seam, -1, false);
    assert_int_equal(partition->n_fields, 3);
    assert_true(failures >= 6);
}

/* A field that was there stays. */
static void fields_that_were_there_stay(void **state)
{
    (void)state;
    assert_int_equal(world_insert(&world, "p", 1, 0), TQ_OK);
    const struct tq_sample_ref ref = world.refs[0];
    assert_int_equal(world_produce(&world, "p", &ref, 1, "w", NULL), TQ_OK);
    const struct tq_partition *partition = tq_table_find(&world.table, "p");
    for (unsigned nth = 2; nth < 5; nth++) {
        test_seam_fail_allocation(&seam, nth, false);
        assert_int_equal(world_produce(&world, "p", &ref, 1, "x,w,y", NULL), TQ_RESOURCE_EXHAUSTED);
        assert_int_equal(partition->n_fields, 1);
        assert_non_null(tq_partition_find_field(partition, "w"));
        assert_null(tq_partition_find_field(partition, "x"));
    }
    test_seam_fail_allocation(&seam, -1, false);
}

/* Without memory for it rows are not renumbered: that matters only at the end of the slots. */
static void renumbering_without_memory_changes_nothing(void **state)
{
    struct tq_partition *partition;
    (void)state;
    assert_int_equal(tq_table_get(&world.table, "p", &partition, &world.err), TQ_OK);
    partition->rows.next = TQ_SLOTS_MAX - 4;
    assert_int_equal(world_insert(&world, "p", 4, 0), TQ_OK);
    const struct tq_sample_ref ref = world.refs[3];
    for (unsigned nth = 0; nth < 2; nth++) {
        test_seam_fail_allocation(&seam, nth, false);
        assert_false(tq_partition_compact(partition, &world.table.indexes));
        assert_int_equal(partition->rows.next, TQ_SLOTS_MAX);
    }
    test_seam_fail_allocation(&seam, 0, true);
    assert_int_equal(world_insert(&world, "p", 1, 0), TQ_RESOURCE_EXHAUSTED);
    assert_int_equal(tq_partition_count(partition), 4);
    test_seam_fail_allocation(&seam, -1, false);
    assert_int_equal(world_insert(&world, "p", 1, 0), TQ_OK);
    assert_int_equal(partition->rows.next, 5);
    assert_int_equal(world_produce(&world, "p", &ref, 1, "x", NULL), TQ_OK);
    assert_int_equal(world_fetch(&world, "p", "t", "x", 1, 0), TQ_OK);
    assert_int_equal(world.refs[0].index, ref.index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_notify_without_memory_registers_no_field, open_world, close_world),
        cmocka_unit_test_setup_teardown(fields_that_were_there_stay, open_world, close_world),
        cmocka_unit_test_setup_teardown(renumbering_without_memory_changes_nothing, open_world, close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

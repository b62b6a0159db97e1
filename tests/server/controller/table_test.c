#include <stddef.h>
#include <string.h>

#include "server/controller/view.h"
#include "tests/server/controller/world.h"
#include "tests/support/cmocka_all.h"

static struct world world;

static int open_world(void **state)
{
    (void)state;
    world_open(&world, NULL, WORLD_UNITS);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    world_close(&world);
    return 0;
}

static void copy_refs(struct tq_sample_ref *to, uint32_t n)
{
    assert_int_equal(world.n, n);
    memcpy(to, world.refs, n * sizeof(*to));
}

static struct tq_cleared clear(const char *partition, const struct tq_sample_ref *refs, uint32_t n)
{
    struct tq_cleared cleared;
    assert_int_equal(tq_table_clear(&world.table, partition, refs, n, &cleared, &world.err), TQ_OK);
    return cleared;
}

/* Partitions of 32 and 16, the first is cleared, then 64 are asked for. */
static void indexes_are_used_again_across_partitions(void **state)
{
    bool existed;
    uint64_t removed;
    (void)state;
    assert_int_equal(world_insert(&world, "a", 32, 0), TQ_OK);
    assert_int_equal(world_insert(&world, "b", 16, 0), TQ_OK);
    assert_int_equal(tq_table_clear_partition(&world.table, "a", &existed, &removed, &world.err), TQ_OK);
    assert_true(existed);
    assert_int_equal(removed, 32);
    assert_int_equal(world_insert(&world, "c", 64, 0), TQ_OK);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(world.refs[i].index, i < 32 ? i : i + 16);
        assert_int_equal(world.refs[i].generation, i < 32 ? 2 : 1);
    }
}

/* BR-089: readiness belongs to a partition and a generation, not to an index. */
static void a_reused_index_is_not_ready_by_its_past(void **state)
{
    struct tq_sample_ref old[8];
    (void)state;
    assert_int_equal(world_insert(&world, "a", 8, 0), TQ_OK);
    copy_refs(old, 8);
    assert_int_equal(world_produce(&world, "a", old, 8, "x,y", NULL), TQ_OK);
    assert_int_equal(clear("a", old, 8).removed, 8);
    assert_int_equal(world_insert(&world, "b", 8, 0), TQ_OK);
    assert_int_equal(world.refs[0].index, old[0].index);
    assert_int_equal(world_fetch(&world, "b", "t", "x,y", 1, 0), TQ_OK);
    assert_int_equal(world.n, 0);
    assert_int_equal(world_insert(&world, "a", 8, 0), TQ_OK);
    assert_int_equal(world_fetch(&world, "a", "t", "x", 1, 0), TQ_OK);
    assert_int_equal(world.n, 0);
}

/* BR-088, the controller's half: after a clear nothing old touches what came after. */
static void late_messages_about_a_former_sample_are_refused(void **state)
{
    struct tq_sample_ref old[4], fresh[4];
    (void)state;
    assert_int_equal(world_insert(&world, "a", 4, 0), TQ_OK);
    copy_refs(old, 4);
    assert_int_equal(clear("a", old, 4).removed, 4);
    assert_int_equal(world_produce(&world, "a", old, 4, "x", NULL), TQ_NOT_FOUND);
    assert_int_equal(world_insert(&world, "a", 4, 0), TQ_OK);
    copy_refs(fresh, 4);
    assert_int_equal(fresh[0].index, old[0].index);
    assert_int_equal(fresh[0].generation, old[0].generation + 1);

    assert_int_equal(world_produce(&world, "a", old, 4, "x", NULL), TQ_FAILED_PRECONDITION);
    assert_string_equal(world.err.reason, "STALE_GENERATION");
    struct tq_cleared cleared = clear("a", old, 4);
    assert_int_equal(cleared.removed, 0);
    assert_int_equal(cleared.stale, 4);
    assert_int_equal(tq_partition_count(tq_table_find(&world.table, "a")), 4);
    assert_int_equal(world_produce(&world, "a", fresh, 4, "x", NULL), TQ_OK);
    assert_int_equal(world_fetch(&world, "a", "t", "x", 4, 0), TQ_OK);
    assert_int_equal(world.n, 4);
}

/* BR-090. */
static void clearing_again_is_harmless(void **state)
{
    struct tq_sample_ref refs[4];
    const struct tq_sample_ref never[2] = { { 1000000, 1 }, { UINT64_MAX, 1 } };
    (void)state;
    assert_int_equal(world_insert(&world, "a", 4, 0), TQ_OK);
    copy_refs(refs, 4);
    assert_int_equal(world_produce(&world, "a", refs, 2, "x", NULL), TQ_OK); /* partly written */
    assert_int_equal(clear("a", refs, 2).removed, 2);
    struct tq_cleared again = clear("a", refs, 4);
    assert_int_equal(again.removed, 2);
    assert_int_equal(again.absent, 2);
    again = clear("a", refs, 4);
    assert_int_equal(again.absent, 4);
    assert_int_equal(clear("a", never, 2).absent, 2);
    assert_int_equal(clear("nowhere", refs, 4).absent, 4);
    const struct tq_sample_ref twice[2] = { refs[0], refs[0] };
    assert_int_equal(clear("a", twice, 2).absent, 2);
    assert_int_equal(world.table.indexes.n_live, 0);
    assert_int_equal(world.table.units.by_number[0]->samples + world.table.units.by_number[1]->samples, 0);
}

static void a_sample_named_twice_is_cleared_once(void **state)
{
    (void)state;
    assert_int_equal(world_insert(&world, "a", 1, 0), TQ_OK);
    const struct tq_sample_ref twice[2] = { world.refs[0], world.refs[0] };
    struct tq_cleared cleared = clear("a", twice, 2);
    assert_int_equal(cleared.removed, 1);
    assert_int_equal(cleared.absent, 1);
}

static void a_sample_of_another_partition_is_left_alone(void **state)
{
    (void)state;
    assert_int_equal(world_insert(&world, "a", 1, 0), TQ_OK);
    struct tq_sample_ref of_a = world.refs[0];
    assert_int_equal(world_insert(&world, "b", 1, 0), TQ_OK);
    assert_int_equal(clear("b", &of_a, 1).absent, 1);
    assert_int_equal(world_produce(&world, "b", &of_a, 1, "x", NULL), TQ_NOT_FOUND);
    assert_int_equal(tq_partition_count(tq_table_find(&world.table, "a")), 1);
}

/* One conflict among several fields, one stale sample among several: nothing changes. */
static void a_refused_notify_changes_nothing(void **state)
{
    struct tq_sample_ref refs[4];
    uint64_t cells;
    (void)state;
    assert_int_equal(world_insert(&world, "a", 4, 0), TQ_OK);
    copy_refs(refs, 4);
    assert_int_equal(world_produce(&world, "a", refs, 1, "x", NULL), TQ_OK);
    const struct tq_field_claim claims[2] = {
        { .name = "new", .schema = { .layout = TQ_CELLS_DENSE, .dtype = 7 } },
        { .name = "x", .schema = { .layout = TQ_CELLS_DENSE, .dtype = 12 } },
    };
    struct tq_production production = { .partition = "a", .samples = refs, .n = 4, .fields = claims, .n_fields = 2 };
    assert_int_equal(tq_table_produce(&world.table, &production, &cells, &world.err), TQ_FAILED_PRECONDITION);
    assert_string_equal(world.err.reason, "SCHEMA_CONFLICT");
    struct tq_partition *partition = tq_table_find(&world.table, "a");
    assert_int_equal(partition->n_fields, 1);
    assert_int_equal(roaring_bitmap_get_cardinality(partition->fields[0]->produced), 1);

    refs[3].generation = 9;
    assert_int_equal(world_produce(&world, "a", refs, 4, "x,y", NULL), TQ_NOT_FOUND);
    assert_int_equal(partition->n_fields, 1);
    assert_int_equal(roaring_bitmap_get_cardinality(partition->fields[0]->produced), 1);

    refs[3].generation = 1;
    const uint32_t units[4] = { 1, 1, 2, 7 };
    production.fields = claims;
    production.n_fields = 1;
    production.units = units;
    assert_int_equal(tq_table_produce(&world.table, &production, &cells, &world.err), TQ_FAILED_PRECONDITION);
    assert_string_equal(world.err.reason, "WRONG_UNIT");
    assert_int_equal(partition->n_fields, 1);
}

static void cells_that_were_ready_do_not_count_again(void **state)
{
    struct tq_sample_ref refs[4];
    uint64_t cells;
    (void)state;
    assert_int_equal(world_insert(&world, "a", 4, 0), TQ_OK);
    copy_refs(refs, 4);
    assert_int_equal(world_produce(&world, "a", refs, 3, "x", &cells), TQ_OK);
    assert_int_equal(cells, 3);
    assert_int_equal(world_produce(&world, "a", refs, 4, "x,y", &cells), TQ_OK);
    assert_int_equal(cells, 1 + 4);
    const struct tq_sample_ref twice[2] = { refs[0], refs[0] };
    assert_int_equal(world_produce(&world, "a", twice, 2, "z", &cells), TQ_OK);
    assert_int_equal(cells, 1);
}

static void every_task_consumes_once(void **state)
{
    uint64_t reset;
    (void)state;
    assert_int_equal(world_insert(&world, "a", 8, 0), TQ_OK);
    assert_int_equal(world_produce(&world, "a", world.refs, 8, "x", NULL), TQ_OK);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(world_fetch(&world, "a", "actor", "x", 4, 0), TQ_OK);
        assert_int_equal(world.n, 4);
        assert_int_equal(world.refs[0].index, i * 4);
        assert_int_equal(world_fetch(&world, "a", "critic", "x", 4, 0), TQ_OK);
        assert_int_equal(world.n, 4);
        assert_int_equal(world.refs[0].index, i * 4);
    }
    assert_int_equal(world_fetch(&world, "a", "actor", "x", 1, 0), TQ_OK);
    assert_int_equal(world.n, 0);
    assert_int_equal(tq_table_reset(&world.table, "a", "actor", &reset, &world.err), TQ_OK);
    assert_int_equal(reset, 8);
    assert_int_equal(world_fetch(&world, "a", "actor", "x", 8, 0), TQ_OK);
    assert_int_equal(world.n, 8);
    assert_int_equal(world_fetch(&world, "a", "critic", "x", 1, 0), TQ_OK);
    assert_int_equal(world.n, 0);
    assert_int_equal(tq_table_reset(&world.table, "a", NULL, &reset, &world.err), TQ_OK);
    assert_int_equal(reset, 16);
}

static void a_task_consumes_once_over_all_its_field_sets(void **state)
{
    (void)state;
    assert_int_equal(world_insert(&world, "a", 8, 4), TQ_OK);
    assert_int_equal(world_produce(&world, "a", world.refs, 8, "x,y", NULL), TQ_OK);
    assert_int_equal(world_fetch(&world, "a", "t", "y", 1, 0), TQ_OK);
    assert_int_equal(world.n, 1);
    assert_int_equal(world_fetch(&world, "a", "t", "x,y", 8, 0), TQ_OK);
    assert_int_equal(world.n, 0);
    assert_int_equal(world_fetch(&world, "a", "t", "y,x", 4, 4), TQ_OK); /* the first group is not whole any more */
    assert_int_equal(world.n, 4);
    assert_int_equal(world.refs[0].index, 4);
    assert_int_equal(world_fetch(&world, "a", "t", "x", 3, 0), TQ_OK);
    assert_int_equal(world.n, 3);
    assert_int_equal(world_fetch(&world, "a", "t", "x", 1, 0), TQ_OK);
    assert_int_equal(world.n, 0);
}

/* Reference defect: groups recognised by adjacent numbers. Here {1,2,3} of two prompts yields nothing. */
static void groups_are_known_by_their_number(void **state)
{
    (void)state;
    assert_int_equal(world_insert(&world, "a", 6, 2), TQ_OK);
    assert_true(world.groups[0] != 0 && world.groups[0] == world.groups[1] && world.groups[1] != world.groups[2]);
    struct tq_sample_ref middle[2] = { world.refs[1], world.refs[2] };
    struct tq_sample_ref last = world.refs[3];
    assert_int_equal(world_produce(&world, "a", middle, 2, "x", NULL), TQ_OK);
    assert_int_equal(world_fetch(&world, "a", "t", "x", 2, 2), TQ_OK);
    assert_int_equal(world.n, 0); /* two halves of different groups */
    assert_int_equal(world_produce(&world, "a", &last, 1, "x", NULL), TQ_OK);
    assert_int_equal(world_fetch(&world, "a", "t", "x", 2, 2), TQ_OK);
    assert_int_equal(world.n, 2);
    assert_int_equal(world.refs[0].index, 2);
    assert_int_equal(world.refs[1].index, 3);
}

static void an_incomplete_group_is_never_handed_out(void **state)
{
    uint64_t samples;
    (void)state;
    assert_int_equal(world_insert(&world, "a", 8, 4), TQ_OK);
    struct tq_sample_ref one = world.refs[1];
    assert_int_equal(world_produce(&world, "a", world.refs, 8, "x", NULL), TQ_OK);
    assert_int_equal(clear("a", &one, 1).removed, 1);
    assert_int_equal(tq_table_seal(&world.table, "a", &samples, &world.err), TQ_OK);
    assert_int_equal(world_fetch(&world, "a", "t", "x", 8, 4), TQ_OK);
    assert_int_equal(world.n, 4);
    assert_true(world.remainder);
    assert_int_equal(world.refs[0].index, 4);
    assert_int_equal(world_fetch(&world, "a", "t", "x", 8, 4), TQ_OUT_OF_RANGE);
}

static void a_sealed_partition_gives_the_remainder_then_ends(void **state)
{
    uint64_t samples;
    (void)state;
    assert_int_equal(world_insert(&world, "a", 6, 0), TQ_OK);
    assert_int_equal(world_produce(&world, "a", world.refs, 5, "x", NULL), TQ_OK);
    struct tq_sample_ref last = world.refs[5];
    assert_int_equal(tq_table_seal(&world.table, "a", &samples, &world.err), TQ_OK);
    assert_int_equal(samples, 6);
    assert_int_equal(world_insert(&world, "a", 1, 0), TQ_FAILED_PRECONDITION);
    assert_string_equal(world.err.reason, "SEALED");
    assert_int_equal(world_fetch(&world, "a", "t", "x", 4, 0), TQ_OK);
    assert_int_equal(world.n, 4);
    assert_false(world.remainder);
    /* One more may still become ready: the remainder waits for it. */
    assert_int_equal(world_fetch(&world, "a", "t", "x", 4, 0), TQ_OK);
    assert_int_equal(world.n, 0);
    assert_int_equal(world_produce(&world, "a", &last, 1, "x", NULL), TQ_OK);
    assert_int_equal(world_fetch(&world, "a", "t", "x", 4, 0), TQ_OK);
    assert_int_equal(world.n, 2);
    assert_true(world.remainder);
    assert_int_equal(world_fetch(&world, "a", "t", "x", 4, 0), TQ_OUT_OF_RANGE);
    assert_int_equal(world_fetch(&world, "a", "t", "unheard-of", 4, 0), TQ_OUT_OF_RANGE);
    assert_int_equal(world_fetch(&world, "a", "other", "x", 4, 0), TQ_OK);
    assert_int_equal(world.n, 4);
}

static void reserved_samples_are_used_up_by_inserts(void **state)
{
    uint64_t samples;
    struct tq_insertion insertion = { .partition = "a", .n = 2, .reserve = 6 };
    struct tq_partition *partition;
    uint32_t slots[8];
    (void)state;
    assert_int_equal(tq_table_insert(&world.table, &insertion, &partition, slots, &world.err), TQ_OK);
    assert_int_equal(partition->reserved, 6);
    assert_int_equal(world_insert(&world, "a", 4, 0), TQ_OK);
    assert_int_equal(partition->reserved, 2);
    assert_int_equal(world_insert(&world, "a", 4, 0), TQ_OK);
    assert_int_equal(partition->reserved, 0);
    partition->reserved = 5;
    assert_int_equal(tq_table_seal(&world.table, "a", &samples, &world.err), TQ_OK);
    assert_int_equal(partition->reserved, 0);
}

static void keys_are_unique_in_their_partition(void **state)
{
    char *const keys[2] = { "k0", "k1" }, *const clash[2] = { "k2", "k1" };
    struct tq_insertion insertion = { .partition = "a", .n = 2, .keys = keys };
    struct tq_partition *partition;
    uint32_t slots[2], slot;
    (void)state;
    assert_int_equal(tq_table_insert(&world.table, &insertion, &partition, slots, &world.err), TQ_OK);
    insertion.keys = clash;
    assert_int_equal(tq_table_insert(&world.table, &insertion, &partition, slots, &world.err), TQ_ALREADY_EXISTS);
    assert_false(tq_partition_find_key(partition, "k2", &slot));
    assert_int_equal(tq_partition_count(partition), 2);
    insertion.partition = "b";
    assert_int_equal(tq_table_insert(&world.table, &insertion, &partition, slots, &world.err), TQ_OK);
    uint64_t bytes = world.table.text_bytes;
    assert_int_equal(bytes, 4 * 3);
    struct tq_sample_ref ref = { tq_partition_row(partition, slots[0])->index, 1 };
    assert_int_equal(clear("b", &ref, 1).removed, 1);
    assert_false(tq_partition_find_key(partition, "k2", &slot));
    assert_int_equal(world.table.text_bytes, bytes - 3);
    insertion.n = 1;
    assert_int_equal(tq_table_insert(&world.table, &insertion, &partition, slots, &world.err), TQ_OK);
}

static tq_status set_tag(const struct tq_sample_ref *ref, const char *key, const char *value, bool replace)
{
    const uint32_t first[2] = { 0, 1 };
    const struct tq_tag tag = { key, { (const uint8_t *)value, strlen(value) } };
    const struct tq_tag_changes changes = { first, &tag };
    return tq_table_set_tags(&world.table, "a", ref, 1, &changes, replace, &world.err);
}

static void tags_merge_key_by_key(void **state)
{
    const struct tq_tag_changes none = { NULL, NULL };
    (void)state;
    assert_int_equal(world_insert(&world, "a", 1, 0), TQ_OK);
    struct tq_sample_ref ref = world.refs[0];
    const struct tq_row *row = tq_partition_row(tq_table_find(&world.table, "a"), 0);
    assert_int_equal(set_tag(&ref, "length", "1", false), TQ_OK);
    assert_int_equal(set_tag(&ref, "source", "dapo", false), TQ_OK);
    assert_int_equal(set_tag(&ref, "length", "22", false), TQ_OK);
    assert_int_equal(row->tags->n, 2);
    assert_memory_equal(tq_tag_set_find(row->tags, "length")->value.ptr, "22", 2);
    assert_int_equal(world.table.text_bytes, row->tags->bytes);
    assert_int_equal(set_tag(&ref, "only", "1", true), TQ_OK);
    assert_int_equal(row->tags->n, 1);
    assert_null(tq_tag_set_find(row->tags, "length"));
    assert_int_equal(tq_table_set_tags(&world.table, "a", &ref, 1, &none, true, &world.err), TQ_OK);
    assert_int_equal(row->tags->n, 0);
    ref.generation++;
    assert_int_equal(set_tag(&ref, "late", "1", false), TQ_NOT_FOUND);
    assert_int_equal(world.table.text_bytes, 0);
}

static void budgets_refuse_before_anything_changes(void **state)
{
    struct tq_controller_limits limits = {
        .samples = 10, .fields = 2, .group_members = 4, .tasks = 1, .text_bytes = 8
    };
    (void)state;
    world_close(&world);
    world_open(&world, &limits, 1);
    assert_int_equal(world_insert(&world, "a", 11, 0), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(world.err.reason, "LIMIT_SAMPLES");
    assert_null(tq_table_find(&world.table, "a"));
    assert_int_equal(world_insert(&world, "a", 5, 5), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(world.err.reason, "LIMIT_GROUP");
    assert_int_equal(world_insert(&world, "a", 1, 0), TQ_OK);
    struct tq_sample_ref ref = world.refs[0];
    assert_int_equal(world_produce(&world, "a", &ref, 1, "x,y,z", NULL), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(world.err.reason, "LIMIT_FIELDS");
    assert_int_equal(tq_table_find(&world.table, "a")->n_fields, 0);
    assert_int_equal(world_produce(&world, "a", &ref, 1, "x", NULL), TQ_OK);
    assert_int_equal(world_fetch(&world, "a", "t", "x", 1, 0), TQ_OK);
    assert_int_equal(world_fetch(&world, "a", "t2", "x", 1, 0), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(world.err.reason, "LIMIT_TASKS");
    assert_int_equal(set_tag(&ref, "key", "value", false), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(world.err.reason, "LIMIT_TEXT");
    assert_int_equal(set_tag(&ref, "key", "four", false), TQ_OK);
}

static void the_least_used_view_makes_room(void **state)
{
    struct tq_controller_limits limits = { .views = 2 };
    (void)state;
    world_close(&world);
    world_open(&world, &limits, 1);
    assert_int_equal(world_insert(&world, "a", 6, 0), TQ_OK);
    assert_int_equal(world_produce(&world, "a", world.refs, 6, "x,y,z", NULL), TQ_OK);
    static const char *const sets[] = { "x", "y", "x", "z", "y", "x" };
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(world_fetch(&world, "a", "t", sets[i], 1, 0), TQ_OK);
        assert_int_equal(world.n, 1);
        assert_int_equal(world.refs[0].index, i);
        assert_true(tq_table_find(&world.table, "a")->n_feeds <= 2);
    }
}

static void a_field_without_cells_is_unknown_again(void **state)
{
    struct tq_sample_ref ref;
    uint64_t cells;
    (void)state;
    assert_int_equal(world_insert(&world, "a", 2, 0), TQ_OK);
    ref = world.refs[0];
    assert_int_equal(world_produce(&world, "a", &ref, 1, "x", NULL), TQ_OK);
    assert_int_equal(clear("a", &ref, 1).removed, 1);
    const struct tq_field_claim claim = { .name = "x", .schema = { .layout = TQ_CELLS_OPAQUE } };
    const struct tq_production production = {
        .partition = "a", .samples = &world.refs[1], .n = 1, .fields = &claim, .n_fields = 1
    };
    assert_int_equal(tq_table_produce(&world.table, &production, &cells, &world.err), TQ_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(indexes_are_used_again_across_partitions),
        TEST(a_reused_index_is_not_ready_by_its_past),
        TEST(late_messages_about_a_former_sample_are_refused),
        TEST(clearing_again_is_harmless),
        TEST(a_sample_named_twice_is_cleared_once),
        TEST(a_sample_of_another_partition_is_left_alone),
        TEST(a_refused_notify_changes_nothing),
        TEST(cells_that_were_ready_do_not_count_again),
        TEST(every_task_consumes_once),
        TEST(a_task_consumes_once_over_all_its_field_sets),
        TEST(groups_are_known_by_their_number),
        TEST(an_incomplete_group_is_never_handed_out),
        TEST(a_sealed_partition_gives_the_remainder_then_ends),
        TEST(reserved_samples_are_used_up_by_inserts),
        TEST(keys_are_unique_in_their_partition),
        TEST(tags_merge_key_by_key),
        TEST(budgets_refuse_before_anything_changes),
        TEST(the_least_used_view_makes_room),
        TEST(a_field_without_cells_is_unknown_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

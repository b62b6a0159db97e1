/* BR-088: a clear has two steps, the unit's and the controller's, and both can be repeated late; meanwhile others
 * insert and put under the same indexes. The controller's core is real, the unit is a model of what storage units
 * promise: they keep one generation of an index and touch no other. Ten thousand random interleavings; TQ_SEED repeats
 * them. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tests/server/controller/world.h"

#include "tests/support/cmocka_all.h"

enum { RUNS = 10000, ACTORS = 4, MOST_INDEXES = 64, EACH = 2, STEPS = 40 };

static struct world world;
static struct {
    uint32_t generation; /* 0: nothing */
    uint32_t writer;
} unit[MOST_INDEXES];

/* One client: inserts and puts, or clears what it or another one has put. */
static struct actor {
    enum { IDLE, INSERTED, PUT, CLEARING } state;
    struct tq_sample_ref refs[EACH];
    bool is_known; /* refs name samples that were inserted once */
} actors[ACTORS];

static uint64_t random_;
static uint32_t below(uint32_t n)
{
    random_ = random_ * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_ >> 33) % n;
}

static void unit_put(const struct tq_sample_ref *ref, uint32_t writer)
{
    assert_true(ref->index < MOST_INDEXES);
    if (unit[ref->index].generation > ref->generation)
        return; /* stale */
    unit[ref->index].generation = ref->generation;
    unit[ref->index].writer = writer;
}

static void unit_clear(const struct tq_sample_ref *ref)
{
    if (unit[ref->index].generation == ref->generation)
        unit[ref->index].generation = 0;
}

static void step_actor(uint32_t number)
{
    struct actor *actor = &actors[number];
    struct tq_cleared cleared;
    switch (actor->state) {
    case IDLE: { /* a clear of what anybody has inserted, late or not, or an insert */
        const struct actor *other = &actors[below(ACTORS)];
        if (below(2) == 0 && other->is_known) {
            memcpy(actor->refs, other->refs, sizeof(actor->refs));
            actor->is_known = true;
            for (uint32_t i = 0; i < EACH; i++)
                unit_clear(&actor->refs[i]);
            actor->state = CLEARING;
        } else if (world.table.indexes.n_live + EACH <= MOST_INDEXES / 2) {
            assert_int_equal(world_insert(&world, "p", EACH, 0), TQ_OK);
            memcpy(actor->refs, world.refs, sizeof(actor->refs));
            actor->is_known = true;
            actor->state = INSERTED;
        }
        break;
    }
    case INSERTED:
        for (uint32_t i = 0; i < EACH; i++)
            unit_put(&actor->refs[i], number);
        actor->state = PUT;
        break;
    case PUT: /* refused when somebody has cleared them meanwhile */
        (void)world_produce(&world, "p", actor->refs, EACH, "x", NULL);
        actor->state = IDLE;
        break;
    case CLEARING:
        assert_int_equal(tq_table_clear(&world.table, "p", actor->refs, EACH, &cleared, &world.err), TQ_OK);
        actor->state = below(3) == 0 ? CLEARING : IDLE; /* the answer was lost: again */
    }
}

/* What the table calls ready is there, with the generation that the table knows, unless its clear is under way. */
static void check(void)
{
    const struct tq_partition *partition = tq_table_find(&world.table, "p");
    const struct tq_field *field = partition != NULL ? tq_partition_find_field(partition, "x") : NULL;
    if (field == NULL)
        return;
    roaring_uint32_iterator_t at;
    for (roaring_init_iterator(field->produced, &at); at.has_value; roaring_advance_uint32_iterator(&at)) {
        const struct tq_row *row = tq_partition_row(partition, at.current_value);
        if (unit[row->index].generation == row->generation)
            continue;
        bool under_way = false;
        for (uint32_t a = 0; a < ACTORS; a++)
            for (uint32_t i = 0; i < EACH; i++)
                under_way = under_way || (actors[a].state == CLEARING && actors[a].refs[i].index == row->index &&
                                          actors[a].refs[i].generation == row->generation);
        if (!under_way)
            fail_msg("index %" PRIu64 " generation %u is ready but the unit has generation %u", row->index,
                     row->generation, unit[row->index].generation);
    }
}

static void no_interleaving_loses_what_came_after_a_clear(void **state)
{
    const char *given = getenv("TQ_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : tq_seam_random64(NULL) % 1000000, used_again = 0;
    print_message("seed %" PRIu64 " (TQ_SEED repeats it)\n", seed);
    (void)state;
    for (unsigned run = 0; run < RUNS; run++) {
        random_ = seed + run;
        memset(unit, 0, sizeof(unit));
        memset(actors, 0, sizeof(actors));
        world_open(&world, NULL, 1);
        for (unsigned i = 0; i < STEPS; i++) {
            step_actor(below(ACTORS));
            check();
        }
        for (uint32_t i = 0; i < world.table.indexes.next; i++)
            used_again += tq_index_find(&world.table.indexes, i)->generation > 1;
        world_close(&world);
    }
    print_message("%" PRIu64 " indexes were used again\n", used_again);
    assert_true(used_again > RUNS);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(no_interleaving_loses_what_came_after_a_clear) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

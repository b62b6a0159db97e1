/* Random operations against a naive model that keeps flags in arrays and looks at all of them each time. The seed is
 * printed; TQ_SEED repeats a run. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tests/server/controller/world.h"

#include "tests/support/cmocka_all.h"

enum { STEPS = 100000, SLOTS = 192, FIELDS = 3, TASKS = 2, WAITERS = 6, SETS = 7, MOST = 12 };

static const char *const sets[SETS + 1] = { "", "a", "b", "a,b", "c", "a,c", "b,c", "a,b,c" };
static const char *const tasks[TASKS] = { "t0", "t1" };

struct sample {
    bool live, consumed[TASKS];
    unsigned produced;
    struct tq_sample_ref ref;
    uint64_t group, born; /* counts inserted samples: the order of hand-outs */
};

static struct world world;
static struct sample samples[SLOTS]; /* in no order */
static bool sealed, exists;
static struct world_waiter waiters[WAITERS];
static struct {
    bool used;
    unsigned set, task;
    uint32_t batch, group_size;
} asked[WAITERS];
static uint64_t handed_out, served_waiters, steps_refused, n_born, renumbered;

static uint64_t state_;
static uint32_t below(uint32_t n)
{
    state_ = state_ * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state_ >> 33) % n;
}

static bool is_ready(const struct sample *sample, unsigned set)
{
    return sample->live && (sample->produced & set) == set;
}

static bool is_available(const struct sample *sample, unsigned set, unsigned task)
{
    return is_ready(sample, set) && !sample->consumed[task];
}

static uint32_t count_available(unsigned set, unsigned task)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < SLOTS; i++)
        n += is_available(&samples[i], set, task);
    return n;
}

static uint32_t count_pending(unsigned set, unsigned task)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < SLOTS; i++)
        n += samples[i].live && !samples[i].consumed[task] && !is_ready(&samples[i], set);
    return n;
}

static uint32_t supply(unsigned set, unsigned task, uint32_t group_size)
{
    uint32_t n = 0;
    if (group_size == 0)
        return count_available(set, task);
    for (unsigned i = 0; i < SLOTS; i++) {
        if (!is_available(&samples[i], set, task) || samples[i].group == 0)
            continue;
        uint32_t before = 0;
        for (unsigned k = 0; k < i; k++)
            before += is_available(&samples[k], set, task) && samples[k].group == samples[i].group;
        n += (before + 1) % group_size == 0 ? group_size : 0;
    }
    return n;
}

static bool is_whole(uint64_t group, unsigned set, unsigned task, uint32_t group_size)
{
    uint32_t n = 0;
    for (unsigned i = 0; group != 0 && i < SLOTS; i++)
        n += is_available(&samples[i], set, task) && samples[i].group == group;
    return group != 0 && n >= group_size;
}

/* How many samples the fetch must get; 0: short; -1: past the end. */
static int expected(unsigned set, unsigned task, uint32_t batch, uint32_t group_size)
{
    uint32_t n = supply(set, task, group_size);
    if (n >= batch)
        return (int)batch;
    if (!sealed || count_pending(set, task) > 0)
        return 0;
    return n > 0 ? (int)n : -1;
}

static struct sample *find(const struct tq_sample_ref *ref)
{
    for (unsigned i = 0; i < SLOTS; i++)
        if (samples[i].live && samples[i].ref.index == ref->index)
            return &samples[i];
    fail_msg("index %" PRIu64 " is not live", ref->index);
    return NULL;
}

/* The sample that must come next. In group `group` (0: all), or, with a group size, in any group that is whole. */
static const struct sample *oldest(unsigned set, unsigned task, uint64_t group, uint32_t group_size)
{
    const struct sample *found = NULL;
    for (unsigned i = 0; i < SLOTS; i++) {
        const struct sample *sample = &samples[i];
        if (!is_available(sample, set, task) || (group != 0 && sample->group != group) ||
            (group_size > 0 && !is_whole(sample->group, set, task, group_size)))
            continue;
        if (found == NULL || sample->born < found->born)
            found = sample;
    }
    return found;
}

/* A batch is right: every sample the oldest that was available, in whole groups; a group of which several times its
 * size is available is handed out to its end. */
static void check_batch(const struct tq_sample_ref *refs, uint32_t n, unsigned set, unsigned task, uint32_t group_size)
{
    uint64_t group = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct sample *sample = find(&refs[i]);
        assert_int_equal(sample->ref.generation, refs[i].generation);
        assert_true(is_available(sample, set, task));
        if (group_size > 0 && i % group_size == 0 && !is_whole(group, set, task, group_size))
            group = oldest(set, task, 0, group_size)->group;
        assert_ptr_equal(sample, oldest(set, task, group, 0));
        sample->consumed[task] = true;
    }
    handed_out += n;
}

static void check_done(void)
{
    served_waiters += world_take_done(&world);
    /* In the order of their hand-outs: each against what the earlier ones left. */
    for (;;) {
        int next = -1;
        for (int i = 0; i < WAITERS; i++)
            if (asked[i].used && waiters[i].ended > 0 && (next < 0 || waiters[i].ended < waiters[next].ended))
                next = i;
        if (next < 0)
            break;
        struct tq_waiter *waiter = &waiters[next].waiter;
        struct tq_sample_ref refs[MOST];
        for (uint32_t k = 0; k < waiter->n; k++) {
            const struct tq_row *row = tq_partition_row(waiter->partition, waiter->slots[k]);
            refs[k] = (struct tq_sample_ref){ row->index, row->generation };
        }
        if (waiter->error.status == TQ_OUT_OF_RANGE)
            assert_true(sealed || !exists);
        else
            check_batch(refs, waiter->n, asked[next].set, asked[next].task, asked[next].group_size);
        world_drop(&world, &waiters[next]);
        asked[next].used = false;
    }
    for (int i = 0; i < WAITERS; i++)
        if (asked[i].used)
            assert_int_equal(expected(asked[i].set, asked[i].task, asked[i].batch, asked[i].group_size), 0);
}

static uint32_t choose_some(struct tq_sample_ref *refs, uint32_t most)
{
    uint32_t n = 0;
    unsigned from = below(SLOTS);
    for (unsigned i = 0; i < SLOTS && n < most; i++) {
        const struct sample *sample = &samples[(from + i) % SLOTS];
        if (sample->live && below(2) == 0)
            refs[n++] = sample->ref;
    }
    return n;
}

/* A new partition begins near the end of its slots, so that it is renumbered soon. Returns the next slot. */
static uint32_t lead_to_the_end(void)
{
    struct tq_partition *partition;
    assert_int_equal(tq_table_get(&world.table, "p", &partition, &world.err), TQ_OK);
    if (!exists)
        partition->rows.next = TQ_SLOTS_MAX - below(500);
    return partition->rows.next;
}

static void step_insert(void)
{
    uint32_t group_size = below(3) == 0 ? 2 + below(2) : 0, n = group_size > 0 ? group_size * 2 : 1 + below(6);
    unsigned free_slots = 0;
    for (unsigned i = 0; i < SLOTS; i++)
        free_slots += !samples[i].live;
    if (free_slots < n)
        return;
    uint32_t before = lead_to_the_end();
    tq_status status = world_insert(&world, "p", n, group_size);
    renumbered += tq_table_find(&world.table, "p")->rows.next < before;
    assert_int_equal(status, sealed ? TQ_FAILED_PRECONDITION : TQ_OK);
    if (status != TQ_OK) {
        steps_refused++;
        return;
    }
    exists = true;
    for (unsigned i = 0, k = 0; k < n; i++) {
        if (samples[i].live)
            continue;
        samples[i] = (struct sample){ .live = true, .ref = world.refs[k], .group = world.groups[k], .born = ++n_born };
        k++;
    }
}

static void step_produce(void)
{
    struct tq_sample_ref refs[MOST];
    unsigned set = 1 + below(SETS);
    uint32_t n = choose_some(refs, MOST);
    uint64_t cells, want = 0;
    if (n == 0)
        return;
    if (below(20) == 0) {
        refs[below(n)].generation++;
        assert_int_equal(world_produce(&world, "p", refs, n, sets[set], NULL), TQ_NOT_FOUND);
        steps_refused++;
        return;
    }
    assert_int_equal(world_produce(&world, "p", refs, n, sets[set], &cells), TQ_OK);
    for (uint32_t i = 0; i < n; i++) {
        struct sample *sample = find(&refs[i]);
        want += (unsigned)__builtin_popcount(set & ~sample->produced);
        sample->produced |= set;
    }
    assert_int_equal(cells, want);
}

static void step_fetch(void)
{
    unsigned set = 1 + below(SETS), task = below(TASKS);
    uint32_t group_size = below(3) == 0 ? 2 + below(2) : 0;
    uint32_t batch = group_size > 0 ? group_size * (1 + below(2)) : 1 + below(8);
    int want = exists ? expected(set, task, batch, group_size) : 0;
    tq_status status = world_fetch(&world, "p", tasks[task], sets[set], batch, group_size);
    assert_int_equal(status, want < 0 ? TQ_OUT_OF_RANGE : TQ_OK);
    assert_int_equal(world.n, want < 0 ? 0 : want);
    check_batch(world.refs, world.n, set, task, group_size);
}

static void step_park(void)
{
    unsigned i = below(WAITERS);
    if (asked[i].used) {
        world_drop(&world, &waiters[i]);
        asked[i].used = false;
        return;
    }
    asked[i].set = 1 + below(SETS);
    asked[i].task = below(TASKS);
    asked[i].group_size = below(3) == 0 ? 2 : 0;
    asked[i].batch = asked[i].group_size > 0 ? 2 * (1 + below(4)) : 1 + below(MOST);
    asked[i].used = true;
    world_park(&world, &waiters[i], "p", tasks[asked[i].task], sets[asked[i].set], asked[i].batch, asked[i].group_size,
               1000000, true);
}

static void step_clear(void)
{
    struct tq_sample_ref refs[MOST + 1];
    struct tq_cleared cleared;
    uint32_t n = choose_some(refs, MOST);
    if (n == 0)
        return;
    bool stale = below(4) == 0;
    if (stale)
        refs[0].generation--; /* of the sample that had the index before */
    assert_int_equal(tq_table_clear(&world.table, "p", refs, n, &cleared, &world.err), TQ_OK);
    assert_int_equal(cleared.removed, n - stale);
    assert_int_equal(cleared.stale, stale);
    for (uint32_t i = stale; i < n; i++)
        find(&refs[i])->live = false;
}

static void step_rare(void)
{
    uint64_t count;
    bool existed;
    unsigned task = below(TASKS);
    switch (below(3)) {
    case 0:
        assert_int_equal(tq_table_reset(&world.table, "p", tasks[task], &count, &world.err),
                         exists ? TQ_OK : TQ_NOT_FOUND);
        for (unsigned i = 0; i < SLOTS; i++)
            samples[i].consumed[task] = false;
        break;
    case 1:
        if (exists && below(4) == 0) {
            assert_int_equal(tq_table_seal(&world.table, "p", &count, &world.err), TQ_OK);
            sealed = true;
        }
        break;
    default:
        if (below(4) != 0)
            break;
        assert_int_equal(tq_table_clear_partition(&world.table, "p", &existed, &count, &world.err), TQ_OK);
        assert_int_equal(existed, exists);
        memset(samples, 0, sizeof(samples));
        sealed = exists = false;
    }
}

static void step(void)
{
    uint32_t kind = below(100);
    if (kind < 22)
        step_insert();
    else if (kind < 52)
        step_produce();
    else if (kind < 70)
        step_fetch();
    else if (kind < 82)
        step_park();
    else if (kind < 99)
        step_clear();
    else
        step_rare();
    check_done();
}

static void random_steps_agree_with_the_naive_model(void **state)
{
    const char *given = getenv("TQ_SEED");
    state_ = given != NULL ? strtoull(given, NULL, 10) : tq_seam_random64(NULL) % 1000000;
    print_message("seed %" PRIu64 " (TQ_SEED repeats it)\n", state_);
    (void)state;
    const struct tq_controller_limits limits = { .views = 9 }; /* so few that views are dropped and made again */
    world_open(&world, &limits, WORLD_UNITS);
    for (unsigned i = 0; i < STEPS; i++)
        step();
    print_message("%" PRIu64 " samples handed out, %" PRIu64 " parked fetches ended, %" PRIu64
                  " steps refused, renumbered %" PRIu64 " times\n",
                  handed_out, served_waiters, steps_refused, renumbered);
    assert_true(handed_out > STEPS / 10 && served_waiters > STEPS / 100 && steps_refused > 100);
    assert_true(renumbered > 20);
    for (unsigned i = 0; i < WAITERS; i++)
        if (asked[i].used)
            world_drop(&world, &waiters[i]);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_steps_agree_with_the_naive_model) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A partition that lives for a million rounds of inserts and clears needs no more memory than after the first ones,
 * whether samples are cleared in the order they came in or some of them stay for long. */
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "tests/server/controller/world.h"
#include "tests/support/cmocka_all.h"

enum { ROUNDS = 1000000, WARM = 20000, EACH = 64, LIVE = 1024 };

static struct world world;
static struct tq_sample_ref live[LIVE];
static uint64_t bytes; /* of the table's seam */

static void *count_alloc(void *self, size_t len)
{
    (void)self;
    void *memory = calloc(1, len);
    bytes += malloc_usable_size(memory);
    return memory;
}

static void count_free(void *self, void *memory)
{
    (void)self;
    bytes -= malloc_usable_size(memory);
    free(memory);
}

static uint64_t random_ = 1;
static uint32_t below(uint32_t n)
{
    random_ = random_ * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_ >> 33) % n;
}

/* The oldest block goes; of one in sixteen rounds a random one, so that others stay for hundreds of rounds. The first
 * block stays for ever. */
static unsigned victim(unsigned round)
{
    enum { BLOCKS = LIVE / EACH };
    return round % 16 == 0 ? 1 + below(BLOCKS - 1) : 2 + round % (BLOCKS - 2);
}

static void replace(unsigned block, bool fetched)
{
    struct tq_cleared cleared;
    struct tq_sample_ref *refs = live + block * EACH;
    assert_int_equal(tq_table_clear(&world.table, "p", refs, EACH, &cleared, &world.err), TQ_OK);
    assert_int_equal(cleared.removed, EACH);
    assert_int_equal(world_insert(&world, "p", EACH, 4), TQ_OK);
    memcpy(refs, world.refs, EACH * sizeof(*refs));
    assert_int_equal(world_produce(&world, "p", refs, EACH, "x", NULL), TQ_OK);
    if (fetched)
        assert_int_equal(world_fetch(&world, "p", "t", "x", EACH, 4), TQ_OK);
}

static void memory_is_flat_over_a_million_rounds(void **state)
{
    struct tq_seam seam = *tq_seam_system();
    uint64_t most_early = 0, most = 0;
    size_t all_early = 0, all = 0; /* with CRoaring's; 0 where the allocator does not tell */
    (void)state;
    seam.alloc = count_alloc;
    seam.free = count_free;
    world_open_on(&world, &seam, NULL, WORLD_UNITS);
    assert_int_equal(world_insert(&world, "p", LIVE, 4), TQ_OK);
    memcpy(live, world.refs, sizeof(live));
    for (unsigned round = 0; round < ROUNDS; round++) {
        replace(victim(round), round % 2 == 0);
        most = bytes > most ? bytes : most;
        if (round % 1024 == 0 && mallinfo2().uordblks > all)
            all = mallinfo2().uordblks;
        if (round == WARM) {
            most_early = most;
            all_early = all;
        }
    }
    print_message("%" PRIu64 " bytes at most, %" PRIu64 " in the first rounds; all: %zu and %zu\n", most, most_early,
                  all, all_early);
    assert_true(most <= most_early + most_early / 10);
    assert_true(all <= all_early + all_early / 4);
    world_close(&world);
    assert_int_equal(bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(memory_is_flat_over_a_million_rounds) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

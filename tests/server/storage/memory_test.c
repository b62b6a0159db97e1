/* What a unit takes from the system for what it holds: within 10 % of the bytes stored, for sizes that fit no page and
 * no power of two well; and what it gives back. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/server/storage/child.h"
#include "tests/server/storage/writer.h"
#include "tests/support/cmocka_all.h"
#include "tq/init.h"

static const uint64_t stored_bytes = UINT64_C(1) << 30;

static struct {
    struct child unit;
    struct writer writer;
    uint64_t empty_bytes; /* of the process before anything is stored */
} the;

/* Anonymous and shared memory of the unit: Pss counts a page that is mapped several times once. */
static uint64_t unit_bytes(void)
{
    char path[64], line[200];
    unsigned long long kib = 0;
    snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)the.unit.pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "Rss: %llu kB", &kib) == 1)
            break;
    fclose(file);
    return (uint64_t)kib << 10;
}

static int open_unit(void **state)
{
    const char *const args[] = { "--memory", "1100MiB", "--log-level", "warn", NULL };
    (void)state;
    child_start(&the.unit, "tq-storage", args);
    child_wait_ready(&the.unit);
    writer_open(&the.writer, the.unit.address, TQ_BULK_REQUIRED, false);
    the.empty_bytes = unit_bytes();
    return 0;
}

static int close_unit(void **state)
{
    (void)state;
    writer_close(&the.writer);
    assert_int_equal(child_end(&the.unit, SIGTERM), 0);
    return 0;
}

enum { BATCH = 64 };

/* Returns how many cells were stored. */
static size_t fill(uint64_t len, uint32_t generation)
{
    uint8_t *bytes = calloc(BATCH, len);
    uint64_t lengths[BATCH];
    size_t n = 0;
    for (size_t i = 0; i < BATCH; i++)
        lengths[i] = len;
    const struct packed column = {
        .name = "x", .layout = TQ__V1__LAYOUT__LAYOUT_OPAQUE, .bytes = bytes, .lengths = lengths
    };
    for (; (n + BATCH) * len <= stored_bytes; n += BATCH) {
        const struct rows rows = { "p", n, BATCH, generation };
        struct tq_reply reply;
        assert_int_equal(writer_put(&the.writer, &rows, &column, BY_BULK, &reply), TQ_OK);
        tq_reply_drop(&reply);
    }
    free(bytes);
    return n;
}

/* `bound`: bytes taken for a byte stored. */
static void check_overhead(uint64_t len, double bound)
{
    size_t n = fill(len, 1);
    double stored = (double)(n * len);
    double arena = writer_metric(&the.writer, "bulk_arena_bytes");
    double taken = (double)(unit_bytes() - the.empty_bytes);
    print_message("%zu cells of %llu bytes: %.0f MiB stored, process +%.1f %%, arenas +%.1f %%\n", n,
                  (unsigned long long)len, stored / 1048576, 100 * (taken / stored - 1), 100 * (arena / stored - 1));
    assert_true(taken < bound * stored);
    assert_true(arena < bound * stored);
    /* Cleared and filled again it takes no more. */
    const struct rows all = { "p", 0, n, 1 };
    assert_int_equal(writer_clear(&the.writer, &all), TQ_OK);
    assert_int_equal(fill(len, 2), n);
    taken = (double)(unit_bytes() - the.empty_bytes);
    print_message("cleared and filled again: process +%.1f %%\n", 100 * (taken / stored - 1));
    assert_true(taken < bound * stored);
}

static void cells_of_33_kib(void **state)
{
    (void)state;
    check_overhead(33 << 10, 1.10);
}

static void cells_of_1_1_mib(void **state)
{
    (void)state;
    check_overhead(1153434, 1.10);
}

/* The smallest that lie in arenas: what a unit knows of a cell weighs more here. */
static void cells_of_4200_bytes(void **state)
{
    (void)state;
    check_overhead(4200, 1.20);
}

#define UNIT_TEST(name) cmocka_unit_test_setup_teardown(name, open_unit, close_unit)

int main(void)
{
    struct tq_error err;
    if (tq_init(&err) != TQ_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        UNIT_TEST(cells_of_33_kib),
        UNIT_TEST(cells_of_1_1_mib),
        UNIT_TEST(cells_of_4200_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

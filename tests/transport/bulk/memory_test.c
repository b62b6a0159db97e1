/* The arena, exposures, claims and the quarantine, over plain memory; and the copy out of an extent, by steps. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka_all.h"
#include "transport/base/crc32c.h"
#include "transport/bulk/copier.h"
#include "transport/bulk/memory.h"

enum { MIB = 1 << 20 };

static void open_memory(struct tq_memory *memory, size_t extent_bytes, size_t budget_bytes)
{
    const struct tq_memory_opts opts = {
        .seam = tq_seam_system(), .extent_bytes = extent_bytes, .budget_bytes = budget_bytes, .quarantine_bytes = MIB
    };
    tq_memory_init(memory, &opts);
}

/* ---- blocks ---- */

static void blocks_do_not_overlap_and_come_back(void **state)
{
    enum { BLOCKS = 300, ROUNDS = 3000 };
    static struct tq_block blocks[BLOCKS];
    struct tq_memory memory;
    (void)state;
    open_memory(&memory, 4 * MIB, 256 * (size_t)MIB);
    srand(11);
    for (int round = 0; round < ROUNDS; round++) {
        int i = rand() % BLOCKS;
        if (blocks[i].extent_ != NULL) {
            for (size_t at = 0; at < blocks[i].len; at += 97)
                assert_int_equal(blocks[i].ptr[at], (uint8_t)i);
            tq_memory_free(&memory, &blocks[i]);
            assert_null(blocks[i].ptr);
            continue;
        }
        size_t len = (size_t)rand() % (round % 50 == 0 ? 3 * MIB : 40000);
        assert_int_equal(tq_memory_alloc(&memory, len, &blocks[i], NULL), TQ_OK);
        assert_int_equal((uintptr_t)blocks[i].ptr % 64, 0);
        memset(blocks[i].ptr, i, len);
    }
    for (int i = 0; i < BLOCKS; i++)
        tq_memory_free(&memory, &blocks[i]);
    assert_int_equal(memory.used_bytes, 0);
    assert_int_equal(memory.extents_bytes, 0); /* no spare here */
    tq_memory_fini(&memory);
}

/* Pages that are there: an extent's end is not touched before it is used. */
static size_t touched(const struct tq_memory *memory)
{
    size_t bytes = 0;
    tq_list_each (node, &memory->extents) {
        bytes += tq_container_of(node, struct tq_extent, node)->touched_bytes;
    }
    return bytes;
}

/* Memory within 10 % of the bytes stored, for cells that do not divide an extent. */
static void check_overhead(size_t cell, size_t total)
{
    struct tq_memory memory;
    size_t n = total / cell;
    struct tq_block *blocks = calloc(n, sizeof(*blocks));
    assert_non_null(blocks);
    open_memory(&memory, 0, total + total / 4);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tq_memory_alloc(&memory, cell, &blocks[i], NULL), TQ_OK);
    print_message("  %zu cells of %zu bytes: %.3f of the bytes\n", n, cell,
                  (double)touched(&memory) / (double)(n * cell));
    assert_true(touched(&memory) <= n * cell + n * cell / 10);
    for (size_t i = 0; i < n; i++)
        tq_memory_free(&memory, &blocks[i]);
    tq_memory_fini(&memory);
    free(blocks);
}

static void overhead_is_small(void **state)
{
    (void)state;
    check_overhead(33 << 10, 512 * (size_t)MIB);
    check_overhead((size_t)(1.1 * MIB), 512 * (size_t)MIB);
    check_overhead(7 * (size_t)MIB + 12345, 512 * (size_t)MIB);
    check_overhead(20 * (size_t)MIB, 512 * (size_t)MIB);
}

static void the_budget_is_kept(void **state)
{
    struct tq_memory memory;
    struct tq_block first, second = { 0 };
    struct tq_error err;
    (void)state;
    open_memory(&memory, MIB, 4 * MIB);
    assert_int_equal(tq_memory_alloc(&memory, 3 * MIB, &first, &err), TQ_OK);
    assert_int_equal(tq_memory_alloc(&memory, 2 * MIB, &second, &err), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(err.reason, "BUDGET_BYTES");
    assert_int_equal(tq_memory_alloc(&memory, SIZE_MAX, &second, &err), TQ_RESOURCE_EXHAUSTED);
    tq_memory_free(&memory, &first);
    assert_int_equal(tq_memory_alloc(&memory, 2 * MIB, &second, &err), TQ_OK);
    tq_memory_free(&memory, &second);
    tq_memory_fini(&memory);
}

/* ---- claims and the quarantine ---- */

static struct tq_claim claim_of(struct tq_memory *memory, const struct tq_block *block, uint64_t version)
{
    struct tq_region region;
    assert_true(tq_memory_region(memory, block->region, &region));
    return (struct tq_claim){
        .region = region.id, .ticket = region.ticket, .frame = block->frame, .length = block->len, .version = version
    };
}

static void a_held_block_is_not_used_again(void **state)
{
    struct tq_memory memory;
    struct tq_block block, next;
    struct tq_hold hold;
    const uint8_t *ptr = NULL;
    (void)state;
    open_memory(&memory, MIB, 8 * MIB);
    assert_int_equal(tq_memory_alloc(&memory, 5000, &block, NULL), TQ_OK);
    tq_block_publish(&block, 3);
    struct tq_claim claim = claim_of(&memory, &block, 3);
    assert_int_equal(tq_memory_hold(&memory, &claim, &ptr, &hold, NULL), TQ_OK);
    assert_ptr_equal(ptr, block.ptr);
    uint8_t *was = block.ptr;
    tq_memory_free(&memory, &block);
    assert_true(memory.quarantined_bytes >= 5000);
    assert_true(tq_memory_is_wanted(&memory, &hold));
    struct tq_hold second;
    assert_int_equal(tq_memory_hold(&memory, &claim, &ptr, &second, NULL), TQ_ABORTED);
    assert_int_equal(tq_memory_alloc(&memory, 5000, &next, NULL), TQ_OK);
    assert_ptr_not_equal(next.ptr, was);
    tq_memory_drop(&memory, &hold);
    assert_int_equal(memory.quarantined_bytes, 0);
    struct tq_block again;
    assert_int_equal(tq_memory_alloc(&memory, 5000, &again, NULL), TQ_OK);
    assert_ptr_equal(again.ptr, was);
    tq_memory_free(&memory, &next);
    tq_memory_free(&memory, &again);
    tq_memory_fini(&memory);
}

static void blocks_adrift_are_counted(void **state)
{
    struct tq_memory memory;
    struct tq_block block;
    struct tq_hold one, two, none;
    (void)state;
    open_memory(&memory, 8 * MIB, 32 * MIB);
    assert_int_equal(tq_memory_alloc(&memory, 2 * MIB, &block, NULL), TQ_OK);
    uint8_t heap[64];
    assert_false(tq_memory_adrift(&memory, heap, sizeof(heap), &none));
    assert_false(tq_memory_adrift(&memory, block.ptr, 3 * MIB, &none)); /* not wholly in it */
    assert_true(tq_memory_adrift(&memory, block.ptr + 100, 1000, &one));
    assert_true(tq_memory_adrift(&memory, block.ptr + 5000, 1000, &two));
    assert_true(memory.quarantined_bytes >= 2 * MIB && memory.quarantined_bytes < 3 * MIB); /* once */
    assert_true(tq_memory_quarantine_is_full(&memory));
    tq_memory_land(&memory, &one);
    tq_memory_free(&memory, &block);
    assert_true(memory.quarantined_bytes >= 2 * MIB);
    tq_memory_land(&memory, &two);
    assert_int_equal(memory.quarantined_bytes, 0);
    assert_int_equal(memory.used_bytes, 0);
    tq_memory_fini(&memory);
}

static void a_destination_outlives_its_free(void **state)
{
    struct tq_memory memory;
    struct tq_block block, other, next;
    struct tq_hold first, second, none = { 0 };
    uint8_t heap[64];
    (void)state;
    open_memory(&memory, MIB, 8 * MIB);
    assert_int_equal(tq_memory_alloc(&memory, 5000, &block, NULL), TQ_OK);
    assert_int_equal(tq_memory_alloc(&memory, 5000, &other, NULL), TQ_OK);
    uint8_t *was = block.ptr;
    assert_false(tq_memory_hold_block(&memory, heap, sizeof(heap), &none, &first));
    assert_false(tq_memory_hold_block(&memory, block.ptr, MIB, &none, &first)); /* not wholly in it */
    assert_true(tq_memory_hold_block(&memory, block.ptr, 5000, &none, &first));
    assert_false(tq_memory_hold_block(&memory, block.ptr + 100, 10, &first, &second)); /* held already */
    assert_true(tq_memory_hold_block(&memory, other.ptr + 100, 10, &first, &second));
    tq_memory_free(&memory, &block);
    assert_true(memory.quarantined_bytes >= 5000);
    assert_int_equal(tq_memory_alloc(&memory, 5000, &next, NULL), TQ_OK);
    assert_ptr_not_equal(next.ptr, was);
    tq_memory_drop(&memory, &first);
    assert_int_equal(memory.quarantined_bytes, 0);
    tq_memory_drop(&memory, &second);
    tq_memory_free(&memory, &other);
    tq_memory_free(&memory, &next);
    assert_int_equal(memory.used_bytes, 0);
    tq_memory_fini(&memory);
}

static void exposures_are_revoked(void **state)
{
    static const uint8_t bytes[1000];
    struct tq_memory memory;
    struct tq_exposure *exposure = NULL;
    struct tq_region region;
    struct tq_hold hold, none;
    const uint8_t *ptr = NULL;
    struct tq_error err;
    (void)state;
    open_memory(&memory, MIB, MIB);
    assert_int_equal(tq_memory_expose(&memory, bytes, sizeof(bytes), &exposure, NULL), TQ_OK);
    tq_exposure_region(exposure, &region);
    struct tq_claim claim = { region.id, region.ticket, 0, 990, 10, 1 };
    assert_int_equal(tq_memory_hold(&memory, &claim, &ptr, &hold, NULL), TQ_OK);
    assert_ptr_equal(ptr, bytes + 990);
    claim.length = 11;
    assert_int_equal(tq_memory_hold(&memory, &claim, &ptr, &none, &err), TQ_OUT_OF_RANGE);
    claim.skip = UINT64_MAX;
    assert_int_equal(tq_memory_hold(&memory, &claim, &ptr, &none, &err), TQ_OUT_OF_RANGE);
    tq_exposure_revoke(exposure);
    assert_int_equal(tq_memory_hold(&memory, &claim, &ptr, &none, &err), TQ_NOT_FOUND);
    assert_false(tq_exposure_wait(exposure, tq_deadline_after_ms(1)));
    tq_memory_drop(&memory, &hold);
    assert_true(tq_exposure_wait(exposure, 0));
    tq_exposure_close(exposure);
    tq_memory_fini(&memory);
}

/* ---- the copy ---- */

struct copy {
    struct tq_memory memory;
    struct tq_block block;
    struct tq_transfer transfer;
    struct tq_source source;
    struct tq_bulk_range range;
};

enum { COPY = 100000 };

static void copy_init(struct copy *c, uint8_t *into)
{
    memset(c, 0, sizeof(*c));
    open_memory(&c->memory, MIB, 4 * MIB);
    assert_int_equal(tq_memory_alloc(&c->memory, COPY, &c->block, NULL), TQ_OK);
    for (size_t i = 0; i < COPY; i++)
        c->block.ptr[i] = (uint8_t)(i * 13 + i / 255);
    tq_block_publish(&c->block, 9);
    assert_true(tq_memory_region(&c->memory, c->block.region, &c->source.region));
    c->source.view = (const uint8_t *)(uintptr_t)c->source.region.base;
    c->range = (struct tq_bulk_range){ .frame = c->block.frame, .len = COPY, .version = 9, .into = into };
    c->transfer.sources = &c->source;
    c->transfer.n_sources = 1;
    c->transfer.ranges = &c->range;
    c->transfer.n_ranges = 1;
}

static void copy_fini(struct copy *c)
{
    tq_memory_free(&c->memory, &c->block);
    tq_memory_fini(&c->memory);
}

static void copies_by_steps(void **state)
{
    static uint8_t into[COPY];
    struct copy c;
    struct tq_error err;
    (void)state;
    copy_init(&c, into);
    assert_int_equal(tq_copier_check_view(c.source.view, c.source.region.length, &c.source.region, &err), TQ_OK);
    int steps = 1;
    while (!tq_copier_step(&c.transfer, 30000))
        steps++;
    assert_true(steps >= 4);
    assert_int_equal(c.transfer.result.error.status, TQ_OK);
    assert_memory_equal(into, c.block.ptr, COPY);
    assert_int_equal(c.range.crc32c, tq_crc32c(into, COPY));
    assert_int_equal(c.transfer.result.bytes[TQ_ENGINE_REMOTE_READ], COPY);
    copy_fini(&c);
}

static void a_frame_replaced_during_the_copy_is_stale(void **state)
{
    static uint8_t into[COPY];
    struct copy c;
    (void)state;
    copy_init(&c, into);
    assert_false(tq_copier_step(&c.transfer, 30000));
    tq_block_publish(&c.block, 10);
    while (!tq_copier_step(&c.transfer, 30000))
        ;
    assert_int_equal(c.transfer.result.error.status, TQ_ABORTED);
    assert_string_equal(c.transfer.result.error.reason, "STALE_VERSION");
    copy_fini(&c);
}

static void the_view_must_be_the_region(void **state)
{
    static uint8_t into[COPY];
    uint8_t ticket[TQ_TICKET_BYTES];
    struct copy c;
    struct tq_error err;
    (void)state;
    copy_init(&c, into);
    struct tq_region region = c.source.region;
    region.id++;
    assert_int_equal(tq_copier_check_view(c.source.view, region.length, &region, &err), TQ_NOT_FOUND);
    region = c.source.region;
    region.length++;
    assert_int_equal(tq_copier_check_view(c.source.view, region.length, &region, &err), TQ_NOT_FOUND);
    region = c.source.region;
    memcpy(ticket, region.ticket.ptr, sizeof(ticket));
    ticket[15] ^= 1;
    region.ticket.ptr = ticket;
    assert_int_equal(tq_copier_check_view(c.source.view, region.length, &region, &err), TQ_PERMISSION_DENIED);
    copy_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_do_not_overlap_and_come_back),
        cmocka_unit_test(overhead_is_small),
        cmocka_unit_test(the_budget_is_kept),
        cmocka_unit_test(a_held_block_is_not_used_again),
        cmocka_unit_test(blocks_adrift_are_counted),
        cmocka_unit_test(a_destination_outlives_its_free),
        cmocka_unit_test(exposures_are_revoked),
        cmocka_unit_test(copies_by_steps),
        cmocka_unit_test(a_frame_replaced_during_the_copy_is_stale),
        cmocka_unit_test(the_view_must_be_the_region),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

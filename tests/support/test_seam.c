#include "tests/support/test_seam.h"

#include <stdlib.h>

static int64_t test_now_ns(void *self)
{
    struct test_seam *t = self;
    return atomic_load(&t->now_ns);
}

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014): each state gives one number, so that threads may share it. */
static uint64_t next_random(struct test_seam *t)
{
    uint64_t z = atomic_fetch_add(&t->random_state, UINT64_C(0x9e3779b97f4a7c15)) + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void test_random(void *self, void *out, size_t len)
{
    uint8_t *bytes = out;
    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)next_random(self);
}

static void *test_alloc(void *self, size_t len)
{
    struct test_seam *t = self;
    int64_t left = atomic_load(&t->until_failure);
    if (left >= 0) {
        left = atomic_fetch_sub(&t->until_failure, 1);
        if (left == 0 || (left < 0 && atomic_load(&t->keep_failing))) {
            atomic_store(&t->failed, true);
            if (atomic_load(&t->keep_failing))
                atomic_store(&t->until_failure, 0);
            return NULL;
        }
    }
    void *memory = calloc(1, len);
    atomic_fetch_add(&t->outstanding, memory != NULL);
    return memory;
}

static void test_free(void *self, void *memory)
{
    struct test_seam *t = self;
    atomic_fetch_sub(&t->outstanding, 1);
    free(memory);
}

static bool test_fault(void *self, enum tq_fault point)
{
    struct test_seam *t = self;
    return atomic_load(&t->until_fault[point]) >= 0 && atomic_fetch_sub(&t->until_fault[point], 1) == 0;
}

void test_seam_init(struct test_seam *t, uint64_t seed)
{
    *t = (struct test_seam){ .seam = { t, test_now_ns, test_random, test_alloc, test_free, test_fault } };
    atomic_store(&t->random_state, seed);
    atomic_store(&t->until_failure, -1);
    for (int point = 0; point < TQ_FAULT_COUNT; point++)
        atomic_store(&t->until_fault[point], -1);
}

void test_seam_fail_allocation(struct test_seam *t, int64_t nth, bool from_then_on)
{
    atomic_store(&t->failed, false);
    atomic_store(&t->keep_failing, from_then_on);
    atomic_store(&t->until_failure, nth);
}

void test_seam_fail_io(struct test_seam *t, enum tq_fault point, int64_t nth)
{
    atomic_store(&t->until_fault[point], nth);
}

/* tests/support/test_seam.h: a seam under the test's control: virtual clock, seeded randomness, counted allocations of
 * which the nth can fail, I/O faults armed by point. Owns: the counters. Threads: allocation and faults from any; the
 * clock is set by the test. */
#ifndef TQ_TESTS_SUPPORT_TEST_SEAM_H
#define TQ_TESTS_SUPPORT_TEST_SEAM_H

#include <stdatomic.h>

#include "transport/base/seam.h"

struct test_seam {
    struct tq_seam seam; /* pass &t.seam */
    _Atomic int64_t now_ns;
    _Atomic uint64_t random_state;
    _Atomic int64_t outstanding;   /* allocations not freed */
    _Atomic int64_t until_failure; /* allocations until one fails; negative: never */
    _Atomic bool keep_failing;     /* every allocation after that fails too */
    _Atomic bool failed;           /* one did fail */
    _Atomic int64_t until_fault[TQ_FAULT_COUNT];
};

void test_seam_init(struct test_seam *t, uint64_t seed);
/* The nth allocation from now fails (0: the next), once or from then on. Clears `failed`. */
void test_seam_fail_allocation(struct test_seam *t, int64_t nth, bool from_then_on);
void test_seam_fail_io(struct test_seam *t, enum tq_fault point, int64_t nth);

#endif

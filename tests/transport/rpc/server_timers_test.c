/* The loop's timers against a model: an array that is searched. */
#include "tests/support/cmocka_all.h"
#include "tests/support/test_seam.h"
#include "transport/rpc/server_timers.h"

enum { TIMERS = 50 };

static struct tq_server_timer timers[TIMERS];
static bool armed[TIMERS];
static unsigned n_fired;
static int64_t last_due_ns;

static void fire(void *user)
{
    struct tq_server_timer *timer = user;
    unsigned number = (unsigned)(timer - timers);
    assert_true(armed[number]);
    assert_true(timer->due_ns_ >= last_due_ns); /* in order */
    last_due_ns = timer->due_ns_;
    armed[number] = false;
    n_fired++;
}

static int64_t earliest(void)
{
    int64_t due = INT64_MAX;
    for (unsigned i = 0; i < TIMERS; i++)
        if (armed[i] && timers[i].due_ns_ < due)
            due = timers[i].due_ns_;
    return due;
}

static void keeps_order_under_any_change(void **state)
{
    (void)state;
    struct tq_server_timers heap = { .seam = NULL };
    uint64_t dice = 12345;
    int64_t now = 0;
    for (unsigned i = 0; i < TIMERS; i++)
        timers[i] = (struct tq_server_timer){ .fire = fire, .user = &timers[i] };
    for (unsigned step = 0; step < 20000; step++) {
        dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
        unsigned number = (unsigned)(dice >> 33) % TIMERS;
        switch (dice >> 60) {
        case 0:
            now += (int64_t)(dice >> 40 & 63);
            last_due_ns = 0;
            tq_server_timers_fire(&heap, now);
            assert_true(earliest() > now);
            break;
        case 1:
        case 2:
            tq_server_timers_remove(&heap, &timers[number]);
            armed[number] = false;
            break;
        default:
            assert_true(tq_server_timers_set(&heap, &timers[number], now + (int64_t)(dice >> 40 & 255)));
            armed[number] = true;
            break;
        }
        assert_int_equal(tq_server_timers_next_ns(&heap), earliest());
    }
    assert_true(n_fired > 1000);
    tq_server_timers_fini(&heap);
    for (unsigned i = 0; i < TIMERS; i++)
        assert_int_equal(timers[i].slot_, 0);
}

static struct tq_server_timers *again_heap;
static unsigned n_again;

static void arm_again(void *user)
{
    struct tq_server_timer *timer = user;
    n_again++;
    assert_true(tq_server_timers_set(again_heap, timer, 0)); /* due at once, but in the next turn */
}

static void a_timer_that_arms_itself_does_not_hold_the_loop(void **state)
{
    (void)state;
    struct tq_server_timers heap = { .seam = NULL };
    struct tq_server_timer timer = { .fire = arm_again, .user = &timer };
    again_heap = &heap;
    assert_true(tq_server_timers_set(&heap, &timer, 0));
    tq_server_timers_fire(&heap, 5);
    assert_int_equal(n_again, 1);
    tq_server_timers_fire(&heap, 5);
    assert_int_equal(n_again, 2);
    tq_server_timers_fini(&heap);
}

static void arming_fails_without_memory(void **state)
{
    (void)state;
    struct test_seam seam;
    test_seam_init(&seam, 1);
    struct tq_server_timers heap = { .seam = &seam.seam };
    struct tq_server_timer timer = { .fire = fire };
    test_seam_fail_allocation(&seam, 0, false);
    assert_false(tq_server_timers_set(&heap, &timer, 1));
    assert_int_equal(timer.slot_, 0);
    tq_server_timers_remove(&heap, &timer);
    tq_server_timers_fini(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_order_under_any_change),
        cmocka_unit_test(a_timer_that_arms_itself_does_not_hold_the_loop),
        cmocka_unit_test(arming_fails_without_memory),
    };
    return cmocka_run_group_tests_name("server timers", tests, NULL, NULL);
}

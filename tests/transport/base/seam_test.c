#include "transport/base/seam.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/test_seam.h"
#include "tq/bytes.h"

static void deadlines_saturate_and_zero_has_passed(void **state)
{
    (void)state;
    int64_t before = tq_now_ns();
    assert_true(tq_deadline_after_ns(0) >= before && tq_deadline_after_ns(0) <= tq_now_ns());
    assert_true(tq_deadline_after_ns(-1) <= tq_now_ns());
    assert_true(tq_deadline_after_ns(INT64_MIN) <= tq_now_ns());
    assert_true(tq_deadline_after_ns(1) > before);
    assert_int_equal(tq_deadline_after_ns(INT64_MAX), INT64_MAX);
    assert_int_equal(tq_deadline_after_ms(INT64_MAX), INT64_MAX);
    assert_int_equal(tq_deadline_after_ms((int64_t)1 << 62), INT64_MAX);
    assert_true(tq_deadline_after_ms(1000) >= before + 1000000000);
}

static void arrays_whose_size_overflows_are_refused(void **state)
{
    (void)state;
    assert_null(tq_seam_alloc_array(NULL, SIZE_MAX / 2, 3));
    assert_null(tq_seam_alloc_array(NULL, SIZE_MAX, SIZE_MAX));
    void *memory = tq_seam_alloc_array(NULL, 0, 8);
    assert_non_null(memory);
    tq_seam_free(NULL, memory);
    tq_seam_free(NULL, NULL);
}

static void the_system_is_random_and_the_test_seam_repeats(void **state)
{
    (void)state;
    assert_int_not_equal(tq_seam_random64(NULL), tq_seam_random64(NULL));
    struct test_seam one, two;
    test_seam_init(&one, 5);
    test_seam_init(&two, 5);
    assert_true(tq_seam_random64(&one.seam) == tq_seam_random64(&two.seam));
}

static void faults_fire_once_where_they_were_armed(void **state)
{
    (void)state;
    struct test_seam seam;
    test_seam_init(&seam, 5);
    test_seam_fail_io(&seam, TQ_FAULT_SOCKET_SEND, 2);
    assert_false(tq_seam_fault(&seam.seam, TQ_FAULT_SOCKET_RECEIVE));
    assert_false(tq_seam_fault(&seam.seam, TQ_FAULT_SOCKET_SEND));
    assert_false(tq_seam_fault(&seam.seam, TQ_FAULT_SOCKET_SEND));
    assert_true(tq_seam_fault(&seam.seam, TQ_FAULT_SOCKET_SEND));
    assert_false(tq_seam_fault(&seam.seam, TQ_FAULT_SOCKET_SEND));
    assert_false(tq_seam_fault(NULL, TQ_FAULT_SOCKET_SEND));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadlines_saturate_and_zero_has_passed),
        cmocka_unit_test(arrays_whose_size_overflows_are_refused),
        cmocka_unit_test(the_system_is_random_and_the_test_seam_repeats),
        cmocka_unit_test(faults_fire_once_where_they_were_armed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

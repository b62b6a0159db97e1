#include "tq/status.h"

#include "tests/support/cmocka_all.h"

static void numbers_are_the_canonical_ones(void **state)
{
    (void)state;
    assert_int_equal(TQ_OK, 0);
    assert_int_equal(TQ_DEADLINE_EXCEEDED, 4);
    assert_int_equal(TQ_RESOURCE_EXHAUSTED, 8);
    assert_int_equal(TQ_UNAUTHENTICATED, 16);
    for (uint32_t number = 0; number <= 16; number++) {
        assert_int_equal(tq_status_from_wire(number), number);
        assert_string_not_equal(tq_status_name((tq_status)number), "?");
        assert_string_not_equal(tq_status_text((tq_status)number), "?");
    }
    assert_int_equal(tq_status_from_wire(17), TQ_UNKNOWN);
    assert_int_equal(tq_status_from_wire(UINT32_MAX), TQ_UNKNOWN);
    assert_string_equal(tq_status_name((tq_status)99), "?");
}

static void a_long_message_is_cut_not_overrun(void **state)
{
    (void)state;
    struct {
        struct tq_error err;
        uint8_t canary[64];
    } guarded;
    memset(guarded.canary, 0x5a, sizeof(guarded.canary));
    char longer[2 * TQ_MESSAGE_MAX];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(tq_fail(&guarded.err, TQ_DATA_LOSS, longer, "%s", longer), TQ_DATA_LOSS);
    assert_int_equal(strlen(guarded.err.message), TQ_MESSAGE_MAX - 1);
    assert_int_equal(strlen(guarded.err.reason), TQ_REASON_MAX - 1);
    for (size_t i = 0; i < sizeof(guarded.canary); i++)
        assert_int_equal(guarded.canary[i], 0x5a);
    assert_int_equal(tq_fail(NULL, TQ_ABORTED, NULL, "nobody listens"), TQ_ABORTED);
    assert_int_equal(tq_fail(&guarded.err, TQ_ABORTED, NULL, "again"), TQ_ABORTED);
    assert_string_equal(guarded.err.reason, "");
    assert_int_equal(guarded.err.outcome, TQ_OUTCOME_NONE);
    tq_error_clear(&guarded.err);
    assert_int_equal(guarded.err.status, TQ_OK);
    tq_error_clear(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_the_canonical_ones),
        cmocka_unit_test(a_long_message_is_cut_not_overrun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

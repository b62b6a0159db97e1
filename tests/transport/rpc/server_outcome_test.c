/* What the server core says of calls that were not executed, or of which it cannot know; a script plays the clients. */
#include "tests/transport/rpc/server_stage.h"
#include "transport/base/log.h"

static void cancel(uint8_t from, uint64_t session, uint64_t call_id)
{
    tq_wire_Envelope envelope = {
        .version = 1, .kind = tq_wire_Kind_KIND_CANCEL, .call_id = call_id, .session = session
    };
    hear(from, &envelope, NULL, NULL);
}

static void say_goodbye(uint8_t from, uint64_t session)
{
    tq_wire_Envelope envelope = { .version = 1, .kind = tq_wire_Kind_KIND_GOODBYE, .call_id = 9, .session = session };
    hear(from, &envelope, NULL, NULL);
}

static void finish_not_started(struct tq_server_call *call, tq_status status)
{
    tq_error_clear(&call->error);
    (void)tq_fail(&call->error, status, "TEST", "nothing was done");
    call->error.outcome = TQ_OUTCOME_NOT_STARTED;
    tq_server_core_finish(&stage.core, call, stage.now_ns);
}

/* The key of call 5, in another call. */
static void request_key_5(uint8_t from, uint64_t session, uint64_t call_id, uint32_t attempt)
{
    tq_wire_Envelope envelope = request_of(session, 5, ECHO_KEYED);
    envelope.call_id = call_id;
    envelope.attempt = attempt;
    hear(from, &envelope, NULL, NULL);
}

/* ---- keys of what never began ---- */

static void what_was_not_started_leaves_its_key_free(void **state)
{
    (void)state;
    open_stage(NULL);
    join(1, 77);
    request(1, 77, 5, ECHO_KEYED);
    finish_not_started(stage.running[0], TQ_DEADLINE_EXCEEDED);
    assert_refused(TQ_DEADLINE_EXCEEDED, TQ_OUTCOME_NOT_STARTED, "TEST");
    assert_int_equal(stage.core.window.count, 0);
    request_key_5(1, 77, 6, 1);
    assert_int_equal(stage.n_dispatched, 2);
    finish(stage.running[1], TQ_OK);
    assert_int_equal(stage.sent[stage.n_sent - 1].envelope.status, TQ_OK);
    request_key_5(1, 77, 7, 1); /* this one is kept */
    assert_int_equal(stage.n_dispatched, 2);
}

static void a_retry_after_the_session_ended_is_executed(void **state)
{
    (void)state;
    open_stage(NULL);
    join(1, 77);
    request(1, 77, 5, ECHO_KEYED);
    say_goodbye(1, 77);
    assert_int_equal(stage.n_gone, 1);
    finish_not_started(stage.running[0], stage.gone_why);
    join(1, 77);
    request_key_5(1, 77, 5, 2);
    assert_int_equal(stage.n_dispatched, 2);
}

/* A ONCE call is its own key: what comes under it later is the same message. */
static void a_once_call_that_was_not_started_stays_so(void **state)
{
    (void)state;
    open_stage(NULL);
    join(1, 77);
    request(1, 77, 5, ECHO_ONCE);
    finish_not_started(stage.running[0], TQ_UNAVAILABLE);
    request(1, 77, 5, ECHO_ONCE);
    assert_int_equal(stage.n_dispatched, 1);
    assert_refused(TQ_UNAVAILABLE, TQ_OUTCOME_NOT_STARTED, "TEST");
}

/* ---- joiners ---- */

static void open_joined(void)
{
    open_stage(NULL);
    join(1, 77);
    join(2, 78);
    request(1, 77, 5, ECHO_KEYED);
    request_key_5(2, 78, 6, 1);
    assert_int_equal(stage.n_dispatched, 1);
    assert_int_equal(stage.core.n_joiners, 1);
}

static void a_joined_call_outlives_its_caller(void **state)
{
    (void)state;
    for (unsigned how = 0; how < 2; how++) {
        open_joined();
        if (how == 0)
            cancel(1, 77, 5);
        else
            say_goodbye(1, 77);
        assert_int_equal(stage.n_gone, 0);
        unsigned sent = stage.n_sent;
        finish(stage.running[0], TQ_OK);
        assert_int_equal(stage.n_sent, sent + 1);
        assert_int_equal(stage.sent[sent].envelope.call_id, 6);
        assert_int_equal(stage.core.n_joiners, 0);
        if (how == 0)
            close_stage(NULL);
    }
}

static void the_last_who_leaves_ends_a_joined_call(void **state)
{
    (void)state;
    for (unsigned how = 0; how < 2; how++) {
        open_joined();
        cancel(1, 77, 5);
        if (how == 0)
            cancel(2, 78, 6);
        else
            say_goodbye(2, 78);
        assert_int_equal(stage.n_gone, 1);
        assert_int_equal(stage.gone_why, TQ_CANCELLED);
        if (how == 0)
            close_stage(NULL);
    }
}

static void a_joiner_who_leaves_alone_ends_nothing(void **state)
{
    (void)state;
    open_joined();
    say_goodbye(2, 78);
    assert_int_equal(stage.n_gone, 0);
    unsigned sent = stage.n_sent;
    finish(stage.running[0], TQ_OK);
    assert_int_equal(stage.n_sent, sent + 1);
    assert_int_equal(stage.sent[sent].envelope.call_id, 5);
}

static void a_joined_call_ends_at_the_latest_deadline(void **state)
{
    (void)state;
    struct tq_server_opts opts = { .keepalive_ms = 60000 };
    open_stage(&opts);
    join(1, 77);
    tq_wire_Envelope envelope = request_of(77, 5, ECHO_KEYED);
    envelope.remaining_us = 1000;
    hear(1, &envelope, NULL, NULL);
    envelope.call_id = 6;
    envelope.remaining_us = 5000;
    hear(1, &envelope, NULL, NULL);
    cancel(1, 77, 5);
    pass(4 * MS);
    assert_int_equal(stage.n_gone, 0);
    pass(2 * MS);
    assert_int_equal(stage.n_gone, 1);
    assert_int_equal(stage.gone_why, TQ_DEADLINE_EXCEEDED);
}

/* ---- refusals ---- */

static void a_refused_repetition_knows_nothing_of_the_first(void **state)
{
    (void)state;
    open_stage(NULL);
    tq_wire_Envelope envelope = request_of(77, 5, ECHO_KEYED);
    envelope.attempt = 2;
    hear(1, &envelope, NULL, NULL);
    assert_refused(TQ_UNAVAILABLE, TQ_OUTCOME_UNKNOWN, "NO_SESSION");
    join(1, 77);
    tq_server_core_drain(&stage.core);
    hear(1, &envelope, NULL, NULL);
    assert_refused(TQ_UNAVAILABLE, TQ_OUTCOME_UNKNOWN, "DRAINING");
    envelope.attempt = 1;
    hear(1, &envelope, NULL, NULL);
    assert_refused(TQ_UNAVAILABLE, TQ_OUTCOME_NOT_STARTED, "DRAINING");
}

static void one_joiner_too_many_may_have_been_executed(void **state)
{
    (void)state;
    open_stage(NULL);
    join(1, 77);
    request(1, 77, 5, ECHO_KEYED);
    for (unsigned i = 0; i <= TQ_JOINERS_MAX; i++)
        request_key_5(1, 77, 100 + i, 1);
    assert_refused(TQ_RESOURCE_EXHAUSTED, TQ_OUTCOME_UNKNOWN, "JOINERS");
}

/* ---- verdicts ---- */

static tq_wire_Verdict look_up(uint64_t call_id)
{
    tq_wire_Envelope envelope = { .version = 1, .kind = tq_wire_Kind_KIND_LOOKUP, .call_id = 9, .session = 77 };
    tq_wire_Lookup lookup = { .session = 77, .call_id = call_id };
    hear(1, &envelope, tq_wire_Lookup_fields, &lookup);
    return stage.sent[stage.n_sent - 1].lookup.verdict;
}

static void never_arrived_is_said_only_while_it_can_stay_true(void **state)
{
    (void)state;
    open_stage(NULL);
    join(1, 77);
    for (uint64_t id = 1; id <= TQ_GIVEN_UP_MAX; id++)
        assert_int_equal(look_up(id), tq_wire_Verdict_VERDICT_NEVER_ARRIVED);
    assert_int_equal(look_up(1000), tq_wire_Verdict_VERDICT_PEER_FORGOT);
    assert_int_equal(look_up(1), tq_wire_Verdict_VERDICT_NEVER_ARRIVED); /* noted already */
    request(1, 77, 1, ECHO_ONCE);
    assert_refused(TQ_CANCELLED, TQ_OUTCOME_NOT_STARTED, "GIVEN_UP");
    request(1, 77, 1000, ECHO_ONCE);
    assert_int_equal(stage.n_dispatched, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, close_stage)
    const struct CMUnitTest tests[] = {
        TEST(what_was_not_started_leaves_its_key_free),   TEST(a_retry_after_the_session_ended_is_executed),
        TEST(a_once_call_that_was_not_started_stays_so),  TEST(a_joined_call_outlives_its_caller),
        TEST(the_last_who_leaves_ends_a_joined_call),     TEST(a_joiner_who_leaves_alone_ends_nothing),
        TEST(a_joined_call_ends_at_the_latest_deadline),  TEST(a_refused_repetition_knows_nothing_of_the_first),
        TEST(one_joiner_too_many_may_have_been_executed), TEST(never_arrived_is_said_only_while_it_can_stay_true),
    };
    tq_log_set_level(TQ_LOG_OFF);
    return cmocka_run_group_tests_name("server outcome", tests, NULL, NULL);
}

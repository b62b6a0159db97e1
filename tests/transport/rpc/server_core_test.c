/* The server core alone: sessions, admission, duplicates, answers. A script plays the clients. */
#include "tests/transport/rpc/server_stage.h"
#include "transport/base/log.h"

/* ---- sessions ---- */

static void opens_and_joins_sessions(void **state)
{
    (void)state;
    open_stage(NULL);
    join(1, 77);
    assert_false(stage.sent[0].hello.resumed);
    assert_int_equal(stage.sent[0].hello.protocol, 1);
    assert_int_equal(stage.sent[0].hello.credit.calls, 4096);
    assert_int_equal(stage.sent[0].hello.keepalive_ms, 1000);
    join(2, 77);
    assert_true(stage.sent[1].hello.resumed);
    assert_int_equal(stage.core.stats.sessions, 1);
    request(2, 77, 5, ECHO_ONCE);
    assert_int_equal(stage.n_dispatched, 1);
    assert_string_equal(stage.running[0]->session->name, "tester");
}

static void wants_hello_first(void **state)
{
    (void)state;
    open_stage(NULL);
    request(1, 77, 5, ECHO_ONCE);
    assert_refused(TQ_UNAVAILABLE, TQ_OUTCOME_NOT_STARTED, "NO_SESSION");
    join(1, 77);
    request(2, 77, 5, ECHO_ONCE); /* another connection */
    assert_refused(TQ_UNAVAILABLE, TQ_OUTCOME_NOT_STARTED, "NO_SESSION");
    assert_int_equal(stage.n_dispatched, 0);
    tq_wire_Envelope keepalive = { .version = 1, .kind = tq_wire_Kind_KIND_KEEPALIVE, .call_id = 9, .session = 78 };
    tq_wire_KeepAlive body = { .session = 78 };
    hear(1, &keepalive, tq_wire_KeepAlive_fields, &body);
    assert_int_equal(stage.sent[stage.n_sent - 1].envelope.kind, tq_wire_Kind_KIND_KEEPALIVE);
    assert_refused(TQ_UNAVAILABLE, TQ_OUTCOME_FAILED, "NO_SESSION");
}

static void judges_hellos(void **state)
{
    (void)state;
    struct tq_server_opts opts = { .max_sessions = 1 };
    tq_wire_Hello hello = hello_of(1);
    open_stage(&opts);
    hello.protocol_min = 2, hello.protocol_max = 3;
    say_hello(1, &hello);
    assert_refused(TQ_FAILED_PRECONDITION, TQ_OUTCOME_NOT_STARTED, "PROTOCOL_RANGE");
    hello = hello_of(1);
    hello.protocol_max = 9; /* N+1 talks to N */
    say_hello(1, &hello);
    assert_int_equal(stage.sent[stage.n_sent - 1].hello.protocol, 1);
    hello = hello_of(0);
    say_hello(1, &hello);
    assert_refused(TQ_INVALID_ARGUMENT, TQ_OUTCOME_NOT_STARTED, "SESSION");
    hello = hello_of(1);
    hello.expect_epoch = 4712;
    say_hello(1, &hello);
    assert_refused(TQ_FAILED_PRECONDITION, TQ_OUTCOME_NOT_STARTED, "EPOCH");
    hello = hello_of(1);
    hello.expect_epoch = 4711;
    say_hello(1, &hello);
    hello = hello_of(2);
    say_hello(1, &hello);
    assert_refused(TQ_RESOURCE_EXHAUSTED, TQ_OUTCOME_NOT_STARTED, "SESSIONS");
}

static tq_wire_Hello hello_of_cluster(uint64_t session, uint8_t cluster)
{
    tq_wire_Hello hello = hello_of(session);
    hello.cluster_id.size = TQ_CLUSTER_ID_BYTES;
    memset(hello.cluster_id.bytes, cluster, TQ_CLUSTER_ID_BYTES);
    return hello;
}

static void assert_taken(const tq_wire_Hello *hello)
{
    say_hello(1, hello);
    assert_int_equal(stage.sent[stage.n_sent - 1].envelope.status, TQ_OK);
}

/* Who comes first must not decide to whom a server belongs. */
static void a_client_teaches_a_server_no_cluster(void **state)
{
    (void)state;
    uint8_t id[TQ_CLUSTER_ID_BYTES];
    open_stage(NULL);
    tq_wire_Hello hello = hello_of_cluster(1, 1);
    assert_taken(&hello);
    assert_int_equal(tq_self_cluster(&stage.self, id), 0);
    hello = hello_of_cluster(2, 2);
    assert_taken(&hello);
    hello = hello_of(3);
    assert_taken(&hello);
}

static void a_server_of_a_cluster_refuses_others(void **state)
{
    (void)state;
    open_stage(NULL);
    memset(stage.self.cluster_id, 7, sizeof(stage.self.cluster_id));
    tq_wire_Hello hello = hello_of_cluster(1, 1);
    say_hello(1, &hello);
    assert_refused(TQ_FAILED_PRECONDITION, TQ_OUTCOME_NOT_STARTED, "CLUSTER_ID");
    hello = hello_of_cluster(1, 7);
    assert_taken(&hello);
    hello = hello_of(2);
    assert_taken(&hello);
}

static void ends_sessions_after_three_missed_intervals(void **state)
{
    (void)state;
    open_stage(NULL);
    join(1, 77);
    tq_wire_Envelope keepalive = { .version = 1, .kind = tq_wire_Kind_KIND_KEEPALIVE, .call_id = 9, .session = 77 };
    tq_wire_KeepAlive body = { .session = 77, .sent_ns = 123 };
    for (unsigned i = 0; i < 4; i++) {
        pass(2000 * MS);
        hear(1, &keepalive, tq_wire_KeepAlive_fields, &body);
        assert_int_equal(stage.n_ended_sessions, 0);
    }
    request(1, 77, 5, ECHO_ONCE);
    pass(2999 * MS);
    assert_int_equal(stage.n_ended_sessions, 0);
    pass(2 * MS);
    assert_int_equal(stage.n_ended_sessions, 1);
    assert_int_equal(stage.n_gone, 1);
    assert_int_equal(stage.gone_why, TQ_CANCELLED);
    unsigned sent = stage.n_sent;
    finish(stage.running[0], TQ_OK);
    assert_int_equal(stage.n_sent, sent); /* nobody is told */
}

/* After SIGSTOP and SIGCONT the silence was ours. */
static void forgives_the_silence_of_its_own_sleep(void **state)
{
    (void)state;
    open_stage(NULL);
    join(1, 77);
    pass(10 * MS);
    stage.now_ns += 60000 * MS;
    tq_server_core_tick(&stage.core, stage.now_ns);
    assert_int_equal(stage.n_ended_sessions, 0);
    stage.now_ns += 3005 * MS; /* a few milliseconds late is no sleep: the session has ended */
    tq_server_core_tick(&stage.core, stage.now_ns);
    assert_int_equal(stage.n_ended_sessions, 1);
}

static void goodbye_ends_the_session(void **state)
{
    (void)state;
    tq_wire_Envelope goodbye = { .version = 1, .kind = tq_wire_Kind_KIND_GOODBYE, .call_id = 9, .session = 77 };
    open_stage(NULL);
    join(1, 77);
    hear(2, &goodbye, NULL, NULL); /* a stranger cannot */
    assert_int_equal(stage.n_ended_sessions, 0);
    hear(1, &goodbye, NULL, NULL);
    assert_int_equal(stage.n_ended_sessions, 1);
}

/* ---- refusals ---- */

static void refuses_in_the_right_order(void **state)
{
    (void)state;
    struct tq_server_opts opts = { .session_calls = 2, .max_calls = 3 };
    open_stage(&opts);
    join(1, 77);
    join(2, 78);
    request(1, 77, 1, 99);
    assert_refused(TQ_UNIMPLEMENTED, TQ_OUTCOME_NOT_STARTED, "METHOD");
    tq_wire_Envelope envelope = request_of(77, 2, ECHO_ONCE);
    envelope.version = 2;
    hear(1, &envelope, NULL, NULL);
    assert_refused(TQ_FAILED_PRECONDITION, TQ_OUTCOME_NOT_STARTED, "PROTOCOL_RANGE");
    envelope = request_of(77, 3, ECHO_ONCE);
    envelope.remaining_us = 0;
    hear(1, &envelope, NULL, NULL);
    assert_refused(TQ_DEADLINE_EXCEEDED, TQ_OUTCOME_NOT_STARTED, "");
    envelope = request_of(77, 4, ECHO_KEYED);
    envelope.idempotency_key.size = 0;
    hear(1, &envelope, NULL, NULL);
    assert_refused(TQ_INVALID_ARGUMENT, TQ_OUTCOME_NOT_STARTED, "KEY");
    envelope = request_of(77, 5, ECHO_ONCE);
    envelope.inline_frames = 1;
    hear(1, &envelope, NULL, NULL);
    assert_refused(TQ_INVALID_ARGUMENT, TQ_OUTCOME_NOT_STARTED, "INLINE_FRAMES");
    struct tq_packet large = { .seam = NULL };
    assert_true(tq_packet_resize(&large, 65537));
    envelope = request_of(77, 6, ECHO_ONCE);
    hear_packet(1, &envelope, &large);
    assert_refused(TQ_INVALID_ARGUMENT, TQ_OUTCOME_NOT_STARTED, "REQUEST_BYTES");
    tq_packet_fini(&large);
    assert_int_equal(stage.n_dispatched, 0);
    request(1, 77, 7, ECHO_ONCE);
    request(1, 77, 8, ECHO_ONCE);
    request(1, 77, 9, ECHO_ONCE);
    assert_refused(TQ_RESOURCE_EXHAUSTED, TQ_OUTCOME_NOT_STARTED, "SESSION_CALLS");
    assert_true(stage.sent[stage.n_sent - 1].error.retry_after_ms > 0);
    request(2, 78, 1, ECHO_ONCE);
    request(2, 78, 2, ECHO_ONCE);
    assert_refused(TQ_RESOURCE_EXHAUSTED, TQ_OUTCOME_NOT_STARTED, "CALLS");
    assert_int_equal(stage.n_dispatched, 3);
}

static void drops_garbage_without_an_answer(void **state)
{
    (void)state;
    struct tq_peer p = peer(1);
    struct tq_inbound message = { .ops = NULL };
    open_stage(NULL);
    assert_true(tq_inbound_copy(&message, NULL, (struct tq_bytes){ (const uint8_t *)"GET / HTTP/1.1", 14 }, NULL, 0));
    tq_server_core_receive(&stage.core, &p, &message, stage.now_ns);
    tq_inbound_release(&message);
    tq_wire_Envelope envelope = { .version = 1, .kind = tq_wire_Kind_KIND_REPLY, .call_id = 9 };
    hear(1, &envelope, NULL, NULL); /* a kind that only servers send */
    assert_int_equal(stage.core.stats.garbage, 2);
    assert_int_equal(stage.n_sent, 0);
}

static void refuses_while_draining(void **state)
{
    (void)state;
    tq_wire_Hello hello = hello_of(78);
    open_stage(NULL);
    join(1, 77);
    request(1, 77, 1, ECHO_ONCE);
    tq_server_core_drain(&stage.core);
    request(1, 77, 2, ECHO_ONCE);
    assert_refused(TQ_UNAVAILABLE, TQ_OUTCOME_NOT_STARTED, "DRAINING");
    say_hello(2, &hello);
    assert_refused(TQ_UNAVAILABLE, TQ_OUTCOME_NOT_STARTED, "DRAINING");
    finish(stage.running[0], TQ_OK);
    assert_int_equal(stage.sent[stage.n_sent - 1].envelope.status, TQ_OK);
    assert_int_equal(stage.core.stats.running, 0);
}

/* ---- duplicates ---- */

static void a_repeated_attempt_joins_the_running_call(void **state)
{
    (void)state;
    open_stage(NULL);
    join(1, 77);
    join(2, 77);
    request(1, 77, 5, ECHO_IDEMPOTENT);
    request(2, 77, 5, ECHO_IDEMPOTENT);
    assert_int_equal(stage.n_dispatched, 1);
    assert_int_equal(stage.core.stats.joins, 1);
    unsigned sent = stage.n_sent;
    finish(stage.running[0], TQ_OK);
    assert_int_equal(stage.n_sent, sent + 1); /* one answer, to where the last attempt came from */
    assert_int_equal(stage.sent[sent].to.id[4], 2);
}

static void a_key_is_executed_once(void **state)
{
    (void)state;
    open_stage(NULL);
    join(1, 77);
    join(2, 78);
    tq_wire_Envelope envelope = request_of(77, 5, ECHO_KEYED);
    hear(1, &envelope, NULL, NULL);
    envelope.session = 78, envelope.call_id = 6; /* the same key from another session: joins */
    hear(2, &envelope, NULL, NULL);
    assert_int_equal(stage.n_dispatched, 1);
    unsigned sent = stage.n_sent;
    finish(stage.running[0], TQ_OK);
    assert_int_equal(stage.n_sent, sent + 2);
    assert_int_equal(stage.sent[sent].envelope.call_id, 5);
    assert_int_equal(stage.sent[sent + 1].envelope.call_id, 6);
    envelope.call_id = 7, envelope.attempt = 2; /* after the end: the same answer */
    hear(2, &envelope, NULL, NULL);
    assert_int_equal(stage.n_dispatched, 1);
    assert_int_equal(stage.sent[stage.n_sent - 1].envelope.call_id, 7);
    assert_int_equal(stage.sent[stage.n_sent - 1].envelope.status, TQ_OK);
}

static void errors_are_kept_under_their_key_too(void **state)
{
    (void)state;
    open_stage(NULL);
    join(1, 77);
    request(1, 77, 5, ECHO_KEYED);
    finish(stage.running[0], TQ_ABORTED);
    tq_wire_Envelope envelope = request_of(77, 5, ECHO_KEYED);
    envelope.call_id = 6, envelope.attempt = 2;
    hear(1, &envelope, NULL, NULL);
    assert_int_equal(stage.n_dispatched, 1);
    assert_refused(TQ_ABORTED, TQ_OUTCOME_FAILED, "TEST");
}

static void a_key_belongs_to_its_request(void **state)
{
    (void)state;
    Tqtest__EchoRequest other = TQTEST__ECHO_REQUEST__INIT;
    struct tq_packet packet = { .seam = NULL };
    open_stage(NULL);
    stage.answer_at_once = true;
    join(1, 77);
    request(1, 77, 5, ECHO_KEYED);
    tq_wire_Envelope envelope = request_of(77, 5, ECHO_KEYED);
    envelope.call_id = 6;
    other.number = 1;
    assert_true(tq_packet_pack(&packet, &other.base));
    hear_packet(1, &envelope, &packet);
    tq_packet_fini(&packet);
    assert_refused(TQ_INVALID_ARGUMENT, TQ_OUTCOME_NOT_STARTED, "KEY_REUSED");
    envelope.method = 0x7f00 + ECHO_WAITS;
    hear(1, &envelope, NULL, NULL);
    assert_refused(TQ_INVALID_ARGUMENT, TQ_OUTCOME_NOT_STARTED, "KEY_REUSED");
    assert_int_equal(stage.n_dispatched, 1);
}

static void a_once_call_that_comes_twice_runs_once(void **state)
{
    (void)state;
    open_stage(NULL);
    stage.answer_at_once = true;
    join(1, 77);
    request(1, 77, 5, ECHO_ONCE);
    request(1, 77, 5, ECHO_ONCE);
    assert_int_equal(stage.n_dispatched, 1);
    request(1, 77, 6, ECHO_ONCE);
    assert_int_equal(stage.n_dispatched, 2);
}

static void a_forgotten_key_is_not_executed_again(void **state)
{
    (void)state;
    open_stage(NULL);
    stage.answer_at_once = true;
    stage.core.window.max_entries = 4;
    join(1, 77);
    for (uint64_t id = 1; id <= 5; id++)
        request(1, 77, id, ECHO_KEYED);
    assert_int_equal(stage.n_dispatched, 5);
    tq_wire_Envelope again = request_of(77, 1, ECHO_KEYED);
    again.attempt = 2;
    hear(1, &again, NULL, NULL);
    assert_refused(TQ_FAILED_PRECONDITION, TQ_OUTCOME_UNKNOWN, "KEY_FORGOTTEN");
    assert_int_equal(stage.n_dispatched, 5);
    stage.now_ns += TQ_WINDOW_AGE_NS; /* nothing that young was forgotten */
    join(1, 77);
    hear(1, &again, NULL, NULL);
    assert_int_equal(stage.n_dispatched, 6);
}

static void bounds_what_the_window_keeps(void **state)
{
    (void)state;
    open_stage(NULL);
    stage.answer_at_once = true;
    stage.core.window.max_bytes = 10000;
    join(1, 77);
    for (uint64_t id = 1; id <= 100; id++) {
        request(1, 77, id, ECHO_KEYED);
        stage.n_sent = 1;
    }
    assert_true(stage.core.window.bytes <= 10000);
    assert_true(stage.core.window.count > 3 && stage.core.window.count < 100);
    stage.now_ns += TQ_WINDOW_AGE_NS;
    join(1, 77);
    request(1, 77, 101, ECHO_KEYED);
    assert_int_equal(stage.core.window.count, 1);
}

/* ---- the ends of calls ---- */

static void tells_handlers_that_the_caller_is_gone(void **state)
{
    (void)state;
    tq_wire_Envelope cancel = { .version = 1, .kind = tq_wire_Kind_KIND_CANCEL, .call_id = 5, .session = 77 };
    open_stage(NULL);
    join(1, 77);
    request(1, 77, 5, ECHO_IDEMPOTENT);
    hear(1, &cancel, NULL, NULL);
    hear(1, &cancel, NULL, NULL);
    assert_int_equal(stage.n_gone, 1);
    assert_int_equal(stage.gone_why, TQ_CANCELLED);
    assert_int_equal(stage.core.stats.cancelled, 1);
    tq_wire_Envelope envelope = request_of(77, 6, ECHO_IDEMPOTENT);
    envelope.remaining_us = 1000;
    hear(1, &envelope, NULL, NULL);
    pass(2 * MS);
    assert_int_equal(stage.n_gone, 2);
    assert_int_equal(stage.gone_why, TQ_DEADLINE_EXCEEDED);
    assert_int_equal(stage.core.stats.running, 2); /* until the handlers answer */
    unsigned sent = stage.n_sent;
    finish(stage.running[0], TQ_OK);
    finish(stage.running[1], TQ_OK);
    assert_int_equal(stage.n_sent, sent);
    assert_int_equal(stage.core.stats.running, 0);
}

static void an_undelivered_answer_waits_in_the_window(void **state)
{
    (void)state;
    open_stage(NULL);
    join(1, 77);
    request(1, 77, 5, ECHO_KEYED);
    stage.will = TQ_SENT_GONE;
    finish(stage.running[0], TQ_OK);
    stage.will = TQ_SENT;
    join(2, 77);
    tq_wire_Envelope again = request_of(77, 5, ECHO_KEYED);
    again.attempt = 2;
    hear(2, &again, NULL, NULL);
    assert_int_equal(stage.n_dispatched, 1);
    assert_int_equal(stage.sent[stage.n_sent - 1].envelope.call_id, 5);
    assert_int_equal(stage.sent[stage.n_sent - 1].envelope.status, TQ_OK);
}

static void queues_replies_for_a_slow_peer_and_ends_it_when_full(void **state)
{
    (void)state;
    struct tq_server_opts opts = { .reply_queue_bytes = 400 };
    open_stage(&opts);
    stage.answer_at_once = true;
    join(1, 77);
    stage.will = TQ_SENT_FULL;
    request(1, 77, 5, ECHO_IDEMPOTENT);
    request(1, 77, 6, ECHO_IDEMPOTENT);
    assert_true(stage.core.reply_bytes > 0);
    stage.will = TQ_SENT;
    pass(3 * MS);
    assert_int_equal(stage.n_sent, 3);
    assert_int_equal(stage.sent[1].envelope.call_id, 5);
    assert_int_equal(stage.sent[2].envelope.call_id, 6);
    assert_int_equal(stage.core.reply_bytes, 0);
    stage.will = TQ_SENT_FULL;
    for (uint64_t id = 7; stage.n_ended_sessions == 0 && id < 100; id++)
        request(1, 77, id, ECHO_IDEMPOTENT);
    assert_int_equal(stage.n_ended_sessions, 1);
    assert_int_equal(stage.core.reply_bytes, 0);
}

static void answers_by_another_connection_of_the_session(void **state)
{
    (void)state;
    open_stage(NULL);
    join(1, 77);
    request(1, 77, 5, ECHO_IDEMPOTENT);
    join(2, 77);
    tq_session_lose_peer(stage.running[0]->session, &stage.running[0]->peer);
    stage.will = TQ_SENT;
    finish(stage.running[0], TQ_OK);
    assert_int_equal(stage.sent[stage.n_sent - 1].envelope.call_id, 5);
}

/* The shell sends a batch late: what it could not send comes back. */
static void sends_undelivered_replies_another_way(void **state)
{
    (void)state;
    uint8_t frame[TQ_HEADROOM];
    tq_wire_Envelope envelope = { .version = 1, .kind = tq_wire_Kind_KIND_REPLY, .call_id = 5, .session = 77 };
    struct tq_peer first = peer(1);
    open_stage(NULL);
    envelope.epoch = stage.self.epoch;
    join(1, 77);
    join(2, 77);
    struct tq_bytes bytes = { frame, tq_envelope_encode(&envelope, frame) };
    tq_server_undelivered(&stage.core, &first, bytes, TQ_SENT_GONE, stage.now_ns);
    assert_int_equal(stage.n_sent, 3);
    assert_int_equal(stage.sent[2].to.id[4], 2);
    assert_int_equal(stage.sent[2].envelope.call_id, 5);
    tq_server_undelivered(&stage.core, &first, bytes, TQ_SENT_FULL, stage.now_ns);
    assert_int_equal(stage.n_sent, 3);
    assert_true(stage.core.reply_bytes > 0);
    pass(3 * MS);
    assert_int_equal(stage.n_sent, 4);
    assert_int_equal(stage.core.reply_bytes, 0);
    envelope.kind = tq_wire_Kind_KIND_KEEPALIVE; /* is asked for again */
    bytes.len = tq_envelope_encode(&envelope, frame);
    tq_server_undelivered(&stage.core, &first, bytes, TQ_SENT_FULL, stage.now_ns);
    assert_int_equal(stage.core.reply_bytes, 0);
    envelope.kind = tq_wire_Kind_KIND_REPLY;
    envelope.session = 78; /* has ended meanwhile */
    bytes.len = tq_envelope_encode(&envelope, frame);
    tq_server_undelivered(&stage.core, &first, bytes, TQ_SENT_GONE, stage.now_ns);
    assert_int_equal(stage.n_sent, 4);
}

static void looks_up_what_became_of_calls(void **state)
{
    (void)state;
    tq_wire_Envelope envelope = { .version = 1, .kind = tq_wire_Kind_KIND_LOOKUP, .call_id = 9, .session = 77 };
    tq_wire_Lookup lookup = { .session = 77, .call_id = 5 };
    open_stage(NULL);
    join(1, 77);
    request(1, 77, 5, ECHO_ONCE);
    stage.now_ns += MS;
    hear(1, &envelope, tq_wire_Lookup_fields, &lookup);
    assert_int_equal(stage.sent[stage.n_sent - 1].lookup.verdict, tq_wire_Verdict_VERDICT_ARRIVED_UNFINISHED);
    assert_int_equal(stage.sent[stage.n_sent - 1].lookup.in_flight, 1);
    assert_int_equal(stage.sent[stage.n_sent - 1].lookup.age_us, 1000);
    finish(stage.running[0], TQ_OK);
    hear(1, &envelope, tq_wire_Lookup_fields, &lookup);
    assert_int_equal(stage.sent[stage.n_sent - 1].lookup.verdict, tq_wire_Verdict_VERDICT_ANSWERED_REPLY_LOST);
    lookup.call_id = 6;
    hear(1, &envelope, tq_wire_Lookup_fields, &lookup);
    assert_int_equal(stage.sent[stage.n_sent - 1].lookup.verdict, tq_wire_Verdict_VERDICT_NEVER_ARRIVED);
    request(1, 77, 6, ECHO_ONCE); /* comes after all: the verdict stays true */
    assert_refused(TQ_CANCELLED, TQ_OUTCOME_NOT_STARTED, "GIVEN_UP");
    assert_int_equal(stage.n_dispatched, 1);
}

static void forgets_old_arrivals(void **state)
{
    (void)state;
    tq_wire_Envelope envelope = { .version = 1, .kind = tq_wire_Kind_KIND_LOOKUP, .call_id = 9, .session = 77 };
    tq_wire_Lookup lookup = { .session = 77, .call_id = 1 };
    open_stage(NULL);
    join(1, 77);
    for (uint64_t i = 0; i <= TQ_ARRIVALS_MAX; i++)
        (void)tq_arrivals_note(&stage.core.arrivals, 77, 1 + i, 10, stage.now_ns);
    hear(1, &envelope, tq_wire_Lookup_fields, &lookup);
    assert_int_equal(stage.sent[stage.n_sent - 1].lookup.verdict, tq_wire_Verdict_VERDICT_PEER_FORGOT);
    assert_int_equal(stage.sent[stage.n_sent - 1].lookup.oldest_arrival, 1);
}

/* Wherever memory is short the request is answered or the client asks again; nothing leaks, nothing runs twice. */
static void survives_each_allocation_failure(void **state)
{
    (void)state;
    unsigned nth = 0;
    for (bool failed = true; failed; nth++) {
        open_stage(NULL);
        stage.answer_at_once = true;
        test_seam_fail_allocation(&stage.seam, nth, false);
        tq_wire_Hello hello = hello_of(77);
        say_hello(1, &hello);
        request(1, 77, 5, ECHO_KEYED);
        request(1, 77, 5, ECHO_KEYED);
        failed = atomic_load(&stage.seam.failed);
        assert_true(stage.n_dispatched <= 2 && stage.n_sent <= 3);
        assert_true(failed || (stage.n_dispatched == 1 && stage.n_sent == 3));
        if (failed)
            close_stage(NULL);
    }
    assert_true(nth > 5);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, close_stage)
    const struct CMUnitTest tests[] = {
        TEST(opens_and_joins_sessions),
        TEST(wants_hello_first),
        TEST(judges_hellos),
        TEST(a_client_teaches_a_server_no_cluster),
        TEST(a_server_of_a_cluster_refuses_others),
        TEST(ends_sessions_after_three_missed_intervals),
        TEST(forgives_the_silence_of_its_own_sleep),
        TEST(goodbye_ends_the_session),
        TEST(refuses_in_the_right_order),
        TEST(drops_garbage_without_an_answer),
        TEST(refuses_while_draining),
        TEST(a_repeated_attempt_joins_the_running_call),
        TEST(a_key_is_executed_once),
        TEST(errors_are_kept_under_their_key_too),
        TEST(a_key_belongs_to_its_request),
        TEST(a_once_call_that_comes_twice_runs_once),
        TEST(a_forgotten_key_is_not_executed_again),
        TEST(bounds_what_the_window_keeps),
        TEST(tells_handlers_that_the_caller_is_gone),
        TEST(an_undelivered_answer_waits_in_the_window),
        TEST(queues_replies_for_a_slow_peer_and_ends_it_when_full),
        TEST(answers_by_another_connection_of_the_session),
        TEST(sends_undelivered_replies_another_way),
        TEST(looks_up_what_became_of_calls),
        TEST(forgets_old_arrivals),
        TEST(survives_each_allocation_failure),
    };
    tq_log_set_level(TQ_LOG_OFF);
    return cmocka_run_group_tests_name("server core", tests, NULL, NULL);
}

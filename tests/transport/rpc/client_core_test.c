/* The client core alone: what it sends, when, and how calls end. A script plays the peer. */
#include "tests/transport/rpc/client_stage.h"
#include "transport/base/log.h"

/* ---- deadlines ---- */

static void ends_past_deadlines_without_dialling(void **state)
{
    (void)state;
    struct tq_error err;
    int64_t deadlines[] = { 1, -1, INT64_MIN, stage.now_ns, stage.now_ns - 1 };
    open_stage(NULL);
    deadlines[3] = stage.now_ns;
    deadlines[4] = stage.now_ns - 1;
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(try_submit(ECHO_IDEMPOTENT, deadlines[i], &err), TQ_OK);
        assert_ended(TQ_DEADLINE_EXCEEDED, TQ_OUTCOME_NOT_STARTED, "");
    }
    assert_int_equal(stage.n_dials, 0);
    assert_int_equal(tq_client_next_ns(&stage.core), INT64_MAX); /* no timer is left */
}

static void rounds_short_deadlines_up(void **state)
{
    (void)state;
    open_stage(NULL);
    submit(ECHO_ONCE, 1000 * MS);
    connect_link(0);
    int64_t lengths[] = { 1, 999999, 1000000 };
    for (unsigned i = 0; i < 3; i++) {
        submit(ECHO_ONCE, lengths[i]);
        assert_int_equal(last_sent()->remaining_us, (lengths[i] + 999) / 1000);
    }
    stage.now_ns += 1000000;
    tq_client_tick(&stage.core, stage.now_ns);
    for (unsigned i = 0; i < 3; i++)
        assert_ended(TQ_DEADLINE_EXCEEDED, TQ_OUTCOME_UNKNOWN, "");
    assert_null(next_ended());
}

/* The deadline covers the wait for a window. */
static void ends_calls_that_wait_for_the_window(void **state)
{
    (void)state;
    struct tq_channel_opts opts = { .max_calls = 1 };
    open_stage(&opts);
    submit(ECHO_ONCE, 10000 * MS);
    connect_link(0);
    submit(ECHO_ONCE, 50 * MS);
    unsigned sent = stage.n_sent;
    stage.now_ns += 50 * MS;
    tq_client_tick(&stage.core, stage.now_ns);
    assert_ended(TQ_DEADLINE_EXCEEDED, TQ_OUTCOME_NOT_STARTED, "");
    assert_int_equal(stage.n_sent, sent);
}

static void says_that_nobody_is_there(void **state)
{
    (void)state;
    open_stage(NULL);
    submit(ECHO_IDEMPOTENT, 3000 * MS);
    while (stage.core.n_waiting > 0)
        wait_until_due();
    assert_int_equal(stage.now_ns, 4000 * MS);
    assert_true(stage.n_dials >= 3 && stage.n_dials <= 20);
    assert_ended(TQ_UNAVAILABLE, TQ_OUTCOME_NOT_STARTED, "PEER_UNREACHABLE");
}

/* ---- the window ---- */

static void sends_in_order_and_within_the_window(void **state)
{
    (void)state;
    struct tq_channel_opts opts = { .max_calls = 2, .queue_calls = 3 };
    struct tq_error err;
    open_stage(&opts);
    for (unsigned i = 0; i < 3; i++)
        submit(ECHO_ONCE, 1000 * MS);
    assert_int_equal(try_submit(ECHO_ONCE, stage.now_ns + MS, &err), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(err.reason, "QUEUE_CALLS");
    connect_link(0);
    assert_int_equal(stage.n_sent, 3); /* hello and two calls */
    uint64_t first = stage.sent[1].envelope.call_id, second = stage.sent[2].envelope.call_id;
    assert_true(second == first + 1);
    answer(0, second, stage.epoch);
    assert_int_equal(stage.n_sent, 3); /* the shell pumps by a tick */
    tq_client_tick(&stage.core, stage.now_ns);
    assert_int_equal(stage.n_sent, 4);
    assert_int_equal(last_sent()->call_id, first + 2);
    assert_ended(TQ_OK, TQ_OUTCOME_NONE, "");
}

static void keeps_to_the_peers_credit(void **state)
{
    (void)state;
    tq_wire_HelloReply reply = good_hello();
    reply.credit = (tq_wire_Credit){ 3, 0 };
    open_stage(NULL);
    for (unsigned i = 0; i < 10; i++)
        submit(ECHO_ONCE, 1000 * MS);
    tq_client_up(&stage.core, 0, stage.now_ns);
    answer_hello(0, &reply);
    assert_int_equal(stage.core.n_sent, 3);
}

static void refuses_what_the_peer_does_not_take(void **state)
{
    (void)state;
    tq_wire_HelloReply reply = good_hello();
    reply.limits.body_bytes = 0;
    open_stage(NULL);
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    request.number = 1;
    submit(ECHO_ONCE, 1000 * MS); /* an empty body: fits */
    struct tq_call *large = tq_container_of(stage.core.queue.next, struct tq_call, node);
    assert_true(tq_packet_pack(&large->request, &request.base));
    tq_client_up(&stage.core, 0, stage.now_ns);
    answer_hello(0, &reply);
    assert_int_equal(stage.n_sent, 1); /* the hello */
    assert_ended(TQ_INVALID_ARGUMENT, TQ_OUTCOME_NOT_STARTED, "PEER_LIMIT");
}

static void bounds_the_bytes_under_way(void **state)
{
    (void)state;
    struct tq_channel_opts opts = { .max_bytes = 300 };
    struct tq_error err;
    open_stage(&opts);
    submit(ECHO_ONCE, 1000 * MS);
    submit(ECHO_ONCE, 1000 * MS);
    assert_int_equal(try_submit(ECHO_ONCE, stage.now_ns + MS, &err), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(err.reason, "BUDGET_BYTES");
}

/* ---- attempts ---- */

static void never_repeats_a_once_method(void **state)
{
    (void)state;
    open_stage(NULL);
    submit(ECHO_ONCE, 5000 * MS);
    connect_link(0);
    assert_int_equal(stage.n_sent, 2);
    stage.open[0] = true;
    tq_client_down(&stage.core, 0, stage.now_ns);
    assert_ended(TQ_UNAVAILABLE, TQ_OUTCOME_UNKNOWN, "CONNECTION_LOST");
    assert_int_equal(stage.core.stats.retries, 0);
}

static void repeats_on_a_fresh_link_with_the_same_id_and_key(void **state)
{
    (void)state;
    open_stage(NULL);
    submit(ECHO_KEYED, 9000 * MS);
    connect_link(0);
    tq_wire_Envelope first = *last_sent();
    assert_int_equal(first.attempt, 1);
    assert_int_equal(first.idempotency_key.size, 16);
    while (stage.core.links[0].state == TQ_LINK_READY) /* a third of the deadline; keep-alives are answered */
        wait_until_due(), stage.core.links[0].asked_ns = 0;
    assert_true(stage.now_ns >= 4000 * MS && stage.now_ns < 4100 * MS);
    while (stage.n_dials < 2)
        wait_until_due();
    unsigned fresh = stage.last_dialled;
    connect_link(fresh);
    assert_int_equal(last_sent()->kind, tq_wire_Kind_KIND_REQUEST);
    assert_int_equal(last_sent()->attempt, 2);
    assert_int_equal(last_sent()->call_id, first.call_id);
    assert_memory_equal(last_sent()->idempotency_key.bytes, first.idempotency_key.bytes, 16);
    answer(fresh, first.call_id, stage.epoch);
    assert_ended(TQ_OK, TQ_OUTCOME_NONE, "");
}

static void takes_a_late_answer_while_it_asks(void **state)
{
    (void)state;
    open_stage(NULL);
    submit(ECHO_ONCE, 1000 * MS);
    connect_link(0);
    submit(ECHO_ONCE, 100000 * MS); /* keeps the suspect link open */
    uint64_t id = stage.sent[1].envelope.call_id;
    while (stage.n_dials < 2)
        wait_until_due();
    connect_link(stage.last_dialled);
    assert_int_equal(last_sent()->kind, tq_wire_Kind_KIND_LOOKUP);
    assert_int_equal(last_sent()->call_id, id);
    assert_int_equal(stage.core.links[0].state, TQ_LINK_SUSPECT);
    answer(0, id, stage.epoch);
    assert_ended(TQ_OK, TQ_OUTCOME_NONE, "");
}

static void reports_the_verdict(void **state)
{
    (void)state;
    struct {
        tq_wire_Verdict verdict;
        const char *text;
        enum tq_outcome outcome;
    } cases[] = { { tq_wire_Verdict_VERDICT_NEVER_ARRIVED, "never_arrived", TQ_OUTCOME_NOT_STARTED },
                  { tq_wire_Verdict_VERDICT_ARRIVED_UNFINISHED, "arrived_unfinished", TQ_OUTCOME_UNKNOWN },
                  { tq_wire_Verdict_VERDICT_ANSWERED_REPLY_LOST, "answered_reply_lost", TQ_OUTCOME_UNKNOWN },
                  { tq_wire_Verdict_VERDICT_PEER_FORGOT, "peer_forgot", TQ_OUTCOME_UNKNOWN },
                  { tq_wire_Verdict_VERDICT_UNSPECIFIED, "peer_unreachable", TQ_OUTCOME_UNKNOWN } };
    for (unsigned i = 0; i < 5; i++) {
        struct tq_packet packet = { .seam = NULL };
        tq_wire_LookupReply reply = { .verdict = cases[i].verdict };
        tq_wire_Envelope envelope = { .version = 1, .kind = tq_wire_Kind_KIND_LOOKUP_REPLY };
        open_stage(NULL);
        submit(ECHO_ONCE, 1000 * MS);
        connect_link(0);
        while (stage.n_dials < 2)
            wait_until_due();
        connect_link(stage.last_dialled);
        envelope.call_id = last_sent()->call_id;
        envelope.epoch = stage.epoch;
        assert_true(tq_wire_pack(&packet, tq_wire_LookupReply_fields, &reply));
        if (cases[i].verdict != tq_wire_Verdict_VERDICT_UNSPECIFIED)
            hear(stage.last_dialled, &envelope, &packet);
        tq_packet_fini(&packet);
        while (tq_list_empty(&stage.core.finished))
            wait_until_due();
        assert_int_equal(stage.now_ns, 2000 * MS); /* at the deadline, not after it */
        struct tq_call *call = next_ended();
        assert_int_equal(call->error.status, TQ_DEADLINE_EXCEEDED);
        assert_int_equal(call->error.outcome, cases[i].outcome);
        assert_non_null(strstr(call->error.message, cases[i].text));
        free_call(call);
        if (i < 4)
            close_stage(NULL);
    }
}

static void stops_retrying_when_the_budget_is_spent(void **state)
{
    (void)state;
    open_stage(NULL);
    unsigned calls = 0;
    for (; calls < 60; calls++) { /* every call loses its connection at once */
        submit(ECHO_IDEMPOTENT, 3600000 * MS);
        while (stage.core.n_waiting > 0) {
            wait_until_due();
            for (unsigned i = 0; i < TQ_LINKS_MAX; i++) {
                if (stage.core.links[i].state == TQ_LINK_DIALING)
                    connect_link(i);
                if (stage.core.links[i].state == TQ_LINK_READY && stage.core.links[i].n_calls > 0)
                    tq_client_down(&stage.core, i, stage.now_ns);
            }
            stage.n_sent = 0;
        }
        free_call(next_ended());
    }
    assert_true(stage.core.stats.retries <= 10 + calls / 10 + 1);
    assert_true(stage.core.stats.retries >= 10);
}

/* ---- the peer ---- */

static void refuses_peers_that_do_not_fit(void **state)
{
    (void)state;
    static const uint8_t ours[16] = { 1 }, theirs[16] = { 2 };
    struct tq_channel_opts opts = { .expect_epoch = 4712 };
    tq_wire_HelloReply reply = good_hello();

    open_stage(NULL);
    submit(ECHO_ONCE, 1000 * MS);
    tq_client_up(&stage.core, 0, stage.now_ns);
    reply.protocol = 2;
    answer_hello(0, &reply);
    assert_ended(TQ_FAILED_PRECONDITION, TQ_OUTCOME_NOT_STARTED, "PROTOCOL_RANGE");
    close_stage(NULL);

    open_stage(NULL);
    assert_true(tq_self_meet(&stage.self, TQ_ROLE_STORAGE, ours, 16));
    submit(ECHO_ONCE, 1000 * MS);
    tq_client_up(&stage.core, 0, stage.now_ns);
    reply = good_hello();
    reply.cluster_id.size = 16;
    memcpy(reply.cluster_id.bytes, theirs, 16);
    answer_hello(0, &reply);
    assert_ended(TQ_FAILED_PRECONDITION, TQ_OUTCOME_NOT_STARTED, "CLUSTER_ID");
    close_stage(NULL);

    open_stage(&opts);
    submit(ECHO_ONCE, 1000 * MS);
    tq_client_up(&stage.core, 0, stage.now_ns);
    reply = good_hello();
    answer_hello(0, &reply);
    assert_ended(TQ_FAILED_PRECONDITION, TQ_OUTCOME_NOT_STARTED, "EPOCH");
    close_stage(NULL);

    open_stage(NULL);
    submit(ECHO_ONCE, 1000 * MS);
    tq_client_up(&stage.core, 0, stage.now_ns);
    answer_error(0, tq_wire_Kind_KIND_HELLO_REPLY, stage.core.links[0].hello_id, TQ_FAILED_PRECONDITION, "EPOCH");
    assert_ended(TQ_FAILED_PRECONDITION, TQ_OUTCOME_NOT_STARTED, "EPOCH");
}

static void learns_the_cluster_from_the_first_peer(void **state)
{
    (void)state;
    uint8_t id[TQ_CLUSTER_ID_BYTES];
    tq_wire_HelloReply reply = good_hello();
    reply.cluster_id.size = 16;
    memset(reply.cluster_id.bytes, 7, 16);
    open_stage(NULL);
    submit(ECHO_ONCE, 1000 * MS);
    assert_int_equal(tq_self_cluster(&stage.self, id), 0);
    tq_client_up(&stage.core, 0, stage.now_ns);
    answer_hello(0, &reply);
    assert_int_equal(tq_self_cluster(&stage.self, id), 16);
    assert_int_equal(id[15], 7);
}

/* A peer of this role and cluster answers the hello of a new link. */
static void greeted_by(uint32_t role, uint8_t cluster)
{
    tq_wire_HelloReply reply = good_hello();
    reply.role = (tq_wire_Role)role;
    reply.cluster_id.size = TQ_CLUSTER_ID_BYTES;
    memset(reply.cluster_id.bytes, cluster, TQ_CLUSTER_ID_BYTES);
    submit(ECHO_ONCE, 1000 * MS);
    tq_client_up(&stage.core, 0, stage.now_ns);
    answer_hello(0, &reply);
}

/* A controller that was started again without an id has another one. */
static void follows_its_controller_to_another_cluster(void **state)
{
    (void)state;
    static const uint8_t learnt[TQ_CLUSTER_ID_BYTES] = { 3 };
    uint8_t id[TQ_CLUSTER_ID_BYTES];
    open_stage(NULL);
    assert_true(tq_self_meet(&stage.self, TQ_ROLE_CONTROLLER, learnt, sizeof(learnt)));
    assert_int_equal(tq_self_claim(&stage.self, id), 0); /* else the next controller would refuse us */
    greeted_by(TQ_ROLE_CONTROLLER, 4);
    assert_null(next_ended());
    assert_int_equal(tq_self_cluster(&stage.self, id), TQ_CLUSTER_ID_BYTES);
    assert_int_equal(id[0], 4);
    close_stage(NULL);

    open_stage(NULL);
    assert_true(tq_self_meet(&stage.self, TQ_ROLE_CONTROLLER, learnt, sizeof(learnt)));
    greeted_by(TQ_ROLE_STORAGE, 4); /* somebody else's unit */
    assert_ended(TQ_FAILED_PRECONDITION, TQ_OUTCOME_NOT_STARTED, "CLUSTER_ID");
}

static void insists_on_the_cluster_that_it_was_given(void **state)
{
    (void)state;
    static const uint8_t given[TQ_CLUSTER_ID_BYTES] = { 3 };
    uint8_t id[TQ_CLUSTER_ID_BYTES];
    open_stage(NULL);
    tq_self_fini(&stage.self);
    tq_self_init(&stage.self, "me", 1, 99, given);
    assert_int_equal(tq_self_claim(&stage.self, id), TQ_CLUSTER_ID_BYTES);
    greeted_by(TQ_ROLE_CONTROLLER, 4);
    assert_ended(TQ_FAILED_PRECONDITION, TQ_OUTCOME_NOT_STARTED, "CLUSTER_ID");
}

static void counts_replies_to_nobody_as_strays(void **state)
{
    (void)state;
    open_stage(NULL);
    submit(ECHO_ONCE, 1000 * MS);
    connect_link(0);
    uint64_t id = last_sent()->call_id;
    answer(0, id + 1, stage.epoch); /* no such call */
    answer(0, id, stage.epoch + 1); /* another life of the peer */
    assert_int_equal(stage.core.stats.strays, 2);
    assert_null(next_ended());
    answer(0, id, stage.epoch);
    answer(0, id, stage.epoch); /* twice */
    assert_int_equal(stage.core.stats.strays, 3);
    assert_ended(TQ_OK, TQ_OUTCOME_NONE, "");
    assert_null(next_ended());
}

static void says_hello_again_when_the_session_is_gone(void **state)
{
    (void)state;
    open_stage(NULL);
    submit(ECHO_ONCE, 1000 * MS);
    connect_link(0);
    uint64_t id = last_sent()->call_id;
    answer_error(0, tq_wire_Kind_KIND_REPLY, id, TQ_UNAVAILABLE, "NO_SESSION");
    assert_int_equal(last_sent()->kind, tq_wire_Kind_KIND_HELLO);
    assert_null(next_ended());
    tq_wire_HelloReply reply = good_hello();
    answer_hello(0, &reply);
    assert_int_equal(last_sent()->kind, tq_wire_Kind_KIND_REQUEST);
    assert_int_equal(last_sent()->call_id, id);
    assert_int_equal(last_sent()->attempt, 1);
    answer(0, id, stage.epoch);
    assert_ended(TQ_OK, TQ_OUTCOME_NONE, "");
    submit(ECHO_ONCE, 1000 * MS);
    id = last_sent()->call_id;
    for (unsigned i = 0; i < 4; i++) { /* not for ever */
        answer_error(0, tq_wire_Kind_KIND_REPLY, id, TQ_UNAVAILABLE, "NO_SESSION");
        if (stage.core.links[0].state == TQ_LINK_GREETING)
            answer_hello(0, &reply);
    }
    assert_ended(TQ_UNAVAILABLE, TQ_OUTCOME_NOT_STARTED, "NO_SESSION");
}

/* The peer answers a keep-alive that it has no such session, and greets it as a new one. */
static void renew_session(unsigned link)
{
    tq_wire_HelloReply reply = good_hello();
    answer_error(link, tq_wire_Kind_KIND_KEEPALIVE, 1, TQ_UNAVAILABLE, "NO_SESSION");
    assert_int_equal(last_sent()->kind, tq_wire_Kind_KIND_HELLO);
    reply.resumed = false;
    answer_hello(link, &reply);
}

static void ends_attempts_with_their_session(void **state)
{
    (void)state;
    struct tq_channel_opts opts = { .sockets = 2 };
    open_stage(&opts);
    submit(ECHO_ONCE, 100000 * MS);
    connect_link(0);
    submit(ECHO_ONCE, 100000 * MS);
    connect_link(1);
    submit(ECHO_IDEMPOTENT, 100000 * MS);
    uint64_t repeated = last_sent()->call_id;
    assert_int_equal(stage.core.n_sent, 3);
    assert_int_equal(stage.core.links[1].n_calls, 1);
    stage.now_ns += 10 * MS;
    renew_session(0);
    assert_int_equal(stage.core.n_sent, 0);
    assert_ended(TQ_UNAVAILABLE, TQ_OUTCOME_UNKNOWN, "CONNECTION_LOST");
    assert_ended(TQ_UNAVAILABLE, TQ_OUTCOME_UNKNOWN, "CONNECTION_LOST");
    assert_null(next_ended());
    answer_error(1, tq_wire_Kind_KIND_REPLY, repeated, TQ_UNAVAILABLE, "NO_SESSION"); /* it is sent again anyway */
    assert_null(next_ended());
    while (stage.core.n_sent == 0)
        wait_until_due();
    assert_true(stage.now_ns < 2000 * MS);
    assert_int_equal(stage.n_dials, 2); /* the link that was greeted again will do */
    assert_int_equal(last_sent()->kind, tq_wire_Kind_KIND_REQUEST);
    assert_int_equal(last_sent()->call_id, repeated);
    assert_int_equal(last_sent()->attempt, 2);
}

/* The answers to two hellos may overtake one another: what was sent in between is in the new session. */
static void keeps_what_was_sent_to_the_new_session(void **state)
{
    (void)state;
    struct tq_channel_opts opts = { .sockets = 2 };
    open_stage(&opts);
    submit(ECHO_ONCE, 100000 * MS);
    connect_link(0);
    submit(ECHO_ONCE, 100000 * MS);
    connect_link(1);
    answer_error(0, tq_wire_Kind_KIND_KEEPALIVE, 1, TQ_UNAVAILABLE, "NO_SESSION");
    stage.now_ns += MS;
    submit(ECHO_ONCE, 100000 * MS);
    uint64_t kept = last_sent()->call_id;
    tq_wire_HelloReply reply = good_hello();
    reply.resumed = false;
    answer_hello(0, &reply);
    assert_ended(TQ_UNAVAILABLE, TQ_OUTCOME_UNKNOWN, "CONNECTION_LOST");
    assert_ended(TQ_UNAVAILABLE, TQ_OUTCOME_UNKNOWN, "CONNECTION_LOST");
    assert_null(next_ended());
    answer(1, kept, stage.epoch);
    assert_ended(TQ_OK, TQ_OUTCOME_NONE, "");
}

static void keeps_calls_when_the_session_was_resumed(void **state)
{
    (void)state;
    open_stage(NULL);
    submit(ECHO_ONCE, 100000 * MS);
    connect_link(0);
    answer_error(0, tq_wire_Kind_KIND_KEEPALIVE, 1, TQ_UNAVAILABLE, "NO_SESSION");
    tq_wire_HelloReply reply = good_hello();
    answer_hello(0, &reply);
    assert_null(next_ended());
    assert_int_equal(stage.core.n_sent, 1);
}

/* A refusal says that its own attempt was not started; an earlier one may have been. */
static void a_refused_repetition_has_an_unknown_outcome(void **state)
{
    (void)state;
    open_stage(NULL);
    submit(ECHO_KEYED, 9000 * MS);
    connect_link(0);
    uint64_t id = last_sent()->call_id;
    answer_error(0, tq_wire_Kind_KIND_REPLY, id, TQ_RESOURCE_EXHAUSTED, "FULL");
    assert_ended(TQ_RESOURCE_EXHAUSTED, TQ_OUTCOME_NOT_STARTED, "FULL");
    submit(ECHO_KEYED, 9000 * MS);
    id = last_sent()->call_id;
    tq_client_down(&stage.core, 0, stage.now_ns);
    while (stage.n_dials < 2)
        wait_until_due();
    connect_link(stage.last_dialled);
    assert_int_equal(last_sent()->attempt, 2);
    answer_error(stage.last_dialled, tq_wire_Kind_KIND_REPLY, id, TQ_RESOURCE_EXHAUSTED, "FULL");
    assert_ended(TQ_RESOURCE_EXHAUSTED, TQ_OUTCOME_UNKNOWN, "FULL");
}

static void drops_a_link_that_stays_silent(void **state)
{
    (void)state;
    open_stage(NULL);
    submit(ECHO_ONCE, 100000 * MS);
    connect_link(0);
    int64_t begin = stage.now_ns;
    while (stage.core.links[0].state == TQ_LINK_READY)
        wait_until_due();
    assert_true(stage.now_ns - begin >= 3000 * MS && stage.now_ns - begin <= 5000 * MS);
    assert_ended(TQ_UNAVAILABLE, TQ_OUTCOME_UNKNOWN, "CONNECTION_LOST");
}

static void cancels_once(void **state)
{
    (void)state;
    open_stage(NULL);
    submit(ECHO_ONCE, 1000 * MS);
    uint64_t waiting = stage.core.next_id - 1;
    tq_client_cancel(&stage.core, waiting, stage.now_ns);
    tq_client_cancel(&stage.core, waiting, stage.now_ns);
    assert_ended(TQ_CANCELLED, TQ_OUTCOME_NOT_STARTED, "");
    assert_null(next_ended());
    submit(ECHO_ONCE, 1000 * MS);
    connect_link(0);
    uint64_t sent = last_sent()->call_id;
    tq_client_cancel(&stage.core, sent, stage.now_ns);
    assert_int_equal(last_sent()->kind, tq_wire_Kind_KIND_CANCEL);
    assert_int_equal(last_sent()->call_id, sent);
    assert_ended(TQ_CANCELLED, TQ_OUTCOME_UNKNOWN, "");
    answer(0, sent, stage.epoch);
    assert_null(next_ended());
}

static void opens_more_sockets_only_when_busy(void **state)
{
    (void)state;
    struct tq_channel_opts opts = { .sockets = 2 };
    open_stage(&opts);
    submit(ECHO_ONCE, 1000 * MS);
    assert_int_equal(stage.n_dials, 1);
    connect_link(0);
    assert_int_equal(stage.n_dials, 1);
    submit(ECHO_ONCE, 1000 * MS);
    assert_int_equal(stage.n_dials, 2);
    connect_link(1);
    for (unsigned i = 0; i < 10; i++)
        submit(ECHO_ONCE, 1000 * MS);
    assert_int_equal(stage.n_dials, 2);
    assert_int_equal(stage.core.links[0].n_calls, 6);
    assert_int_equal(stage.core.links[1].n_calls, 6);
}

static void reports_a_bad_address_at_once(void **state)
{
    (void)state;
    open_stage(NULL);
    stage.dial_status = TQ_INVALID_ARGUMENT;
    submit(ECHO_ONCE, 1000 * MS);
    assert_ended(TQ_INVALID_ARGUMENT, TQ_OUTCOME_NOT_STARTED, "DIAL");
}

/* Sockets are short: dialled again later, within the deadline. */
static void tries_again_when_there_is_no_socket(void **state)
{
    (void)state;
    open_stage(NULL);
    stage.dial_status = TQ_RESOURCE_EXHAUSTED;
    submit(ECHO_ONCE, 1000 * MS);
    wait_until_due();
    stage.dial_status = TQ_OK;
    wait_until_due();
    assert_int_equal(stage.n_dials, 1);
}

/* A submission that fails leaves nothing; one that succeeds ends. */
static void survives_each_allocation_failure(void **state)
{
    (void)state;
    struct tq_error err;
    unsigned nth = 0;
    bool failed = true;
    for (; failed; nth++) {
        open_stage(NULL);
        test_seam_fail_allocation(&stage.seam, nth, false);
        tq_status status = try_submit(ECHO_KEYED, stage.now_ns + 3000 * MS, &err);
        if (status == TQ_OK) {
            tq_client_up(&stage.core, 0, stage.now_ns);
            while (tq_list_empty(&stage.core.finished))
                wait_until_due();
        } else {
            assert_int_equal(status, TQ_RESOURCE_EXHAUSTED);
        }
        failed = atomic_load(&stage.seam.failed);
        if (failed)
            close_stage(NULL);
        stage.n_sent = 0;
    }
    assert_true(nth > 3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, close_stage)
    const struct CMUnitTest tests[] = {
        TEST(ends_past_deadlines_without_dialling),
        TEST(rounds_short_deadlines_up),
        TEST(ends_calls_that_wait_for_the_window),
        TEST(says_that_nobody_is_there),
        TEST(sends_in_order_and_within_the_window),
        TEST(keeps_to_the_peers_credit),
        TEST(refuses_what_the_peer_does_not_take),
        TEST(bounds_the_bytes_under_way),
        TEST(never_repeats_a_once_method),
        TEST(repeats_on_a_fresh_link_with_the_same_id_and_key),
        TEST(takes_a_late_answer_while_it_asks),
        TEST(reports_the_verdict),
        TEST(stops_retrying_when_the_budget_is_spent),
        TEST(refuses_peers_that_do_not_fit),
        TEST(learns_the_cluster_from_the_first_peer),
        TEST(follows_its_controller_to_another_cluster),
        TEST(insists_on_the_cluster_that_it_was_given),
        TEST(counts_replies_to_nobody_as_strays),
        TEST(says_hello_again_when_the_session_is_gone),
        TEST(ends_attempts_with_their_session),
        TEST(keeps_what_was_sent_to_the_new_session),
        TEST(keeps_calls_when_the_session_was_resumed),
        TEST(a_refused_repetition_has_an_unknown_outcome),
        TEST(drops_a_link_that_stays_silent),
        TEST(cancels_once),
        TEST(opens_more_sockets_only_when_busy),
        TEST(reports_a_bad_address_at_once),
        TEST(tries_again_when_there_is_no_socket),
        TEST(survives_each_allocation_failure),
    };
    tq_log_set_level(TQ_LOG_OFF);
    return cmocka_run_group_tests_name("client core", tests, NULL, NULL);
}

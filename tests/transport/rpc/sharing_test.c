/* Many threads on one channel, cancellation, drain, closing at any moment, and what may not be called where. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"
#include "tests/transport/rpc/echo_service.h"
#include "tests/transport/rpc/ends.h"
#include "tq/init.h"
#include "transport/base/log.h"

#define MS          INT64_C(1000000)
#define SLEPT_ON_NS (400 * MS) /* keep-alives come after 1 s */

struct fixture {
    struct tq_runtime *server_runtime, *client_runtime;
    struct echo_service echo;
    struct tq_channel *channel;
};
static struct fixture f;

static void open_with(const struct tq_server_opts *opts)
{
    f = (struct fixture){ .channel = NULL };
    assert_int_equal(tq_init(NULL), TQ_OK);
    assert_int_equal(tq_runtime_open(NULL, &f.server_runtime, NULL), TQ_OK);
    assert_int_equal(tq_runtime_open(NULL, &f.client_runtime, NULL), TQ_OK);
    echo_open(&f.echo, f.server_runtime, opts);
    assert_int_equal(tq_channel_open(f.client_runtime, tq_server_address(f.echo.server), NULL, &f.channel, NULL),
                     TQ_OK);
}

static int open_all(void **state)
{
    struct tq_server_opts opts = { .listen = "tcp://127.0.0.1:0" };
    (void)state;
    open_with(&opts);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    tq_channel_close(f.channel);
    echo_close(&f.echo);
    tq_runtime_close(f.client_runtime);
    tq_runtime_close(f.server_runtime);
    return 0;
}

static tq_status start(uint32_t method, enum echo_action action, int64_t timeout_ms, struct ends *ends,
                       uint64_t *out_call_id)
{
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    struct tq_call_opts opts = { .deadline_ns = tq_deadline_after_ms(timeout_ms) };
    request.action = action;
    request.delay_ms = 20;
    return tq_call_cb(f.channel, echo_method(method), &request.base, &opts, ends_count, ends, out_call_id, NULL);
}

/* ---- threads ---- */

enum { THREADS = 16, CALLS = 150 };

struct worker {
    pthread_t thread;
    unsigned number;
    unsigned wrong;
};

static void *work(void *arg)
{
    struct worker *worker = arg;
    static const enum echo_action actions[] = { ECHO_ANSWER, ECHO_ANSWER, ECHO_THREAD, ECHO_FAIL };
    for (unsigned i = 0; i < CALLS; i++) {
        Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
        struct tq_reply reply;
        request.number = (uint64_t)worker->number << 32 | i;
        request.action = actions[i % 4];
        tq_status status;
        if (i % 5 == 0) {
            struct tq_future *future = tq_call_start(f.channel, echo_method(ECHO_KEYED), &request.base, NULL);
            status = tq_future_wait(future, &reply);
            tq_future_drop(future);
        } else {
            status = tq_call(f.channel, echo_method(ECHO_IDEMPOTENT), &request.base, NULL, &reply);
        }
        worker->wrong += status != (i % 4 == 3 ? TQ_ABORTED : TQ_OK);
        if (status == TQ_OK)
            worker->wrong += ((const Tqtest__EchoResponse *)reply.message)->number != request.number;
        tq_reply_drop(&reply);
    }
    return NULL;
}

static void sixteen_threads_share_a_channel(void **state)
{
    (void)state;
    struct worker workers[THREADS];
    struct tq_channel_stats stats;
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ .number = i };
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
    tq_channel_read_stats(f.channel, &stats);
    assert_int_equal(stats.calls, THREADS * CALLS);
    assert_int_equal(stats.in_flight, 0);
    assert_int_equal(stats.sockets_open, 1);
}

/* ---- cancel ---- */

struct canceller {
    pthread_t thread;
    atomic_bool stop;
};

static void *cancel_unknown_calls(void *arg)
{
    struct canceller *canceller = arg;
    while (!atomic_load(&canceller->stop))
        tq_call_cancel(f.channel, 1);
    return NULL;
}

/* The other thread may swallow what the caller sleeps for; then it has to wake it. */
static void a_caller_is_woken_when_another_thread_took_its_reply(void **state)
{
    (void)state;
    struct canceller canceller = { .stop = false };
    struct tq_error err;
    int64_t worst_ns = 0;
    assert_int_equal(pthread_create(&canceller.thread, NULL, cancel_unknown_calls, &canceller), 0);
    for (unsigned i = 0; i < 2000 && worst_ns < SLEPT_ON_NS; i++) {
        int64_t begin_ns = tq_now_ns();
        echo_call(f.channel, ECHO_IDEMPOTENT, ECHO_ANSWER, i, 5000, &err);
        int64_t took_ns = tq_now_ns() - begin_ns;
        worst_ns = took_ns > worst_ns ? took_ns : worst_ns;
    }
    atomic_store(&canceller.stop, true);
    pthread_join(canceller.thread, NULL);
    assert_true(worst_ns < SLEPT_ON_NS);
}

static void cancels_once_and_tells_the_server(void **state)
{
    (void)state;
    static struct ends ends;
    uint64_t id;
    ends_init(&ends);
    assert_int_equal(start(ECHO_KEYED, ECHO_PARK, 20000, &ends, &id), TQ_OK);
    assert_int_equal(echo_call(f.channel, ECHO_IDEMPOTENT, ECHO_ANSWER, 1, 5000, NULL), TQ_OK); /* it has arrived */
    tq_call_cancel(f.channel, id);
    tq_call_cancel(f.channel, id);
    ends_wait(&ends, 1, 5000);
    assert_int_equal(ends.by_status[TQ_CANCELLED], 1);
    assert_int_equal(echo_call(f.channel, ECHO_IDEMPOTENT, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    assert_int_equal(atomic_load(&f.echo.gone), 1);
    tq_call_cancel(f.channel, id + 12345);
}

static void a_dropped_future_cancels(void **state)
{
    (void)state;
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    request.action = ECHO_PARK;
    struct tq_future *future = tq_call_start(f.channel, echo_method(ECHO_KEYED), &request.base, NULL);
    assert_non_null(future);
    assert_false(tq_future_done(future));
    assert_int_equal(echo_call(f.channel, ECHO_IDEMPOTENT, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    tq_future_drop(future);
    assert_int_equal(echo_call(f.channel, ECHO_IDEMPOTENT, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    assert_int_equal(atomic_load(&f.echo.gone), 1);
}

/* ---- what may not be called where ---- */

static void try_to_block(void *user, struct tq_reply *reply)
{
    struct ends *ends = user;
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    struct tq_reply inner;
    (void)reply;
    struct tq_reply result = { .error = { .status = TQ_OK } };
    result.error.status = tq_call(f.channel, echo_method(ECHO_IDEMPOTENT), &request.base, NULL, &inner);
    tq_reply_drop(&inner);
    ends_count(ends, &result);
}

static void a_blocking_call_in_a_callback_is_refused(void **state)
{
    (void)state;
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    static struct ends ends;
    ends_init(&ends);
    assert_int_equal(
        tq_call_cb(f.channel, echo_method(ECHO_IDEMPOTENT), &request.base, NULL, try_to_block, &ends, NULL, NULL),
        TQ_OK);
    ends_wait(&ends, 1, 5000);
    assert_int_equal(ends.by_status[TQ_FAILED_PRECONDITION], 1);
}

static void close_channel(void *user, struct tq_reply *reply)
{
    struct tq_channel *channel = f.channel;
    f.channel = NULL;
    tq_channel_close(channel);
    ends_count(user, reply);
}

static void a_callback_may_close_its_channel(void **state)
{
    (void)state;
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    static struct ends ends;
    ends_init(&ends);
    assert_int_equal(
        tq_call_cb(f.channel, echo_method(ECHO_IDEMPOTENT), &request.base, NULL, close_channel, &ends, NULL, NULL),
        TQ_OK);
    ends_wait(&ends, 1, 5000);
}

static void refuses_wrong_requests(void **state)
{
    (void)state;
    static uint8_t payload[70000];
    struct tq_error err;
    struct tq_reply reply;
    Tqtest__EchoResponse wrong = TQTEST__ECHO_RESPONSE__INIT;
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    const struct tq_method *method = echo_method(ECHO_ONCE);
    assert_int_equal(tq_call(f.channel, method, &wrong.base, NULL, &reply), TQ_INVALID_ARGUMENT);
    assert_string_equal(reply.error.reason, "REQUEST_TYPE");
    request.payload = (ProtobufCBinaryData){ sizeof(payload), payload };
    assert_int_equal(tq_call(f.channel, method, &request.base, NULL, &reply), TQ_INVALID_ARGUMENT);
    assert_string_equal(reply.error.reason, "REQUEST_BYTES");
    assert_int_equal(reply.error.outcome, TQ_OUTCOME_NOT_STARTED);
    request.payload.len = 0;
    struct tq_bytes frame = { payload, 1 };
    struct tq_call_opts frames = { .frames = &frame, .n_frames = 1 };
    assert_int_equal(tq_call(f.channel, method, &request.base, &frames, &reply), TQ_INVALID_ARGUMENT);
    assert_string_equal(reply.error.reason, "INLINE_FRAMES");
    struct tq_call_opts attempts = { .max_attempts = 4 };
    assert_int_equal(tq_call(f.channel, method, &request.base, &attempts, &reply), TQ_INVALID_ARGUMENT);
    struct tq_call_opts trace = { .trace = { payload, 26 } };
    assert_int_equal(tq_call_cb(f.channel, method, &request.base, &trace, ends_count, NULL, NULL, &err),
                     TQ_INVALID_ARGUMENT);
    struct tq_future *future = tq_call_start(f.channel, method, &request.base, &trace);
    assert_true(tq_future_done(future));
    assert_int_equal(tq_future_wait(future, &reply), TQ_INVALID_ARGUMENT);
    assert_int_equal(tq_future_wait(future, &reply), TQ_INVALID_ARGUMENT);
    tq_future_drop(future);
}

static void answers_unknown_methods_unimplemented(void **state)
{
    (void)state;
    struct tq_error err;
    struct tq_method unknown = *echo_method(ECHO_ONCE);
    uint32_t ids[] = { 0, 1, 0x7fff, UINT32_MAX };
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    for (unsigned i = 0; i < 4; i++) {
        struct tq_reply reply;
        unknown.id = ids[i];
        assert_int_equal(tq_call(f.channel, &unknown, &request.base, NULL, &reply), TQ_UNIMPLEMENTED);
        assert_int_equal(reply.error.outcome, TQ_OUTCOME_NOT_STARTED);
    }
    assert_int_equal(echo_call(f.channel, ECHO_MISSING, ECHO_ANSWER, 1, 5000, &err), TQ_UNIMPLEMENTED);
    assert_int_equal(err.outcome, TQ_OUTCOME_NOT_STARTED);
    assert_int_equal(echo_call(f.channel, ECHO_ONCE, ECHO_FAIL, 1, 5000, &err), TQ_ABORTED);
    assert_int_equal(err.outcome, TQ_OUTCOME_FAILED);
    assert_string_equal(err.reason, "ECHO_FAIL");
    assert_string_equal(err.message, "number 1");
}

static void a_child_of_fork_is_refused(void **state)
{
    (void)state;
    int status;
    assert_int_equal(echo_call(f.channel, ECHO_ONCE, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(10); /* a lock that another thread held at the fork would hang it */
        Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
        struct tq_reply reply;
        struct tq_runtime *runtime;
        bool refused =
            tq_call(f.channel, echo_method(ECHO_ONCE), &request.base, NULL, &reply) == TQ_FAILED_PRECONDITION &&
            tq_runtime_open(NULL, &runtime, NULL) == TQ_FAILED_PRECONDITION;
        tq_channel_close(f.channel);
        tq_server_close(f.echo.server);
        _exit(refused ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(echo_call(f.channel, ECHO_ONCE, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
}

/* ---- sessions ---- */

/* A program that only blocks sends no keep-alives while it is idle: its session ends, and its next call opens another.
 */
static void an_idle_blocking_client_comes_back(void **state)
{
    (void)state;
    struct tq_server_opts opts = { .listen = "tcp://127.0.0.1:0", .keepalive_ms = 20 };
    struct tq_server_stats stats;
    close_all(NULL);
    open_with(&opts);
    assert_int_equal(echo_call(f.channel, ECHO_ONCE, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    assert_true(echo_wait_session_end(&f.echo, 5000));
    struct tq_error err;
    if (echo_call(f.channel, ECHO_ONCE, ECHO_ANSWER, 2, 5000, &err) != TQ_OK)
        fail_msg("%s %s: %s", tq_status_name(err.status), err.reason, err.message);
    tq_server_read_stats(f.echo.server, &stats);
    assert_int_equal(stats.sessions_opened, 2);
}

static void a_kept_channel_keeps_its_session(void **state)
{
    (void)state;
    struct tq_server_opts opts = { .listen = "tcp://127.0.0.1:0", .keepalive_ms = 250 };
    struct tq_server_stats stats;
    static struct ends ends;
    close_all(NULL);
    open_with(&opts);
    ends_init(&ends);
    tq_channel_keep(f.channel);
    assert_int_equal(echo_call(f.channel, ECHO_ONCE, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    assert_false(echo_wait_session_end(&f.echo, 1000));                       /* idle for longer than three intervals */
    assert_int_equal(start(ECHO_KEYED, ECHO_PARK, 1000, &ends, NULL), TQ_OK); /* parked for as long */
    ends_wait(&ends, 1, 5000);
    assert_int_equal(ends.by_status[TQ_DEADLINE_EXCEEDED], 1);
    tq_server_read_stats(f.echo.server, &stats);
    assert_int_equal(stats.sessions_ended, 0);
    tq_channel_close(f.channel); /* says goodbye */
    f.channel = NULL;
    assert_true(echo_wait_session_end(&f.echo, 700)); /* sooner than silence would end it */
    tq_server_read_stats(f.echo.server, &stats);
    assert_int_equal(stats.sessions, 0);
}

/* ---- the end ---- */

static void drains_what_runs_and_refuses_the_rest(void **state)
{
    (void)state;
    static struct ends ends;
    struct tq_error err;
    ends_init(&ends);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(start(ECHO_ONCE, ECHO_LATER, 5000, &ends, NULL), TQ_OK);
    assert_int_equal(echo_call(f.channel, ECHO_ONCE, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    int64_t begin = tq_now_ns();
    tq_server_drain(f.echo.server, tq_deadline_after_ms(3000));
    assert_true(tq_now_ns() - begin < 2000 * MS);
    ends_wait(&ends, 8, 5000);
    assert_int_equal(ends.by_status[TQ_OK], 8);
    assert_int_equal(echo_call(f.channel, ECHO_IDEMPOTENT, ECHO_ANSWER, 1, 5000, &err), TQ_UNAVAILABLE);
    assert_string_equal(err.reason, "DRAINING");
    assert_int_equal(err.outcome, TQ_OUTCOME_NOT_STARTED);
}

static void drain_is_bounded(void **state)
{
    (void)state;
    static struct ends ends;
    ends_init(&ends);
    assert_int_equal(start(ECHO_ONCE, ECHO_PARK, 5000, &ends, NULL), TQ_OK);
    assert_int_equal(echo_call(f.channel, ECHO_ONCE, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    int64_t begin = tq_now_ns();
    tq_server_drain(f.echo.server, tq_deadline_after_ms(100));
    int64_t took = tq_now_ns() - begin;
    assert_true(took >= 100 * MS && took < 600 * MS);
    tq_channel_close(f.channel);
    f.channel = NULL;
    ends_wait(&ends, 1, 1000);
    assert_int_equal(ends.by_status[TQ_CANCELLED], 1);
}

static void closing_ends_what_is_under_way(void **state)
{
    (void)state;
    static struct ends ends;
    ends_init(&ends);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(start(ECHO_ONCE, ECHO_PARK, 20000, &ends, NULL), TQ_OK);
    int64_t begin = tq_now_ns();
    tq_channel_close(f.channel);
    f.channel = NULL;
    assert_int_equal(ends.ended, 100); /* their callbacks have run */
    assert_int_equal(ends.by_status[TQ_CANCELLED], 100);
    assert_true(tq_now_ns() - begin < 1000 * MS);
}

struct blocked {
    pthread_t thread;
    tq_status status;
};

static void *block(void *arg)
{
    struct blocked *blocked = arg;
    blocked->status = echo_call(f.channel, ECHO_ONCE, ECHO_PARK, 1, 20000, NULL);
    return NULL;
}

static void closing_wakes_blocked_callers(void **state)
{
    (void)state;
    struct blocked blocked[4];
    struct tq_channel_stats stats = { 0 };
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&blocked[i].thread, NULL, block, &blocked[i]), 0);
    for (int64_t until = tq_deadline_after_ms(5000); stats.in_flight < 4 && tq_now_ns() < until;)
        tq_channel_read_stats(f.channel, &stats);
    assert_int_equal(stats.in_flight, 4);
    tq_channel_close(f.channel);
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(blocked[i].thread, NULL);
        assert_int_equal(blocked[i].status, TQ_CANCELLED);
    }
    f.channel = NULL;
}

/* A handler may answer after its server is closed: the answer goes nowhere, and that is all. */
static void a_call_outlives_its_server(void **state)
{
    (void)state;
    static struct ends ends;
    ends_init(&ends);
    assert_int_equal(start(ECHO_ONCE, ECHO_HOLD, 20000, &ends, NULL), TQ_OK);
    assert_int_equal(echo_call(f.channel, ECHO_ONCE, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    echo_close(&f.echo);
    assert_true(echo_release(&f.echo));
    ends_wait(&ends, 1, 5000);
    assert_int_equal(ends.by_status[TQ_UNAVAILABLE], 1);
}

/* BR-109, BR-114: again and again in one process. */
static void opens_and_closes_again_and_again(void **state)
{
    (void)state;
    static struct ends ends;
    ends_init(&ends);
    for (unsigned i = 0; i < 60; i++) {
        close_all(NULL);
        open_all(NULL);
        for (unsigned n = 0; n < 5; n++)
            assert_int_equal(start(ECHO_KEYED, ECHO_ANSWER, 5000, &ends, NULL), TQ_OK);
        if (i % 2 == 0)
            assert_int_equal(echo_call(f.channel, ECHO_ONCE, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    }
    tq_channel_close(f.channel);
    f.channel = NULL;
    assert_int_equal(ends.ended, 300);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    const struct CMUnitTest tests[] = {
        TEST(sixteen_threads_share_a_channel),
        TEST(a_caller_is_woken_when_another_thread_took_its_reply),
        TEST(cancels_once_and_tells_the_server),
        TEST(a_dropped_future_cancels),
        TEST(a_blocking_call_in_a_callback_is_refused),
        TEST(a_callback_may_close_its_channel),
        TEST(refuses_wrong_requests),
        TEST(answers_unknown_methods_unimplemented),
        TEST(a_child_of_fork_is_refused),
        TEST(an_idle_blocking_client_comes_back),
        TEST(a_kept_channel_keeps_its_session),
        TEST(drains_what_runs_and_refuses_the_rest),
        TEST(drain_is_bounded),
        TEST(closing_ends_what_is_under_way),
        TEST(closing_wakes_blocked_callers),
        TEST(a_call_outlives_its_server),
        TEST(opens_and_closes_again_and_again),
    };
    tq_log_set_level(TQ_LOG_OFF);
    return cmocka_run_group_tests_name("sharing", tests, NULL, NULL);
}

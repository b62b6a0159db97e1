/* Calls over real sockets, as an application makes them. */
#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tests/transport/rpc/echo_service.h"
#include "tests/transport/rpc/ends.h"
#include "tq/init.h"

struct fixture {
    struct tq_runtime *server_runtime, *client_runtime;
    struct echo_service echo;
    struct tq_channel *channel;
};

static int open_all(void **state)
{
    static struct fixture fixture;
    struct tq_error err;
    struct tq_server_opts opts = { .listen = "tcp://127.0.0.1:0" };
    fixture = (struct fixture){ .channel = NULL };
    assert_int_equal(tq_init(&err), TQ_OK);
    assert_int_equal(tq_runtime_open(NULL, &fixture.server_runtime, &err), TQ_OK);
    assert_int_equal(tq_runtime_open(NULL, &fixture.client_runtime, &err), TQ_OK);
    echo_open(&fixture.echo, fixture.server_runtime, &opts);
    assert_int_equal(
        tq_channel_open(fixture.client_runtime, tq_server_address(fixture.echo.server), NULL, &fixture.channel, &err),
        TQ_OK);
    *state = &fixture;
    return 0;
}

static int close_all(void **state)
{
    struct fixture *f = *state;
    tq_channel_close(f->channel);
    echo_close(&f->echo);
    tq_runtime_close(f->client_runtime);
    tq_runtime_close(f->server_runtime);
    return 0;
}

static void answers_a_blocking_call(void **state)
{
    struct fixture *f = *state;
    for (uint64_t i = 1; i <= 100; i++)
        assert_int_equal(echo_call(f->channel, ECHO_IDEMPOTENT, ECHO_ANSWER, i, 5000, NULL), TQ_OK);
}

static void answers_asynchronous_calls(void **state)
{
    struct fixture *f = *state;
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    struct tq_error err;
    static struct ends ends;
    ends_init(&ends);
    for (unsigned i = 0; i < 5000; i++) {
        request.number = i;
        assert_int_equal(
            tq_call_cb(f->channel, echo_method(ECHO_IDEMPOTENT), &request.base, NULL, ends_count, &ends, NULL, &err),
            TQ_OK);
    }
    ends_wait(&ends, 5000, 20000);
    assert_int_equal(ends.by_status[TQ_OK], 5000);
}

static void gives_futures(void **state)
{
    struct fixture *f = *state;
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    struct tq_future *futures[16];
    struct tq_reply reply;
    for (unsigned i = 0; i < 16; i++) {
        request.number = i;
        futures[i] = tq_call_start(f->channel, echo_method(ECHO_KEYED), &request.base, NULL);
        assert_non_null(futures[i]);
    }
    for (unsigned i = 0; i < 16; i++) {
        assert_int_equal(tq_future_wait(futures[i], &reply), TQ_OK);
        assert_int_equal(((const Tqtest__EchoResponse *)reply.message)->number, i);
        tq_reply_drop(&reply);
        tq_future_drop(futures[i]);
    }
}

static void answers_from_timers_and_threads(void **state)
{
    struct fixture *f = *state;
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    struct tq_reply reply;
    request.action = ECHO_LATER;
    request.delay_ms = 30;
    int64_t begin = tq_now_ns();
    assert_int_equal(tq_call(f->channel, echo_method(ECHO_IDEMPOTENT), &request.base, NULL, &reply), TQ_OK);
    assert_true(tq_now_ns() - begin >= 30 * 1000000);
    tq_reply_drop(&reply);
    for (unsigned i = 0; i < 50; i++)
        assert_int_equal(echo_call(f->channel, ECHO_IDEMPOTENT, ECHO_THREAD, i, 5000, NULL), TQ_OK);
}

static void carries_inline_frames_both_ways(void **state)
{
    struct fixture *f = *state;
    static const uint8_t bytes[300000];
    struct tq_bytes frames[] = { { bytes, 10 }, { bytes, 0 }, { bytes, sizeof(bytes) } };
    struct tq_call_opts opts = { .frames = frames, .n_frames = 3 };
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    struct tq_reply reply;
    request.action = ECHO_FRAMES;
    assert_int_equal(tq_call(f->channel, echo_method(ECHO_BULK), &request.base, &opts, &reply), TQ_OK);
    assert_int_equal(((const Tqtest__EchoResponse *)reply.message)->executions, 300010);
    assert_int_equal(reply.n_frames, 3);
    assert_int_equal(reply.frames[0].len, 3);
    assert_int_equal(reply.frames[1].len, 0);
    assert_int_equal(reply.frames[2].len, 100000);
    assert_memory_equal(reply.frames[0].ptr, "\1\2\3", 3);
    tq_reply_drop(&reply);
}

/* The last one: the server takes nothing afterwards. */
static void a_drain_until_a_negative_time_does_not_wait(void **state)
{
    struct fixture *f = *state;
    struct tq_call_opts opts = { .deadline_ns = tq_deadline_after_ms(4000) };
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    struct tq_reply reply;
    request.action = ECHO_PARK;
    struct tq_future *future = tq_call_start(f->channel, echo_method(ECHO_IDEMPOTENT), &request.base, &opts);
    assert_int_equal(echo_call(f->channel, ECHO_IDEMPOTENT, ECHO_ANSWER, 1, 5000, NULL), TQ_OK); /* it is parked */
    int64_t before = tq_now_ns();
    tq_server_drain(f->echo.server, -1);
    assert_true(tq_now_ns() - before < 2000 * INT64_C(1000000));
    tq_future_cancel(future);
    (void)tq_future_wait(future, &reply);
    tq_reply_drop(&reply);
    tq_future_drop(future);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_a_blocking_call),
        cmocka_unit_test(answers_asynchronous_calls),
        cmocka_unit_test(gives_futures),
        cmocka_unit_test(answers_from_timers_and_threads),
        cmocka_unit_test(carries_inline_frames_both_ways),
        cmocka_unit_test(a_drain_until_a_negative_time_does_not_wait),
    };
    return cmocka_run_group_tests_name("call", tests, open_all, close_all);
}

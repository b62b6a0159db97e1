/* What the system refuses: sockets, threads, memory, sends. Nothing hangs, nothing leaks, the error says what was
 * short. */
#include "tests/support/cmocka_all.h"
#include "tests/support/test_seam.h"
#include "tests/transport/rpc/echo_service.h"
#include "tests/transport/rpc/ends.h"
#include "tq/init.h"
#include "transport/base/log.h"

static struct test_seam seam;
static struct tq_runtime *server_runtime, *runtime;
static struct echo_service echo;
static struct tq_channel *channel;

/* The test seam's clock is virtual; sockets want the real one. */
static int64_t real_now_ns(void *self)
{
    (void)self;
    return tq_now_ns();
}

static int open_all(void **state)
{
    struct tq_server_opts opts = { .listen = "tcp://127.0.0.1:0" };
    (void)state;
    assert_int_equal(tq_init(NULL), TQ_OK);
    test_seam_init(&seam, 3);
    seam.seam.now_ns = real_now_ns;
    assert_int_equal(tq_runtime_open(NULL, &server_runtime, NULL), TQ_OK);
    echo_open(&echo, server_runtime, &opts);
    struct tq_runtime_opts faulty = { .seam = &seam.seam };
    assert_int_equal(tq_runtime_open(&faulty, &runtime, NULL), TQ_OK);
    assert_int_equal(tq_channel_open(runtime, tq_server_address(echo.server), NULL, &channel, NULL), TQ_OK);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    tq_channel_close(channel);
    tq_runtime_close(runtime);
    echo_close(&echo);
    tq_runtime_close(server_runtime);
    assert_int_equal(atomic_load(&seam.outstanding), 0);
    return 0;
}

static void redials_when_there_was_no_socket(void **state)
{
    (void)state;
    struct tq_channel_stats stats;
    test_seam_fail_io(&seam, TQ_FAULT_SOCKET_OPEN, 0);
    assert_int_equal(echo_call(channel, ECHO_ONCE, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    tq_channel_read_stats(channel, &stats);
    assert_int_equal(stats.dials, 2);
}

static void says_that_there_is_no_thread(void **state)
{
    (void)state;
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    static struct ends ends;
    struct tq_error err;
    ends_init(&ends);
    test_seam_fail_io(&seam, TQ_FAULT_THREAD_START, 0);
    assert_int_equal(tq_call_cb(channel, echo_method(ECHO_ONCE), &request.base, NULL, ends_count, &ends, NULL, &err),
                     TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(err.reason, "THREAD");
    assert_int_equal(tq_call_cb(channel, echo_method(ECHO_ONCE), &request.base, NULL, ends_count, &ends, NULL, &err),
                     TQ_OK);
    ends_wait(&ends, 1, 5000);
    assert_int_equal(ends.by_status[TQ_OK], 1);
}

static void a_failed_send_costs_one_connection(void **state)
{
    (void)state;
    assert_int_equal(echo_call(channel, ECHO_ONCE, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    struct tq_channel_stats stats;
    test_seam_fail_io(&seam, TQ_FAULT_SOCKET_SEND, 0);
    assert_int_equal(echo_call(channel, ECHO_ONCE, ECHO_ANSWER, 2, 5000, NULL), TQ_OK);
    tq_channel_read_stats(channel, &stats);
    assert_int_equal(stats.dials, 2);
}

/* Each allocation of a call fails once: it ends with RESOURCE_EXHAUSTED or well, and the next call is good. */
static void survives_each_allocation_failure(void **state)
{
    (void)state;
    struct tq_error err;
    unsigned nth = 0;
    assert_int_equal(echo_call(channel, ECHO_KEYED, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    do {
        test_seam_fail_allocation(&seam, nth++, false);
        tq_status status = echo_call(channel, ECHO_KEYED, ECHO_ANSWER, nth, 5000, &err);
        assert_true(status == TQ_OK || status == TQ_RESOURCE_EXHAUSTED);
        assert_true(status == TQ_OK || atomic_load(&seam.failed));
        bool failed = atomic_load(&seam.failed);
        test_seam_fail_allocation(&seam, -1, false);
        assert_int_equal(echo_call(channel, ECHO_KEYED, ECHO_ANSWER, nth, 5000, NULL), TQ_OK);
        if (!failed)
            break;
    } while (nth < 100);
    assert_true(nth > 2 && nth < 100);
}

static void opening_fails_without_a_trace(void **state)
{
    (void)state;
    struct tq_runtime_opts opts = { .seam = &seam.seam };
    unsigned nth = 0;
    tq_status status;
    do {
        struct tq_runtime *another = NULL;
        struct tq_server *server = NULL;
        struct tq_channel *second = NULL;
        struct tq_server_opts server_opts = { .listen = "tcp://127.0.0.1:0" };
        int64_t before = atomic_load(&seam.outstanding);
        test_seam_fail_allocation(&seam, nth++, false);
        status = tq_runtime_open(&opts, &another, NULL);
        if (status == TQ_OK && (status = tq_server_open(another, &server_opts, &server, NULL)) == TQ_OK &&
            (status = tq_server_add(server, &echo_table, NULL, NULL, NULL)) == TQ_OK)
            status = tq_channel_open(another, "tcp://127.0.0.1:1", NULL, &second, NULL);
        tq_channel_close(second);
        tq_server_close(server);
        tq_runtime_close(another);
        assert_int_equal(atomic_load(&seam.outstanding), before);
        assert_true(status == TQ_OK || status == TQ_RESOURCE_EXHAUSTED);
    } while (atomic_load(&seam.failed) && nth < 100);
    assert_true(nth > 8 && nth < 100);
    assert_int_equal(status, TQ_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    const struct CMUnitTest tests[] = {
        TEST(redials_when_there_was_no_socket),   TEST(says_that_there_is_no_thread),
        TEST(a_failed_send_costs_one_connection), TEST(survives_each_allocation_failure),
        TEST(opening_fails_without_a_trace),
    };
    tq_log_set_level(TQ_LOG_OFF);
    return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}

/* tq-controller as a process: ready line, services, signals, command line. */
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tests/server/controller/served.h"
#include "tests/server/storage/child.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/stop.h"
#include "tq/init.h"
#include "tq/v1/health.tq.h"
#include "tq/v1/reflection.tq.h"

static struct child daemon_;
static struct tq_runtime *runtime;
static struct tq_channel *channel;

static void start(const char *const *args)
{
    struct tq_error err;
    assert_int_equal(tq_init(&err), TQ_OK);
    child_start(&daemon_, "tq-controller", args);
    child_wait_ready(&daemon_);
    assert_int_equal(tq_runtime_open(&(struct tq_runtime_opts){ .name = "test" }, &runtime, &err), TQ_OK);
    assert_int_equal(tq_channel_open(runtime, daemon_.address, NULL, &channel, &err), TQ_OK);
}

static const char *const usual[] = { "--listen", "tcp://127.0.0.1:0", "--heartbeat-ms", "200", NULL };

static int start_usual(void **state)
{
    (void)state;
    start(usual);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    tq_channel_close(channel);
    tq_runtime_close(runtime);
    channel = NULL;
    runtime = NULL;
    child_kill(&daemon_);
    return 0;
}

static void it_tells_how_it_is_and_what_it_speaks(void **state)
{
    Tq__V1__CheckRequest check = TQ__V1__CHECK_REQUEST__INIT;
    Tq__V1__ListServicesRequest list = TQ__V1__LIST_SERVICES_REQUEST__INIT;
    Tq__V1__GetLimitsRequest limits = TQ__V1__GET_LIMITS_REQUEST__INIT;
    Tq__V1__GetMetricsRequest metrics = TQ__V1__GET_METRICS_REQUEST__INIT;
    struct tq_reply reply;
    (void)state;
    assert_int_equal(tq_v1_health_check(channel, &check, NULL, &reply), TQ_OK);
    assert_int_equal(tq_v1_health_check_response(&reply)->status, TQ__V1__HEALTH_STATUS__HEALTH_STATUS_SERVING);
    tq_reply_drop(&reply);
    assert_int_equal(tq_v1_reflection_list_services(channel, &list, NULL, &reply), TQ_OK);
    assert_int_equal(tq_v1_reflection_list_services_response(&reply)->n_service, 3);
    tq_reply_drop(&reply);
    assert_int_equal(tq_v1_reflection_get_limits(channel, &limits, NULL, &reply), TQ_OK);
    assert_string_equal(tq_v1_reflection_get_limits_response(&reply)->name[0], "samples");
    tq_reply_drop(&reply);
    metrics.prefix = (char *)"controller_";
    assert_int_equal(tq_v1_health_get_metrics(channel, &metrics, NULL, &reply), TQ_OK);
    assert_true(tq_v1_health_get_metrics_response(&reply)->n_name > 5);
    tq_reply_drop(&reply);
}

static void wait_parked(void)
{
    Tq__V1__GetMetricsRequest request = TQ__V1__GET_METRICS_REQUEST__INIT;
    int64_t deadline_ns = tq_deadline_after_ms(10000);
    request.prefix = (char *)"controller_parked_fetches";
    for (double parked = 0; parked < 1;) {
        struct tq_reply reply;
        assert_true(tq_now_ns() < deadline_ns);
        assert_int_equal(tq_v1_health_get_metrics(channel, &request, NULL, &reply), TQ_OK);
        parked = tq_v1_health_get_metrics_response(&reply)->value[0];
        tq_reply_drop(&reply);
    }
}

static void sigterm_ends_parked_fetches_and_the_process(void **state)
{
    struct fetch wanted;
    struct tq_reply reply;
    (void)state;
    struct tq_future *future =
        tq_v1_controller_fetch_batch_start(channel, fetch_of(&wanted, "p", "t", "x", 1, 20000), NULL);
    wait_parked();
    int64_t before = tq_now_ns();
    assert_int_equal(child_end(&daemon_, SIGTERM), 0);
    assert_true(tq_now_ns() - before < 4000 * INT64_C(1000000)); /* not the whole drain */
    assert_int_equal(tq_future_wait(future, &reply), TQ_UNAVAILABLE);
    assert_string_equal(reply.error.reason, "DRAINING");
    tq_reply_drop(&reply);
    tq_future_drop(future);
}

static void sigint_ends_it_too(void **state)
{
    (void)state;
    assert_int_equal(child_end(&daemon_, SIGINT), 0);
}

static void beat(uint32_t unit, bool *known)
{
    Tq__V1__HeartbeatUnitRequest request = TQ__V1__HEARTBEAT_UNIT_REQUEST__INIT;
    struct tq_reply reply;
    request.unit = unit;
    request.epoch = 5;
    assert_int_equal(tq_v1_controller_heartbeat_unit(channel, &request, NULL, &reply), TQ_OK);
    *known = tq_v1_controller_heartbeat_unit_response(&reply)->known;
    tq_reply_drop(&reply);
}

/* Time that passes is what is tested here: the controller is stopped for ten intervals. */
static void pass(int ms)
{
    (void)poll(NULL, 0, ms);
}

/* BR-093 on a real process. */
static void a_stopped_controller_loses_no_unit(void **state)
{
    Tq__V1__RegisterUnitRequest request = TQ__V1__REGISTER_UNIT_REQUEST__INIT;
    struct tq_reply reply;
    bool known;
    (void)state;
    request.name = (char *)"u";
    request.address = (char *)"tcp://127.0.0.1:1";
    request.epoch = 5;
    assert_int_equal(tq_v1_controller_register_unit(channel, &request, NULL, &reply), TQ_OK);
    uint32_t unit = tq_v1_controller_register_unit_response(&reply)->unit;
    tq_reply_drop(&reply);
    assert_int_equal(test_stop(daemon_.pid), 0);
    pass(2000);
    assert_int_equal(kill(daemon_.pid, SIGCONT), 0);
    beat(unit, &known);
    assert_true(known);
    /* While a unit that is really silent is lost. */
    int64_t deadline_ns = tq_deadline_after_ms(5000);
    Tq__V1__ListUnitsRequest list = TQ__V1__LIST_UNITS_REQUEST__INIT;
    for (bool lost = false; !lost;) {
        assert_true(tq_now_ns() < deadline_ns);
        assert_int_equal(tq_v1_controller_list_units(channel, &list, NULL, &reply), TQ_OK);
        lost = tq_v1_controller_list_units_response(&reply)->units[0]->state == TQ__V1__UNIT_STATE__UNIT_STATE_LOST;
        tq_reply_drop(&reply);
        pass(20);
    }
    beat(unit, &known);
    assert_false(known);
}

/* One line on stderr, exit code 2. */
static void bad_command_lines_are_refused(void **state)
{
    static const char *const lines[][4] = {
        { "--no-such-flag", NULL },         { "--listen", "nonsense", NULL }, { "--listen", "tcp://0.0.0.0:0", NULL },
        { "--config", "tq.yaml", NULL },    { "--heartbeat-ms", "5", NULL },  { "--heartbeat-ms", "often", NULL },
        { "--cluster-id", "xyz", NULL },    { "--log-level", "loud", NULL },  { "operand", NULL },
        { "--advertise", "nowhere", NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct child child;
        char line[600];
        child_start_merged(&child, "tq-controller", lines[i]);
        assert_true(child_read_line(&child, line, sizeof(line)));
        if (strstr(line, lines[i][0]) == NULL && strstr(line, lines[i][0] + 2) == NULL)
            fail_msg("%s: does not name the flag %s", line, lines[i][0]);
        assert_false(child_read_line(&child, line, sizeof(line)));
        assert_int_equal(child_wait(&child), 2);
    }
}

static void an_address_in_use_is_a_failure(void **state)
{
    struct child child;
    (void)state;
    const char *const args[] = { "--listen", daemon_.address, "--log-level", "off", NULL };
    child_start(&child, "tq-controller", args);
    assert_int_equal(child_wait(&child), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start_usual, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_tells_how_it_is_and_what_it_speaks),
        TEST(sigterm_ends_parked_fetches_and_the_process),
        TEST(sigint_ends_it_too),
        TEST(a_stopped_controller_loses_no_unit),
        cmocka_unit_test(bad_command_lines_are_refused),
        TEST(an_address_in_use_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

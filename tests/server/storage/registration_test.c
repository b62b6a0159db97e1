/* How a unit finds its controller and finds it again: a controller of the test's own, which says what it likes. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/server/storage/child.h"
#include "tests/server/storage/writer.h"
#include "tests/support/cmocka_all.h"
#include "tq/init.h"
#include "tq/server.h"
#include "tq/v1/controller.tq.h"

enum { WAIT_MS = 15000 };

/* What the controller has been told and what it is to answer; the test waits on `changed`. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned registrations, heartbeats;
    size_t held; /* samples, in the last registration */
    uint64_t epoch;
    char name[64], address[128];
    bool forget;            /* heartbeats answer known = false, once */
    uint64_t release_first; /* the next answer releases this sample; 0: none */
    uint64_t refuse;        /* so many registrations are refused */
    uint64_t used_samples;
} seen;

static struct {
    struct tq_runtime *runtime;
    struct tq_server *server;
    char address[128];
} controller;

static void fill_release(Tq__V1__Samples *samples, Tq__V1__IndexRuns *indexes, uint64_t *one, uint32_t *generation)
{
    tq__v1__samples__init(samples);
    tq__v1__index_runs__init(indexes);
    indexes->n_start = indexes->n_count = samples->n_generation = 1;
    indexes->start = &seen.release_first;
    indexes->count = one;
    samples->partition = (char *)"p";
    samples->indexes = indexes;
    samples->generation = generation;
}

static void register_unit(void *state, const Tq__V1__RegisterUnitRequest *request, struct tq_server_call *call)
{
    (void)state;
    Tq__V1__RegisterUnitResponse response = TQ__V1__REGISTER_UNIT_RESPONSE__INIT;
    Tq__V1__Samples samples, *release = &samples;
    Tq__V1__IndexRuns indexes;
    uint64_t one = 1;
    uint32_t generation = 1;
    pthread_mutex_lock(&seen.lock);
    bool refused = seen.refuse > 0;
    seen.refuse -= refused;
    seen.registrations++;
    seen.held = 0;
    for (size_t i = 0; i < request->n_held; i++)
        for (size_t run = 0; run < request->held[i]->indexes->n_count; run++)
            seen.held += request->held[i]->indexes->count[run];
    seen.epoch = request->epoch;
    snprintf(seen.name, sizeof(seen.name), "%s", request->name);
    snprintf(seen.address, sizeof(seen.address), "%s", request->address);
    response.unit = 7;
    response.controller_epoch = tq_runtime_epoch(controller.runtime);
    response.heartbeat_ms = 50;
    fill_release(&samples, &indexes, &one, &generation);
    response.n_release = seen.release_first != 0;
    response.release = &release;
    if (refused)
        tq_server_fail(call, TQ_RESOURCE_EXHAUSTED, NULL, "not now");
    else
        tq_v1_controller_register_unit_answer(call, &response);
    seen.release_first = refused ? seen.release_first : 0;
    pthread_cond_broadcast(&seen.changed);
    pthread_mutex_unlock(&seen.lock);
}

static void heartbeat_unit(void *state, const Tq__V1__HeartbeatUnitRequest *request, struct tq_server_call *call)
{
    (void)state;
    Tq__V1__HeartbeatUnitResponse response = TQ__V1__HEARTBEAT_UNIT_RESPONSE__INIT;
    Tq__V1__Samples samples, *release = &samples;
    Tq__V1__IndexRuns indexes;
    uint64_t one = 1;
    uint32_t generation = 1;
    pthread_mutex_lock(&seen.lock);
    seen.heartbeats++;
    seen.used_samples = request->used_samples;
    response.known = !seen.forget && request->unit == 7;
    seen.forget = false;
    fill_release(&samples, &indexes, &one, &generation);
    response.n_release = seen.release_first != 0;
    response.release = &release;
    tq_v1_controller_heartbeat_unit_answer(call, &response);
    seen.release_first = 0;
    pthread_cond_broadcast(&seen.changed);
    pthread_mutex_unlock(&seen.lock);
}

static void controller_start_in(const char *listen, uint8_t cluster)
{
    static const struct tq_v1_controller_ops ops = { .register_unit = register_unit, .heartbeat_unit = heartbeat_unit };
    const struct tq_runtime_opts runtime = { .role = TQ_ROLE_CONTROLLER, .cluster_id = { cluster } };
    struct tq_error err = { 0 };
    assert_int_equal(tq_runtime_open(&runtime, &controller.runtime, &err), TQ_OK);
    int64_t deadline_ns = tq_deadline_after_ms(WAIT_MS);
    tq_status status;
    do { /* the port of the one before may take a moment to be free */
        status =
            tq_server_open(controller.runtime, &(struct tq_server_opts){ .listen = listen }, &controller.server, &err);
    } while (status == TQ_UNAVAILABLE && tq_now_ns() < deadline_ns);
    assert_int_equal(status, TQ_OK);
    assert_int_equal(tq_v1_controller_add(controller.server, &ops, NULL, &err), TQ_OK);
    assert_int_equal(tq_server_start(controller.server, &err), TQ_OK);
    snprintf(controller.address, sizeof(controller.address), "%s", tq_server_address(controller.server));
}

static void controller_start(const char *listen)
{
    controller_start_in(listen, 1);
}

static void controller_stop(void)
{
    tq_server_close(controller.server);
    tq_runtime_close(controller.runtime);
    controller.server = NULL;
    controller.runtime = NULL;
}

/* Waits until *counter has grown to `value`. */
static void await(const unsigned *counter, unsigned value)
{
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += WAIT_MS / 1000;
    pthread_mutex_lock(&seen.lock);
    int late = 0;
    while (*counter < value && late == 0)
        late = pthread_cond_clockwait(&seen.changed, &seen.lock, CLOCK_MONOTONIC, &deadline);
    pthread_mutex_unlock(&seen.lock);
    assert_int_equal(late, 0);
}

static unsigned count(const unsigned *counter)
{
    pthread_mutex_lock(&seen.lock);
    unsigned value = *counter;
    pthread_mutex_unlock(&seen.lock);
    return value;
}

/* ---- a unit in this process ---- */

static struct {
    struct tq_storage *unit;
    struct writer writer;
} the;

static int open_unit(void **state)
{
    struct tq_error err;
    (void)state;
    seen.registrations = seen.heartbeats = 0;
    seen.forget = false;
    seen.release_first = seen.refuse = 0;
    controller_start("tcp://127.0.0.1:0");
    const struct tq_storage_opts opts = {
        .controller = controller.address, .name = "unit-a", .memory_bytes = 1 << 24, .bulk = TQ_BULK_OFF
    };
    assert_int_equal(tq_storage_open(&opts, &the.unit, &err), TQ_OK);
    writer_open(&the.writer, tq_storage_address(the.unit), TQ_BULK_OFF, false);
    return 0;
}

static int close_unit(void **state)
{
    (void)state;
    writer_close(&the.writer);
    tq_storage_close(the.unit);
    controller_stop();
    return 0;
}

static void put(uint64_t index)
{
    const struct rows rows = { "p", index, 1, 1 };
    const uint64_t len = 4;
    const struct packed column = {
        .name = "x", .layout = TQ__V1__LAYOUT__LAYOUT_OPAQUE, .bytes = (const uint8_t *)"abcd", .lengths = &len
    };
    struct tq_reply reply;
    assert_int_equal(writer_put(&the.writer, &rows, &column, BY_FRAMES, &reply), TQ_OK);
    tq_reply_drop(&reply);
}

static void a_unit_registers_and_beats(void **state)
{
    (void)state;
    await(&seen.heartbeats, 3);
    assert_int_equal(tq_storage_unit(the.unit), 7);
    assert_string_equal(seen.name, "unit-a");
    assert_string_equal(seen.address, tq_storage_address(the.unit));
    put(1);
    put(2);
    await(&seen.heartbeats, count(&seen.heartbeats) + 2);
    assert_int_equal(seen.used_samples, 2);
    assert_int_equal(count(&seen.registrations), 1);
}

static void a_unit_that_is_not_known_registers_with_what_it_holds(void **state)
{
    (void)state;
    await(&seen.heartbeats, 1);
    put(1);
    put(2);
    put(9);
    pthread_mutex_lock(&seen.lock);
    seen.forget = true;
    seen.release_first = 2; /* by the heartbeat that says so */
    pthread_mutex_unlock(&seen.lock);
    await(&seen.registrations, 2);
    assert_int_equal(seen.held, 2);
    await(&seen.heartbeats, count(&seen.heartbeats) + 1);
    assert_true(writer_metric(&the.writer, "storage_samples") == 2);
}

static void a_restarted_controller_is_found_again(void **state)
{
    char address[128];
    (void)state;
    await(&seen.heartbeats, 1);
    put(1);
    put(2);
    snprintf(address, sizeof(address), "tcp://127.0.0.1%s", strrchr(controller.address, ':'));
    controller_stop();
    put(3); /* serving does not depend on it */
    pthread_mutex_lock(&seen.lock);
    seen.release_first = 1;
    seen.refuse = 2;
    seen.forget = true;
    pthread_mutex_unlock(&seen.lock);
    controller_start(address);
    await(&seen.registrations, 4);  /* two are refused, with back-off */
    assert_int_equal(seen.held, 2); /* the heartbeat before it released one */
    await(&seen.heartbeats, count(&seen.heartbeats) + 1);
    /* The new controller counts generations anew: sample 1, generation 1, may come again. */
    put(1);
}

/* Started again without an id, it has made itself another one. */
static void a_restarted_controller_may_be_of_another_cluster(void **state)
{
    char address[128];
    (void)state;
    await(&seen.heartbeats, 1);
    snprintf(address, sizeof(address), "tcp://127.0.0.1%s", strrchr(controller.address, ':'));
    controller_stop();
    pthread_mutex_lock(&seen.lock);
    seen.forget = true;
    pthread_mutex_unlock(&seen.lock);
    controller_start_in(address, 2);
    await(&seen.registrations, 2);
}

static void a_unit_serves_without_its_controller(void **state)
{
    (void)state;
    controller_stop();
    put(1);
    assert_true(writer_metric(&the.writer, "storage_samples") == 1);
    controller_start("tcp://127.0.0.1:0"); /* for the tear-down */
}

#define UNIT_TEST(name) cmocka_unit_test_setup_teardown(name, open_unit, close_unit)

int main(void)
{
    struct tq_error err;
    if (tq_init(&err) != TQ_OK)
        return 1;
    pthread_mutex_init(&seen.lock, NULL);
    pthread_cond_init(&seen.changed, NULL);
    const struct CMUnitTest tests[] = {
        UNIT_TEST(a_unit_registers_and_beats),
        UNIT_TEST(a_unit_that_is_not_known_registers_with_what_it_holds),
        UNIT_TEST(a_restarted_controller_is_found_again),
        UNIT_TEST(a_restarted_controller_may_be_of_another_cluster),
        UNIT_TEST(a_unit_serves_without_its_controller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

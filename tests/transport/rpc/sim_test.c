/* Both cores against each other through a thousand seeded schedules. A failure prints its seed; TQ_SIM_SEED runs one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/cmocka_all.h"
#include "tests/transport/rpc/echo_service.h"
#include "tests/transport/rpc/sim.h"
#include "transport/base/log.h"

enum { SCHEDULES = 4000 };

static struct sim sim;

/* What all schedules together brought about: a storm that hits nothing proves nothing. */
static struct {
    uint64_t ok, retries, joins, lookups, never_arrived, reply_lost, unfinished, peer_restarted, sessions_ended,
        cancelled, strays, windows;
} seen;

static void remember(const struct sim_call *call)
{
    seen.ok += call->error.status == TQ_OK;
    seen.never_arrived += strstr(call->error.message, "never_arrived") != NULL;
    seen.reply_lost += strstr(call->error.message, "answered_reply_lost") != NULL;
    seen.unfinished += strstr(call->error.message, "arrived_unfinished") != NULL;
    seen.peer_restarted += strcmp(call->error.reason, "PEER_RESTARTED") == 0;
    seen.cancelled += call->error.status == TQ_CANCELLED;
    seen.windows += strstr(call->error.message, "waited") != NULL;
}

#define CHECK(promise, number)                                                                                         \
    do {                                                                                                               \
        if (!(promise))                                                                                                \
            fail_msg("seed %llu, call %u (%s): %s; status %s %s, outcome %d, executed %u, %s",                         \
                     (unsigned long long)seed, number, echo_method(call->method)->name, #promise,                      \
                     tq_status_name(call->error.status), call->error.reason, (int)call->error.outcome, call->executed, \
                     call->error.message);                                                                             \
    } while (0)

static void check_call(uint64_t seed, unsigned number)
{
    const struct sim_call *call = &sim.calls[number];
    enum tq_idempotency idempotency = echo_method(call->method)->idempotency;
    remember(call);
    CHECK(call->ended == 1, number);
    CHECK(call->ended_ns <= call->deadline_ns, number);
    CHECK(!call->foreign_reply, number);
    CHECK(idempotency == TQ_IDEMPOTENT || call->executed <= 1, number);
    if (call->error.status == TQ_OK)
        CHECK(call->executed >= 1, number);
    else
        CHECK(call->error.outcome != TQ_OUTCOME_NONE, number);
    if (call->error.outcome == TQ_OUTCOME_FAILED)
        CHECK(call->executed >= 1, number);
    if (call->error.outcome == TQ_OUTCOME_NOT_STARTED)
        CHECK(call->executed == 0, number);
}

static struct sim_weather weather_of(uint64_t seed)
{
    struct sim_weather calm = { .delay_most_ns = 5 * SIM_MS, .answer_most_ns = 20 * SIM_MS, .in_order = true };
    struct sim_weather storm = {
        .lose = 10,
        .cut = 3,
        .refuse_dial = 10,
        .restart = 2,
        .park = 5,
        .fail = 10,
        .delay_most_ns = 300 * SIM_MS,
        .answer_most_ns = 400 * SIM_MS,
    };
    struct sim_weather repeating = {
        .lose = 3, .repeat = 30, .cut = 1, .fail = 5, .delay_most_ns = 80 * SIM_MS, .answer_most_ns = 100 * SIM_MS
    };
    struct sim_weather frozen = { .lose = 60,
                                  .cut = 10,
                                  .refuse_dial = 50,
                                  .park = 50,
                                  .delay_most_ns = 50 * SIM_MS,
                                  .answer_most_ns = 50 * SIM_MS,
                                  .in_order = true };
    const struct sim_weather all[] = { calm, storm, repeating, frozen };
    return all[seed % 4];
}

static void run_schedule(uint64_t seed)
{
    struct tq_channel_opts opts = { .sockets = 1 + (uint32_t)(seed / 4 % 4), .max_calls = seed % 3 == 0 ? 4 : 0 };
    struct tq_server_opts server_opts = { .session_calls = seed % 5 == 0 ? 8 : 0 };
    sim_init(&sim, seed, weather_of(seed), &opts, &server_opts);
    for (unsigned i = 0; i < SIM_CALLS; i++) {
        uint32_t method = 1 + (uint32_t)sim_roll(&sim, 4);
        int64_t at = (int64_t)sim_roll(&sim, 3000 * SIM_MS);
        sim_call_at(&sim, method, at, (int64_t)sim_roll(&sim, sim_roll(&sim, 4) == 0 ? 100 * SIM_MS : 8000 * SIM_MS));
        if (sim_roll(&sim, 10) == 0)
            sim_cancel_at(&sim, i, at + 1 + (int64_t)sim_roll(&sim, 200 * SIM_MS));
    }
    sim_run(&sim, INT64_MAX);
    for (unsigned i = 0; i < SIM_CALLS; i++)
        check_call(seed, i);
    seen.retries += sim.client.stats.retries;
    seen.strays += sim.client.stats.strays;
    seen.joins += sim.server.stats.joins;
    seen.lookups += sim.server.stats.lookups;
    seen.sessions_ended += sim.server.stats.sessions_ended;
    assert_int_equal(sim.client.n_sent, 0);
    assert_int_equal(sim.client.n_waiting, 0);
    assert_int_equal(sim.client.bytes_held, 0);
    assert_int_equal(sim.client.bytes_sent, 0);
    assert_int_equal(tq_map_count(&sim.client.calls), 0);
    sim_fini(&sim);
}

static void keeps_its_promises_in_any_weather(void **state)
{
    (void)state;
    const char *one = getenv("TQ_SIM_SEED");
    tq_log_set_level(TQ_LOG_OFF);
    if (one != NULL) {
        run_schedule(strtoull(one, NULL, 10));
        return;
    }
    for (uint64_t seed = 1; seed <= SCHEDULES; seed++)
        run_schedule(seed);
    print_message(
        "ok %llu, retries %llu, joins %llu, lookups %llu, never arrived %llu, reply lost %llu, unfinished %llu, "
        "peer restarted %llu, sessions ended %llu, cancelled %llu, strays %llu\n",
        (unsigned long long)seen.ok, (unsigned long long)seen.retries, (unsigned long long)seen.joins,
        (unsigned long long)seen.lookups, (unsigned long long)seen.never_arrived, (unsigned long long)seen.reply_lost,
        (unsigned long long)seen.unfinished, (unsigned long long)seen.peer_restarted,
        (unsigned long long)seen.sessions_ended, (unsigned long long)seen.cancelled, (unsigned long long)seen.strays);
    assert_true(seen.ok > SCHEDULES * SIM_CALLS / 4 && seen.retries > SCHEDULES && seen.joins > 100);
    assert_true(seen.lookups > 100 && seen.never_arrived > 10 && seen.reply_lost > 10 && seen.unfinished > 10);
    assert_true(seen.peer_restarted > 10 && seen.sessions_ended > 10 && seen.cancelled > 100 && seen.strays > 100);
}

/* In calm weather nothing may go wrong at all. */
static void answers_everything_in_calm_weather(void **state)
{
    (void)state;
    struct sim_weather calm = { .delay_most_ns = SIM_MS, .answer_most_ns = SIM_MS, .in_order = true };
    sim_init(&sim, 7, calm, NULL, NULL);
    for (unsigned i = 0; i < SIM_CALLS; i++)
        sim_call_at(&sim, 1 + i % 4, (int64_t)i * 10 * SIM_MS, 1000 * SIM_MS);
    sim_run(&sim, INT64_MAX);
    for (unsigned i = 0; i < SIM_CALLS; i++) {
        assert_int_equal(sim.calls[i].error.status, TQ_OK);
        assert_int_equal(sim.calls[i].executed, 1);
    }
    assert_int_equal(sim.client.stats.retries, 0);
    assert_int_equal(sim.client.stats.dials, 1);
    sim_fini(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_everything_in_calm_weather),
        cmocka_unit_test(keeps_its_promises_in_any_weather),
    };
    return cmocka_run_group_tests_name("sim", tests, NULL, NULL);
}

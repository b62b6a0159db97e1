#include "server/common/health.h"

#include <stdio.h>

#include "server/common/metrics.h"
#include "tq/init.h"
#include "tq/v1/health.tq.h"
#include "transport/base/assert.h"
#include "transport/base/log.h"

enum { MS = 1000000 };

void tq_health_init(struct tq_health *health, const char *name, uint64_t epoch)
{
    *health = (struct tq_health){ .name = name, .epoch = epoch, .start_ns = tq_now_ns() };
}

void tq_health_supervise(struct tq_health *health, const char *thread, uint64_t (*beats)(void *user), void *user)
{
    TQ_ASSERT(health->n_hearts < TQ_HEALTH_HEARTS);
    health->hearts[health->n_hearts++] =
        (struct tq_heart){ .thread = thread, .beats = beats, .user = user, .last_ns = health->start_ns };
}

void tq_health_drain(struct tq_health *health)
{
    atomic_store(&health->is_draining, true);
}

const char *tq_health_find_sick(struct tq_health *health, int64_t now_ns)
{
    const char *sick = NULL;
    for (size_t i = 0; i < health->n_hearts; i++) {
        struct tq_heart *heart = &health->hearts[i];
        uint64_t beats = heart->beats(heart->user);
        if (beats != heart->last_beats) {
            heart->last_beats = beats;
            heart->last_ns = now_ns;
        } else if (now_ns - heart->last_ns > (int64_t)TQ_HEALTH_STILL_MS * MS) {
            sick = heart->thread;
        }
    }
    return sick;
}

static void look(void *user)
{
    struct tq_health *health = user;
    int64_t now_ns = tq_now_ns();
    const char *sick = tq_health_find_sick(health, now_ns);
    if (sick != NULL)
        tq_warn("thread-still", "thread=%s still_ms=%d", sick, TQ_HEALTH_STILL_MS);
    if (!tq_server_timer_arm(health->server, &health->timer, now_ns + (int64_t)TQ_HEALTH_LOOK_MS * MS))
        tq_warn("health-timer", "reason=no-memory");
}

void tq_health_watch(struct tq_health *health)
{
    health->timer = (struct tq_server_timer){ .fire = look, .user = health };
    if (health->n_hearts > 0 && !tq_server_post(health->server, look, health))
        tq_warn("health-timer", "reason=closing");
}

static void check(void *state, const Tq__V1__CheckRequest *request, struct tq_server_call *call)
{
    struct tq_health *health = state;
    (void)request;
    int64_t now_ns = tq_now_ns();
    const char *sick = tq_health_find_sick(health, now_ns);
    char message[120] = "";
    if (sick != NULL)
        snprintf(message, sizeof(message), "thread '%s' has not moved for more than %d ms", sick, TQ_HEALTH_STILL_MS);
    Tq__V1__CheckResponse response = TQ__V1__CHECK_RESPONSE__INIT;
    response.status = sick != NULL                        ? TQ__V1__HEALTH_STATUS__HEALTH_STATUS_SICK
                      : atomic_load(&health->is_draining) ? TQ__V1__HEALTH_STATUS__HEALTH_STATUS_DRAINING
                                                          : TQ__V1__HEALTH_STATUS__HEALTH_STATUS_SERVING;
    response.message = message;
    response.name = (char *)health->name;
    response.version = (char *)tq_version();
    response.epoch = health->epoch;
    response.uptime_ms = (uint64_t)((now_ns - health->start_ns) / MS);
    tq_v1_health_check_answer(call, &response);
}

static void get_metrics(void *state, const Tq__V1__GetMetricsRequest *request, struct tq_server_call *call)
{
    const struct tq_health *health = state;
    struct tq_metric_sink sink = { 0 };
    if (health->metrics != NULL)
        tq_metrics_collect(health->metrics, request->prefix, &sink);
    Tq__V1__GetMetricsResponse response = TQ__V1__GET_METRICS_RESPONSE__INIT;
    response.n_name = response.n_value = sink.count;
    response.name = (char **)sink.names;
    response.value = sink.values;
    tq_v1_health_get_metrics_answer(call, &response);
}

tq_status tq_health_serve(struct tq_health *health, const struct tq_metrics *metrics, struct tq_server *server,
                          struct tq_error *err)
{
    static const struct tq_v1_health_ops ops = { .check = check, .get_metrics = get_metrics };
    health->server = server;
    health->metrics = metrics;
    return tq_v1_health_add(server, &ops, health, err);
}

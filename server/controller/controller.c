/* The life of a controller: what is opened in which order, and closed in the other one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/common/addresses.h"
#include "server/controller/service.h"
#include "tq/server.h"
#include "tq/v1/health.tq.h"
#include "transport/base/assert.h"

enum { DEFAULT_HEARTBEAT_MS = 1000, LEAST_HEARTBEAT_MS = 20, MOST_HEARTBEAT_MS = 60000, SCRATCH_BYTES = 1 << 20 };

static void fill_rows(struct tq_controller *controller)
{
    const struct tq_controller_limits *limits = &controller->table.limits;
#define ROW(name, initial, min, max, help)                                                                             \
    controller->limit_rows[TQ_CONTROLLER_LIMIT_##name] =                                                               \
        (struct tq_limit_row){ #name, limits->name, (initial), (min), (max), (help) };
    TQ_CONTROLLER_LIMITS(ROW)
#undef ROW
    controller->reflection.limits = controller->limit_rows;
    controller->reflection.n_limits = TQ_CONTROLLER_LIMIT_COUNT;
}

static tq_status open_table(struct tq_controller *controller, const struct tq_controller_opts *opts,
                            struct tq_error *err)
{
    uint32_t beat_ms = opts->heartbeat_ms != 0 ? opts->heartbeat_ms : DEFAULT_HEARTBEAT_MS;
    if (beat_ms < LEAST_HEARTBEAT_MS || beat_ms > MOST_HEARTBEAT_MS)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "HEARTBEAT", "heartbeat_ms: %u, expected %d..%d", beat_ms,
                       (int)LEAST_HEARTBEAT_MS, (int)MOST_HEARTBEAT_MS);
    struct tq_controller_limits limits = { 0 };
    tq_status status = tq_controller_limits_fill(&limits, err);
    if (status != TQ_OK)
        return status;
    controller->scratch = tq_arena_open(controller->seam, SCRATCH_BYTES);
    if (controller->scratch == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "no memory for the controller");
    tq_table_init(&controller->table, controller->seam, &limits, (int64_t)beat_ms * 1000000,
                  tq_seam_now_ns(controller->seam));
    tq_handouts_init(&controller->handouts, controller->seam, &controller->table.limits);
    controller->has_table = true;
    fill_rows(controller);
    return TQ_OK;
}

static tq_status open_runtime(struct tq_controller *controller, const struct tq_controller_opts *opts,
                              struct tq_error *err)
{
    struct tq_runtime_opts runtime = { .name = opts->name, .role = TQ_ROLE_CONTROLLER };
    static const uint8_t none[sizeof(runtime.cluster_id)];
    memcpy(runtime.cluster_id, opts->cluster_id, sizeof(runtime.cluster_id));
    if (memcmp(runtime.cluster_id, none, sizeof(none)) == 0)
        tq_seam_random(controller->seam, runtime.cluster_id, sizeof(runtime.cluster_id));
    tq_status status = tq_runtime_open(&runtime, &controller->runtime, err);
    if (status != TQ_OK)
        return status;
    controller->name = tq_seam_strdup(controller->seam, opts->name != NULL ? opts->name : "controller");
    return controller->name != NULL ? TQ_OK
                                    : tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "no memory for the controller");
}

static tq_status add_services(struct tq_controller *controller, struct tq_error *err)
{
    tq_metrics_add(&controller->metrics, tq_controller_report, controller);
    tq_metrics_add(&controller->metrics, tq_metrics_of_server, controller->server);
    tq_metrics_add(&controller->metrics, tq_metrics_of_process, NULL);
    tq_health_init(&controller->health, controller->name, tq_runtime_epoch(controller->runtime));
    tq_status status = tq_controller_serve(controller, err);
    tq_reflection_add(&controller->reflection, &tq_v1_health_service);
    if (status == TQ_OK)
        status = tq_health_serve(&controller->health, &controller->metrics, controller->server, err);
    if (status == TQ_OK)
        status = tq_reflection_serve(&controller->reflection, controller->server, err);
    return status;
}

static tq_status open_server(struct tq_controller *controller, const struct tq_controller_opts *opts,
                             struct tq_error *err)
{
    const struct tq_server_opts server = { .listen = opts->listen != NULL ? opts->listen : "tcp://127.0.0.1:7600",
                                           .advertise = opts->advertise,
                                           .insecure = opts->insecure };
    tq_status status = tq_server_open(controller->runtime, &server, &controller->server, err);
    if (status == TQ_OK)
        status = add_services(controller, err);
    if (status == TQ_OK) {
        tq_controller_begin(controller); /* its timers first: the loop may serve a fetch before anything posted to it */
        status = tq_server_start(controller->server, err);
    }
    if (status == TQ_OK)
        tq_health_watch(&controller->health);
    return status;
}

tq_status tq_controller_open(const struct tq_controller_opts *opts, struct tq_controller **out_controller,
                             struct tq_error *err)
{
    struct tq_controller *controller = tq_seam_alloc(NULL, sizeof(*controller));
    if (controller == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "no memory for the controller");
    tq_list_init(&controller->fetches);
    tq_status status = opts->advertise != NULL ? tq_address_check("advertise", opts->advertise, err) : TQ_OK;
    if (status == TQ_OK)
        status = open_table(controller, opts, err);
    if (status == TQ_OK)
        status = open_runtime(controller, opts, err);
    if (status == TQ_OK)
        status = open_server(controller, opts, err);
    if (status != TQ_OK) {
        tq_controller_close(controller);
        return status;
    }
    *out_controller = controller;
    return TQ_OK;
}

/* Parked fetches are answered first: they would hold up the drain until its deadline. */
void tq_controller_drain(struct tq_controller *controller, int64_t deadline_ns)
{
    tq_health_drain(&controller->health);
    if (tq_server_post(controller->server, tq_controller_stop_waiting, controller))
        tq_server_drain(controller->server, deadline_ns);
}

void tq_controller_close(struct tq_controller *controller)
{
    if (controller == NULL)
        return;
    tq_server_close(controller->server);
    tq_controller_abandon_fetches(controller);
    tq_runtime_close(controller->runtime);
    if (controller->has_table) {
        tq_handouts_fini(&controller->handouts);
        tq_table_fini(&controller->table);
    }
    tq_arena_close(controller->scratch);
    tq_seam_free(controller->seam, controller->config);
    tq_seam_free(controller->seam, controller->name);
    tq_seam_free(controller->seam, controller);
}

const char *tq_controller_address(const struct tq_controller *controller)
{
    return tq_server_advertised(controller->server);
}

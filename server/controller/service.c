#include "server/controller/service.h"

#include "transport/base/log.h"

/* A request is decoded under the byte limit of its method; what we lay out from it is at most this. */
enum { SCRATCH_BYTES = 1 << 30 };

static const struct tq_v1_controller_ops ops = {
#define OP(name, Request) .name = tq_controller_##name,
    TQ_CONTROLLER_HANDLERS(OP)
#undef OP
};

tq_status tq_controller_serve(struct tq_controller *controller, struct tq_error *err)
{
    tq_reflection_add(&controller->reflection, &tq_v1_controller_service);
    return tq_v1_controller_add(controller->server, &ops, controller, err);
}

struct tq_intake tq_controller_intake(struct tq_controller *controller, struct tq_error *err)
{
    tq_arena_reset(controller->scratch, SCRATCH_BYTES);
    return (struct tq_intake){ controller->scratch, &controller->table.limits, err };
}

void tq_controller_no_memory(struct tq_server_call *call)
{
    tq_server_fail(call, TQ_RESOURCE_EXHAUSTED, "MEMORY", "no memory for the answer");
}

/* Twice an interval, so that a silent unit is noticed soon after its third miss. */
static void tick(void *user)
{
    struct tq_controller *controller = user;
    int64_t now_ns = tq_seam_now_ns(controller->seam);
    tq_table_tick(&controller->table, now_ns);
    if (!tq_server_timer_arm(controller->server, &controller->tick, now_ns + controller->table.units.heartbeat_ns / 2))
        tq_error_log("controller-timer", "reason=no-memory"); /* units are not called lost any more */
}

static void due(void *user)
{
    struct tq_controller *controller = user;
    tq_fetch_expire(&controller->table, tq_seam_now_ns(controller->seam));
    tq_controller_settle(controller);
}

void tq_controller_begin(struct tq_controller *controller)
{
    controller->tick = (struct tq_server_timer){ .fire = tick, .user = controller };
    controller->due = (struct tq_server_timer){ .fire = due, .user = controller };
    tick(controller);
}

void tq_controller_report(void *user, struct tq_metric_sink *sink)
{
    const struct tq_controller *controller = user;
    const struct tq_controller_stats *stats = &controller->stats;
    tq_metric_put(sink, "controller_partitions", (double)controller->table.partitions.count);
    tq_metric_put(sink, "controller_samples", (double)controller->table.indexes.n_live);
    tq_metric_put(sink, "controller_text_bytes", (double)controller->table.text_bytes);
    tq_metric_put(sink, "controller_units", controller->table.units.n);
    tq_metric_put(sink, "controller_parked_fetches", (double)controller->table.n_parked);
    tq_metric_put(sink, "controller_inserted_total", (double)stats->inserted);
    tq_metric_put(sink, "controller_produced_cells_total", (double)stats->produced_cells);
    tq_metric_put(sink, "controller_cleared_total", (double)stats->cleared);
    tq_metric_put(sink, "controller_batches_total", (double)stats->batches);
    tq_metric_put(sink, "controller_batch_samples_total", (double)stats->batch_samples);
    tq_metric_put(sink, "controller_short_fetches_total", (double)stats->short_fetches);
    tq_metric_put(sink, "controller_parked_total", (double)stats->parked);
    tq_metric_put(sink, "controller_repeated_batches_total", (double)stats->repeated);
}

/* ControllerService/ListUnits. */
#include "server/controller/service.h"

void tq_controller_list_units(void *state, const Tq__V1__ListUnitsRequest *request, struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_units *units = &controller->table.units;
    struct tq_error err;
    (void)request;
    const struct tq_intake intake = tq_controller_intake(controller, &err);
    Tq__V1__ListUnitsResponse response = TQ__V1__LIST_UNITS_RESPONSE__INIT;
    response.units = tq_arena_alloc(intake.arena, units->n * sizeof(Tq__V1__Unit *));
    response.used_bytes = tq_arena_alloc(intake.arena, units->n * sizeof(uint64_t));
    response.budget_bytes = tq_arena_alloc(intake.arena, units->n * sizeof(uint64_t));
    response.samples = tq_arena_alloc(intake.arena, units->n * sizeof(uint64_t));
    response.heartbeat_age_ms = tq_arena_alloc(intake.arena, units->n * sizeof(uint32_t));
    bool full = response.units != NULL && response.used_bytes != NULL && response.budget_bytes != NULL &&
                response.samples != NULL && response.heartbeat_age_ms != NULL;
    tq_units_tick(units, tq_seam_now_ns(controller->seam));
    for (uint32_t i = 0; full && i < units->n; i++) {
        const struct tq_unit *unit = units->by_number[i];
        int64_t age_ms = tq_unit_age_ns(units, unit) / 1000000;
        response.units[i] = tq_unit_out(intake.arena, unit);
        response.used_bytes[i] = unit->reported_bytes;
        response.budget_bytes[i] = unit->budget_bytes;
        response.samples[i] = unit->samples;
        response.heartbeat_age_ms[i] = age_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)age_ms;
        full = response.units[i] != NULL;
    }
    if (!full) {
        tq_controller_no_memory(call);
        return;
    }
    response.n_units = response.n_used_bytes = response.n_budget_bytes = response.n_samples = units->n;
    response.n_heartbeat_age_ms = units->n;
    tq_v1_controller_list_units_answer(call, &response);
}

/* ControllerService/RegisterUnit, HeartbeatUnit, DrainUnit. */
#include <inttypes.h>
#include <string.h>

#include "server/controller/service.h"
#include "server/controller/text_in.h"
#include "transport/base/log.h"

enum { ADDRESS_BYTES = 256, HOST_BYTES = 256, BULK_BYTES = 4096 };

/* ---- register ---- */

static tq_status check_claim(const struct tq_intake *intake, const Tq__V1__RegisterUnitRequest *request)
{
    tq_status status = tq_text_check("name", request->name, intake->limits->name_bytes, intake->err);
    if (status == TQ_OK)
        status = tq_text_check("address", request->address, ADDRESS_BYTES, intake->err);
    if (status == TQ_OK && strstr(request->address, "://") == NULL)
        status = tq_fail(intake->err, TQ_INVALID_ARGUMENT, "ADDRESS",
                         "address: %s, expected one like tcp://127.0.0.1:7601", request->address);
    if (status == TQ_OK && request->epoch == 0)
        status = tq_fail(intake->err, TQ_INVALID_ARGUMENT, "EPOCH", "epoch: 0, expected the number of the unit's life");
    if (status == TQ_OK && request->host[0] != '\0')
        status = tq_text_check("host", request->host, HOST_BYTES, intake->err);
    if (status == TQ_OK && request->bulk.len > BULK_BYTES)
        status = tq_fail(intake->err, TQ_INVALID_ARGUMENT, "BULK", "bulk: %zu bytes, expected at most %d",
                         request->bulk.len, (int)BULK_BYTES);
    return status;
}

/* The samples of one partition; `held` has room for them. */
static tq_status held_one(const struct tq_intake *intake, const Tq__V1__Samples *samples, struct tq_held *held,
                          uint32_t *out_n)
{
    struct tq_controller_limits wide = *intake->limits;
    const struct tq_intake all = { intake->arena, &wide, intake->err };
    struct tq_samples_in in = { 0 };
    wide.request_samples = wide.samples; /* it may hold all there are */
    tq_status status = tq_samples_in(&all, "held", samples, &in);
    if (status != TQ_OK)
        return status;
    for (uint32_t i = 0; i < in.n; i++) {
        if (in.refs[i].generation == UINT32_MAX)
            return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "SAMPLES",
                           "held: index %" PRIu64 " generation %u, expected a lower generation", in.refs[i].index,
                           in.refs[i].generation);
        held[i] = (struct tq_held){ in.partition, in.refs[i] };
    }
    *out_n = in.n;
    return TQ_OK;
}

/* All that is held, in one array. A unit that holds nothing of a partition may name it with no indexes. */
static tq_status held_in(const struct tq_intake *intake, const Tq__V1__RegisterUnitRequest *request,
                         struct tq_held **out_held, uint32_t *out_n)
{
    uint64_t n = 0;
    for (size_t i = 0; i < request->n_held; i++) {
        const Tq__V1__IndexRuns *runs = request->held[i]->indexes;
        for (size_t k = 0; runs != NULL && k < runs->n_count && runs->count[k] <= intake->limits->samples; k++)
            n += runs->count[k];
    }
    if (n > intake->limits->samples)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "SAMPLES",
                       "held: %" PRIu64 " samples, expected at most %" PRIu64, n, intake->limits->samples);
    struct tq_held *held = tq_arena_alloc(intake->arena, n * sizeof(*held));
    if (held == NULL)
        return tq_fail(intake->err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "held: no memory for %" PRIu64 " samples", n);
    *out_held = held;
    *out_n = 0;
    for (size_t i = 0; i < request->n_held; i++) {
        uint32_t n_part = 0;
        if (request->held[i]->indexes == NULL || request->held[i]->indexes->n_start == 0)
            continue;
        tq_status status = held_one(intake, request->held[i], held + *out_n, &n_part);
        if (status != TQ_OK)
            return status;
        *out_n += n_part;
    }
    return TQ_OK;
}

/* Runs of entries of the same partition that are to be released. NULL without memory. */
static Tq__V1__Samples **release_out(struct tq_arena *arena, const struct tq_held *held, uint32_t n,
                                     const bool *release, size_t *out_n)
{
    struct tq_sample_ref *refs = tq_arena_alloc(arena, n * sizeof(*refs));
    Tq__V1__Samples **all = tq_arena_alloc(arena, n * sizeof(Tq__V1__Samples *));
    *out_n = 0;
    if (refs == NULL || all == NULL)
        return NULL;
    for (uint32_t from = 0, to; from < n; from = to) {
        uint32_t n_refs = 0;
        for (to = from; to < n && strcmp(held[to].partition, held[from].partition) == 0; to++)
            if (release[to])
                refs[n_refs++] = held[to].sample;
        if (n_refs == 0)
            continue;
        all[*out_n] = tq_samples_out(arena, held[from].partition, refs, n_refs);
        if (all[(*out_n)++] == NULL)
            return NULL;
    }
    return all;
}

static void answer_register(struct tq_controller *controller, const struct tq_unit *unit, const struct tq_held *held,
                            uint32_t n_held, const bool *release, struct tq_server_call *call)
{
    Tq__V1__RegisterUnitResponse response = TQ__V1__REGISTER_UNIT_RESPONSE__INIT;
    response.unit = unit->number;
    response.controller_epoch = tq_runtime_epoch(controller->runtime);
    response.heartbeat_ms = (uint32_t)(controller->table.units.heartbeat_ns / 1000000);
    response.release = release_out(controller->scratch, held, n_held, release, &response.n_release);
    if (response.release == NULL) {
        tq_controller_no_memory(call);
        return;
    }
    tq_info("unit-registered", "unit=%u name=%s address=%s held=%u release_partitions=%zu", unit->number, unit->name,
            unit->address, n_held, response.n_release);
    tq_v1_controller_register_unit_answer(call, &response);
}

void tq_controller_register_unit(void *state, const Tq__V1__RegisterUnitRequest *request, struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_error err;
    struct tq_held *held = NULL;
    struct tq_unit *unit;
    uint32_t n_held = 0;
    const struct tq_intake intake = tq_controller_intake(controller, &err);
    tq_status status = check_claim(&intake, request);
    if (status == TQ_OK)
        status = held_in(&intake, request, &held, &n_held);
    bool *release = status == TQ_OK ? tq_arena_alloc(intake.arena, n_held) : NULL;
    if (status == TQ_OK && release == NULL) {
        tq_controller_no_memory(call);
        return;
    }
    if (status == TQ_OK) {
        const struct tq_unit_claim claim = { .name = request->name,
                                             .address = request->address,
                                             .host = request->host,
                                             .bulk = { request->bulk.data, request->bulk.len },
                                             .epoch = request->epoch,
                                             .budget_bytes = request->budget_bytes,
                                             .budget_samples = request->budget_samples,
                                             .over_network = request->over_network };
        tq_table_tick(&controller->table, tq_seam_now_ns(controller->seam));
        status = tq_table_join(&controller->table, &claim, held, n_held, release, &unit, &err);
    }
    if (status != TQ_OK) {
        tq_server_fail_error(call, &err);
        return;
    }
    answer_register(controller, unit, held, n_held, release, call);
    tq_controller_settle(controller);
}

/* ---- heartbeat ---- */

static bool releases_out(struct tq_arena *arena, struct tq_unit *unit, Tq__V1__HeartbeatUnitResponse *response)
{
    size_t n = 0;
    for (const struct tq_list *at = unit->releases.next; at != &unit->releases; at = at->next)
        n++;
    response->release = tq_arena_alloc(arena, n * sizeof(Tq__V1__Samples *));
    if (response->release == NULL)
        return false;
    for (const struct tq_release *at = NULL; (at = tq_unit_next_release(unit, at)) != NULL;) {
        Tq__V1__Samples *samples = tq_samples_out(arena, at->partition, at->samples, at->n);
        if (samples == NULL)
            return false;
        response->release[response->n_release++] = samples;
    }
    return true;
}

void tq_controller_heartbeat_unit(void *state, const Tq__V1__HeartbeatUnitRequest *request, struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_units *units = &controller->table.units;
    struct tq_error err;
    const struct tq_intake intake = tq_controller_intake(controller, &err);
    Tq__V1__HeartbeatUnitResponse response = TQ__V1__HEARTBEAT_UNIT_RESPONSE__INIT;
    tq_units_tick(units, tq_seam_now_ns(controller->seam));
    response.known = tq_unit_heartbeat(units, request->unit, request->epoch, request->used_bytes, request->used_samples,
                                       request->bulk_heartbeat);
    struct tq_unit *unit = tq_unit_find(units, request->unit);
    if (response.known && unit != NULL) {
        response.state = (Tq__V1__UnitState)unit->state;
        if (!releases_out(intake.arena, unit, &response)) {
            tq_controller_no_memory(call);
            return;
        }
    }
    tq_v1_controller_heartbeat_unit_answer(call, &response);
    if (response.known)
        tq_unit_forget_told(units, unit);
}

/* ---- drain ---- */

void tq_controller_drain_unit(void *state, const Tq__V1__DrainUnitRequest *request, struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_unit *unit = tq_unit_find(&controller->table.units, request->unit);
    struct tq_error err;
    if (unit == NULL) {
        tq_server_fail(call, TQ_NOT_FOUND, "UNIT", "unit: %u, expected 1..%u", request->unit,
                       controller->table.units.n);
        return;
    }
    if (tq_unit_drain(unit, request->resume, &err) != TQ_OK) {
        tq_server_fail_error(call, &err);
        return;
    }
    Tq__V1__DrainUnitResponse response = TQ__V1__DRAIN_UNIT_RESPONSE__INIT;
    response.state = (Tq__V1__UnitState)unit->state;
    response.samples = unit->samples;
    tq_v1_controller_drain_unit_answer(call, &response);
}

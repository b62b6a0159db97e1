/* ControllerService/GetConsumption, ResetConsumption, GetProduction. */
#include <inttypes.h>
#include <stdlib.h>

#include "server/controller/service.h"
#include "server/controller/text_in.h"

static int by_index(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* The global indexes of these slots as ascending runs. NULL without memory. */
static Tq__V1__IndexRuns *indexes_out(struct tq_arena *arena, const struct tq_partition *partition,
                                      const roaring_bitmap_t *slots)
{
    size_t n = roaring_bitmap_get_cardinality(slots), at = 0;
    uint64_t *indexes = tq_arena_alloc(arena, n * sizeof(*indexes));
    bool ascending = true;
    if (indexes == NULL)
        return NULL;
    roaring_uint32_iterator_t it;
    for (roaring_init_iterator(slots, &it); it.has_value; roaring_advance_uint32_iterator(&it)) {
        indexes[at] = tq_partition_row(partition, it.current_value)->index;
        ascending = ascending && (at == 0 || indexes[at] > indexes[at - 1]);
        at++;
    }
    if (!ascending)
        qsort(indexes, n, sizeof(*indexes), by_index);
    return tq_runs_out(arena, indexes, n);
}

void tq_controller_get_consumption(void *state, const Tq__V1__GetConsumptionRequest *request,
                                   struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_error err;
    const struct tq_intake intake = tq_controller_intake(controller, &err);
    if (tq_text_check("partition", request->partition, intake.limits->name_bytes, &err) != TQ_OK ||
        tq_text_check("task", request->task, intake.limits->name_bytes, &err) != TQ_OK) {
        tq_server_fail_error(call, &err);
        return;
    }
    Tq__V1__GetConsumptionResponse response = TQ__V1__GET_CONSUMPTION_RESPONSE__INIT;
    const struct tq_partition *partition = tq_table_find(&controller->table, request->partition);
    if (partition != NULL && partition->exists) {
        const struct tq_task *task = tq_partition_find_task(partition, request->task);
        response.exists = true;
        response.reserved = partition->reserved;
        response.indexes = indexes_out(intake.arena, partition, partition->live);
        response.consumed =
            task != NULL ? indexes_out(intake.arena, partition, task->consumed) : tq_runs_out(intake.arena, NULL, 0);
        if (response.indexes == NULL || response.consumed == NULL) {
            tq_controller_no_memory(call);
            return;
        }
    }
    tq_v1_controller_get_consumption_answer(call, &response);
}

void tq_controller_reset_consumption(void *state, const Tq__V1__ResetConsumptionRequest *request,
                                     struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_error err;
    bool all = request->task[0] == '\0';
    Tq__V1__ResetConsumptionResponse response = TQ__V1__RESET_CONSUMPTION_RESPONSE__INIT;
    uint64_t name_bytes = controller->table.limits.name_bytes;
    tq_status status = tq_text_check("partition", request->partition, name_bytes, &err);
    if (status == TQ_OK && !all)
        status = tq_text_check("task", request->task, name_bytes, &err);
    if (status == TQ_OK)
        status =
            tq_table_reset(&controller->table, request->partition, all ? NULL : request->task, &response.reset, &err);
    if (status != TQ_OK) {
        tq_server_fail_error(call, &err);
        return;
    }
    tq_v1_controller_reset_consumption_answer(call, &response);
    tq_controller_settle(controller);
}

static tq_status check_production(const struct tq_intake *intake, const Tq__V1__GetProductionRequest *request)
{
    tq_status status = tq_text_check("partition", request->partition, intake->limits->name_bytes, intake->err);
    if (status == TQ_OK && (request->n_fields == 0 || request->n_fields > intake->limits->fields))
        status = tq_fail(intake->err, TQ_INVALID_ARGUMENT, "FIELD", "fields: %zu, expected 1..%" PRIu64,
                         request->n_fields, intake->limits->fields);
    for (size_t i = 0; status == TQ_OK && i < request->n_fields; i++)
        status = tq_field_name_check("fields", request->fields[i], intake->limits->name_bytes, intake->err);
    return status == TQ_OK ? tq_distinct_in(intake, "fields", request->fields, request->n_fields) : status;
}

/* Counts each field and finds the samples that have all. */
static bool find_production(struct tq_arena *arena, const struct tq_partition *partition,
                            const Tq__V1__GetProductionRequest *request, Tq__V1__GetProductionResponse *response)
{
    roaring_bitmap_t *complete = roaring_bitmap_copy(partition->live);
    response->produced = tq_arena_alloc(arena, request->n_fields * sizeof(*response->produced));
    response->n_produced = request->n_fields;
    for (size_t i = 0; response->produced != NULL && i < request->n_fields; i++) {
        const struct tq_field *field = tq_partition_find_field(partition, request->fields[i]);
        if (field == NULL) {
            roaring_bitmap_clear(complete);
            continue;
        }
        response->produced[i] = roaring_bitmap_get_cardinality(field->produced);
        roaring_bitmap_and_inplace(complete, field->produced);
    }
    response->indexes = indexes_out(arena, partition, partition->live);
    response->complete = indexes_out(arena, partition, complete);
    roaring_bitmap_free(complete);
    return response->produced != NULL && response->indexes != NULL && response->complete != NULL;
}

void tq_controller_get_production(void *state, const Tq__V1__GetProductionRequest *request, struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_error err;
    const struct tq_intake intake = tq_controller_intake(controller, &err);
    if (check_production(&intake, request) != TQ_OK) {
        tq_server_fail_error(call, &err);
        return;
    }
    Tq__V1__GetProductionResponse response = TQ__V1__GET_PRODUCTION_RESPONSE__INIT;
    const struct tq_partition *partition = tq_table_find(&controller->table, request->partition);
    if (partition != NULL && partition->exists) {
        response.exists = true;
        response.reserved = partition->reserved;
        if (!find_production(intake.arena, partition, request, &response)) {
            tq_controller_no_memory(call);
            return;
        }
    }
    tq_v1_controller_get_production_answer(call, &response);
}

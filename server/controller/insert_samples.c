/* ControllerService/InsertSamples. */
#include <inttypes.h>

#include "server/controller/service.h"
#include "server/controller/text_in.h"

static tq_status check_count(const struct tq_intake *intake, const Tq__V1__InsertSamplesRequest *request)
{
    uint64_t most = intake->limits->request_samples;
    if (request->count == 0 || request->count > most)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "COUNT", "count: %u, expected 1..%" PRIu64, request->count,
                       most);
    if (request->reserve > intake->limits->samples)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "RESERVE", "reserve: %u, expected at most %" PRIu64,
                       request->reserve, intake->limits->samples);
    if ((int)request->placement < 0 || (int)request->placement > (int)TQ_PLACE_LOCAL_FIRST)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "PLACEMENT", "placement: %d, expected 0..%d",
                       (int)request->placement, (int)TQ_PLACE_LOCAL_FIRST);
    return TQ_OK;
}

static tq_status check_groups(const struct tq_intake *intake, const Tq__V1__InsertSamplesRequest *request)
{
    if (request->n_group != 0 && request->n_group != request->count)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "COLUMNS", "group: %zu entries, expected none or %u",
                       request->n_group, request->count);
    if (request->n_group != 0 && request->group_size != 0)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "GROUP",
                       "group_size: %u, expected 0 beside a column of groups", request->group_size);
    if (request->group_size != 0 && request->count % request->group_size != 0)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "GROUP", "count: %u, expected a multiple of group_size %u",
                       request->count, request->group_size);
    return TQ_OK;
}

static tq_status check_keys(const struct tq_intake *intake, const Tq__V1__InsertSamplesRequest *request)
{
    if (request->n_key != 0 && request->n_key != request->count)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "COLUMNS", "key: %zu entries, expected none or %u",
                       request->n_key, request->count);
    tq_status status = TQ_OK;
    for (size_t i = 0; status == TQ_OK && i < request->n_key; i++)
        status = tq_text_check("key", request->key[i], intake->limits->key_bytes, intake->err);
    return status == TQ_OK ? tq_distinct_in(intake, "key", request->key, request->n_key) : status;
}

static tq_status read_request(const struct tq_intake *intake, const Tq__V1__InsertSamplesRequest *request,
                              struct tq_insertion *insertion)
{
    tq_status status = tq_text_check("partition", request->partition, intake->limits->name_bytes, intake->err);
    if (status == TQ_OK)
        status = check_count(intake, request);
    if (status == TQ_OK)
        status = check_groups(intake, request);
    if (status == TQ_OK)
        status = check_keys(intake, request);
    if (status == TQ_OK)
        status = tq_tags_in(intake, request->tags, request->count, &insertion->tags);
    if (status == TQ_OK)
        status = tq_announced_in(intake, request->fields, request->n_fields, &insertion->fields);
    insertion->partition = request->partition;
    insertion->n = request->count;
    insertion->groups = request->n_group > 0 ? request->group : NULL;
    insertion->group_size = request->group_size;
    insertion->keys = request->n_key > 0 ? request->key : NULL;
    insertion->n_fields = (uint32_t)request->n_fields;
    insertion->placement = (enum tq_placement)request->placement;
    insertion->near = request->near;
    insertion->sample_bytes = request->sample_bytes;
    insertion->reserve = request->reserve;
    return status;
}

static void answer(struct tq_controller *controller, const Tq__V1__InsertSamplesRequest *request,
                   const struct tq_partition *partition, const uint32_t *slots, struct tq_server_call *call)
{
    char **names = tq_arena_alloc(controller->scratch, request->n_fields * sizeof(*names));
    for (size_t i = 0; names != NULL && i < request->n_fields; i++)
        names[i] = request->fields[i]->name;
    const struct tq_batch_wish wish = { .partition = request->partition,
                                        .fields = names,
                                        .n_fields = names != NULL ? request->n_fields : 0,
                                        .want_keys = true };
    Tq__V1__InsertSamplesResponse response = TQ__V1__INSERT_SAMPLES_RESPONSE__INIT;
    response.batch = tq_batch_out(controller->scratch, &controller->table, partition, slots, request->count, &wish);
    if (response.batch == NULL)
        tq_controller_no_memory(call);
    else
        tq_v1_controller_insert_samples_answer(call, &response);
}

void tq_controller_insert_samples(void *state, const Tq__V1__InsertSamplesRequest *request, struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_error err;
    struct tq_insertion insertion = { 0 };
    struct tq_partition *partition;
    const struct tq_intake intake = tq_controller_intake(controller, &err);
    tq_status status = read_request(&intake, request, &insertion);
    uint32_t *slots = status == TQ_OK ? tq_arena_alloc(controller->scratch, request->count * sizeof(*slots)) : NULL;
    if (status == TQ_OK && slots == NULL) {
        tq_controller_no_memory(call);
        return;
    }
    if (status == TQ_OK)
        status = tq_table_insert(&controller->table, &insertion, &partition, slots, &err);
    if (status != TQ_OK) {
        tq_server_fail_error(call, &err);
        return;
    }
    controller->stats.inserted += request->count;
    answer(controller, request, partition, slots, call);
    tq_controller_settle(controller);
}

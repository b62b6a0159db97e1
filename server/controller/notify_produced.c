/* ControllerService/NotifyProduced and SetTags: what producers say about samples that exist. */
#include "server/controller/service.h"

void tq_controller_notify_produced(void *state, const Tq__V1__NotifyProducedRequest *request,
                                   struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_error err;
    struct tq_samples_in samples = { 0 };
    struct tq_production production = { 0 };
    uint64_t cells = 0;
    const struct tq_intake intake = tq_controller_intake(controller, &err);
    tq_status status = tq_samples_in(&intake, "samples", request->samples, &samples);
    if (status == TQ_OK)
        status = tq_produced_in(&intake, request->fields, request->n_fields, request->shapes, request->n_shapes,
                                samples.n, &production.fields);
    if (status == TQ_OK)
        status = tq_column_in(&intake, "bytes", request->bytes, request->n_bytes, samples.n, &production.bytes);
    if (status == TQ_OK)
        status = tq_tags_in(&intake, request->tags, samples.n, &production.tags);
    if (status == TQ_OK) {
        production.partition = samples.partition;
        production.samples = samples.refs;
        production.n = samples.n;
        production.units = samples.units;
        production.n_fields = (uint32_t)request->n_fields;
        status = tq_table_produce(&controller->table, &production, &cells, &err);
    }
    if (status != TQ_OK) {
        tq_server_fail_error(call, &err);
        return;
    }
    controller->stats.produced_cells += cells;
    Tq__V1__NotifyProducedResponse response = TQ__V1__NOTIFY_PRODUCED_RESPONSE__INIT;
    response.cells = cells > UINT32_MAX ? UINT32_MAX : (uint32_t)cells;
    tq_v1_controller_notify_produced_answer(call, &response);
    tq_controller_settle(controller);
}

void tq_controller_set_tags(void *state, const Tq__V1__SetTagsRequest *request, struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_error err;
    struct tq_samples_in samples = { 0 };
    struct tq_tag_changes tags;
    const struct tq_intake intake = tq_controller_intake(controller, &err);
    tq_status status = tq_samples_in(&intake, "samples", request->samples, &samples);
    if (status == TQ_OK)
        status = tq_tags_in(&intake, request->tags, samples.n, &tags);
    if (status == TQ_OK)
        status = tq_table_set_tags(&controller->table, samples.partition, samples.refs, samples.n, &tags,
                                   request->replace, &err);
    if (status != TQ_OK) {
        tq_server_fail_error(call, &err);
        return;
    }
    Tq__V1__SetTagsResponse response = TQ__V1__SET_TAGS_RESPONSE__INIT;
    response.samples = samples.n;
    tq_v1_controller_set_tags_answer(call, &response);
}

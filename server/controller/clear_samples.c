/* ControllerService/ClearSamples and ClearPartition. */
#include "server/controller/service.h"
#include "server/controller/text_in.h"

void tq_controller_clear_samples(void *state, const Tq__V1__ClearSamplesRequest *request, struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_error err;
    struct tq_samples_in samples = { 0 };
    struct tq_cleared cleared;
    const struct tq_intake intake = tq_controller_intake(controller, &err);
    tq_status status = tq_samples_in(&intake, "samples", request->samples, &samples);
    if (status == TQ_OK)
        status = tq_table_clear(&controller->table, samples.partition, samples.refs, samples.n, &cleared, &err);
    if (status != TQ_OK) {
        tq_server_fail_error(call, &err);
        return;
    }
    controller->stats.cleared += cleared.removed;
    Tq__V1__ClearSamplesResponse response = TQ__V1__CLEAR_SAMPLES_RESPONSE__INIT;
    response.removed = cleared.removed;
    response.absent = cleared.absent;
    response.stale = cleared.stale;
    tq_v1_controller_clear_samples_answer(call, &response);
    tq_controller_settle(controller);
}

void tq_controller_clear_partition(void *state, const Tq__V1__ClearPartitionRequest *request,
                                   struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_error err;
    bool existed;
    uint64_t removed;
    tq_status status = tq_text_check("partition", request->partition, controller->table.limits.name_bytes, &err);
    if (status == TQ_OK)
        status = tq_table_clear_partition(&controller->table, request->partition, &existed, &removed, &err);
    if (status != TQ_OK) {
        tq_server_fail_error(call, &err);
        return;
    }
    controller->stats.cleared += removed;
    Tq__V1__ClearPartitionResponse response = TQ__V1__CLEAR_PARTITION_RESPONSE__INIT;
    response.existed = existed;
    response.removed = removed;
    tq_v1_controller_clear_partition_answer(call, &response);
    tq_controller_settle(controller);
}

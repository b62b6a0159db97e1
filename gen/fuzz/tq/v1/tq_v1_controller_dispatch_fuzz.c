/* Written by protoc-gen-tq from tq/v1/controller.proto. Do not edit. Each method of
 * tq.v1.ControllerService reaches its own handler, with its own message. */
#include "tq/v1/controller.tq.h"
#include "tq/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_tq_v1_controller_insert_samples(void *state, const Tq__V1__InsertSamplesRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_INSERT_SAMPLES_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_notify_produced(void *state, const Tq__V1__NotifyProducedRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_NOTIFY_PRODUCED_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_fetch_batch(void *state, const Tq__V1__FetchBatchRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_FETCH_BATCH_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_describe_partition(void *state, const Tq__V1__DescribePartitionRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_DESCRIBE_PARTITION_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_list_partitions(void *state, const Tq__V1__ListPartitionsRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_LIST_PARTITIONS_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_seal_partition(void *state, const Tq__V1__SealPartitionRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_SEAL_PARTITION_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_clear_samples(void *state, const Tq__V1__ClearSamplesRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_CLEAR_SAMPLES_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_clear_partition(void *state, const Tq__V1__ClearPartitionRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_CLEAR_PARTITION_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_get_consumption(void *state, const Tq__V1__GetConsumptionRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_GET_CONSUMPTION_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_reset_consumption(void *state, const Tq__V1__ResetConsumptionRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_RESET_CONSUMPTION_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_get_production(void *state, const Tq__V1__GetProductionRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_GET_PRODUCTION_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_set_tags(void *state, const Tq__V1__SetTagsRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_SET_TAGS_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_resolve_keys(void *state, const Tq__V1__ResolveKeysRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_RESOLVE_KEYS_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_list_keys(void *state, const Tq__V1__ListKeysRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_LIST_KEYS_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_ack_lease(void *state, const Tq__V1__AckLeaseRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_ACK_LEASE_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_extend_lease(void *state, const Tq__V1__ExtendLeaseRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_EXTEND_LEASE_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_release_lease(void *state, const Tq__V1__ReleaseLeaseRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_RELEASE_LEASE_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_list_dead_letters(void *state, const Tq__V1__ListDeadLettersRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_LIST_DEAD_LETTERS_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_register_unit(void *state, const Tq__V1__RegisterUnitRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_REGISTER_UNIT_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_heartbeat_unit(void *state, const Tq__V1__HeartbeatUnitRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_HEARTBEAT_UNIT_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_drain_unit(void *state, const Tq__V1__DrainUnitRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_DRAIN_UNIT_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_list_units(void *state, const Tq__V1__ListUnitsRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_LIST_UNITS_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_set_config(void *state, const Tq__V1__SetConfigRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_SET_CONFIG_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_get_config(void *state, const Tq__V1__GetConfigRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_GET_CONFIG_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_save_controller_checkpoint(void *state, const Tq__V1__SaveControllerCheckpointRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_SAVE_CONTROLLER_CHECKPOINT_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_controller_load_controller_checkpoint(void *state, const Tq__V1__LoadControllerCheckpointRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_CONTROLLER_LOAD_CONTROLLER_CHECKPOINT_METHOD, (const ProtobufCMessage *)request, call);
}

static const struct tq_v1_controller_ops handlers = {
    .insert_samples = on_tq_v1_controller_insert_samples,
    .notify_produced = on_tq_v1_controller_notify_produced,
    .fetch_batch = on_tq_v1_controller_fetch_batch,
    .describe_partition = on_tq_v1_controller_describe_partition,
    .list_partitions = on_tq_v1_controller_list_partitions,
    .seal_partition = on_tq_v1_controller_seal_partition,
    .clear_samples = on_tq_v1_controller_clear_samples,
    .clear_partition = on_tq_v1_controller_clear_partition,
    .get_consumption = on_tq_v1_controller_get_consumption,
    .reset_consumption = on_tq_v1_controller_reset_consumption,
    .get_production = on_tq_v1_controller_get_production,
    .set_tags = on_tq_v1_controller_set_tags,
    .resolve_keys = on_tq_v1_controller_resolve_keys,
    .list_keys = on_tq_v1_controller_list_keys,
    .ack_lease = on_tq_v1_controller_ack_lease,
    .extend_lease = on_tq_v1_controller_extend_lease,
    .release_lease = on_tq_v1_controller_release_lease,
    .list_dead_letters = on_tq_v1_controller_list_dead_letters,
    .register_unit = on_tq_v1_controller_register_unit,
    .heartbeat_unit = on_tq_v1_controller_heartbeat_unit,
    .drain_unit = on_tq_v1_controller_drain_unit,
    .list_units = on_tq_v1_controller_list_units,
    .set_config = on_tq_v1_controller_set_config,
    .get_config = on_tq_v1_controller_get_config,
    .save_controller_checkpoint = on_tq_v1_controller_save_controller_checkpoint,
    .load_controller_checkpoint = on_tq_v1_controller_load_controller_checkpoint,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return tq_fuzz_dispatch(&tq_v1_controller_service, &handlers, sizeof(handlers), data, size);
}

/* Written by protoc-gen-tq from tq/v1/storage.proto. Do not edit. Each method of
 * tq.v1.StorageService reaches its own handler, with its own message. */
#include "tq/v1/storage.tq.h"
#include "tq/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_tq_v1_storage_put(void *state, const Tq__V1__PutRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_STORAGE_PUT_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_storage_get(void *state, const Tq__V1__GetRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_STORAGE_GET_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_storage_release(void *state, const Tq__V1__ReleaseRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_STORAGE_RELEASE_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_storage_clear(void *state, const Tq__V1__ClearRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_STORAGE_CLEAR_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_storage_describe(void *state, const Tq__V1__DescribeRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_STORAGE_DESCRIBE_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_storage_get_stats(void *state, const Tq__V1__GetStatsRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_STORAGE_GET_STATS_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_storage_save_storage_checkpoint(void *state, const Tq__V1__SaveStorageCheckpointRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_STORAGE_SAVE_STORAGE_CHECKPOINT_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_storage_load_storage_checkpoint(void *state, const Tq__V1__LoadStorageCheckpointRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_STORAGE_LOAD_STORAGE_CHECKPOINT_METHOD, (const ProtobufCMessage *)request, call);
}

static const struct tq_v1_storage_ops handlers = {
    .put = on_tq_v1_storage_put,
    .get = on_tq_v1_storage_get,
    .release = on_tq_v1_storage_release,
    .clear = on_tq_v1_storage_clear,
    .describe = on_tq_v1_storage_describe,
    .get_stats = on_tq_v1_storage_get_stats,
    .save_storage_checkpoint = on_tq_v1_storage_save_storage_checkpoint,
    .load_storage_checkpoint = on_tq_v1_storage_load_storage_checkpoint,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return tq_fuzz_dispatch(&tq_v1_storage_service, &handlers, sizeof(handlers), data, size);
}

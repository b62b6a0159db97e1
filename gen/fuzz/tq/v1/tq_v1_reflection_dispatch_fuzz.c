/* Written by protoc-gen-tq from tq/v1/reflection.proto. Do not edit. Each method of
 * tq.v1.ReflectionService reaches its own handler, with its own message. */
#include "tq/v1/reflection.tq.h"
#include "tq/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_tq_v1_reflection_list_services(void *state, const Tq__V1__ListServicesRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_REFLECTION_LIST_SERVICES_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_reflection_describe_service(void *state, const Tq__V1__DescribeServiceRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_REFLECTION_DESCRIBE_SERVICE_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_reflection_get_limits(void *state, const Tq__V1__GetLimitsRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_REFLECTION_GET_LIMITS_METHOD, (const ProtobufCMessage *)request, call);
}

static const struct tq_v1_reflection_ops handlers = {
    .list_services = on_tq_v1_reflection_list_services,
    .describe_service = on_tq_v1_reflection_describe_service,
    .get_limits = on_tq_v1_reflection_get_limits,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return tq_fuzz_dispatch(&tq_v1_reflection_service, &handlers, sizeof(handlers), data, size);
}

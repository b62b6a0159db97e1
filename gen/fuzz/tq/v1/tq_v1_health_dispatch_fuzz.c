/* Written by protoc-gen-tq from tq/v1/health.proto. Do not edit. Each method of
 * tq.v1.HealthService reaches its own handler, with its own message. */
#include "tq/v1/health.tq.h"
#include "tq/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_tq_v1_health_check(void *state, const Tq__V1__CheckRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_HEALTH_CHECK_METHOD, (const ProtobufCMessage *)request, call);
}

static void on_tq_v1_health_get_metrics(void *state, const Tq__V1__GetMetricsRequest *request, struct tq_server_call *call)
{
    tq_fuzz_saw(state, TQ_V1_HEALTH_GET_METRICS_METHOD, (const ProtobufCMessage *)request, call);
}

static const struct tq_v1_health_ops handlers = {
    .check = on_tq_v1_health_check,
    .get_metrics = on_tq_v1_health_get_metrics,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return tq_fuzz_dispatch(&tq_v1_health_service, &handlers, sizeof(handlers), data, size);
}

/* ControllerService/SetConfig and GetConfig. */
#include <inttypes.h>
#include <string.h>

#include "server/controller/service.h"

void tq_controller_set_config(void *state, const Tq__V1__SetConfigRequest *request, struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    uint64_t most = controller->table.limits.config_bytes;
    if (request->config.len > most) {
        tq_server_fail(call, TQ_INVALID_ARGUMENT, "CONFIG", "config: %zu bytes, expected at most %" PRIu64,
                       request->config.len, most);
        return;
    }
    if (request->expect_version != 0 && request->expect_version != controller->config_version) {
        tq_server_fail(call, TQ_ABORTED, "CONFIG_VERSION", "expect_version: %" PRIu64 ", expected %" PRIu64,
                       request->expect_version, controller->config_version);
        return;
    }
    uint8_t *copy = tq_seam_alloc(controller->seam, request->config.len);
    if (copy == NULL) {
        tq_controller_no_memory(call);
        return;
    }
    if (request->config.len > 0)
        memcpy(copy, request->config.data, request->config.len);
    tq_seam_free(controller->seam, controller->config);
    controller->config = copy;
    controller->config_bytes = request->config.len;
    Tq__V1__SetConfigResponse response = TQ__V1__SET_CONFIG_RESPONSE__INIT;
    response.version = ++controller->config_version;
    tq_v1_controller_set_config_answer(call, &response);
}

void tq_controller_get_config(void *state, const Tq__V1__GetConfigRequest *request, struct tq_server_call *call)
{
    const struct tq_controller *controller = state;
    (void)request;
    Tq__V1__GetConfigResponse response = TQ__V1__GET_CONFIG_RESPONSE__INIT;
    response.config = (ProtobufCBinaryData){ controller->config_bytes, controller->config };
    response.version = controller->config_version;
    tq_v1_controller_get_config_answer(call, &response);
}

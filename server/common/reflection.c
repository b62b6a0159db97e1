#include "server/common/reflection.h"

#include <string.h>

#include "tq/v1/reflection.tq.h"
#include "transport/base/assert.h"

enum { METHODS_MAX = 512, LIMITS_MAX = 128 };

void tq_reflection_add(struct tq_reflection *reflection, const struct tq_service *service)
{
    TQ_ASSERT(reflection->n_services < TQ_REFLECTION_SERVICES);
    reflection->services[reflection->n_services++] = service;
}

static void list_services(void *state, const Tq__V1__ListServicesRequest *request, struct tq_server_call *call)
{
    const struct tq_reflection *reflection = state;
    const char *services[TQ_REFLECTION_SERVICES];
    const char *methods[METHODS_MAX];
    uint32_t ids[METHODS_MAX];
    size_t n = 0;
    (void)request;
    for (size_t s = 0; s < reflection->n_services; s++) {
        const struct tq_service *service = reflection->services[s];
        services[s] = service->name;
        for (size_t m = 0; m < service->n_methods && n < METHODS_MAX; m++, n++) {
            methods[n] = service->methods[m].name;
            ids[n] = service->methods[m].id;
        }
    }
    Tq__V1__ListServicesResponse response = TQ__V1__LIST_SERVICES_RESPONSE__INIT;
    response.n_service = reflection->n_services;
    response.service = (char **)services;
    response.n_method = response.n_method_id = n;
    response.method = (char **)methods;
    response.method_id = ids;
    tq_v1_reflection_list_services_answer(call, &response);
}

static void describe_service(void *state, const Tq__V1__DescribeServiceRequest *request, struct tq_server_call *call)
{
    const struct tq_reflection *reflection = state;
    for (size_t s = 0; s < reflection->n_services; s++) {
        const struct tq_service *service = reflection->services[s];
        if (strcmp(service->name, request->service) != 0)
            continue;
        Tq__V1__DescribeServiceResponse response = TQ__V1__DESCRIBE_SERVICE_RESPONSE__INIT;
        response.file.data = (uint8_t *)service->file_descriptor.ptr;
        response.file.len = service->file_descriptor.len;
        tq_v1_reflection_describe_service_answer(call, &response);
        return;
    }
    tq_server_fail(call, TQ_NOT_FOUND, NULL, "service: '%.128s' is not served here; ListServices names those that are",
                   request->service);
}

static void get_limits(void *state, const Tq__V1__GetLimitsRequest *request, struct tq_server_call *call)
{
    const struct tq_reflection *reflection = state;
    const char *names[LIMITS_MAX];
    const char *helps[LIMITS_MAX];
    uint64_t values[LIMITS_MAX], initials[LIMITS_MAX], mins[LIMITS_MAX], maxs[LIMITS_MAX];
    size_t n = reflection->n_limits;
    (void)request;
    TQ_ASSERT(n <= LIMITS_MAX);
    for (size_t i = 0; i < n; i++) {
        const struct tq_limit_row *row = &reflection->limits[i];
        names[i] = row->name;
        helps[i] = row->help;
        values[i] = row->value;
        initials[i] = row->initial;
        mins[i] = row->min;
        maxs[i] = row->max;
    }
    Tq__V1__GetLimitsResponse response = TQ__V1__GET_LIMITS_RESPONSE__INIT;
    response.n_name = response.n_value = response.n_default_value = response.n_min = response.n_max = n;
    response.n_help = n;
    response.name = (char **)names;
    response.help = (char **)helps;
    response.value = values;
    response.default_value = initials;
    response.min = mins;
    response.max = maxs;
    tq_v1_reflection_get_limits_answer(call, &response);
}

tq_status tq_reflection_serve(struct tq_reflection *reflection, struct tq_server *server, struct tq_error *err)
{
    static const struct tq_v1_reflection_ops ops = { .list_services = list_services,
                                                     .describe_service = describe_service,
                                                     .get_limits = get_limits };
    tq_reflection_add(reflection, &tq_v1_reflection_service);
    return tq_v1_reflection_add(server, &ops, reflection, err);
}

/* Written by protoc-gen-tq from tq/v1/reflection.proto. Do not edit.
 * X() blocks, X_cb() calls back, X_start() gives a future; owners, threads and errors: tq/rpc.h. */
#ifndef TQ_GENERATED_tq_2fv1_2freflection_2eproto_H
#define TQ_GENERATED_tq_2fv1_2freflection_2eproto_H

#include "tq/rpc.h"

#include "tq/v1/reflection.pb-c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Service tq.v1.ReflectionService. */
extern const struct tq_service tq_v1_reflection_service;

/* tq.v1.ReflectionService/ListServices: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the
 * request, 1048576 for the response. */
#define TQ_V1_REFLECTION_LIST_SERVICES_ID 0x0311u
#define TQ_V1_REFLECTION_LIST_SERVICES_METHOD (&tq_v1_reflection_service.methods[0])
tq_status tq_v1_reflection_list_services(struct tq_channel *channel, const Tq__V1__ListServicesRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_reflection_list_services_cb(struct tq_channel *channel, const Tq__V1__ListServicesRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_reflection_list_services_start(struct tq_channel *channel, const Tq__V1__ListServicesRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__ListServicesResponse *tq_v1_reflection_list_services_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__list_services_response__descriptor
               ? (const Tq__V1__ListServicesResponse *)reply->message
               : NULL;
}

/* The serialized google.protobuf.FileDescriptorProto of the file that defines a service.
 * tq.v1.ReflectionService/DescribeService: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the
 * request, 1048576 for the response. */
#define TQ_V1_REFLECTION_DESCRIBE_SERVICE_ID 0x0312u
#define TQ_V1_REFLECTION_DESCRIBE_SERVICE_METHOD (&tq_v1_reflection_service.methods[1])
tq_status tq_v1_reflection_describe_service(struct tq_channel *channel, const Tq__V1__DescribeServiceRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_reflection_describe_service_cb(struct tq_channel *channel, const Tq__V1__DescribeServiceRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_reflection_describe_service_start(struct tq_channel *channel, const Tq__V1__DescribeServiceRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__DescribeServiceResponse *tq_v1_reflection_describe_service_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__describe_service_response__descriptor
               ? (const Tq__V1__DescribeServiceResponse *)reply->message
               : NULL;
}

/* Every limit in force, with its default and range.
 * tq.v1.ReflectionService/GetLimits: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the request,
 * 1048576 for the response. */
#define TQ_V1_REFLECTION_GET_LIMITS_ID 0x0313u
#define TQ_V1_REFLECTION_GET_LIMITS_METHOD (&tq_v1_reflection_service.methods[2])
tq_status tq_v1_reflection_get_limits(struct tq_channel *channel, const Tq__V1__GetLimitsRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_reflection_get_limits_cb(struct tq_channel *channel, const Tq__V1__GetLimitsRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_reflection_get_limits_start(struct tq_channel *channel, const Tq__V1__GetLimitsRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__GetLimitsResponse *tq_v1_reflection_get_limits_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__get_limits_response__descriptor
               ? (const Tq__V1__GetLimitsResponse *)reply->message
               : NULL;
}

/* The handlers of tq.v1.ReflectionService, on the server's loop thread. `request` lives until the call is answered. A
 * method without a handler answers UNIMPLEMENTED. */
struct tq_v1_reflection_ops {
    void (*list_services)(void *state, const Tq__V1__ListServicesRequest *request, struct tq_server_call *call);
    void (*describe_service)(void *state, const Tq__V1__DescribeServiceRequest *request, struct tq_server_call *call);
    void (*get_limits)(void *state, const Tq__V1__GetLimitsRequest *request, struct tq_server_call *call);
};
/* Before the server starts; see tq_server_add(). */
TQ_MUST_CHECK tq_status tq_v1_reflection_add(struct tq_server *server, const struct tq_v1_reflection_ops *ops, void *state,
    struct tq_error *err);
/* Each ends its call; see tq_server_answer(). */
void tq_v1_reflection_list_services_answer(struct tq_server_call *call, const Tq__V1__ListServicesResponse *response);
void tq_v1_reflection_describe_service_answer(struct tq_server_call *call, const Tq__V1__DescribeServiceResponse *response);
void tq_v1_reflection_get_limits_answer(struct tq_server_call *call, const Tq__V1__GetLimitsResponse *response);

#ifdef __cplusplus
}
#endif
#endif

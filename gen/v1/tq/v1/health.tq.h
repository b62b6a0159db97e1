/* Written by protoc-gen-tq from tq/v1/health.proto. Do not edit.
 * X() blocks, X_cb() calls back, X_start() gives a future; owners, threads and errors: tq/rpc.h. */
#ifndef TQ_GENERATED_tq_2fv1_2fhealth_2eproto_H
#define TQ_GENERATED_tq_2fv1_2fhealth_2eproto_H

#include "tq/rpc.h"

#include "tq/v1/health.pb-c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Service tq.v1.HealthService. */
extern const struct tq_service tq_v1_health_service;

/* tq.v1.HealthService/Check: idempotent. Without a deadline: 5000 ms. Limits: 65536 bytes for the request, 65536
 * for the response. */
#define TQ_V1_HEALTH_CHECK_ID 0x0301u
#define TQ_V1_HEALTH_CHECK_METHOD (&tq_v1_health_service.methods[0])
tq_status tq_v1_health_check(struct tq_channel *channel, const Tq__V1__CheckRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_health_check_cb(struct tq_channel *channel, const Tq__V1__CheckRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_health_check_start(struct tq_channel *channel, const Tq__V1__CheckRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__CheckResponse *tq_v1_health_check_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__check_response__descriptor
               ? (const Tq__V1__CheckResponse *)reply->message
               : NULL;
}

/* tq.v1.HealthService/GetMetrics: idempotent. Without a deadline: 5000 ms. Limits: 65536 bytes for the request,
 * 1048576 for the response. */
#define TQ_V1_HEALTH_GET_METRICS_ID 0x0302u
#define TQ_V1_HEALTH_GET_METRICS_METHOD (&tq_v1_health_service.methods[1])
tq_status tq_v1_health_get_metrics(struct tq_channel *channel, const Tq__V1__GetMetricsRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_health_get_metrics_cb(struct tq_channel *channel, const Tq__V1__GetMetricsRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_health_get_metrics_start(struct tq_channel *channel, const Tq__V1__GetMetricsRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__GetMetricsResponse *tq_v1_health_get_metrics_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__get_metrics_response__descriptor
               ? (const Tq__V1__GetMetricsResponse *)reply->message
               : NULL;
}

/* The handlers of tq.v1.HealthService, on the server's loop thread. `request` lives until the call is answered. A
 * method without a handler answers UNIMPLEMENTED. */
struct tq_v1_health_ops {
    void (*check)(void *state, const Tq__V1__CheckRequest *request, struct tq_server_call *call);
    void (*get_metrics)(void *state, const Tq__V1__GetMetricsRequest *request, struct tq_server_call *call);
};
/* Before the server starts; see tq_server_add(). */
TQ_MUST_CHECK tq_status tq_v1_health_add(struct tq_server *server, const struct tq_v1_health_ops *ops, void *state,
    struct tq_error *err);
/* Each ends its call; see tq_server_answer(). */
void tq_v1_health_check_answer(struct tq_server_call *call, const Tq__V1__CheckResponse *response);
void tq_v1_health_get_metrics_answer(struct tq_server_call *call, const Tq__V1__GetMetricsResponse *response);

#ifdef __cplusplus
}
#endif
#endif

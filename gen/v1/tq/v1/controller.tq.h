/* Written by protoc-gen-tq from tq/v1/controller.proto. Do not edit.
 * X() blocks, X_cb() calls back, X_start() gives a future; owners, threads and errors: tq/rpc.h. */
#ifndef TQ_GENERATED_tq_2fv1_2fcontroller_2eproto_H
#define TQ_GENERATED_tq_2fv1_2fcontroller_2eproto_H

#include "tq/rpc.h"

#include "tq/v1/controller.pb-c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Service tq.v1.ControllerService. */
extern const struct tq_service tq_v1_controller_service;

/* Makes samples: allocates indexes with their generations and assigns each a unit. Nothing is ready before NotifyProduced.
 * tq.v1.ControllerService/InsertSamples: repeated only with its key. Without a deadline: 30000 ms. Limits: 16777216
 * bytes for the request, 16777216 for the response.
 * In the request these show whether they were set: tags. */
#define TQ_V1_CONTROLLER_INSERT_SAMPLES_ID 0x0101u
#define TQ_V1_CONTROLLER_INSERT_SAMPLES_METHOD (&tq_v1_controller_service.methods[0])
tq_status tq_v1_controller_insert_samples(struct tq_channel *channel, const Tq__V1__InsertSamplesRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_insert_samples_cb(struct tq_channel *channel, const Tq__V1__InsertSamplesRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_insert_samples_start(struct tq_channel *channel, const Tq__V1__InsertSamplesRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__InsertSamplesResponse *tq_v1_controller_insert_samples_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__insert_samples_response__descriptor
               ? (const Tq__V1__InsertSamplesResponse *)reply->message
               : NULL;
}

/* Makes cells ready: all of them or, when anything is refused, none.
 * tq.v1.ControllerService/NotifyProduced: idempotent. Without a deadline: 30000 ms. Limits: 16777216 bytes for the
 * request, 65536 for the response.
 * In the request these show whether they were set: samples, tags. */
#define TQ_V1_CONTROLLER_NOTIFY_PRODUCED_ID 0x0102u
#define TQ_V1_CONTROLLER_NOTIFY_PRODUCED_METHOD (&tq_v1_controller_service.methods[1])
tq_status tq_v1_controller_notify_produced(struct tq_channel *channel, const Tq__V1__NotifyProducedRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_notify_produced_cb(struct tq_channel *channel, const Tq__V1__NotifyProducedRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_notify_produced_start(struct tq_channel *channel, const Tq__V1__NotifyProducedRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__NotifyProducedResponse *tq_v1_controller_notify_produced_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__notify_produced_response__descriptor
               ? (const Tq__V1__NotifyProducedResponse *)reply->message
               : NULL;
}

/* A batch of samples whose fields are all ready and which the task has not consumed, chosen by a sampler. Waits for them up to
 * max_wait_ms.
 * tq.v1.ControllerService/FetchBatch: repeated only with its key. Without a deadline: 30000 ms. Limits: 65536 bytes
 * for the request, 16777216 for the response. The server may wait for max_wait_ms.
 * In the request these show whether they were set: sampler. */
#define TQ_V1_CONTROLLER_FETCH_BATCH_ID 0x0103u
#define TQ_V1_CONTROLLER_FETCH_BATCH_METHOD (&tq_v1_controller_service.methods[2])
tq_status tq_v1_controller_fetch_batch(struct tq_channel *channel, const Tq__V1__FetchBatchRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_fetch_batch_cb(struct tq_channel *channel, const Tq__V1__FetchBatchRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_fetch_batch_start(struct tq_channel *channel, const Tq__V1__FetchBatchRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__FetchBatchResponse *tq_v1_controller_fetch_batch_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__fetch_batch_response__descriptor
               ? (const Tq__V1__FetchBatchResponse *)reply->message
               : NULL;
}

/* Everything in a partition (or the named samples), ready or not, consumed or not.
 * tq.v1.ControllerService/DescribePartition: idempotent. Without a deadline: 30000 ms. Limits: 16777216 bytes for
 * the request, 16777216 for the response.
 * In the request these show whether they were set: samples. */
#define TQ_V1_CONTROLLER_DESCRIBE_PARTITION_ID 0x0104u
#define TQ_V1_CONTROLLER_DESCRIBE_PARTITION_METHOD (&tq_v1_controller_service.methods[3])
tq_status tq_v1_controller_describe_partition(struct tq_channel *channel, const Tq__V1__DescribePartitionRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_describe_partition_cb(struct tq_channel *channel, const Tq__V1__DescribePartitionRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_describe_partition_start(struct tq_channel *channel, const Tq__V1__DescribePartitionRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__DescribePartitionResponse *tq_v1_controller_describe_partition_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__describe_partition_response__descriptor
               ? (const Tq__V1__DescribePartitionResponse *)reply->message
               : NULL;
}

/* tq.v1.ControllerService/ListPartitions: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the
 * request, 4194304 for the response. */
#define TQ_V1_CONTROLLER_LIST_PARTITIONS_ID 0x0105u
#define TQ_V1_CONTROLLER_LIST_PARTITIONS_METHOD (&tq_v1_controller_service.methods[4])
tq_status tq_v1_controller_list_partitions(struct tq_channel *channel, const Tq__V1__ListPartitionsRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_list_partitions_cb(struct tq_channel *channel, const Tq__V1__ListPartitionsRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_list_partitions_start(struct tq_channel *channel, const Tq__V1__ListPartitionsRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__ListPartitionsResponse *tq_v1_controller_list_partitions_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__list_partitions_response__descriptor
               ? (const Tq__V1__ListPartitionsResponse *)reply->message
               : NULL;
}

/* No more samples will come. Fetches get what remains, then OUT_OF_RANGE.
 * tq.v1.ControllerService/SealPartition: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the
 * request, 65536 for the response. */
#define TQ_V1_CONTROLLER_SEAL_PARTITION_ID 0x0106u
#define TQ_V1_CONTROLLER_SEAL_PARTITION_METHOD (&tq_v1_controller_service.methods[5])
tq_status tq_v1_controller_seal_partition(struct tq_channel *channel, const Tq__V1__SealPartitionRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_seal_partition_cb(struct tq_channel *channel, const Tq__V1__SealPartitionRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_seal_partition_start(struct tq_channel *channel, const Tq__V1__SealPartitionRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__SealPartitionResponse *tq_v1_controller_seal_partition_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__seal_partition_response__descriptor
               ? (const Tq__V1__SealPartitionResponse *)reply->message
               : NULL;
}

/* Removes samples from the table. Their bytes are cleared first: an index may be used again once this is answered.
 * tq.v1.ControllerService/ClearSamples: idempotent. Without a deadline: 30000 ms. Limits: 16777216 bytes for the
 * request, 65536 for the response.
 * In the request these show whether they were set: samples. */
#define TQ_V1_CONTROLLER_CLEAR_SAMPLES_ID 0x0107u
#define TQ_V1_CONTROLLER_CLEAR_SAMPLES_METHOD (&tq_v1_controller_service.methods[6])
tq_status tq_v1_controller_clear_samples(struct tq_channel *channel, const Tq__V1__ClearSamplesRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_clear_samples_cb(struct tq_channel *channel, const Tq__V1__ClearSamplesRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_clear_samples_start(struct tq_channel *channel, const Tq__V1__ClearSamplesRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__ClearSamplesResponse *tq_v1_controller_clear_samples_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__clear_samples_response__descriptor
               ? (const Tq__V1__ClearSamplesResponse *)reply->message
               : NULL;
}

/* tq.v1.ControllerService/ClearPartition: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the
 * request, 65536 for the response. */
#define TQ_V1_CONTROLLER_CLEAR_PARTITION_ID 0x0108u
#define TQ_V1_CONTROLLER_CLEAR_PARTITION_METHOD (&tq_v1_controller_service.methods[7])
tq_status tq_v1_controller_clear_partition(struct tq_channel *channel, const Tq__V1__ClearPartitionRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_clear_partition_cb(struct tq_channel *channel, const Tq__V1__ClearPartitionRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_clear_partition_start(struct tq_channel *channel, const Tq__V1__ClearPartitionRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__ClearPartitionResponse *tq_v1_controller_clear_partition_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__clear_partition_response__descriptor
               ? (const Tq__V1__ClearPartitionResponse *)reply->message
               : NULL;
}

/* tq.v1.ControllerService/GetConsumption: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the
 * request, 16777216 for the response. */
#define TQ_V1_CONTROLLER_GET_CONSUMPTION_ID 0x0109u
#define TQ_V1_CONTROLLER_GET_CONSUMPTION_METHOD (&tq_v1_controller_service.methods[8])
tq_status tq_v1_controller_get_consumption(struct tq_channel *channel, const Tq__V1__GetConsumptionRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_get_consumption_cb(struct tq_channel *channel, const Tq__V1__GetConsumptionRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_get_consumption_start(struct tq_channel *channel, const Tq__V1__GetConsumptionRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__GetConsumptionResponse *tq_v1_controller_get_consumption_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__get_consumption_response__descriptor
               ? (const Tq__V1__GetConsumptionResponse *)reply->message
               : NULL;
}

/* tq.v1.ControllerService/ResetConsumption: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the
 * request, 65536 for the response. */
#define TQ_V1_CONTROLLER_RESET_CONSUMPTION_ID 0x010au
#define TQ_V1_CONTROLLER_RESET_CONSUMPTION_METHOD (&tq_v1_controller_service.methods[9])
tq_status tq_v1_controller_reset_consumption(struct tq_channel *channel, const Tq__V1__ResetConsumptionRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_reset_consumption_cb(struct tq_channel *channel, const Tq__V1__ResetConsumptionRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_reset_consumption_start(struct tq_channel *channel, const Tq__V1__ResetConsumptionRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__ResetConsumptionResponse *tq_v1_controller_reset_consumption_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__reset_consumption_response__descriptor
               ? (const Tq__V1__ResetConsumptionResponse *)reply->message
               : NULL;
}

/* tq.v1.ControllerService/GetProduction: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the
 * request, 16777216 for the response. */
#define TQ_V1_CONTROLLER_GET_PRODUCTION_ID 0x010bu
#define TQ_V1_CONTROLLER_GET_PRODUCTION_METHOD (&tq_v1_controller_service.methods[10])
tq_status tq_v1_controller_get_production(struct tq_channel *channel, const Tq__V1__GetProductionRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_get_production_cb(struct tq_channel *channel, const Tq__V1__GetProductionRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_get_production_start(struct tq_channel *channel, const Tq__V1__GetProductionRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__GetProductionResponse *tq_v1_controller_get_production_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__get_production_response__descriptor
               ? (const Tq__V1__GetProductionResponse *)reply->message
               : NULL;
}

/* tq.v1.ControllerService/SetTags: idempotent. Without a deadline: 30000 ms. Limits: 16777216 bytes for the
 * request, 65536 for the response.
 * In the request these show whether they were set: samples, tags. */
#define TQ_V1_CONTROLLER_SET_TAGS_ID 0x010cu
#define TQ_V1_CONTROLLER_SET_TAGS_METHOD (&tq_v1_controller_service.methods[11])
tq_status tq_v1_controller_set_tags(struct tq_channel *channel, const Tq__V1__SetTagsRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_set_tags_cb(struct tq_channel *channel, const Tq__V1__SetTagsRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_set_tags_start(struct tq_channel *channel, const Tq__V1__SetTagsRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__SetTagsResponse *tq_v1_controller_set_tags_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__set_tags_response__descriptor
               ? (const Tq__V1__SetTagsResponse *)reply->message
               : NULL;
}

/* Keys to samples, making those that do not exist when asked to.
 * tq.v1.ControllerService/ResolveKeys: repeated only with its key. Without a deadline: 30000 ms. Limits: 4194304
 * bytes for the request, 16777216 for the response. */
#define TQ_V1_CONTROLLER_RESOLVE_KEYS_ID 0x010du
#define TQ_V1_CONTROLLER_RESOLVE_KEYS_METHOD (&tq_v1_controller_service.methods[12])
tq_status tq_v1_controller_resolve_keys(struct tq_channel *channel, const Tq__V1__ResolveKeysRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_resolve_keys_cb(struct tq_channel *channel, const Tq__V1__ResolveKeysRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_resolve_keys_start(struct tq_channel *channel, const Tq__V1__ResolveKeysRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__ResolveKeysResponse *tq_v1_controller_resolve_keys_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__resolve_keys_response__descriptor
               ? (const Tq__V1__ResolveKeysResponse *)reply->message
               : NULL;
}

/* tq.v1.ControllerService/ListKeys: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the request,
 * 16777216 for the response. */
#define TQ_V1_CONTROLLER_LIST_KEYS_ID 0x010eu
#define TQ_V1_CONTROLLER_LIST_KEYS_METHOD (&tq_v1_controller_service.methods[13])
tq_status tq_v1_controller_list_keys(struct tq_channel *channel, const Tq__V1__ListKeysRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_list_keys_cb(struct tq_channel *channel, const Tq__V1__ListKeysRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_list_keys_start(struct tq_channel *channel, const Tq__V1__ListKeysRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__ListKeysResponse *tq_v1_controller_list_keys_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__list_keys_response__descriptor
               ? (const Tq__V1__ListKeysResponse *)reply->message
               : NULL;
}

/* Leases: a leased sample is not consumed before it is acknowledged; when the lease ends without, it is handed out again.
 * tq.v1.ControllerService/AckLease: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the request,
 * 65536 for the response.
 * In the request these show whether they were set: indexes. */
#define TQ_V1_CONTROLLER_ACK_LEASE_ID 0x0110u
#define TQ_V1_CONTROLLER_ACK_LEASE_METHOD (&tq_v1_controller_service.methods[14])
tq_status tq_v1_controller_ack_lease(struct tq_channel *channel, const Tq__V1__AckLeaseRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_ack_lease_cb(struct tq_channel *channel, const Tq__V1__AckLeaseRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_ack_lease_start(struct tq_channel *channel, const Tq__V1__AckLeaseRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__AckLeaseResponse *tq_v1_controller_ack_lease_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__ack_lease_response__descriptor
               ? (const Tq__V1__AckLeaseResponse *)reply->message
               : NULL;
}

/* tq.v1.ControllerService/ExtendLease: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the
 * request, 65536 for the response. */
#define TQ_V1_CONTROLLER_EXTEND_LEASE_ID 0x0111u
#define TQ_V1_CONTROLLER_EXTEND_LEASE_METHOD (&tq_v1_controller_service.methods[15])
tq_status tq_v1_controller_extend_lease(struct tq_channel *channel, const Tq__V1__ExtendLeaseRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_extend_lease_cb(struct tq_channel *channel, const Tq__V1__ExtendLeaseRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_extend_lease_start(struct tq_channel *channel, const Tq__V1__ExtendLeaseRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__ExtendLeaseResponse *tq_v1_controller_extend_lease_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__extend_lease_response__descriptor
               ? (const Tq__V1__ExtendLeaseResponse *)reply->message
               : NULL;
}

/* tq.v1.ControllerService/ReleaseLease: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the
 * request, 65536 for the response.
 * In the request these show whether they were set: indexes. */
#define TQ_V1_CONTROLLER_RELEASE_LEASE_ID 0x0112u
#define TQ_V1_CONTROLLER_RELEASE_LEASE_METHOD (&tq_v1_controller_service.methods[16])
tq_status tq_v1_controller_release_lease(struct tq_channel *channel, const Tq__V1__ReleaseLeaseRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_release_lease_cb(struct tq_channel *channel, const Tq__V1__ReleaseLeaseRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_release_lease_start(struct tq_channel *channel, const Tq__V1__ReleaseLeaseRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__ReleaseLeaseResponse *tq_v1_controller_release_lease_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__release_lease_response__descriptor
               ? (const Tq__V1__ReleaseLeaseResponse *)reply->message
               : NULL;
}

/* Samples whose leases ended too often.
 * tq.v1.ControllerService/ListDeadLetters: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the
 * request, 16777216 for the response. */
#define TQ_V1_CONTROLLER_LIST_DEAD_LETTERS_ID 0x0113u
#define TQ_V1_CONTROLLER_LIST_DEAD_LETTERS_METHOD (&tq_v1_controller_service.methods[17])
tq_status tq_v1_controller_list_dead_letters(struct tq_channel *channel, const Tq__V1__ListDeadLettersRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_list_dead_letters_cb(struct tq_channel *channel, const Tq__V1__ListDeadLettersRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_list_dead_letters_start(struct tq_channel *channel, const Tq__V1__ListDeadLettersRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__ListDeadLettersResponse *tq_v1_controller_list_dead_letters_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__list_dead_letters_response__descriptor
               ? (const Tq__V1__ListDeadLettersResponse *)reply->message
               : NULL;
}

/* Units: registration gives a number, heartbeats keep it.
 * tq.v1.ControllerService/RegisterUnit: idempotent. Without a deadline: 30000 ms. Limits: 16777216 bytes for the
 * request, 65536 for the response. */
#define TQ_V1_CONTROLLER_REGISTER_UNIT_ID 0x0120u
#define TQ_V1_CONTROLLER_REGISTER_UNIT_METHOD (&tq_v1_controller_service.methods[18])
tq_status tq_v1_controller_register_unit(struct tq_channel *channel, const Tq__V1__RegisterUnitRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_register_unit_cb(struct tq_channel *channel, const Tq__V1__RegisterUnitRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_register_unit_start(struct tq_channel *channel, const Tq__V1__RegisterUnitRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__RegisterUnitResponse *tq_v1_controller_register_unit_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__register_unit_response__descriptor
               ? (const Tq__V1__RegisterUnitResponse *)reply->message
               : NULL;
}

/* tq.v1.ControllerService/HeartbeatUnit: idempotent. Without a deadline: 5000 ms. Limits: 65536 bytes for the
 * request, 4194304 for the response. */
#define TQ_V1_CONTROLLER_HEARTBEAT_UNIT_ID 0x0121u
#define TQ_V1_CONTROLLER_HEARTBEAT_UNIT_METHOD (&tq_v1_controller_service.methods[19])
tq_status tq_v1_controller_heartbeat_unit(struct tq_channel *channel, const Tq__V1__HeartbeatUnitRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_heartbeat_unit_cb(struct tq_channel *channel, const Tq__V1__HeartbeatUnitRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_heartbeat_unit_start(struct tq_channel *channel, const Tq__V1__HeartbeatUnitRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__HeartbeatUnitResponse *tq_v1_controller_heartbeat_unit_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__heartbeat_unit_response__descriptor
               ? (const Tq__V1__HeartbeatUnitResponse *)reply->message
               : NULL;
}

/* tq.v1.ControllerService/DrainUnit: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the request,
 * 65536 for the response. */
#define TQ_V1_CONTROLLER_DRAIN_UNIT_ID 0x0122u
#define TQ_V1_CONTROLLER_DRAIN_UNIT_METHOD (&tq_v1_controller_service.methods[20])
tq_status tq_v1_controller_drain_unit(struct tq_channel *channel, const Tq__V1__DrainUnitRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_drain_unit_cb(struct tq_channel *channel, const Tq__V1__DrainUnitRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_drain_unit_start(struct tq_channel *channel, const Tq__V1__DrainUnitRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__DrainUnitResponse *tq_v1_controller_drain_unit_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__drain_unit_response__descriptor
               ? (const Tq__V1__DrainUnitResponse *)reply->message
               : NULL;
}

/* tq.v1.ControllerService/ListUnits: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the request,
 * 4194304 for the response. */
#define TQ_V1_CONTROLLER_LIST_UNITS_ID 0x0123u
#define TQ_V1_CONTROLLER_LIST_UNITS_METHOD (&tq_v1_controller_service.methods[21])
tq_status tq_v1_controller_list_units(struct tq_channel *channel, const Tq__V1__ListUnitsRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_list_units_cb(struct tq_channel *channel, const Tq__V1__ListUnitsRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_list_units_start(struct tq_channel *channel, const Tq__V1__ListUnitsRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__ListUnitsResponse *tq_v1_controller_list_units_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__list_units_response__descriptor
               ? (const Tq__V1__ListUnitsResponse *)reply->message
               : NULL;
}

/* The job's configuration, opaque to the controller.
 * tq.v1.ControllerService/SetConfig: idempotent. Without a deadline: 30000 ms. Limits: 1048576 bytes for the
 * request, 65536 for the response. */
#define TQ_V1_CONTROLLER_SET_CONFIG_ID 0x0130u
#define TQ_V1_CONTROLLER_SET_CONFIG_METHOD (&tq_v1_controller_service.methods[22])
tq_status tq_v1_controller_set_config(struct tq_channel *channel, const Tq__V1__SetConfigRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_set_config_cb(struct tq_channel *channel, const Tq__V1__SetConfigRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_set_config_start(struct tq_channel *channel, const Tq__V1__SetConfigRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__SetConfigResponse *tq_v1_controller_set_config_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__set_config_response__descriptor
               ? (const Tq__V1__SetConfigResponse *)reply->message
               : NULL;
}

/* tq.v1.ControllerService/GetConfig: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the request,
 * 1048576 for the response. */
#define TQ_V1_CONTROLLER_GET_CONFIG_ID 0x0131u
#define TQ_V1_CONTROLLER_GET_CONFIG_METHOD (&tq_v1_controller_service.methods[23])
tq_status tq_v1_controller_get_config(struct tq_channel *channel, const Tq__V1__GetConfigRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_get_config_cb(struct tq_channel *channel, const Tq__V1__GetConfigRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_get_config_start(struct tq_channel *channel, const Tq__V1__GetConfigRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__GetConfigResponse *tq_v1_controller_get_config_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__get_config_response__descriptor
               ? (const Tq__V1__GetConfigResponse *)reply->message
               : NULL;
}

/* tq.v1.ControllerService/SaveControllerCheckpoint: repeated only with its key. Without a deadline: 600000 ms.
 * Limits: 65536 bytes for the request, 65536 for the response. */
#define TQ_V1_CONTROLLER_SAVE_CONTROLLER_CHECKPOINT_ID 0x0140u
#define TQ_V1_CONTROLLER_SAVE_CONTROLLER_CHECKPOINT_METHOD (&tq_v1_controller_service.methods[24])
tq_status tq_v1_controller_save_controller_checkpoint(struct tq_channel *channel, const Tq__V1__SaveControllerCheckpointRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_save_controller_checkpoint_cb(struct tq_channel *channel, const Tq__V1__SaveControllerCheckpointRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_save_controller_checkpoint_start(struct tq_channel *channel, const Tq__V1__SaveControllerCheckpointRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__SaveControllerCheckpointResponse *tq_v1_controller_save_controller_checkpoint_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__save_controller_checkpoint_response__descriptor
               ? (const Tq__V1__SaveControllerCheckpointResponse *)reply->message
               : NULL;
}

/* tq.v1.ControllerService/LoadControllerCheckpoint: repeated only with its key. Without a deadline: 600000 ms.
 * Limits: 65536 bytes for the request, 65536 for the response. */
#define TQ_V1_CONTROLLER_LOAD_CONTROLLER_CHECKPOINT_ID 0x0141u
#define TQ_V1_CONTROLLER_LOAD_CONTROLLER_CHECKPOINT_METHOD (&tq_v1_controller_service.methods[25])
tq_status tq_v1_controller_load_controller_checkpoint(struct tq_channel *channel, const Tq__V1__LoadControllerCheckpointRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_controller_load_controller_checkpoint_cb(struct tq_channel *channel, const Tq__V1__LoadControllerCheckpointRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_controller_load_controller_checkpoint_start(struct tq_channel *channel, const Tq__V1__LoadControllerCheckpointRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__LoadControllerCheckpointResponse *tq_v1_controller_load_controller_checkpoint_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__load_controller_checkpoint_response__descriptor
               ? (const Tq__V1__LoadControllerCheckpointResponse *)reply->message
               : NULL;
}

/* The handlers of tq.v1.ControllerService, on the server's loop thread. `request` lives until the call is answered. A
 * method without a handler answers UNIMPLEMENTED. */
struct tq_v1_controller_ops {
    void (*insert_samples)(void *state, const Tq__V1__InsertSamplesRequest *request, struct tq_server_call *call);
    void (*notify_produced)(void *state, const Tq__V1__NotifyProducedRequest *request, struct tq_server_call *call);
    void (*fetch_batch)(void *state, const Tq__V1__FetchBatchRequest *request, struct tq_server_call *call);
    void (*describe_partition)(void *state, const Tq__V1__DescribePartitionRequest *request, struct tq_server_call *call);
    void (*list_partitions)(void *state, const Tq__V1__ListPartitionsRequest *request, struct tq_server_call *call);
    void (*seal_partition)(void *state, const Tq__V1__SealPartitionRequest *request, struct tq_server_call *call);
    void (*clear_samples)(void *state, const Tq__V1__ClearSamplesRequest *request, struct tq_server_call *call);
    void (*clear_partition)(void *state, const Tq__V1__ClearPartitionRequest *request, struct tq_server_call *call);
    void (*get_consumption)(void *state, const Tq__V1__GetConsumptionRequest *request, struct tq_server_call *call);
    void (*reset_consumption)(void *state, const Tq__V1__ResetConsumptionRequest *request, struct tq_server_call *call);
    void (*get_production)(void *state, const Tq__V1__GetProductionRequest *request, struct tq_server_call *call);
    void (*set_tags)(void *state, const Tq__V1__SetTagsRequest *request, struct tq_server_call *call);
    void (*resolve_keys)(void *state, const Tq__V1__ResolveKeysRequest *request, struct tq_server_call *call);
    void (*list_keys)(void *state, const Tq__V1__ListKeysRequest *request, struct tq_server_call *call);
    void (*ack_lease)(void *state, const Tq__V1__AckLeaseRequest *request, struct tq_server_call *call);
    void (*extend_lease)(void *state, const Tq__V1__ExtendLeaseRequest *request, struct tq_server_call *call);
    void (*release_lease)(void *state, const Tq__V1__ReleaseLeaseRequest *request, struct tq_server_call *call);
    void (*list_dead_letters)(void *state, const Tq__V1__ListDeadLettersRequest *request, struct tq_server_call *call);
    void (*register_unit)(void *state, const Tq__V1__RegisterUnitRequest *request, struct tq_server_call *call);
    void (*heartbeat_unit)(void *state, const Tq__V1__HeartbeatUnitRequest *request, struct tq_server_call *call);
    void (*drain_unit)(void *state, const Tq__V1__DrainUnitRequest *request, struct tq_server_call *call);
    void (*list_units)(void *state, const Tq__V1__ListUnitsRequest *request, struct tq_server_call *call);
    void (*set_config)(void *state, const Tq__V1__SetConfigRequest *request, struct tq_server_call *call);
    void (*get_config)(void *state, const Tq__V1__GetConfigRequest *request, struct tq_server_call *call);
    void (*save_controller_checkpoint)(void *state, const Tq__V1__SaveControllerCheckpointRequest *request, struct tq_server_call *call);
    void (*load_controller_checkpoint)(void *state, const Tq__V1__LoadControllerCheckpointRequest *request, struct tq_server_call *call);
};
/* Before the server starts; see tq_server_add(). */
TQ_MUST_CHECK tq_status tq_v1_controller_add(struct tq_server *server, const struct tq_v1_controller_ops *ops, void *state,
    struct tq_error *err);
/* Each ends its call; see tq_server_answer(). */
void tq_v1_controller_insert_samples_answer(struct tq_server_call *call, const Tq__V1__InsertSamplesResponse *response);
void tq_v1_controller_notify_produced_answer(struct tq_server_call *call, const Tq__V1__NotifyProducedResponse *response);
void tq_v1_controller_fetch_batch_answer(struct tq_server_call *call, const Tq__V1__FetchBatchResponse *response);
void tq_v1_controller_describe_partition_answer(struct tq_server_call *call, const Tq__V1__DescribePartitionResponse *response);
void tq_v1_controller_list_partitions_answer(struct tq_server_call *call, const Tq__V1__ListPartitionsResponse *response);
void tq_v1_controller_seal_partition_answer(struct tq_server_call *call, const Tq__V1__SealPartitionResponse *response);
void tq_v1_controller_clear_samples_answer(struct tq_server_call *call, const Tq__V1__ClearSamplesResponse *response);
void tq_v1_controller_clear_partition_answer(struct tq_server_call *call, const Tq__V1__ClearPartitionResponse *response);
void tq_v1_controller_get_consumption_answer(struct tq_server_call *call, const Tq__V1__GetConsumptionResponse *response);
void tq_v1_controller_reset_consumption_answer(struct tq_server_call *call, const Tq__V1__ResetConsumptionResponse *response);
void tq_v1_controller_get_production_answer(struct tq_server_call *call, const Tq__V1__GetProductionResponse *response);
void tq_v1_controller_set_tags_answer(struct tq_server_call *call, const Tq__V1__SetTagsResponse *response);
void tq_v1_controller_resolve_keys_answer(struct tq_server_call *call, const Tq__V1__ResolveKeysResponse *response);
void tq_v1_controller_list_keys_answer(struct tq_server_call *call, const Tq__V1__ListKeysResponse *response);
void tq_v1_controller_ack_lease_answer(struct tq_server_call *call, const Tq__V1__AckLeaseResponse *response);
void tq_v1_controller_extend_lease_answer(struct tq_server_call *call, const Tq__V1__ExtendLeaseResponse *response);
void tq_v1_controller_release_lease_answer(struct tq_server_call *call, const Tq__V1__ReleaseLeaseResponse *response);
void tq_v1_controller_list_dead_letters_answer(struct tq_server_call *call, const Tq__V1__ListDeadLettersResponse *response);
void tq_v1_controller_register_unit_answer(struct tq_server_call *call, const Tq__V1__RegisterUnitResponse *response);
void tq_v1_controller_heartbeat_unit_answer(struct tq_server_call *call, const Tq__V1__HeartbeatUnitResponse *response);
void tq_v1_controller_drain_unit_answer(struct tq_server_call *call, const Tq__V1__DrainUnitResponse *response);
void tq_v1_controller_list_units_answer(struct tq_server_call *call, const Tq__V1__ListUnitsResponse *response);
void tq_v1_controller_set_config_answer(struct tq_server_call *call, const Tq__V1__SetConfigResponse *response);
void tq_v1_controller_get_config_answer(struct tq_server_call *call, const Tq__V1__GetConfigResponse *response);
void tq_v1_controller_save_controller_checkpoint_answer(struct tq_server_call *call, const Tq__V1__SaveControllerCheckpointResponse *response);
void tq_v1_controller_load_controller_checkpoint_answer(struct tq_server_call *call, const Tq__V1__LoadControllerCheckpointResponse *response);

#ifdef __cplusplus
}
#endif
#endif

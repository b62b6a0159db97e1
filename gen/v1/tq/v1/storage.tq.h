/* Written by protoc-gen-tq from tq/v1/storage.proto. Do not edit.
 * X() blocks, X_cb() calls back, X_start() gives a future; owners, threads and errors: tq/rpc.h. */
#ifndef TQ_GENERATED_tq_2fv1_2fstorage_2eproto_H
#define TQ_GENERATED_tq_2fv1_2fstorage_2eproto_H

#include "tq/rpc.h"

#include "tq/v1/storage.pb-c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Service tq.v1.StorageService. */
extern const struct tq_service tq_v1_storage_service;

/* The unit reads the cells from the writer (bulk, or the inline frames of this message), then answers with the digest of what
 * it stored. Visible to gets only when the whole put has succeeded. The writer compares the digests before it notifies.
 * tq.v1.StorageService/Put: repeated only with its key. Without a deadline: 30000 ms. Limits: 16777216 bytes for
 * the request, 16777216 for the response. Inline frames may come along.
 * In the request these show whether they were set: samples, cells, source. */
#define TQ_V1_STORAGE_PUT_ID 0x0201u
#define TQ_V1_STORAGE_PUT_METHOD (&tq_v1_storage_service.methods[0])
tq_status tq_v1_storage_put(struct tq_channel *channel, const Tq__V1__PutRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_storage_put_cb(struct tq_channel *channel, const Tq__V1__PutRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_storage_put_start(struct tq_channel *channel, const Tq__V1__PutRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__PutResponse *tq_v1_storage_put_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__put_response__descriptor
               ? (const Tq__V1__PutResponse *)reply->message
               : NULL;
}

/* Where the cells lie, pinned for this session until Release; small ones come inline. All or nothing.
 * tq.v1.StorageService/Get: idempotent. Without a deadline: 30000 ms. Limits: 16777216 bytes for the request,
 * 16777216 for the response. Inline frames may come along.
 * In the request these show whether they were set: samples. */
#define TQ_V1_STORAGE_GET_ID 0x0202u
#define TQ_V1_STORAGE_GET_METHOD (&tq_v1_storage_service.methods[1])
tq_status tq_v1_storage_get(struct tq_channel *channel, const Tq__V1__GetRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_storage_get_cb(struct tq_channel *channel, const Tq__V1__GetRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_storage_get_start(struct tq_channel *channel, const Tq__V1__GetRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__GetResponse *tq_v1_storage_get_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__get_response__descriptor
               ? (const Tq__V1__GetResponse *)reply->message
               : NULL;
}

/* Gives pins back. Unknown ones are ignored: they ended with their session.
 * tq.v1.StorageService/Release: idempotent. Without a deadline: 30000 ms. Limits: 65536 bytes for the request,
 * 65536 for the response. */
#define TQ_V1_STORAGE_RELEASE_ID 0x0203u
#define TQ_V1_STORAGE_RELEASE_METHOD (&tq_v1_storage_service.methods[2])
tq_status tq_v1_storage_release(struct tq_channel *channel, const Tq__V1__ReleaseRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_storage_release_cb(struct tq_channel *channel, const Tq__V1__ReleaseRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_storage_release_start(struct tq_channel *channel, const Tq__V1__ReleaseRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__ReleaseResponse *tq_v1_storage_release_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__release_response__descriptor
               ? (const Tq__V1__ReleaseResponse *)reply->message
               : NULL;
}

/* tq.v1.StorageService/Clear: idempotent. Without a deadline: 30000 ms. Limits: 16777216 bytes for the request,
 * 65536 for the response.
 * In the request these show whether they were set: samples. */
#define TQ_V1_STORAGE_CLEAR_ID 0x0204u
#define TQ_V1_STORAGE_CLEAR_METHOD (&tq_v1_storage_service.methods[3])
tq_status tq_v1_storage_clear(struct tq_channel *channel, const Tq__V1__ClearRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_storage_clear_cb(struct tq_channel *channel, const Tq__V1__ClearRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_storage_clear_start(struct tq_channel *channel, const Tq__V1__ClearRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__ClearResponse *tq_v1_storage_clear_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__clear_response__descriptor
               ? (const Tq__V1__ClearResponse *)reply->message
               : NULL;
}

/* Which cells exist, without their bytes.
 * tq.v1.StorageService/Describe: idempotent. Without a deadline: 30000 ms. Limits: 16777216 bytes for the request,
 * 16777216 for the response.
 * In the request these show whether they were set: samples. */
#define TQ_V1_STORAGE_DESCRIBE_ID 0x0205u
#define TQ_V1_STORAGE_DESCRIBE_METHOD (&tq_v1_storage_service.methods[4])
tq_status tq_v1_storage_describe(struct tq_channel *channel, const Tq__V1__DescribeRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_storage_describe_cb(struct tq_channel *channel, const Tq__V1__DescribeRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_storage_describe_start(struct tq_channel *channel, const Tq__V1__DescribeRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__DescribeResponse *tq_v1_storage_describe_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__describe_response__descriptor
               ? (const Tq__V1__DescribeResponse *)reply->message
               : NULL;
}

/* tq.v1.StorageService/GetStats: idempotent. Without a deadline: 5000 ms. Limits: 65536 bytes for the request,
 * 65536 for the response. */
#define TQ_V1_STORAGE_GET_STATS_ID 0x0206u
#define TQ_V1_STORAGE_GET_STATS_METHOD (&tq_v1_storage_service.methods[5])
tq_status tq_v1_storage_get_stats(struct tq_channel *channel, const Tq__V1__GetStatsRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_storage_get_stats_cb(struct tq_channel *channel, const Tq__V1__GetStatsRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_storage_get_stats_start(struct tq_channel *channel, const Tq__V1__GetStatsRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__GetStatsResponse *tq_v1_storage_get_stats_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__get_stats_response__descriptor
               ? (const Tq__V1__GetStatsResponse *)reply->message
               : NULL;
}

/* tq.v1.StorageService/SaveStorageCheckpoint: repeated only with its key. Without a deadline: 600000 ms. Limits:
 * 65536 bytes for the request, 65536 for the response. */
#define TQ_V1_STORAGE_SAVE_STORAGE_CHECKPOINT_ID 0x0210u
#define TQ_V1_STORAGE_SAVE_STORAGE_CHECKPOINT_METHOD (&tq_v1_storage_service.methods[6])
tq_status tq_v1_storage_save_storage_checkpoint(struct tq_channel *channel, const Tq__V1__SaveStorageCheckpointRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_storage_save_storage_checkpoint_cb(struct tq_channel *channel, const Tq__V1__SaveStorageCheckpointRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_storage_save_storage_checkpoint_start(struct tq_channel *channel, const Tq__V1__SaveStorageCheckpointRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__SaveStorageCheckpointResponse *tq_v1_storage_save_storage_checkpoint_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__save_storage_checkpoint_response__descriptor
               ? (const Tq__V1__SaveStorageCheckpointResponse *)reply->message
               : NULL;
}

/* tq.v1.StorageService/LoadStorageCheckpoint: repeated only with its key. Without a deadline: 600000 ms. Limits:
 * 65536 bytes for the request, 65536 for the response. */
#define TQ_V1_STORAGE_LOAD_STORAGE_CHECKPOINT_ID 0x0211u
#define TQ_V1_STORAGE_LOAD_STORAGE_CHECKPOINT_METHOD (&tq_v1_storage_service.methods[7])
tq_status tq_v1_storage_load_storage_checkpoint(struct tq_channel *channel, const Tq__V1__LoadStorageCheckpointRequest *request,
    const struct tq_call_opts *opts, struct tq_reply *reply);
TQ_MUST_CHECK tq_status tq_v1_storage_load_storage_checkpoint_cb(struct tq_channel *channel, const Tq__V1__LoadStorageCheckpointRequest *request,
    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
    struct tq_error *err);
struct tq_future *tq_v1_storage_load_storage_checkpoint_start(struct tq_channel *channel, const Tq__V1__LoadStorageCheckpointRequest *request,
    const struct tq_call_opts *opts);
/* NULL when the call failed. Lives as long as the reply. */
static inline const Tq__V1__LoadStorageCheckpointResponse *tq_v1_storage_load_storage_checkpoint_response(const struct tq_reply *reply)
{
    return reply->message != NULL && reply->message->descriptor == &tq__v1__load_storage_checkpoint_response__descriptor
               ? (const Tq__V1__LoadStorageCheckpointResponse *)reply->message
               : NULL;
}

/* The handlers of tq.v1.StorageService, on the server's loop thread. `request` lives until the call is answered. A
 * method without a handler answers UNIMPLEMENTED. */
struct tq_v1_storage_ops {
    void (*put)(void *state, const Tq__V1__PutRequest *request, struct tq_server_call *call);
    void (*get)(void *state, const Tq__V1__GetRequest *request, struct tq_server_call *call);
    void (*release)(void *state, const Tq__V1__ReleaseRequest *request, struct tq_server_call *call);
    void (*clear)(void *state, const Tq__V1__ClearRequest *request, struct tq_server_call *call);
    void (*describe)(void *state, const Tq__V1__DescribeRequest *request, struct tq_server_call *call);
    void (*get_stats)(void *state, const Tq__V1__GetStatsRequest *request, struct tq_server_call *call);
    void (*save_storage_checkpoint)(void *state, const Tq__V1__SaveStorageCheckpointRequest *request, struct tq_server_call *call);
    void (*load_storage_checkpoint)(void *state, const Tq__V1__LoadStorageCheckpointRequest *request, struct tq_server_call *call);
};
/* Before the server starts; see tq_server_add(). */
TQ_MUST_CHECK tq_status tq_v1_storage_add(struct tq_server *server, const struct tq_v1_storage_ops *ops, void *state,
    struct tq_error *err);
/* Each ends its call; see tq_server_answer(). */
void tq_v1_storage_put_answer(struct tq_server_call *call, const Tq__V1__PutResponse *response);
void tq_v1_storage_put_answer_frames(struct tq_server_call *call, const Tq__V1__PutResponse *response,
    const struct tq_bytes *frames, size_t n_frames, void (*release)(void *user), void *user);
void tq_v1_storage_get_answer(struct tq_server_call *call, const Tq__V1__GetResponse *response);
void tq_v1_storage_get_answer_frames(struct tq_server_call *call, const Tq__V1__GetResponse *response,
    const struct tq_bytes *frames, size_t n_frames, void (*release)(void *user), void *user);
void tq_v1_storage_release_answer(struct tq_server_call *call, const Tq__V1__ReleaseResponse *response);
void tq_v1_storage_clear_answer(struct tq_server_call *call, const Tq__V1__ClearResponse *response);
void tq_v1_storage_describe_answer(struct tq_server_call *call, const Tq__V1__DescribeResponse *response);
void tq_v1_storage_get_stats_answer(struct tq_server_call *call, const Tq__V1__GetStatsResponse *response);
void tq_v1_storage_save_storage_checkpoint_answer(struct tq_server_call *call, const Tq__V1__SaveStorageCheckpointResponse *response);
void tq_v1_storage_load_storage_checkpoint_answer(struct tq_server_call *call, const Tq__V1__LoadStorageCheckpointResponse *response);

#ifdef __cplusplus
}
#endif
#endif

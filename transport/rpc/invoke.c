/* Calls as the application makes them: blocking, with a callback, cancel. */
#include <string.h>

#include "tq/init.h"
#include "transport/base/assert.h"
#include "transport/rpc/channel.h"
#include "transport/rpc/reply.h"

#define MS INT64_C(1000000)
enum { DEFAULT_TIMEOUT_MS = 30000, DEFAULT_REQUEST_BYTES = 65536 };
#define LONGEST_NS (3600 * 1000 * MS)

static tq_status check_request(const struct tq_method *method, const ProtobufCMessage *request,
                               const struct tq_call_opts *opts, struct tq_error *err)
{
    if (request->descriptor != method->request)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "REQUEST_TYPE", "%s wants a %s, not a %s", method->name,
                       method->request->name,
                       request->descriptor != NULL ? request->descriptor->name : "zeroed struct");
    if (opts->max_attempts > TQ_ATTEMPTS_MAX)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "MAX_ATTEMPTS", "max_attempts %u: expected 1 to %d",
                       opts->max_attempts, TQ_ATTEMPTS_MAX);
    if (opts->trace.len > TQ_TRACE_BYTES)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "TRACE", "a trace context of %zu bytes: at most %d", opts->trace.len,
                       TQ_TRACE_BYTES);
    if (opts->n_frames > 0 && (method->flags & TQ_METHOD_BULK) == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "INLINE_FRAMES", "%s takes no inline frames", method->name);
    if (opts->n_frames >= TQ_INLINE_FRAMES_MAX)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "INLINE_FRAMES", "%zu inline frames: at most %d", opts->n_frames,
                       TQ_INLINE_FRAMES_MAX - 1);
    size_t len = protobuf_c_message_get_packed_size(request);
    size_t most = method->request_bytes > 0 ? method->request_bytes : DEFAULT_REQUEST_BYTES;
    if (len > most)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "REQUEST_BYTES", "%s: request of %zu bytes: at most %zu", method->name,
                       len, most);
    return TQ_OK;
}

static int64_t deadline_of(const struct tq_method *method, const struct tq_call_opts *opts, int64_t now_ns)
{
    int64_t timeout_ms = method->timeout_ms > 0 ? method->timeout_ms : DEFAULT_TIMEOUT_MS;
    int64_t deadline = opts->deadline_ns != 0 ? opts->deadline_ns : now_ns + timeout_ms * MS;
    return deadline > now_ns + LONGEST_NS ? now_ns + LONGEST_NS : deadline;
}

static tq_status fill_call(struct tq_call *call, const struct tq_method *method, const ProtobufCMessage *request,
                           const struct tq_call_opts *opts, const struct tq_seam *seam, struct tq_error *err)
{
    call->method = method;
    call->deadline_ns = deadline_of(method, opts, tq_seam_now_ns(seam));
    call->max_attempts = opts->max_attempts > 0 ? opts->max_attempts : TQ_ATTEMPTS_MAX;
    if (opts->key != NULL || method->idempotency == TQ_KEYED) {
        call->key_len = TQ_KEY_BYTES;
        if (opts->key != NULL)
            memcpy(call->key, opts->key, TQ_KEY_BYTES);
        else
            tq_seam_random(seam, call->key, TQ_KEY_BYTES);
    }
    call->trace_len = opts->trace.len;
    if (opts->trace.len > 0)
        memcpy(call->trace, opts->trace.ptr, opts->trace.len);
    if (!tq_packet_pack(&call->request, request))
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "%s: no memory for the request", method->name);
    if (opts->n_frames > 0 && (call->payload = tq_payload_copy(seam, opts->frames, opts->n_frames)) == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "%s: no memory for %zu frames", method->name,
                       opts->n_frames);
    return TQ_OK;
}

/* A call ready to submit; on failure there is none. */
static tq_status prepare(struct tq_channel *channel, const struct tq_method *method, const ProtobufCMessage *request,
                         const struct tq_call_opts *opts, struct tq_call **out_call, struct tq_error *err)
{
    static const struct tq_call_opts defaults;
    opts = opts != NULL ? opts : &defaults;
    tq_status status = tq_runtime_check(err);
    if (status != TQ_OK || (status = check_request(method, request, opts, err)) != TQ_OK)
        return status;
    pthread_mutex_lock(&channel->lock);
    struct tq_call *call = tq_channel_take_call_locked(channel);
    pthread_mutex_unlock(&channel->lock);
    if (call == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "%s: no memory for a call", method->name);
    call->channel = channel;
    status = fill_call(call, method, request, opts, channel->seam, err);
    if (status != TQ_OK) {
        pthread_mutex_lock(&channel->lock);
        tq_channel_return_call_locked(channel, call);
        pthread_mutex_unlock(&channel->lock);
        return status;
    }
    *out_call = call;
    return TQ_OK;
}

/* ---- blocking ---- */

/* Callbacks are the driver's. Unlocks meanwhile. */
static void pass_on_locked(struct tq_channel *channel, struct tq_list *out_async)
{
    if (tq_list_empty(out_async))
        return;
    pthread_mutex_unlock(&channel->lock);
    tq_driver_finish(&channel->runtime->driver, out_async);
    pthread_mutex_lock(&channel->lock);
}

/* Waits until the waiter's call has ended; takes the poller's role while it is free. */
static void wait_locked(struct tq_channel *channel, struct tq_waiter *waiter, struct tq_list *out_async)
{
    while (!waiter->done) {
        if (channel->poller == TQ_POLLER_NOBODY) {
            channel->poller = TQ_POLLER_CALLER;
            waiter->polls = true;
        }
        if (!waiter->polls) {
            tq_list_add_tail(&channel->waiters, &waiter->node);
            pthread_cond_wait(&waiter->wake, &channel->lock);
            tq_list_remove(&waiter->node);
            continue;
        }
        tq_channel_progress_locked(channel, out_async);
        pass_on_locked(channel, out_async);
        if (!waiter->done)
            tq_channel_sleep_locked(channel);
    }
    if (waiter->polls)
        tq_channel_hand_over_locked(channel);
}

static tq_status submit_and_wait(struct tq_channel *channel, struct tq_call *call, struct tq_error *err)
{
    struct tq_waiter waiter = { .done = false };
    struct tq_list finished;
    tq_list_init(&finished);
    tq_list_init(&waiter.node);
    pthread_cond_init(&waiter.wake, NULL);
    pthread_mutex_lock(&channel->lock);
    call->waiter = &waiter;
    channel->n_users++;
    tq_status status = tq_client_submit(&channel->core, call, tq_seam_now_ns(channel->seam), err);
    if (status != TQ_OK) {
        tq_channel_return_call_locked(channel, call);
    } else {
        if (channel->poller == TQ_POLLER_NOBODY)
            tq_channel_settle_locked(channel, &finished);
        else
            tq_channel_nudge_locked(channel, &finished);
        wait_locked(channel, &waiter, &finished);
    }
    pass_on_locked(channel, &finished);
    if (--channel->n_users == 0 && channel->core.closed)
        pthread_cond_broadcast(&channel->quiet);
    pthread_mutex_unlock(&channel->lock); /* from here on the runtime may be closed: only what we hold is left */
    pthread_cond_destroy(&waiter.wake);
    return status;
}

tq_status tq_call(struct tq_channel *channel, const struct tq_method *method, const ProtobufCMessage *request,
                  const struct tq_call_opts *opts, struct tq_reply *reply)
{
    struct tq_call *call;
    *reply = (struct tq_reply){ .error = { .status = TQ_OK } };
    if (tq_thread_forbidden() != NULL) {
        (void)tq_fail(&reply->error, TQ_FAILED_PRECONDITION, "WOULD_BLOCK", "%s: a blocking call in %s", method->name,
                      tq_thread_forbidden());
        reply->error.outcome = TQ_OUTCOME_NOT_STARTED;
        return TQ_FAILED_PRECONDITION;
    }
    tq_status status = prepare(channel, method, request, opts, &call, &reply->error);
    if (status == TQ_OK) {
        tq_channel_hold(channel);
        status = submit_and_wait(channel, call, &reply->error);
        if (status == TQ_OK) {
            tq_reply_from_call(call, channel->seam, reply);
            pthread_mutex_lock(&channel->lock);
            tq_channel_return_call_locked(channel, call);
            pthread_mutex_unlock(&channel->lock);
            tq_channel_drop(channel);
            return reply->error.status;
        }
        tq_channel_drop(channel);
    }
    reply->error.outcome = TQ_OUTCOME_NOT_STARTED;
    return status;
}

/* ---- with a callback ---- */

tq_status tq_call_cb(struct tq_channel *channel, const struct tq_method *method, const ProtobufCMessage *request,
                     const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
                     struct tq_error *err)
{
    struct tq_call *call;
    struct tq_driver *driver = &channel->runtime->driver;
    struct tq_list finished;
    tq_list_init(&finished);
    tq_status status = prepare(channel, method, request, opts, &call, err);
    if (status != TQ_OK)
        return status;
    call->done = done;
    call->user = user;
    bool on_driver = tq_driver_is_me(driver);
    status = on_driver ? TQ_OK : tq_driver_start(driver, err);
    pthread_mutex_lock(&channel->lock);
    channel->core.defers = on_driver && channel->poller == TQ_POLLER_DRIVER; /* it looks again before it sleeps */
    if (status == TQ_OK)
        status = tq_client_submit(&channel->core, call, tq_seam_now_ns(channel->seam), err);
    channel->core.defers = false;
    if (status != TQ_OK) {
        tq_channel_return_call_locked(channel, call);
        pthread_mutex_unlock(&channel->lock);
        return status;
    }
    tq_channel_hold(channel);
    channel->n_async++;
    if (out_call_id != NULL)
        *out_call_id = call->id;
    if (channel->poller == TQ_POLLER_NOBODY) {
        channel->poller = TQ_POLLER_DRIVER;
        tq_channel_settle_locked(channel, &finished);
        if (!on_driver)
            tq_driver_wake(driver);
    } else if (on_driver && channel->poller == TQ_POLLER_DRIVER) {
        tq_channel_settle_locked(channel, &finished); /* it looks again before it sleeps */
    } else {
        tq_channel_nudge_locked(channel, &finished);
    }
    pthread_mutex_unlock(&channel->lock);
    tq_driver_finish(driver, &finished);
    return TQ_OK;
}

void tq_call_cancel(struct tq_channel *channel, uint64_t call_id)
{
    struct tq_list finished;
    tq_list_init(&finished);
    if (tq_forked())
        return;
    pthread_mutex_lock(&channel->lock);
    if (!channel->core.closed)
        tq_client_cancel(&channel->core, call_id, tq_seam_now_ns(channel->seam));
    tq_channel_nudge_locked(channel, &finished);
    pthread_mutex_unlock(&channel->lock);
    tq_driver_finish(&channel->runtime->driver, &finished);
}

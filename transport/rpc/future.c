/* Futures: a call with a callback that keeps its reply. Two holds: the application's and the call's. */
#include <pthread.h>

#include "transport/rpc/channel.h"

struct tq_future {
    const struct tq_seam *seam;
    atomic_uint holds;
    struct tq_channel *channel; /* held */
    uint64_t call_id;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done;             /* under lock */
    struct tq_reply reply; /* under lock, after done */
};

static void future_drop(struct tq_future *future)
{
    if (atomic_fetch_sub_explicit(&future->holds, 1, memory_order_acq_rel) != 1)
        return;
    tq_reply_drop(&future->reply);
    pthread_cond_destroy(&future->ended);
    pthread_mutex_destroy(&future->lock);
    tq_channel_drop(future->channel);
    tq_seam_free(future->seam, future);
}

static void finish(void *user, struct tq_reply *reply)
{
    struct tq_future *future = user;
    pthread_mutex_lock(&future->lock);
    future->reply = tq_reply_take(reply);
    future->done = true;
    pthread_cond_broadcast(&future->ended);
    pthread_mutex_unlock(&future->lock);
    future_drop(future);
}

struct tq_future *tq_call_start(struct tq_channel *channel, const struct tq_method *method,
                                const ProtobufCMessage *request, const struct tq_call_opts *opts)
{
    struct tq_future *future = tq_seam_alloc(channel->runtime->seam, sizeof(*future));
    if (future == NULL)
        return NULL;
    future->seam = channel->runtime->seam;
    future->channel = channel;
    tq_channel_hold(channel);
    atomic_init(&future->holds, 2);
    pthread_mutex_init(&future->lock, NULL);
    pthread_cond_init(&future->ended, NULL);
    struct tq_reply refused = { .error = { .status = TQ_OK } };
    if (tq_call_cb(channel, method, request, opts, finish, future, &future->call_id, &refused.error) != TQ_OK) {
        refused.error.outcome = TQ_OUTCOME_NOT_STARTED;
        finish(future, &refused);
    }
    return future;
}

tq_status tq_future_wait(struct tq_future *future, struct tq_reply *reply)
{
    *reply = (struct tq_reply){ .error = { .status = TQ_OK } };
    pthread_mutex_lock(&future->lock);
    if (!future->done && tq_thread_forbidden() != NULL) {
        (void)tq_fail(&reply->error, TQ_FAILED_PRECONDITION, "WOULD_BLOCK", "a wait for a call in %s",
                      tq_thread_forbidden());
    } else {
        while (!future->done)
            pthread_cond_wait(&future->ended, &future->lock);
        struct tq_error error = future->reply.error;
        *reply = tq_reply_take(&future->reply);
        future->reply.error = error;
    }
    pthread_mutex_unlock(&future->lock);
    return reply->error.status;
}

bool tq_future_done(const struct tq_future *future)
{
    struct tq_future *mutable_future = (struct tq_future *)(uintptr_t)future; /* for its lock only */
    pthread_mutex_lock(&mutable_future->lock);
    bool done = future->done;
    pthread_mutex_unlock(&mutable_future->lock);
    return done;
}

void tq_future_cancel(struct tq_future *future)
{
    if (!tq_future_done(future))
        tq_call_cancel(future->channel, future->call_id);
}

void tq_future_drop(struct tq_future *future)
{
    if (future == NULL)
        return;
    tq_future_cancel(future);
    future_drop(future);
}

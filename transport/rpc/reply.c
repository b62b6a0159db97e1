#include "transport/rpc/reply.h"

#include "transport/base/arena.h"
#include "transport/rpc/body.h"
#include "transport/rpc/channel.h"

/* The message whose frames a reply shows. */
struct frames_box {
    const struct tq_seam *seam;
    struct tq_inbound message;
};

static tq_status decode(struct tq_call *call, struct tq_reply *out)
{
    struct tq_body_limits limits = { call->method->response_bytes, call->method->response_elements };
    tq_status status = tq_body_decode(out->owner_, call->method->response, tq_call_answer_body(call), limits,
                                      &out->message, &out->error);
    if (status != TQ_OK)
        out->error.outcome = TQ_OUTCOME_UNKNOWN; /* it was executed; what came of it is lost */
    return status;
}

static bool keep_frames(struct tq_call *call, const struct tq_seam *seam, struct tq_reply *out)
{
    struct frames_box *box = tq_seam_alloc(seam, sizeof(*box));
    if (box == NULL)
        return false;
    box->seam = seam;
    tq_inbound_move(&box->message, &call->answer);
    out->frames_ = box;
    out->frames = box->message.frames;
    out->n_frames = box->message.n_frames;
    return true;
}

void tq_reply_from_call(struct tq_call *call, const struct tq_seam *seam, struct tq_reply *out)
{
    *out = (struct tq_reply){ .error = call->error };
    if (call->error.status != TQ_OK)
        return;
    out->owner_ = tq_arena_open(seam, 0);
    if (out->owner_ != NULL && decode(call, out) != TQ_OK)
        return;
    if (out->owner_ == NULL || (call->answer.n_frames > 0 && !keep_frames(call, seam, out))) {
        out->message = NULL;
        (void)tq_fail(&out->error, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for the answer");
        out->error.outcome = TQ_OUTCOME_UNKNOWN;
    }
}

void tq_reply_drop(struct tq_reply *reply)
{
    struct frames_box *box = reply->frames_;
    tq_arena_close(reply->owner_);
    if (box != NULL) {
        tq_inbound_release(&box->message);
        tq_seam_free(box->seam, box);
    }
    *reply = (struct tq_reply){ .error = reply->error };
}

struct tq_reply tq_reply_take(struct tq_reply *from)
{
    struct tq_reply reply = *from;
    *from = (struct tq_reply){ .error = { .status = TQ_OK } };
    return reply;
}

void tq_call_complete(struct tq_call *call)
{
    struct tq_channel *channel = call->channel;
    struct tq_reply reply;
    tq_reply_from_call(call, channel->runtime->seam, &reply);
    call->done(call->user, &reply);
    tq_reply_drop(&reply);
    pthread_mutex_lock(&channel->lock);
    tq_channel_return_call_locked(channel, call);
    if (--channel->n_async == 0)
        pthread_cond_broadcast(&channel->quiet);
    pthread_mutex_unlock(&channel->lock);
    tq_channel_drop(channel);
}

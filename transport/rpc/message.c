#include "transport/rpc/message.h"

#include <string.h>

#include "transport/base/assert.h"

struct tq_payload *tq_payload_open(const struct tq_seam *seam, const struct tq_bytes *frames, size_t n_frames,
                                   void (*release)(void *user), void *user)
{
    TQ_ASSERT(n_frames <= TQ_INLINE_FRAMES_MAX);
    struct tq_payload *payload = tq_seam_alloc(seam, sizeof(*payload) + n_frames * sizeof(*frames));
    if (payload == NULL)
        return NULL;
    payload->seam = seam;
    atomic_init(&payload->holds, 1);
    payload->release = release;
    payload->user = user;
    payload->frames = (struct tq_bytes *)(void *)(payload + 1);
    payload->n_frames = n_frames;
    if (n_frames > 0)
        memcpy(payload->frames, frames, n_frames * sizeof(*frames));
    return payload;
}

static size_t sum_of(const struct tq_bytes *frames, size_t n_frames)
{
    size_t sum = 0;
    for (size_t i = 0; i < n_frames; i++)
        sum += frames[i].len;
    return sum;
}

struct tq_payload *tq_payload_copy(const struct tq_seam *seam, const struct tq_bytes *frames, size_t n_frames)
{
    TQ_ASSERT(n_frames <= TQ_INLINE_FRAMES_MAX);
    struct tq_payload *payload =
        tq_seam_alloc(seam, sizeof(*payload) + n_frames * sizeof(*frames) + sum_of(frames, n_frames));
    if (payload == NULL)
        return NULL;
    payload->seam = seam;
    atomic_init(&payload->holds, 1);
    payload->frames = (struct tq_bytes *)(void *)(payload + 1);
    payload->n_frames = n_frames;
    uint8_t *at = (uint8_t *)(payload->frames + n_frames);
    for (size_t i = 0; i < n_frames; at += frames[i++].len) {
        if (frames[i].len > 0)
            memcpy(at, frames[i].ptr, frames[i].len);
        payload->frames[i] = (struct tq_bytes){ at, frames[i].len };
    }
    return payload;
}

void tq_payload_hold(struct tq_payload *payload)
{
    atomic_fetch_add_explicit(&payload->holds, 1, memory_order_relaxed);
}

void tq_payload_drop(struct tq_payload *payload)
{
    if (payload == NULL || atomic_fetch_sub_explicit(&payload->holds, 1, memory_order_acq_rel) != 1)
        return;
    if (payload->release != NULL)
        payload->release(payload->user);
    tq_seam_free(payload->seam, payload);
}

uint64_t tq_payload_bytes(const struct tq_payload *payload)
{
    return payload == NULL ? 0 : sum_of(payload->frames, payload->n_frames);
}

void tq_inbound_move(struct tq_inbound *to, struct tq_inbound *from)
{
    TQ_ASSERT(to->ops == NULL && from->ops != NULL);
    from->ops->move(to, from);
    from->ops = NULL;
}

void tq_inbound_release(struct tq_inbound *message)
{
    if (message->ops == NULL)
        return;
    message->ops->release(message);
    message->ops = NULL;
}

static void copied_release(struct tq_inbound *message)
{
    tq_payload_drop(message->rest_);
}

static void copied_move(struct tq_inbound *to, struct tq_inbound *from)
{
    memcpy(to, from, sizeof(*to));
}

bool tq_inbound_copy(struct tq_inbound *out, const struct tq_seam *seam, struct tq_bytes head,
                     const struct tq_bytes *frames, size_t n_frames)
{
    static const struct tq_inbound_ops ops = { copied_release, copied_move };
    struct tq_bytes all[TQ_INLINE_FRAMES_MAX];
    TQ_ASSERT(n_frames < TQ_INLINE_FRAMES_MAX);
    all[0] = head;
    if (n_frames > 0)
        memcpy(all + 1, frames, n_frames * sizeof(*frames));
    struct tq_payload *copy = tq_payload_copy(seam, all, n_frames + 1);
    if (copy == NULL)
        return false;
    *out = (struct tq_inbound){
        .ops = &ops, .head = copy->frames[0], .frames = copy->frames + 1, .n_frames = n_frames, .rest_ = copy
    };
    return true;
}

uint64_t tq_inbound_payload_bytes(const struct tq_inbound *message)
{
    return sum_of(message->frames, message->n_frames);
}

/* transport/rpc/message.h: a message on its way out (views, and who keeps the payload alive) and one that came in
 * (owned by whoever holds it). The carriers below and the cores above meet in these two.
 * Owns: an inbound its frames; a payload counts its holders. Threads: payloads any, the rest one at a time. */
#ifndef TQ_RPC_MESSAGE_H
#define TQ_RPC_MESSAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "transport/base/seam.h"

enum { TQ_INLINE_FRAMES_MAX = 1024 };

/* Memory under payload frames that several messages may share. Released when the last holder drops it. */
struct tq_payload {
    const struct tq_seam *seam;
    atomic_uint holds;
    void (*release)(void *user);
    void *user;
    struct tq_bytes *frames; /* inside this allocation */
    size_t n_frames;
};

/* The frames stay where they are; `release` (NULL allowed) is called once. One hold is the caller's. NULL without
 * memory: then `release` is not called. */
struct tq_payload *tq_payload_open(const struct tq_seam *seam, const struct tq_bytes *frames, size_t n_frames,
                                   void (*release)(void *user), void *user);
/* Copies the frames. NULL without memory. */
struct tq_payload *tq_payload_copy(const struct tq_seam *seam, const struct tq_bytes *frames, size_t n_frames);
void tq_payload_hold(struct tq_payload *payload);
void tq_payload_drop(struct tq_payload *payload); /* NULL is allowed */
uint64_t tq_payload_bytes(const struct tq_payload *payload);

/* Views: valid during the call that gets it. */
struct tq_outbound {
    struct tq_bytes head;
    struct tq_payload *payload; /* NULL: no frames. A carrier that sends later holds it. */
};

enum tq_sent {
    TQ_SENT,      /* taken over by the carrier */
    TQ_SENT_FULL, /* not now: its queue is full */
    TQ_SENT_GONE, /* never again: the peer is not there */
};

struct tq_inbound;

struct tq_inbound_ops {
    void (*release)(struct tq_inbound *message);
    void (*move)(struct tq_inbound *to, struct tq_inbound *from);
};

/* A received message. Embedded by value; moved with tq_inbound_move only, because a short frame lives inside it. */
struct tq_inbound {
    const struct tq_inbound_ops *ops; /* NULL: empty */
    struct tq_bytes head;
    const struct tq_bytes *frames;
    size_t n_frames;
    void *rest_;                                    /* the carrier's */
    _Alignas(max_align_t) unsigned char first_[64]; /* the carrier's */
};

/* Empties *from. *to must be empty. */
void tq_inbound_move(struct tq_inbound *to, struct tq_inbound *from);
void tq_inbound_release(struct tq_inbound *message); /* an empty one is allowed */
/* A message from copied bytes: tests and simulated carriers. False without memory. */
TQ_MUST_CHECK bool tq_inbound_copy(struct tq_inbound *out, const struct tq_seam *seam, struct tq_bytes head,
                                   const struct tq_bytes *frames, size_t n_frames);
/* Sum of the payload frames. */
uint64_t tq_inbound_payload_bytes(const struct tq_inbound *message);

#endif

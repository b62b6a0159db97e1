#include "transport/rpc/zmq_frames.h"

#include <errno.h>
#include <string.h>
#include <zmq.h>

#include "transport/base/assert.h"

const unsigned char tq_peer_id_prefix[TQ_PEER_ID_PREFIX] = { 'T', 'Q', '1', 1 };

_Static_assert(sizeof(zmq_msg_t) <= sizeof(((struct tq_inbound *)NULL)->first_), "a ZMQ message fits");

bool tq_zmq_set_int(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof(value)) == 0;
}

static enum tq_sent verdict_of_errno(void)
{
    return errno == EAGAIN ? TQ_SENT_FULL : TQ_SENT_GONE;
}

static void drop_payload(void *data, void *payload)
{
    (void)data;
    tq_payload_drop(payload);
}

/* A payload frame without a copy. The hold is dropped by libzmq, on its own thread. */
static bool send_payload_frame(void *socket, struct tq_payload *payload, struct tq_bytes frame, int flags)
{
    zmq_msg_t message;
    tq_payload_hold(payload);
    if (zmq_msg_init_data(&message, (void *)(uintptr_t)frame.ptr, frame.len, drop_payload, payload) != 0) {
        tq_payload_drop(payload);
        return false;
    }
    if (zmq_msg_send(&message, socket, ZMQ_DONTWAIT | flags) >= 0)
        return true;
    zmq_msg_close(&message);
    return false;
}

enum tq_sent tq_zmq_send(void *socket, const struct tq_outbound *message)
{
    size_t n = message->payload != NULL ? message->payload->n_frames : 0;
    if (zmq_send(socket, message->head.ptr, message->head.len, ZMQ_DONTWAIT | (n > 0 ? ZMQ_SNDMORE : 0)) < 0)
        return verdict_of_errno();
    for (size_t i = 0; i < n; i++)
        if (!send_payload_frame(socket, message->payload, message->payload->frames[i], i + 1 < n ? ZMQ_SNDMORE : 0))
            return TQ_SENT_GONE; /* half a message: libzmq refuses only when the connection is lost */
    return TQ_SENT;
}

/* The payload frames of a received message: views first, then the ZMQ messages that own the bytes. */
struct rest {
    size_t count, capacity;
    struct tq_bytes *views;
    zmq_msg_t *messages;
};

static struct rest *rest_grow(struct rest *old)
{
    size_t capacity = old == NULL ? 4 : old->capacity * 2;
    struct rest *rest = tq_seam_alloc(NULL, sizeof(*rest) + capacity * (sizeof(struct tq_bytes) + sizeof(zmq_msg_t)));
    if (rest == NULL)
        return NULL;
    rest->capacity = capacity;
    rest->messages = (zmq_msg_t *)(void *)(rest + 1);
    rest->views = (struct tq_bytes *)(void *)(rest->messages + capacity);
    for (size_t i = 0; old != NULL && i < old->count; i++) {
        zmq_msg_init(&rest->messages[i]);
        zmq_msg_move(&rest->messages[i], &old->messages[i]);
        zmq_msg_close(&old->messages[i]);
        rest->count++;
    }
    tq_seam_free(NULL, old);
    return rest;
}

static void rest_close(struct rest *rest)
{
    for (size_t i = 0; rest != NULL && i < rest->count; i++)
        zmq_msg_close(&rest->messages[i]);
    tq_seam_free(NULL, rest);
}

static void release(struct tq_inbound *message)
{
    zmq_msg_close((zmq_msg_t *)(void *)message->first_);
    rest_close(message->rest_);
}

static void point_at_head(struct tq_inbound *message)
{
    zmq_msg_t *first = (zmq_msg_t *)(void *)message->first_;
    message->head = (struct tq_bytes){ zmq_msg_data(first), zmq_msg_size(first) };
}

static void move(struct tq_inbound *to, struct tq_inbound *from)
{
    to->ops = from->ops;
    to->frames = from->frames;
    to->n_frames = from->n_frames;
    to->rest_ = from->rest_;
    zmq_msg_t *first = (zmq_msg_t *)(void *)to->first_;
    zmq_msg_init(first);
    zmq_msg_move(first, (zmq_msg_t *)(void *)from->first_);
    zmq_msg_close((zmq_msg_t *)(void *)from->first_);
    point_at_head(to);
}

/* Receives and drops what is left of a message. */
static void drop_tail(void *socket)
{
    zmq_msg_t message;
    for (int more = 1; more;) {
        zmq_msg_init(&message);
        more = zmq_msg_recv(&message, socket, ZMQ_DONTWAIT) >= 0 && zmq_msg_more(&message);
        zmq_msg_close(&message);
    }
}

/* The payload frames behind the head. False: too many, or no memory; the tail is dropped. */
static bool receive_rest(void *socket, struct tq_inbound *out)
{
    struct rest *rest = NULL;
    for (int more = 1; more;) {
        if (rest == NULL || rest->count == rest->capacity) {
            struct rest *grown = rest != NULL && rest->count >= TQ_INLINE_FRAMES_MAX ? NULL : rest_grow(rest);
            if (grown == NULL) {
                rest_close(rest);
                drop_tail(socket);
                return false;
            }
            rest = grown;
        }
        zmq_msg_t *message = &rest->messages[rest->count];
        zmq_msg_init(message);
        if (zmq_msg_recv(message, socket, ZMQ_DONTWAIT) < 0) { /* the parts of a message come together */
            zmq_msg_close(message);
            rest_close(rest);
            return false;
        }
        rest->count++;
        more = zmq_msg_more(message);
    }
    for (size_t i = 0; i < rest->count; i++)
        rest->views[i] = (struct tq_bytes){ zmq_msg_data(&rest->messages[i]), zmq_msg_size(&rest->messages[i]) };
    out->rest_ = rest;
    out->frames = rest->views;
    out->n_frames = rest->count;
    return true;
}

enum tq_received tq_zmq_receive(void *socket, struct tq_inbound *out)
{
    static const struct tq_inbound_ops ops = { release, move };
    TQ_ASSERT(out->ops == NULL);
    zmq_msg_t *first = (zmq_msg_t *)(void *)out->first_;
    zmq_msg_init(first);
    if (zmq_msg_recv(first, socket, ZMQ_DONTWAIT) < 0) {
        zmq_msg_close(first);
        return TQ_RECEIVED_NOTHING;
    }
    out->rest_ = NULL;
    out->frames = NULL;
    out->n_frames = 0;
    if (zmq_msg_more(first) && !receive_rest(socket, out)) {
        zmq_msg_close(first);
        return TQ_RECEIVED_GARBAGE;
    }
    out->ops = &ops;
    point_at_head(out);
    return TQ_RECEIVED;
}

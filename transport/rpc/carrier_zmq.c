/* DEALER sockets. IMMEDIATE: nothing is queued before the peer is there. RECONNECT_IVL -1: libzmq never comes back by
 * itself, so the loss of POLLOUT is the loss of the connection. The high-water mark is beyond what a channel's window
 * lets through, so POLLOUT is not lost for any other reason. */
#include <errno.h>
#include <string.h>
#include <zmq.h>

#include "transport/rpc/carrier.h"
#include "transport/rpc/zmq_frames.h"

enum { SEND_MESSAGES = 1 << 17, RECEIVE_MESSAGES = 1 << 14 };

struct tq_carrier_socket {
    const struct tq_seam *seam;
    void *zmq;
    int fd;
};

static void hang_up(struct tq_carrier_socket *socket, int linger_ms)
{
    if (socket == NULL)
        return;
    if (socket->zmq != NULL) {
        (void)tq_zmq_set_int(socket->zmq, ZMQ_LINGER, linger_ms);
        zmq_close(socket->zmq);
    }
    tq_seam_free(socket->seam, socket);
}

static bool set_options(void *zmq, const struct tq_carrier_opts *opts, const struct tq_seam *seam)
{
    unsigned char id[TQ_PEER_ID_BYTES];
    memcpy(id, tq_peer_id_prefix, TQ_PEER_ID_PREFIX);
    tq_seam_random(seam, id + TQ_PEER_ID_PREFIX, sizeof(id) - TQ_PEER_ID_PREFIX);
    int64_t max_frame = (int64_t)opts->max_frame_bytes;
    return zmq_setsockopt(zmq, ZMQ_ROUTING_ID, id, sizeof(id)) == 0 &&
           zmq_setsockopt(zmq, ZMQ_MAXMSGSIZE, &max_frame, sizeof(max_frame)) == 0 &&
           tq_zmq_set_int(zmq, ZMQ_IMMEDIATE, 1) && tq_zmq_set_int(zmq, ZMQ_RECONNECT_IVL, -1) &&
           tq_zmq_set_int(zmq, ZMQ_LINGER, 0) && tq_zmq_set_int(zmq, ZMQ_SNDHWM, SEND_MESSAGES) &&
           tq_zmq_set_int(zmq, ZMQ_RCVHWM, RECEIVE_MESSAGES) &&
           tq_zmq_set_int(zmq, ZMQ_HANDSHAKE_IVL, TQ_ZMQ_HANDSHAKE_MS) && tq_zmq_set_int(zmq, ZMQ_IPV6, 1);
}

static tq_status connect_to(struct tq_carrier_socket *socket, void *context, const char *address,
                            const struct tq_carrier_opts *opts, struct tq_error *err)
{
    size_t size = sizeof(socket->fd);
    socket->zmq = zmq_socket(context, ZMQ_DEALER);
    if (socket->zmq == NULL || !set_options(socket->zmq, opts, socket->seam) ||
        zmq_getsockopt(socket->zmq, ZMQ_FD, &socket->fd, &size) != 0)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "SOCKET", "no socket for %s: %s", address, zmq_strerror(errno));
    if (zmq_connect(socket->zmq, address) != 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "ADDRESS", "address '%s': %s", address, zmq_strerror(errno));
    return TQ_OK;
}

static tq_status dial(void *context, const char *address, const struct tq_carrier_opts *opts,
                      const struct tq_seam *seam, struct tq_carrier_socket **out_socket, struct tq_error *err)
{
    struct tq_carrier_socket *socket =
        tq_seam_fault(seam, TQ_FAULT_SOCKET_OPEN) ? NULL : tq_seam_alloc(seam, sizeof(*socket));
    if (socket == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "SOCKET", "no memory for a socket to %s", address);
    socket->seam = seam;
    tq_status status = connect_to(socket, context, address, opts, err);
    if (status != TQ_OK) {
        hang_up(socket, 0);
        return status;
    }
    *out_socket = socket;
    return TQ_OK;
}

static enum tq_sent send_message(struct tq_carrier_socket *socket, const struct tq_outbound *message)
{
    if (tq_seam_fault(socket->seam, TQ_FAULT_SOCKET_SEND))
        return TQ_SENT_GONE;
    return tq_zmq_send(socket->zmq, message);
}

static enum tq_received receive_message(struct tq_carrier_socket *socket, struct tq_inbound *out)
{
    return tq_zmq_receive(socket->zmq, out);
}

static unsigned events(struct tq_carrier_socket *socket)
{
    int zmq_events = 0;
    size_t size = sizeof(zmq_events);
    if (zmq_getsockopt(socket->zmq, ZMQ_EVENTS, &zmq_events, &size) != 0)
        return 0;
    return ((zmq_events & ZMQ_POLLIN) != 0 ? TQ_CARRIER_READABLE : 0u) |
           ((zmq_events & ZMQ_POLLOUT) != 0 ? TQ_CARRIER_UP : 0u);
}

static int wait_fd(struct tq_carrier_socket *socket)
{
    return socket->fd;
}

const struct tq_carrier tq_carrier_zmq = { "zmq", dial, send_message, receive_message, events, wait_fd, hang_up };

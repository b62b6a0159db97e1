/* transport/rpc/carrier.h: what carries messages between a channel and its peer: a small table under the channel.
 * Nothing above it knows which carrier it is. A carrier never redials by itself: a lost connection stays lost, and
 * nothing that was queued on it is delivered later.
 * Owns: a socket its connection. Threads: one at a time for each socket (the channel's lock). */
#ifndef TQ_RPC_CARRIER_H
#define TQ_RPC_CARRIER_H

#include <stdbool.h>

#include "transport/rpc/message.h"

struct tq_carrier_socket;

struct tq_carrier_opts {
    uint64_t max_frame_bytes; /* larger frames from the peer end the connection */
};

enum tq_received {
    TQ_RECEIVED,
    TQ_RECEIVED_NOTHING,
    TQ_RECEIVED_GARBAGE, /* a message that cannot be ours was dropped: look again */
};

enum tq_carrier_events {
    TQ_CARRIER_READABLE = 1, /* a message waits */
    TQ_CARRIER_UP = 2,       /* there is a connected peer */
};

struct tq_carrier {
    const char *name;
    /* Begins to connect and returns at once. Fails with INVALID_ARGUMENT (address), RESOURCE_EXHAUSTED. */
    tq_status (*dial)(void *context, const char *address, const struct tq_carrier_opts *opts,
                      const struct tq_seam *seam, struct tq_carrier_socket **out_socket, struct tq_error *err);
    enum tq_sent (*send)(struct tq_carrier_socket *socket, const struct tq_outbound *message);
    /* *out must be empty. */
    enum tq_received (*receive)(struct tq_carrier_socket *socket, struct tq_inbound *out);
    /* Bits of enum tq_carrier_events. UP gone after it was there: the peer is gone for ever. */
    unsigned (*events)(struct tq_carrier_socket *socket);
    /* Becomes readable when something may have changed. The signal is given once, and any other call on the socket may
     * swallow it: ask for the events last thing before sleeping. */
    int (*wait_fd)(struct tq_carrier_socket *socket);
    /* What was sent gets `linger_ms` to leave, in the background. NULL is allowed. */
    void (*hang_up)(struct tq_carrier_socket *socket, int linger_ms);
};

/* DEALER sockets of libzmq; `context` is a ZMQ context. */
extern const struct tq_carrier tq_carrier_zmq;

#endif

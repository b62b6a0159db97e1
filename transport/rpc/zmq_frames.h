/* transport/rpc/zmq_frames.h: messages as ZMQ multipart: what the DEALER carrier and the ROUTER share.
 * Owns: nothing. Threads: whoever owns the socket. */
#ifndef TQ_RPC_ZMQ_FRAMES_H
#define TQ_RPC_ZMQ_FRAMES_H

#include "transport/rpc/carrier.h"

enum {
    TQ_PEER_ID_BYTES = 16, /* routing ids that our clients choose: prefix and random */
    TQ_PEER_ID_PREFIX = 4, /* "TQ1" and 0x01 */
    TQ_ZMQ_HANDSHAKE_MS = 2000,
    TQ_ZMQ_BACKLOG = 4096,
};
extern const unsigned char tq_peer_id_prefix[TQ_PEER_ID_PREFIX];

/* True when all options were taken. */
bool tq_zmq_set_int(void *socket, int option, int value);
/* Sends head and payload frames, DONTWAIT. Payload frames go without a copy: they hold the payload. */
enum tq_sent tq_zmq_send(void *socket, const struct tq_outbound *message);
/* Receives one message, DONTWAIT. Reads and drops messages of more than TQ_INLINE_FRAMES_MAX payload frames. */
enum tq_received tq_zmq_receive(void *socket, struct tq_inbound *out);

#endif

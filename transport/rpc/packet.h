/* transport/rpc/packet.h: a body with room in front of it, so that the envelope is written last (it changes with each
 * attempt) and the frame still lies in one piece.
 * Owns: its memory, which is kept for the next use. Threads: one at a time. */
#ifndef TQ_RPC_PACKET_H
#define TQ_RPC_PACKET_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

#include "transport/base/seam.h"
#include "transport/rpc/envelope.h"

struct tq_packet {
    const struct tq_seam *seam;
    uint8_t *memory; /* TQ_HEADROOM bytes, then the body */
    size_t capacity; /* of the body */
    size_t len;      /* of the body */
};

/* Makes room for a body of `len` bytes; its old content is lost. False without memory. */
TQ_MUST_CHECK bool tq_packet_resize(struct tq_packet *packet, size_t len);
/* Packs the message as the body. False without memory. */
TQ_MUST_CHECK bool tq_packet_pack(struct tq_packet *packet, const ProtobufCMessage *message);
/* Copies the body from `bytes`. False without memory. */
TQ_MUST_CHECK bool tq_packet_copy(struct tq_packet *packet, struct tq_bytes bytes);
/* Frees what is kept beyond `keep_bytes`. */
void tq_packet_trim(struct tq_packet *packet, size_t keep_bytes);
void tq_packet_fini(struct tq_packet *packet);

static inline uint8_t *tq_packet_body(const struct tq_packet *packet)
{
    return packet->memory + TQ_HEADROOM;
}

/* Writes the envelope before the body and returns the whole frame, valid until the packet changes. The packet must
 * have been resized. */
struct tq_bytes tq_packet_seal(struct tq_packet *packet, const tq_wire_Envelope *envelope);

#endif

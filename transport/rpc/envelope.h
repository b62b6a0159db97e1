/* transport/rpc/envelope.h: what stands in front of every message: 'T' 'Q', the envelope's length in 16 bits little
 * endian, the envelope, the body. Encoding and decoding allocate nothing and look at nothing beyond the frame.
 * Owns: nothing; a decoded body is a view into the frame. Threads: any. */
#ifndef TQ_RPC_ENVELOPE_H
#define TQ_RPC_ENVELOPE_H

#include "tq/bytes.h"
#include "tq/wire/envelope.pb.h"

enum {
    TQ_PROTOCOL_VERSION = 1, /* the one that we speak */
    TQ_ENVELOPE_PREFIX = 4,  /* magic and length */
    TQ_HEADROOM = 128,       /* room for the longest prefix and envelope */
    TQ_KEY_BYTES = 16,
};

/* Writes prefix and envelope into `out` (TQ_HEADROOM bytes) and returns their length. The bytes are those that nanopb
 * would write, at a tenth of its time: a test compares them. */
size_t tq_envelope_encode(const tq_wire_Envelope *envelope, uint8_t *out);

/* Fills *out_envelope and *out_body from a frame of a peer. Fails with INVALID_ARGUMENT: no such prefix, truncated,
 * unknown kind, call id 0, a key that is neither absent nor 16 bytes. The version is not judged here. */
TQ_MUST_CHECK tq_status tq_envelope_decode(struct tq_bytes frame, tq_wire_Envelope *out_envelope,
                                           struct tq_bytes *out_body, struct tq_error *err);

#endif

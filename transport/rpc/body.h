/* transport/rpc/body.h: a message from a peer's bytes, by protobuf-c into an arena, under limits that the bytes cannot
 * escape: a scan first (scan.h), then a budget that the scan computed.
 * Owns: nothing; the message lives in the arena. Threads: one at a time for each arena. */
#ifndef TQ_RPC_BODY_H
#define TQ_RPC_BODY_H

#include <protobuf-c/protobuf-c.h>

#include "tq/bytes.h"
#include "transport/base/arena.h"

enum { TQ_BODY_DEPTH = 16 };

/* Zero means the default. */
struct tq_body_limits {
    size_t bytes;    /* of the encoded message; default 65 536 */
    size_t elements; /* default 4 096 */
};

/* Resets the arena and decodes into it; *out_message lives until the next reset. Fails with INVALID_ARGUMENT
 * (MALFORMED), RESOURCE_EXHAUSTED (BODY_BYTES, ELEMENTS, DEPTH; NO_MEMORY when the system has none). */
TQ_MUST_CHECK tq_status tq_body_decode(struct tq_arena *arena, const ProtobufCMessageDescriptor *descriptor,
                                       struct tq_bytes bytes, struct tq_body_limits limits,
                                       const ProtobufCMessage **out_message, struct tq_error *err);

#endif

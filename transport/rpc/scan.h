/* transport/rpc/scan.h: looks at a body before protobuf-c does. Follows the message descriptor with a stack of its own,
 * so it knows a submessage from a string; counts every occurrence that makes protobuf-c allocate, packed entries
 * included, and bounds the depth, because protobuf-c recurses without a limit.
 * Owns: nothing, allocates nothing. Threads: any. */
#ifndef TQ_RPC_SCAN_H
#define TQ_RPC_SCAN_H

#include <protobuf-c/protobuf-c.h>

#include "tq/bytes.h"

enum { TQ_SCAN_DEPTH_MAX = 32 };

struct tq_scan {
    size_t elements;     /* fields that occur, and entries of packed fields */
    size_t memory_bytes; /* no less than protobuf-c allocates for these bytes, rounding included */
};

/* Fails with INVALID_ARGUMENT (MALFORMED) for bytes that are no such message, RESOURCE_EXHAUSTED (ELEMENTS, DEPTH) for
 * a message over the limits. `max_depth` is at most TQ_SCAN_DEPTH_MAX. Fills *out on success. */
TQ_MUST_CHECK tq_status tq_scan(const ProtobufCMessageDescriptor *descriptor, struct tq_bytes bytes,
                                size_t max_elements, unsigned max_depth, struct tq_scan *out, struct tq_error *err);

#endif

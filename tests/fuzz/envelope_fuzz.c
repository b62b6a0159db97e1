/* The first thing that a peer's bytes meet. What is accepted is reproduced, and lies within its bounds. */
#include <string.h>

#include "transport/base/assert.h"
#include "transport/rpc/envelope.h"
#include "transport/rpc/wire_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tq_wire_Envelope first, again;
    struct tq_bytes body, empty;
    struct tq_error error;
    uint8_t wire[TQ_HEADROOM], wire_again[TQ_HEADROOM];
    if (tq_envelope_decode((struct tq_bytes){ data, size }, &first, &body, &error) != TQ_OK) {
        TQ_ASSERT(error.status == TQ_INVALID_ARGUMENT && error.message[0] != 0);
        return 0;
    }
    TQ_ASSERT(first.call_id != 0 && first.kind >= 1 && first.kind <= _tq_wire_Kind_MAX);
    TQ_ASSERT(first.idempotency_key.size == 0 || first.idempotency_key.size == TQ_KEY_BYTES);
    TQ_ASSERT(first.trace.size <= sizeof(first.trace.bytes));
    TQ_ASSERT(body.ptr >= data && body.ptr + body.len == data + size);
    size_t len = tq_envelope_encode(&first, wire);
    TQ_ASSERT(tq_envelope_decode((struct tq_bytes){ wire, len }, &again, &empty, NULL) == TQ_OK && empty.len == 0);
    TQ_ASSERT(tq_envelope_encode(&again, wire_again) == len && memcmp(wire, wire_again, len) == 0);
    tq_wire_unpack_error(first.status, body, &error);
    TQ_ASSERT(error.status <= TQ_UNAUTHENTICATED && memchr(error.message, 0, sizeof(error.message)) != NULL);
    return 0;
}

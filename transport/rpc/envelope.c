#include "transport/rpc/envelope.h"

#include <pb_decode.h>
#include <string.h>

#include "transport/base/assert.h"

_Static_assert(tq_wire_Envelope_size + TQ_ENVELOPE_PREFIX <= TQ_HEADROOM, "the longest envelope fits the headroom");

static uint8_t *put_varint(uint8_t *at, uint32_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static uint8_t *put_little_endian(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        *at++ = (uint8_t)(value >> (8 * i));
    return at;
}

/* Fields of value zero are not written: proto3. */
static uint8_t *put_uint32(uint8_t *at, unsigned field, uint32_t value)
{
    if (value == 0)
        return at;
    *at++ = (uint8_t)(field << 3);
    return put_varint(at, value);
}

static uint8_t *put_fixed64(uint8_t *at, unsigned field, uint64_t value)
{
    if (value == 0)
        return at;
    *at++ = (uint8_t)(field << 3 | 1);
    return put_little_endian(at, value, 8);
}

static uint8_t *put_fixed32(uint8_t *at, unsigned field, uint32_t value)
{
    if (value == 0)
        return at;
    *at++ = (uint8_t)(field << 3 | 5);
    return put_little_endian(at, value, 4);
}

static uint8_t *put_bytes(uint8_t *at, unsigned field, const uint8_t *bytes, uint32_t len)
{
    if (len == 0)
        return at;
    *at++ = (uint8_t)(field << 3 | 2);
    at = put_varint(at, len);
    memcpy(at, bytes, len);
    return at + len;
}

size_t tq_envelope_encode(const tq_wire_Envelope *envelope, uint8_t *out)
{
    uint8_t *at = out + TQ_ENVELOPE_PREFIX;
    at = put_uint32(at, tq_wire_Envelope_version_tag, envelope->version);
    at = put_uint32(at, tq_wire_Envelope_kind_tag, (uint32_t)envelope->kind);
    at = put_fixed64(at, tq_wire_Envelope_call_id_tag, envelope->call_id);
    at = put_uint32(at, tq_wire_Envelope_method_tag, envelope->method);
    at = put_fixed32(at, tq_wire_Envelope_remaining_us_tag, envelope->remaining_us);
    at = put_uint32(at, tq_wire_Envelope_attempt_tag, envelope->attempt);
    at = put_fixed64(at, tq_wire_Envelope_session_tag, envelope->session);
    at = put_fixed64(at, tq_wire_Envelope_epoch_tag, envelope->epoch);
    at = put_bytes(at, tq_wire_Envelope_idempotency_key_tag, envelope->idempotency_key.bytes,
                   envelope->idempotency_key.size);
    at = put_bytes(at, tq_wire_Envelope_trace_tag, envelope->trace.bytes, envelope->trace.size);
    at = put_uint32(at, tq_wire_Envelope_status_tag, envelope->status);
    at = put_uint32(at, tq_wire_Envelope_inline_frames_tag, envelope->inline_frames);
    at = put_fixed64(at, tq_wire_Envelope_inline_bytes_tag, envelope->inline_bytes);
    size_t len = (size_t)(at - out) - TQ_ENVELOPE_PREFIX;
    TQ_ASSERT(len + TQ_ENVELOPE_PREFIX <= TQ_HEADROOM);
    out[0] = 'T';
    out[1] = 'Q';
    put_little_endian(out + 2, len, 2);
    return len + TQ_ENVELOPE_PREFIX;
}

tq_status tq_envelope_decode(struct tq_bytes frame, tq_wire_Envelope *out_envelope, struct tq_bytes *out_body,
                             struct tq_error *err)
{
    if (frame.len < TQ_ENVELOPE_PREFIX || frame.ptr[0] != 'T' || frame.ptr[1] != 'Q')
        return tq_fail(err, TQ_INVALID_ARGUMENT, "ENVELOPE", "a frame of %zu bytes that does not begin with TQ",
                       frame.len);
    size_t len = (size_t)frame.ptr[2] | (size_t)frame.ptr[3] << 8;
    if (len > frame.len - TQ_ENVELOPE_PREFIX)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "ENVELOPE", "an envelope of %zu bytes in a frame of %zu", len,
                       frame.len);
    *out_envelope = (tq_wire_Envelope)tq_wire_Envelope_init_zero;
    pb_istream_t in = pb_istream_from_buffer(frame.ptr + TQ_ENVELOPE_PREFIX, len);
    if (!pb_decode_ex(&in, tq_wire_Envelope_fields, out_envelope, PB_DECODE_NOINIT)) /* zeroed above, cheaper */
        return tq_fail(err, TQ_INVALID_ARGUMENT, "ENVELOPE", "envelope: %s", PB_GET_ERROR(&in));
    if (out_envelope->kind == tq_wire_Kind_KIND_UNSPECIFIED || out_envelope->kind > _tq_wire_Kind_MAX)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "ENVELOPE", "kind %u: expected 1 to %d", (unsigned)out_envelope->kind,
                       _tq_wire_Kind_MAX);
    if (out_envelope->call_id == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "ENVELOPE", "call_id 0");
    if (out_envelope->idempotency_key.size != 0 && out_envelope->idempotency_key.size != TQ_KEY_BYTES)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "ENVELOPE", "idempotency_key of %u bytes: expected 16",
                       (unsigned)out_envelope->idempotency_key.size);
    /* nanopb counts the padding behind an array of odd size as room. */
    if (out_envelope->trace.size > sizeof(out_envelope->trace.bytes))
        return tq_fail(err, TQ_INVALID_ARGUMENT, "ENVELOPE", "trace of %u bytes: at most 25",
                       (unsigned)out_envelope->trace.size);
    size_t at = TQ_ENVELOPE_PREFIX + len;
    *out_body = (struct tq_bytes){ frame.ptr + at, frame.len - at };
    return TQ_OK;
}

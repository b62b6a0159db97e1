#include "transport/rpc/wire_body.h"

#include <pb_decode.h>
#include <pb_encode.h>
#include <stdio.h>
#include <string.h>

#include "transport/base/assert.h"

bool tq_wire_pack(struct tq_packet *packet, const pb_msgdesc_t *fields, const void *message)
{
    size_t len = 0;
    bool sized = pb_get_encoded_size(&len, fields, message);
    TQ_ASSERT(sized);
    if (!tq_packet_resize(packet, len))
        return false;
    pb_ostream_t out = pb_ostream_from_buffer(tq_packet_body(packet), len);
    bool encoded = pb_encode(&out, fields, message);
    TQ_ASSERT(encoded && out.bytes_written == len);
    return true;
}

tq_status tq_wire_unpack(struct tq_bytes body, const pb_msgdesc_t *fields, void *out, size_t out_size,
                         struct tq_error *err)
{
    memset(out, 0, out_size);
    pb_istream_t in = pb_istream_from_buffer(body.ptr, body.len);
    if (!pb_decode(&in, fields, out))
        return tq_fail(err, TQ_INVALID_ARGUMENT, "MALFORMED", "body of %zu bytes: %s", body.len, PB_GET_ERROR(&in));
    return TQ_OK;
}

/* Cuts a copied text where a UTF-8 character begins. */
static void copy_text(char *to, size_t cap, const char *from)
{
    size_t len = strnlen(from, cap);
    if (len == cap)
        for (len--; len > 0 && ((unsigned char)from[len] & 0xc0) == 0x80;)
            len--;
    memcpy(to, from, len);
    to[len] = 0;
}

bool tq_wire_pack_error(struct tq_packet *packet, const struct tq_error *error)
{
    tq_wire_StatusDetail detail = { .status = (uint32_t)error->status,
                                    .outcome = (uint32_t)error->outcome,
                                    .retry_after_ms = error->retry_after_ms };
    copy_text(detail.reason, sizeof(detail.reason), error->reason);
    copy_text(detail.message, sizeof(detail.message), error->message);
    return tq_wire_pack(packet, tq_wire_StatusDetail_fields, &detail);
}

void tq_wire_make_printable(char *text)
{
    for (; *text != 0; text++)
        if ((unsigned char)*text < 0x20 || *text == '"' || *text == 0x7f)
            *text = '?';
}

void tq_wire_unpack_error(uint32_t status, struct tq_bytes body, struct tq_error *out)
{
    tq_wire_StatusDetail detail;
    tq_error_clear(out);
    out->status = tq_status_from_wire(status);
    out->outcome = TQ_OUTCOME_FAILED;
    if (tq_wire_unpack(body, tq_wire_StatusDetail_fields, &detail, sizeof(detail), NULL) != TQ_OK)
        return;
    if (detail.outcome >= TQ_OUTCOME_NOT_STARTED && detail.outcome <= TQ_OUTCOME_UNKNOWN)
        out->outcome = (enum tq_outcome)detail.outcome;
    out->retry_after_ms = detail.retry_after_ms;
    copy_text(out->reason, sizeof(out->reason), detail.reason);
    copy_text(out->message, sizeof(out->message), detail.message);
    tq_wire_make_printable(out->reason);
    tq_wire_make_printable(out->message);
}

#include "transport/rpc/packet.h"

#include <string.h>

#include "transport/base/assert.h"

enum { LEAST_CAPACITY = 256 };

bool tq_packet_resize(struct tq_packet *packet, size_t len)
{
    if (packet->memory == NULL || len > packet->capacity) {
        size_t capacity = len > LEAST_CAPACITY ? len : LEAST_CAPACITY;
        if (capacity > SIZE_MAX - TQ_HEADROOM)
            return false;
        uint8_t *memory = tq_seam_alloc(packet->seam, capacity + TQ_HEADROOM);
        if (memory == NULL)
            return false;
        tq_seam_free(packet->seam, packet->memory);
        packet->memory = memory;
        packet->capacity = capacity;
    }
    packet->len = len;
    return true;
}

bool tq_packet_pack(struct tq_packet *packet, const ProtobufCMessage *message)
{
    size_t len = protobuf_c_message_get_packed_size(message);
    if (!tq_packet_resize(packet, len))
        return false;
    size_t packed = protobuf_c_message_pack(message, tq_packet_body(packet));
    TQ_ASSERT(packed == len);
    return true;
}

bool tq_packet_copy(struct tq_packet *packet, struct tq_bytes bytes)
{
    if (!tq_packet_resize(packet, bytes.len))
        return false;
    if (bytes.len > 0)
        memcpy(tq_packet_body(packet), bytes.ptr, bytes.len);
    return true;
}

void tq_packet_trim(struct tq_packet *packet, size_t keep_bytes)
{
    if (packet->capacity > keep_bytes)
        tq_packet_fini(packet);
}

void tq_packet_fini(struct tq_packet *packet)
{
    tq_seam_free(packet->seam, packet->memory);
    *packet = (struct tq_packet){ .seam = packet->seam };
}

struct tq_bytes tq_packet_seal(struct tq_packet *packet, const tq_wire_Envelope *envelope)
{
    TQ_ASSERT(packet->memory != NULL);
    uint8_t head[TQ_HEADROOM];
    size_t len = tq_envelope_encode(envelope, head);
    uint8_t *frame = tq_packet_body(packet) - len;
    memcpy(frame, head, len);
    return (struct tq_bytes){ frame, len + packet->len };
}

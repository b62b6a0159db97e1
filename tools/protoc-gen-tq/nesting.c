#include "tools/protoc-gen-tq/nesting.h"

struct level {
    const ProtobufCMessageDescriptor *type;
    const uint8_t *end;
};

static bool take_varint(const uint8_t **at, const uint8_t *end, uint64_t *out_value)
{
    *out_value = 0;
    for (unsigned shift = 0; shift < 70 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        if (shift < 64)
            *out_value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return true;
    }
    return false;
}

/* Reads key and, for wire type 2, length. *out_size is the size of what follows. */
static bool take_key(const uint8_t **at, const uint8_t *end, uint32_t *out_number, unsigned *out_wire_type,
                     uint64_t *out_size)
{
    uint64_t key, varint = 0;
    if (!take_varint(at, end, &key) || key >> 3 == 0 || key >> 32 != 0)
        return false;
    *out_number = (uint32_t)(key >> 3);
    *out_wire_type = (unsigned)(key & 7);
    switch (*out_wire_type) {
    case PROTOBUF_C_WIRE_TYPE_VARINT:
        *out_size = 0;
        return take_varint(at, end, &varint);
    case PROTOBUF_C_WIRE_TYPE_64BIT:
        *out_size = 8;
        return true;
    case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
        return take_varint(at, end, out_size);
    case PROTOBUF_C_WIRE_TYPE_32BIT:
        *out_size = 4;
        return true;
    default: /* groups */
        return false;
    }
}

bool nesting_is_within(const ProtobufCMessageDescriptor *type, struct tq_bytes bytes)
{
    struct level levels[NESTING_MAX + 1];
    unsigned level = 0;
    const uint8_t *at = bytes.ptr;
    levels[0] = (struct level){ .type = type, .end = bytes.len == 0 ? at : at + bytes.len };
    for (;;) {
        while (at == levels[level].end) {
            if (level == 0)
                return true;
            level--;
        }
        uint32_t number;
        unsigned wire_type;
        uint64_t size;
        if (!take_key(&at, levels[level].end, &number, &wire_type, &size) || size > (uint64_t)(levels[level].end - at))
            return false;
        const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(levels[level].type, number);
        if (field == NULL || field->type != PROTOBUF_C_TYPE_MESSAGE ||
            wire_type != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED) {
            at += size;
            continue;
        }
        if (level == NESTING_MAX)
            return false;
        levels[++level] = (struct level){ .type = field->descriptor, .end = at + size };
    }
}

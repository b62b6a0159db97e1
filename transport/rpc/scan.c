#include "transport/rpc/scan.h"

#include <stdbool.h>

#include "transport/base/assert.h"

/* What protobuf-c spends on an occurrence before it has looked at the value: its note of where the field lies (in
 * slabs that double) and the rounding of the arena. */
enum { OCCURRENCE_BYTES = 128, VARINT_MAX = 10, FIELD_NUMBER_MAX = (1 << 29) - 1 };
enum wire_type { WIRE_VARINT = 0, WIRE_64BIT = 1, WIRE_LENGTH = 2, WIRE_32BIT = 5 };

struct level {
    const ProtobufCMessageDescriptor *descriptor; /* NULL: nobody knows what is in it */
    const uint8_t *end;
};

struct scan {
    const uint8_t *at;
    struct level levels[TQ_SCAN_DEPTH_MAX + 1];
    unsigned depth;
};

struct occurrence {
    const ProtobufCFieldDescriptor *field; /* NULL: unknown */
    uint32_t number;
    enum wire_type wire_type;
    size_t len; /* of a length-delimited value */
};

static bool take_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < VARINT_MAX && *at < end; i++) {
        uint8_t byte = *(*at)++;
        *value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if ((byte & 0x80) == 0)
            return true;
    }
    return false;
}

/* Reads a key and the length of its value; leaves scan->at on the value (behind it, for a varint). */
static const char *take_key(struct scan *scan, struct occurrence *out)
{
    const uint8_t *end = scan->levels[scan->depth].end;
    uint64_t key, number = 0;
    if (!take_varint(&scan->at, end, &key) || key >> 3 == 0 || key >> 3 > FIELD_NUMBER_MAX)
        return "a key that is none";
    out->number = (uint32_t)(key >> 3);
    out->wire_type = (enum wire_type)(key & 7);
    out->len = 0;
    switch (out->wire_type) {
    case WIRE_VARINT:
        return take_varint(&scan->at, end, &number) ? NULL : "an endless varint";
    case WIRE_LENGTH:
        if (!take_varint(&scan->at, end, &number))
            return "an endless length";
        break;
    case WIRE_64BIT:
    case WIRE_32BIT:
        number = out->wire_type == WIRE_64BIT ? 8 : 4;
        break;
    default:
        return "a group or a reserved wire type";
    }
    if (number > (uint64_t)(end - scan->at))
        return "a value beyond its message";
    out->len = (size_t)number;
    return NULL;
}

static size_t count_varints(const uint8_t *at, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += (at[i] & 0x80) == 0;
    return count;
}

static bool is_chunk(ProtobufCType type)
{
    return type == PROTOBUF_C_TYPE_MESSAGE || type == PROTOBUF_C_TYPE_STRING || type == PROTOBUF_C_TYPE_BYTES;
}

/* Entries of a packed field: at least one byte each, whatever the bytes are. */
static size_t count_packed(const ProtobufCFieldDescriptor *field, const uint8_t *at, size_t len)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        return len / 4;
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return len / 8;
    case PROTOBUF_C_TYPE_BOOL: /* protobuf-c makes room for one entry a byte */
        return len;
    default:
        return count_varints(at, len);
    }
}

static void count(const struct scan *scan, const struct occurrence *occurrence, struct tq_scan *out)
{
    const ProtobufCFieldDescriptor *field = occurrence->field;
    out->memory_bytes += OCCURRENCE_BYTES;
    if (field == NULL) { /* protobuf-c keeps unknown fields, key and length included */
        out->elements++;
        out->memory_bytes += occurrence->len + 2 * VARINT_MAX;
    } else if (occurrence->wire_type != WIRE_LENGTH) {
        out->elements += field->label == PROTOBUF_C_LABEL_REPEATED;
        out->memory_bytes += 8;
    } else if (is_chunk(field->type)) {
        out->elements++;
        out->memory_bytes += field->type == PROTOBUF_C_TYPE_MESSAGE
                                 ? ((const ProtobufCMessageDescriptor *)field->descriptor)->sizeof_message
                                 : occurrence->len + 1;
    } else {
        size_t entries = count_packed(field, scan->at, occurrence->len);
        out->elements += entries;
        out->memory_bytes += 8 * entries;
    }
}

static tq_status step(struct scan *scan, size_t max_elements, unsigned max_depth, struct tq_scan *out,
                      struct tq_error *err)
{
    struct occurrence occurrence;
    const struct level *level = &scan->levels[scan->depth];
    const char *why = take_key(scan, &occurrence);
    if (why != NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "MALFORMED", "%s: %s", level->descriptor->name, why);
    occurrence.field = protobuf_c_message_descriptor_get_field(level->descriptor, occurrence.number);
    count(scan, &occurrence, out);
    if (out->elements > max_elements)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "ELEMENTS", "%s: more than %zu elements", level->descriptor->name,
                       max_elements);
    if (occurrence.field == NULL || occurrence.wire_type != WIRE_LENGTH ||
        occurrence.field->type != PROTOBUF_C_TYPE_MESSAGE) {
        scan->at += occurrence.len;
        return TQ_OK;
    }
    if (scan->depth == max_depth)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "DEPTH", "%s: nested deeper than %u", level->descriptor->name,
                       max_depth);
    scan->levels[++scan->depth] = (struct level){ occurrence.field->descriptor, scan->at + occurrence.len };
    return TQ_OK;
}

tq_status tq_scan(const ProtobufCMessageDescriptor *descriptor, struct tq_bytes bytes, size_t max_elements,
                  unsigned max_depth, struct tq_scan *out, struct tq_error *err)
{
    TQ_ASSERT(max_depth <= TQ_SCAN_DEPTH_MAX);
    static const uint8_t nothing[1];
    const uint8_t *begin = bytes.ptr != NULL ? bytes.ptr : nothing;
    struct scan scan = { .at = begin };
    scan.levels[0] = (struct level){ descriptor, begin + bytes.len };
    *out = (struct tq_scan){ .memory_bytes = descriptor->sizeof_message + OCCURRENCE_BYTES };
    for (;;) {
        while (scan.at == scan.levels[scan.depth].end)
            if (scan.depth-- == 0)
                return TQ_OK;
        tq_status status = step(&scan, max_elements, max_depth, out, err);
        if (status != TQ_OK)
            return status;
    }
}

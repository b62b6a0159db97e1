#include "transport/rpc/body.h"

#include <stdint.h>

#include "transport/rpc/scan.h"

enum { DEFAULT_BYTES = 65536, DEFAULT_ELEMENTS = 4096 };

static void *arena_alloc(void *arena, size_t size)
{
    return tq_arena_alloc(arena, size);
}

static void arena_free(void *arena, void *memory)
{
    (void)arena;
    (void)memory;
}

tq_status tq_body_decode(struct tq_arena *arena, const ProtobufCMessageDescriptor *descriptor, struct tq_bytes bytes,
                         struct tq_body_limits limits, const ProtobufCMessage **out_message, struct tq_error *err)
{
    size_t max_bytes = limits.bytes > 0 ? limits.bytes : DEFAULT_BYTES;
    size_t max_elements = limits.elements > 0 ? limits.elements : DEFAULT_ELEMENTS;
    if (bytes.len > max_bytes)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "BODY_BYTES", "%s of %zu bytes: at most %zu", descriptor->name,
                       bytes.len, max_bytes);
    struct tq_scan scan;
    tq_status status = tq_scan(descriptor, bytes, max_elements, TQ_BODY_DEPTH, &scan, err);
    if (status != TQ_OK)
        return status;
    tq_arena_reset(arena, scan.memory_bytes);
    ProtobufCAllocator allocator = { arena_alloc, arena_free, arena };
    static const uint8_t nothing[1];
    const ProtobufCMessage *message =
        protobuf_c_message_unpack(descriptor, &allocator, bytes.len, bytes.ptr != NULL ? bytes.ptr : nothing);
    if (message != NULL) {
        *out_message = message;
        return TQ_OK;
    }
    /* The scan knows the budget, so an exhausted one means bytes that make protobuf-c merge again and again. */
    if (tq_arena_exhausted(arena))
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "BODY_BYTES", "%s of %zu bytes needs more than %zu bytes of memory",
                       descriptor->name, bytes.len, scan.memory_bytes);
    if (tq_arena_failed(arena))
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a %s of %zu bytes", descriptor->name,
                       bytes.len);
    return tq_fail(err, TQ_INVALID_ARGUMENT, "MALFORMED", "%zu bytes that are no %s", bytes.len, descriptor->name);
}

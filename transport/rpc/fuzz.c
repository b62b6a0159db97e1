#include "tq/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "transport/base/arena.h"
#include "transport/base/assert.h"
#include "transport/base/seam.h"
#include "transport/rpc/body.h"

/* A message packed; free `ptr`. */
struct packed {
    uint8_t *ptr;
    size_t len;
};

static struct packed pack(const ProtobufCMessage *message)
{
    struct packed packed = { .len = protobuf_c_message_get_packed_size(message) };
    packed.ptr = malloc(packed.len + 1);
    TQ_ASSERT(packed.ptr != NULL);
    TQ_ASSERT(protobuf_c_message_pack(message, packed.ptr) == packed.len);
    return packed;
}

static const ProtobufCMessage *decode(struct tq_arena *arena, const struct tq_method *method, struct tq_bytes bytes,
                                      struct tq_body_limits limits)
{
    const ProtobufCMessage *message = NULL;
    tq_status status = tq_body_decode(arena, method->request, bytes, limits, &message, NULL);
    TQ_ASSERT((status == TQ_OK) == (message != NULL));
    TQ_ASSERT(message == NULL || message->descriptor == method->request);
    return message;
}

/* The limits of the wire bytes need not hold for their canonical form (a packed field of one entry grows), but these
 * do: every element takes at least a byte. */
static void check_reproduces(struct tq_arena *arena, const struct tq_method *method, struct packed first)
{
    struct tq_body_limits limits = { .bytes = first.len + 1, .elements = first.len + 1 };
    const ProtobufCMessage *again = decode(arena, method, (struct tq_bytes){ first.ptr, first.len }, limits);
    TQ_ASSERT(again != NULL);
    struct packed second = pack(again);
    TQ_ASSERT(second.len == first.len && memcmp(second.ptr, first.ptr, first.len) == 0);
    free(second.ptr);
}

static struct tq_arena *open_arena(void)
{
    struct tq_arena *arena = tq_arena_open(tq_seam_system(), 0);
    TQ_ASSERT(arena != NULL);
    return arena;
}

static struct tq_body_limits request_limits(const struct tq_method *method)
{
    return (struct tq_body_limits){ .bytes = method->request_bytes, .elements = method->request_elements };
}

int tq_fuzz_request(const struct tq_method *method, const uint8_t *data, size_t size)
{
    struct tq_arena *arena = open_arena();
    const ProtobufCMessage *message = decode(arena, method, (struct tq_bytes){ data, size }, request_limits(method));
    if (message != NULL) {
        struct packed packed = pack(message);
        check_reproduces(arena, method, packed); /* resets the arena: `message` is gone */
        free(packed.ptr);
    }
    tq_arena_close(arena);
    return 0;
}

/* What a handler must see. */
struct expected {
    const struct tq_method *method;
    const ProtobufCMessage *request;
    struct tq_server_call *call;
    unsigned times;
};

void tq_fuzz_saw(void *state, const struct tq_method *method, const ProtobufCMessage *request,
                 const struct tq_server_call *call)
{
    struct expected *expected = state;
    TQ_ASSERT(method == expected->method);
    TQ_ASSERT(request == expected->request);
    TQ_ASSERT(call == expected->call);
    expected->times++;
}

static void check_dispatch(const struct tq_method *method, const ProtobufCMessage *request, const void *ops,
                           size_t ops_bytes)
{
    struct expected expected = { .method = method, .request = request };
    expected.call = (struct tq_server_call *)(void *)&expected; /* never looked into */
    TQ_ASSERT(method->invoke(ops, &expected, request, expected.call));
    TQ_ASSERT(expected.times == 1);
    void *no_handlers = calloc(1, ops_bytes);
    TQ_ASSERT(no_handlers != NULL);
    TQ_ASSERT(!method->invoke(no_handlers, &expected, request, expected.call));
    TQ_ASSERT(expected.times == 1);
    free(no_handlers);
}

int tq_fuzz_dispatch(const struct tq_service *service, const void *ops, size_t ops_bytes, const uint8_t *data,
                     size_t size)
{
    if (size < 2)
        return 0;
    const struct tq_method *method = &service->methods[(data[0] | data[1] << 8) % (int)service->n_methods];
    struct tq_arena *arena = open_arena();
    const ProtobufCMessage *request =
        decode(arena, method, (struct tq_bytes){ data + 2, size - 2 }, request_limits(method));
    if (request != NULL)
        check_dispatch(method, request, ops, ops_bytes);
    tq_arena_close(arena);
    return 0;
}

/* The bodies that the runtime itself reads: hello, its answer, keep-alive, lookup, goodbye. The first byte chooses.
 * What is accepted encodes, and decodes again to the same bytes. */
#include <string.h>

#include "tq/wire/session.pb.h"
#include "transport/base/assert.h"
#include "transport/rpc/wire_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct tq_bytes body, const pb_msgdesc_t *fields, void *message, void *again, size_t message_size)
{
    struct tq_packet first = { .seam = NULL }, second = { .seam = NULL };
    if (tq_wire_unpack(body, fields, message, message_size, NULL) != TQ_OK)
        return;
    TQ_ASSERT(tq_wire_pack(&first, fields, message));
    struct tq_bytes packed = { tq_packet_body(&first), first.len };
    TQ_ASSERT(tq_wire_unpack(packed, fields, again, message_size, NULL) == TQ_OK);
    TQ_ASSERT(tq_wire_pack(&second, fields, again));
    TQ_ASSERT(first.len == second.len && memcmp(packed.ptr, tq_packet_body(&second), first.len) == 0);
    tq_packet_fini(&first);
    tq_packet_fini(&second);
}
#define CHECK(type)                                                                                                    \
    do {                                                                                                               \
        tq_wire_##type message, again;                                                                                 \
        check(body, tq_wire_##type##_fields, &message, &again, sizeof(message));                                       \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct tq_bytes body = { data + 1, size - 1 };
    switch (data[0] % 7) {
    case 0:
        CHECK(Hello);
        break;
    case 1:
        CHECK(HelloReply);
        break;
    case 2:
        CHECK(KeepAlive);
        break;
    case 3:
        CHECK(Lookup);
        break;
    case 4:
        CHECK(LookupReply);
        break;
    case 5:
        CHECK(Goodbye);
        break;
    default:
        CHECK(StatusDetail);
        break;
    }
    return 0;
}

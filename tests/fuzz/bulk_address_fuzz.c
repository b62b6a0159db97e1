/* Addresses and keys of bulk, as bytes from a peer: what is accepted is reproduced, and is what its check says. */
#include <stdlib.h>
#include <string.h>

#include "transport/bulk/address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(holds)                                                                                                   \
    do {                                                                                                               \
        if (!(holds))                                                                                                  \
            abort();                                                                                                   \
    } while (0)

static void check_address(struct tq_bytes bytes)
{
    tq_wire_BulkAddress first, again;
    struct tq_error err;
    uint8_t wire[TQ_ADDRESS_MAX];
    if (tq_address_decode(bytes, &first, &err) != TQ_OK) {
        CHECK(err.status == TQ_INVALID_ARGUMENT && err.message[0] != 0);
        return;
    }
    CHECK(first.process != 0 && first.port <= UINT16_MAX && (first.port != 0 || first.worker.size > 0));
    size_t len = tq_address_encode(&first, wire, sizeof(wire));
    CHECK(len > 0);
    CHECK(tq_address_decode((struct tq_bytes){ wire, len }, &again, &err) == TQ_OK);
    CHECK(again.process == first.process && again.ipv4 == first.ipv4 && again.port == first.port);
    CHECK(again.worker.size == first.worker.size &&
          memcmp(again.worker.bytes, first.worker.bytes, first.worker.size) == 0);
}

static void check_key(struct tq_bytes bytes)
{
    tq_wire_BulkKey first, again;
    struct tq_error err;
    uint8_t wire[tq_wire_BulkKey_size];
    if (tq_key_decode(bytes, 1, 2, &first, &err) != TQ_OK) {
        CHECK(err.status == TQ_INVALID_ARGUMENT);
        return;
    }
    CHECK(first.process == 1 && first.region == 2 && first.packed.size > 0);
    size_t len = tq_key_encode(&first, wire, sizeof(wire));
    CHECK(len > 0 && tq_key_decode((struct tq_bytes){ wire, len }, 1, 2, &again, &err) == TQ_OK);
    CHECK(again.base == first.base && again.length == first.length);
    CHECK(tq_key_decode((struct tq_bytes){ wire, len }, 3, 2, &again, &err) != TQ_OK);
}

/* The check is set right for half of the inputs, so that the fuzzer gets behind it. */
static void check_repaired(struct tq_bytes bytes)
{
    tq_wire_BulkAddress address;
    struct tq_error err;
    uint8_t wire[TQ_ADDRESS_MAX];
    if (tq_address_decode(bytes, &address, &err) == TQ_OK) /* else it has filled what it could */
        return;
    size_t len = tq_address_encode(&address, wire, sizeof(wire));
    if (len > 0)
        check_address((struct tq_bytes){ wire, len });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tq_bytes bytes = { data, size };
    check_address(bytes);
    check_key(bytes);
    check_repaired(bytes);
    return 0;
}

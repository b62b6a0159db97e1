/* transport/bulk/address.h: the BulkAddress of a process: where UCX reaches it, and what proves that it shares this
 * machine with us. Bytes of a peer: decoding bounds and checks everything.
 * Owns: nothing. Threads: any. */
#ifndef TQ_BULK_ADDRESS_H
#define TQ_BULK_ADDRESS_H

#include <stdbool.h>

#include "tq/bytes.h"
#include "tq/wire/bulk.pb.h"

enum {
    TQ_ADDRESS_VERSION = 1,
    TQ_ADDRESS_MAX = tq_wire_BulkAddress_size,
    TQ_REPLY_TO_MAX = 640,
    TQ_WORKER_MAX = 512,
};

enum tq_address_features {
    TQ_ADDRESS_TCP = 1u << 0,
    TQ_ADDRESS_SHM = 1u << 1, /* active messages over shared memory */
};

/* Fills version, process, host, uid, pid, start time of this process. */
void tq_address_of_self(tq_wire_BulkAddress *out_address, uint64_t process, uint64_t features);
/* Sets the check and encodes. Returns the length; 0 when `cap` is too small. */
size_t tq_address_encode(tq_wire_BulkAddress *address, uint8_t *out, size_t cap);
/* Fails with INVALID_ARGUMENT: not an address, another version, process 0, no worker and no port, damaged. */
TQ_MUST_CHECK tq_status tq_address_decode(struct tq_bytes bytes, tq_wire_BulkAddress *out_address,
                                          struct tq_error *err);
/* The same for the key of an extent. */
size_t tq_key_encode(tq_wire_BulkKey *key, uint8_t *out, size_t cap);
/* Fails with INVALID_ARGUMENT: not a key, damaged, or of another region or process. */
TQ_MUST_CHECK tq_status tq_key_decode(struct tq_bytes bytes, uint64_t process, uint64_t region,
                                      tq_wire_BulkKey *out_key, struct tq_error *err);
/* Whether `self` has a way to `peer`: shared memory on one machine and of one user, or TCP to its port; a loopback
 * address leads nowhere from another machine. */
bool tq_address_is_usable(const tq_wire_BulkAddress *peer, const tq_wire_BulkAddress *self);
/* A descriptor that watches the peer when it is proved to be a process of the same user on this machine; else -1. */
int tq_address_prove_local(const tq_wire_BulkAddress *peer, const tq_wire_BulkAddress *self);

#endif

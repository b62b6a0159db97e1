/* transport/rpc/listen.h: where a server may listen, and the ROUTER that does.
 * Owns: nothing. Threads: any. */
#ifndef TQ_RPC_LISTEN_H
#define TQ_RPC_LISTEN_H

#include <stdbool.h>

#include "transport/rpc/zmq_frames.h"

enum { TQ_ADDRESS_BYTES = 256 };

/* Whether the address is reachable from this machine only. False for anything that it does not understand. */
bool tq_listen_is_local(const char *address);

/* Whether it is tcp://HOST:PORT (port 0 to 65535 or *) or ipc://PATH. */
bool tq_address_is_valid(const char *address);

/* A ROUTER with all its limits, bound to the address; writes the bound address (with its real port) to `out_address`
 * (TQ_ADDRESS_BYTES). Fails with INVALID_ARGUMENT, PERMISSION_DENIED (not local and not insecure), UNAVAILABLE (in
 * use), RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_listen(void *zmq_context, const char *address, bool insecure, uint64_t max_frame_bytes,
                                  void **out_router, char *out_address, struct tq_error *err);

#endif

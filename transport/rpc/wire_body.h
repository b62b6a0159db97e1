/* transport/rpc/wire_body.h: the bodies that the runtime itself speaks (hello, keep-alive, lookup, status detail), by
 * nanopb into structs of fixed size. Owns: nothing. Threads: any. */
#ifndef TQ_RPC_WIRE_BODY_H
#define TQ_RPC_WIRE_BODY_H

#include <pb.h>
#include <stdbool.h>

#include "tq/bytes.h"
#include "transport/rpc/packet.h"

/* Encodes a nanopb message as the body. False without memory. */
TQ_MUST_CHECK bool tq_wire_pack(struct tq_packet *packet, const pb_msgdesc_t *fields, const void *message);
/* Decodes into *out, which is zeroed first. Fails with INVALID_ARGUMENT. */
TQ_MUST_CHECK tq_status tq_wire_unpack(struct tq_bytes body, const pb_msgdesc_t *fields, void *out, size_t out_size,
                                       struct tq_error *err);

/* A StatusDetail as the body. The message is cut at a character boundary when it is too long. */
TQ_MUST_CHECK bool tq_wire_pack_error(struct tq_packet *packet, const struct tq_error *error);
/* The error that a peer's reply of `status` carries. Never fails: a body that says nothing gives the bare status.
 * Texts from peers are made printable. */
void tq_wire_unpack_error(uint32_t status, struct tq_bytes body, struct tq_error *out);

/* Makes a peer's text safe for a log line: control characters and quotes become '?'. */
void tq_wire_make_printable(char *text);

#endif

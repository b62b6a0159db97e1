/* tq/fuzz.h: what the fuzz targets that protoc-gen-tq writes ask of the decoder and of the generated dispatch. A broken
 * promise aborts.
 * Owns: nothing; each call frees what it made. Threads: one. */
#ifndef TQ_FUZZ_H
#define TQ_FUZZ_H

#include "tq/rpc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Decodes `data` as the method's request, under its limits. What is accepted packs, and decodes again to a message that
 * packs to the same bytes. Always 0. */
TQ_PUBLIC int tq_fuzz_request(const struct tq_method *method, const uint8_t *data, size_t size);

/* The first two bytes choose the method, the rest is its request. A request that decodes reaches the method's own
 * handler of `ops`, once and unchanged; without a handler the dispatch says so. The handlers call tq_fuzz_saw. Always
 * 0. */
TQ_PUBLIC int tq_fuzz_dispatch(const struct tq_service *service, const void *ops, size_t ops_bytes, const uint8_t *data,
                               size_t size);
TQ_PUBLIC void tq_fuzz_saw(void *state, const struct tq_method *method, const ProtobufCMessage *request,
                           const struct tq_server_call *call);

#ifdef __cplusplus
}
#endif
#endif

/* Written by protoc-gen-tq from tq/v1/types.proto. Do not edit.
 * X() blocks, X_cb() calls back, X_start() gives a future; owners, threads and errors: tq/rpc.h. */
#ifndef TQ_GENERATED_tq_2fv1_2ftypes_2eproto_H
#define TQ_GENERATED_tq_2fv1_2ftypes_2eproto_H

#include "tq/rpc.h"

#include "tq/v1/types.pb-c.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif

/* client/dtype.h: the element types that we carry, as DLPack, the wire and people name them: one table.
 * Owns: nothing. Threads: any. */
#ifndef TQ_CLIENT_DTYPE_H
#define TQ_CLIENT_DTYPE_H

#include <dlpack/dlpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* wire name, wire number (tq.v1.DataType), DLPack code, bits, name for people */
#define TQ_DTYPE_LIST(X)                                                                                               \
    X(BOOL, 1, 6, 8, "bool")                                                                                           \
    X(UINT8, 2, 1, 8, "uint8")                                                                                         \
    X(INT8, 3, 0, 8, "int8")                                                                                           \
    X(UINT16, 4, 1, 16, "uint16")                                                                                      \
    X(INT16, 5, 0, 16, "int16")                                                                                        \
    X(UINT32, 6, 1, 32, "uint32")                                                                                      \
    X(INT32, 7, 0, 32, "int32")                                                                                        \
    X(UINT64, 8, 1, 64, "uint64")                                                                                      \
    X(INT64, 9, 0, 64, "int64")                                                                                        \
    X(FLOAT16, 10, 2, 16, "float16")                                                                                   \
    X(BFLOAT16, 11, 4, 16, "bfloat16")                                                                                 \
    X(FLOAT32, 12, 2, 32, "float32")                                                                                   \
    X(FLOAT64, 13, 2, 64, "float64")                                                                                   \
    X(COMPLEX64, 14, 5, 64, "complex64")                                                                               \
    X(COMPLEX128, 15, 5, 128, "complex128")                                                                            \
    X(FLOAT8_E4M3, 16, 10, 8, "float8_e4m3")                                                                           \
    X(FLOAT8_E5M2, 17, 12, 8, "float8_e5m2")

#define TQ_DTYPE_ENUM_(name, number, code, bits, text) TQ_DTYPE_##name = (number),
enum tq_dtype { TQ_DTYPE_NONE = 0, TQ_DTYPE_LIST(TQ_DTYPE_ENUM_) TQ_DTYPE_COUNT };
#undef TQ_DTYPE_ENUM_

/* TQ_DTYPE_NONE for a type that we do not carry. */
enum tq_dtype tq_dtype_from_dlpack(DLDataType dtype);
/* `number` is a value from a peer or a file. */
bool tq_dtype_is_known(uint32_t number);
/* The following want a known type. */
DLDataType tq_dtype_to_dlpack(enum tq_dtype dtype);
size_t tq_dtype_size(enum tq_dtype dtype);
/* "float32"; "none" for TQ_DTYPE_NONE. */
const char *tq_dtype_name(enum tq_dtype dtype);

#endif

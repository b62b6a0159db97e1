#include "client/files/st_dtype.h"

#include <string.h>

static const char *const names[TQ_DTYPE_COUNT] = {
    [TQ_DTYPE_BOOL] = "BOOL",          [TQ_DTYPE_UINT8] = "U8",      [TQ_DTYPE_INT8] = "I8",
    [TQ_DTYPE_UINT16] = "U16",         [TQ_DTYPE_INT16] = "I16",     [TQ_DTYPE_UINT32] = "U32",
    [TQ_DTYPE_INT32] = "I32",          [TQ_DTYPE_UINT64] = "U64",    [TQ_DTYPE_INT64] = "I64",
    [TQ_DTYPE_FLOAT16] = "F16",        [TQ_DTYPE_BFLOAT16] = "BF16", [TQ_DTYPE_FLOAT32] = "F32",
    [TQ_DTYPE_FLOAT64] = "F64",        [TQ_DTYPE_COMPLEX64] = "C64", [TQ_DTYPE_FLOAT8_E4M3] = "F8_E4M3",
    [TQ_DTYPE_FLOAT8_E5M2] = "F8_E5M2"
};

enum tq_dtype tq_st_dtype_parse(const char *name)
{
    for (int d = TQ_DTYPE_NONE + 1; d < TQ_DTYPE_COUNT; d++)
        if (names[d] != NULL && strcmp(names[d], name) == 0)
            return (enum tq_dtype)d;
    return TQ_DTYPE_NONE;
}

const char *tq_st_dtype_name(enum tq_dtype dtype)
{
    return names[dtype];
}

#include "client/dtype.h"

#include "tq/client.h"
#include "transport/base/assert.h"

struct row {
    DLDataType dlpack;
    const char *name;
};

#define ROW(name, number, code, bits, text) [number] = { { (code), (bits), 1 }, text },
static const struct row rows[TQ_DTYPE_COUNT] = { TQ_DTYPE_LIST(ROW) };
#undef ROW

enum tq_dtype tq_dtype_from_dlpack(DLDataType dtype)
{
    if (dtype.lanes != 1)
        return TQ_DTYPE_NONE;
    for (int i = TQ_DTYPE_NONE + 1; i < TQ_DTYPE_COUNT; i++)
        if (rows[i].dlpack.code == dtype.code && rows[i].dlpack.bits == dtype.bits)
            return (enum tq_dtype)i;
    return TQ_DTYPE_NONE;
}

bool tq_dtype_is_known(uint32_t number)
{
    return number > TQ_DTYPE_NONE && number < TQ_DTYPE_COUNT;
}

DLDataType tq_dtype_to_dlpack(enum tq_dtype dtype)
{
    TQ_ASSERT(tq_dtype_is_known((uint32_t)dtype));
    return rows[dtype].dlpack;
}

size_t tq_dtype_size(enum tq_dtype dtype)
{
    TQ_ASSERT(tq_dtype_is_known((uint32_t)dtype));
    return rows[dtype].dlpack.bits / 8u;
}

const char *tq_dtype_name(enum tq_dtype dtype)
{
    return tq_dtype_is_known((uint32_t)dtype) ? rows[dtype].name : "none";
}

size_t tq_dtype_bytes(DLDataType dtype)
{
    enum tq_dtype known = tq_dtype_from_dlpack(dtype);
    return known == TQ_DTYPE_NONE ? 0 : tq_dtype_size(known);
}

#include "server/controller/limits.h"

#include <inttypes.h>

static tq_status fill_one(uint64_t *value, const char *name, uint64_t initial, uint64_t min, uint64_t max,
                          struct tq_error *err)
{
    if (*value == 0)
        *value = initial;
    if (*value < min || *value > max)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "LIMIT", "limit %s: %" PRIu64 ", expected %" PRIu64 "..%" PRIu64, name,
                       *value, min, max);
    return TQ_OK;
}

tq_status tq_controller_limits_fill(struct tq_controller_limits *limits, struct tq_error *err)
{
    tq_status status = TQ_OK;
#define FILL(name, initial, min, max, help)                                                                            \
    if (status == TQ_OK)                                                                                               \
        status = fill_one(&limits->name, #name, initial, min, max, err);
    TQ_CONTROLLER_LIMITS(FILL)
#undef FILL
    return status;
}

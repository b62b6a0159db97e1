#include "server/controller/sampler.h"

#include <string.h>

static const struct tq_sampler *const samplers[] = { &tq_sampler_sequential, &tq_sampler_group_n };
static const char *const planned[] = { "rank_aware", "seqlen_balanced", "priority" };

tq_status tq_sampler_find(const char *name, const struct tq_sampler **out_sampler, struct tq_error *err)
{
    if (name == NULL || name[0] == '\0')
        name = tq_sampler_sequential.name;
    for (size_t i = 0; i < sizeof(samplers) / sizeof(samplers[0]); i++)
        if (strcmp(name, samplers[i]->name) == 0) {
            *out_sampler = samplers[i];
            return TQ_OK;
        }
    for (size_t i = 0; i < sizeof(planned) / sizeof(planned[0]); i++)
        if (strcmp(name, planned[i]) == 0)
            return tq_fail(err, TQ_UNIMPLEMENTED, "SAMPLER",
                           "sampler.name: %s is not available yet, expected sequential or group_n", name);
    return tq_fail(err, TQ_INVALID_ARGUMENT, "SAMPLER", "sampler.name: %.64s, expected sequential or group_n", name);
}

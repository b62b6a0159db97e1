#include "server/controller/sampler.h"
#include "transport/base/assert.h"

static tq_status check(uint32_t batch_size, uint32_t group_size, struct tq_error *err)
{
    (void)batch_size;
    if (group_size != 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "SAMPLER",
                       "sampler.group_size: %u, expected 0 with the sampler sequential", group_size);
    return TQ_OK;
}

static uint64_t supply(const struct tq_feed *feed)
{
    return feed->n_available;
}

static void choose(const struct tq_feed *feed, uint32_t n, uint32_t *out_slots)
{
    roaring_uint32_iterator_t at;
    roaring_init_iterator(feed->available, &at);
    uint32_t got = roaring_read_uint32_iterator(&at, out_slots, n);
    TQ_ASSERT(got == n);
}

const struct tq_sampler tq_sampler_sequential = { "sequential", false, check, supply, choose };

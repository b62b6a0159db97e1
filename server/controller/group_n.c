#include "server/controller/sampler.h"
#include "transport/base/assert.h"

static tq_status check(uint32_t batch_size, uint32_t group_size, struct tq_error *err)
{
    if (group_size == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "SAMPLER",
                       "sampler.group_size: 0, expected 1 or more with the sampler group_n");
    if (batch_size % group_size != 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "SAMPLER",
                       "batch_size: %u, expected a multiple of sampler.group_size %u", batch_size, group_size);
    return TQ_OK;
}

static uint64_t supply(const struct tq_feed *feed)
{
    return feed->n_complete * feed->group_size;
}

/* The first n available members of a group, from its lead on. */
static void choose_members(const struct tq_feed *feed, uint32_t lead, uint32_t n, uint32_t *out_slots)
{
    const struct tq_partition *partition = feed->view->partition;
    uint32_t got = 0;
    for (uint32_t at = lead + 1; at != 0 && got < n; at = tq_partition_row(partition, at - 1)->next)
        if (roaring_bitmap_contains(feed->available, at - 1))
            out_slots[got++] = at - 1;
    TQ_ASSERT(got == n);
}

static void choose(const struct tq_feed *feed, uint32_t n, uint32_t *out_slots)
{
    uint32_t size = feed->group_size, got = 0;
    TQ_ASSERT(n % size == 0);
    roaring_uint32_iterator_t at;
    for (roaring_init_iterator(feed->complete, &at); got < n; roaring_advance_uint32_iterator(&at)) {
        TQ_ASSERT(at.has_value);
        uint32_t ordinal = tq_partition_row(feed->view->partition, at.current_value)->group - 1;
        uint32_t members = feed->tallies[ordinal].count / size * size;
        if (members > n - got)
            members = n - got;
        choose_members(feed, at.current_value, members, out_slots + got);
        got += members;
    }
}

const struct tq_sampler tq_sampler_group_n = { "group_n", true, check, supply, choose };

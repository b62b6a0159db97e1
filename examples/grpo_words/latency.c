#include "examples/grpo_words/latency.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* Values below 8 have a bucket each; above, the leading bit and the three bits after it choose. */
static size_t bucket_of(uint64_t value)
{
    if (value < 8)
        return (size_t)value;
    const unsigned exponent = 63u - (unsigned)__builtin_clzll(value);
    return (size_t)(exponent - 2) * 8 + (size_t)(value >> (exponent - 3) & 7);
}

/* The largest value of a bucket. */
static uint64_t bucket_top(size_t bucket)
{
    if (bucket < 8)
        return bucket;
    const unsigned shift = (unsigned)(bucket / 8) - 1;
    return ((8 + bucket % 8 + 1) << shift) - 1;
}

void latency_add(struct latency *latency, int64_t duration_ns)
{
    latency->counts[bucket_of(duration_ns > 0 ? (uint64_t)duration_ns : 0)]++;
}

void latency_merge(struct latency *into, const struct latency *from)
{
    for (size_t i = 0; i < LATENCY_BUCKETS; i++)
        into->counts[i] += from->counts[i];
}

uint64_t latency_count(const struct latency *latency)
{
    uint64_t count = 0;
    for (size_t i = 0; i < LATENCY_BUCKETS; i++)
        count += latency->counts[i];
    return count;
}

int64_t latency_percentile_ns(const struct latency *latency, double share)
{
    const double wanted = share * (double)latency_count(latency);
    uint64_t seen = 0;
    for (size_t i = 0; i < LATENCY_BUCKETS; i++) {
        seen += latency->counts[i];
        if (seen > 0 && (double)seen >= wanted)
            return (int64_t)bucket_top(i);
    }
    return 0;
}

void latency_print(const struct latency *latency, FILE *out)
{
    const char *between = "";
    for (size_t i = 0; i < LATENCY_BUCKETS; i++) {
        if (latency->counts[i] == 0)
            continue;
        fprintf(out, "%s%zu:%" PRIu64, between, i, latency->counts[i]);
        between = " ";
    }
}

bool latency_parse(struct latency *latency, const char *text)
{
    while (*text != '\0') {
        char *end = NULL;
        errno = 0;
        const unsigned long long bucket = strtoull(text, &end, 10);
        if (end == text || *end != ':' || bucket >= LATENCY_BUCKETS)
            return false;
        text = end + 1;
        const unsigned long long count = strtoull(text, &end, 10);
        if (end == text || errno != 0 || (*end != ' ' && *end != '\0'))
            return false;
        latency->counts[bucket] += count;
        text = *end == ' ' ? end + 1 : end;
    }
    return true;
}

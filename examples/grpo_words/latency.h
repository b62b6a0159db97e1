/* latency.h: how long things took, as a histogram of fixed size whose buckets are an eighth of a power of two wide.
 * Histograms of several processes add up, so percentiles of the whole run can be told.
 * Owns: nothing; struct latency is plain data, zeroed when empty. Threads: one. */
#ifndef GRPO_WORDS_LATENCY_H
#define GRPO_WORDS_LATENCY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { LATENCY_BUCKETS = 8 * 62 };

struct latency {
    uint64_t counts[LATENCY_BUCKETS];
};

/* Negative durations count as zero. */
void latency_add(struct latency *latency, int64_t duration_ns);
void latency_merge(struct latency *into, const struct latency *from);
uint64_t latency_count(const struct latency *latency);
/* The duration that `share` (0 to 1) of all stay at or below, at most an eighth too high; 0 when there is none. */
int64_t latency_percentile_ns(const struct latency *latency, double share);
/* "BUCKET:COUNT ..." without a line end; nothing when it is empty. */
void latency_print(const struct latency *latency, FILE *out);
/* Adds what latency_print wrote. False when the text is something else. */
bool latency_parse(struct latency *latency, const char *text);

#endif

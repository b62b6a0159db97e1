/* report.h: what the workers told: the reward curve and what moved, added up over processes.
 * Owns: the curve. Threads: one. */
#ifndef GRPO_WORDS_REPORT_H
#define GRPO_WORDS_REPORT_H

#include "examples/grpo_words/curve.h"
#include "examples/grpo_words/worker.h"

enum { REPORT_WORDS_BYTES = 80 };

struct report {
    struct curve rewards;           /* a value a step */
    double kl, clipped, lag;        /* of the last step */
    char words[REPORT_WORDS_BYTES]; /* the likeliest completions after the last step */
    uint64_t put_bytes[TQ_ENGINE_COUNT];
    uint64_t get_bytes[TQ_ENGINE_COUNT];
    uint64_t calls, samples_put, samples_got, retries;
    uint64_t flow_bytes[WORKER_FLOWS];
    uint64_t flow_ns[WORKER_FLOWS];
    struct latency latencies[WORKER_OP_COUNT];
};

void report_init(struct report *report);
void report_fini(struct report *report);
/* Takes a line of a worker. False when it is none that worker.h or the trainer writes, or there is no memory. */
bool report_take(struct report *report, const char *line);
/* The tables for people: bytes by engine, durations of calls, GB/s. */
void report_print(const struct report *report, uint64_t samples, double seconds, FILE *out);
/* Draws the curve and writes its values, a line a step: step and reward. False with errno set. */
bool report_write_picture(const struct report *report, const char *path);
bool report_write_curve(const struct report *report, const char *path);

#endif

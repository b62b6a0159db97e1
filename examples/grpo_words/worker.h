/* worker.h: what the four worker processes have in common: a client of tq, its calls with their durations, one deadline
 * for everything, and the report at the end.
 *
 * A worker talks to the launcher by lines on its standard output (report.h reads them); trouble goes to standard error.
 * Owns: the client. Threads: one. */
#ifndef GRPO_WORDS_WORKER_H
#define GRPO_WORDS_WORKER_H

#include "examples/grpo_words/latency.h"
#include "examples/grpo_words/settings.h"
#include "tq/client.h"

/* name, what the table at the end calls it */
#define WORKER_OPS(X)                                                                                                  \
    X(put, "put samples")                                                                                              \
    X(put_to, "put to samples")                                                                                        \
    X(fetch, "fetch, with its wait")                                                                                   \
    X(get, "get data")                                                                                                 \
    X(clear, "clear")                                                                                                  \
    X(publish, "put weights")                                                                                          \
    X(receive, "get weights")

#define WORKER_OP_ENUM_(name, title) WORKER_##name,
enum worker_op { WORKER_OPS(WORKER_OP_ENUM_) WORKER_OP_COUNT };
#undef WORKER_OP_ENUM_

/* Both directions of the large tensors, for GB/s. */
enum worker_flow { WORKER_PUBLISHED, WORKER_RECEIVED, WORKER_FLOWS };

struct worker {
    const char *role;
    const struct settings *settings;
    struct tq_client *client;
    int64_t deadline_ns; /* of the whole run */
    struct latency latencies[WORKER_OP_COUNT];
    uint64_t flow_bytes[WORKER_FLOWS];
    uint64_t flow_ns[WORKER_FLOWS];
};

typedef tq_status worker_run_fn(struct worker *worker, struct tq_error *err);

/* Connects, runs, reports. Returns the exit status of the process: 0, or 1 after saying why on standard error. */
int worker_main(const char *role, const struct settings *settings, worker_run_fn *run);

/* What `fetch` asks for, once it is ready; *out_meta is never empty. Waits again and again until the run's deadline.
 * Fails with OUT_OF_RANGE when the partition is sealed and used up. */
TQ_MUST_CHECK tq_status worker_fetch(struct worker *worker, const struct tq_fetch *fetch, struct tq_meta **out_meta,
                                     struct tq_error *err);
/* The calls of tq/client.h, timed, by the run's deadline. */
TQ_MUST_CHECK tq_status worker_put(struct worker *worker, enum worker_op op, const struct tq_insert *insert,
                                   const struct tq_batch *batch, struct tq_meta **out_meta, struct tq_error *err);
TQ_MUST_CHECK tq_status worker_put_to(struct worker *worker, struct tq_meta *meta, const struct tq_batch *batch,
                                      struct tq_error *err);
TQ_MUST_CHECK tq_status worker_get(struct worker *worker, enum worker_op op, const struct tq_meta *meta,
                                   struct tq_data **out_data, struct tq_error *err);
TQ_MUST_CHECK tq_status worker_clear(struct worker *worker, const struct tq_meta *meta, struct tq_error *err);
TQ_MUST_CHECK tq_status worker_clear_partition(struct worker *worker, const char *partition, struct tq_error *err);

#endif

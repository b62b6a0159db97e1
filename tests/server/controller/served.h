/* tests/server/controller/served.h: a controller in this process, a client of it, and short forms of requests.
 * Owns: runtime, channel, controller. Threads: the test's. */
#ifndef TQ_TESTS_CONTROLLER_SERVED_H
#define TQ_TESTS_CONTROLLER_SERVED_H

#include "tq/rpc.h"
#include "tq/server.h"
#include "tq/v1/controller.tq.h"

struct served {
    struct tq_controller *controller;
    struct tq_runtime *runtime;
    struct tq_channel *channel;
};

/* With `units` registered units, which need not send heartbeats during a test. */
void served_open(struct served *served, uint32_t units);
void served_close(struct served *served);

/* Every column of a Samples message, in memory that lives as long as it. */
struct samples {
    Tq__V1__Samples message;
    Tq__V1__IndexRuns runs;
    uint64_t start, count;
    uint32_t generation;
};
/* One run. */
Tq__V1__Samples *samples_of(struct samples *samples, const char *partition, uint64_t start, uint64_t count,
                            uint32_t generation);

/* They fail the test when the call does not succeed. Return the first index, which the others follow. */
uint64_t served_insert(struct served *served, const char *partition, uint32_t count, uint32_t group_size);
/* Dense int32 scalars in one field; generation 1. Returns the cells. */
uint32_t served_notify(struct served *served, const char *partition, uint64_t start, uint64_t count, const char *field);

/* A request for `batch_size` samples of one field. */
struct fetch {
    Tq__V1__FetchBatchRequest request;
    char *field;
};
Tq__V1__FetchBatchRequest *fetch_of(struct fetch *fetch, const char *partition, const char *task, const char *field,
                                    uint32_t batch_size, uint32_t max_wait_ms);
/* Number of samples of a batch. */
uint64_t batch_count(const Tq__V1__Batch *batch);

#endif

/* tools/tq-bench/e2e.h: one round of the e2e suite, and the copy that it is measured against.
 * Owns: batches and the memory of the floor. Threads: one. */
#ifndef TOOLS_TQ_BENCH_E2E_H
#define TOOLS_TQ_BENCH_E2E_H

#include <stdbool.h>

#include "tq/client.h"

struct e2e_case {
    size_t samples, fields, cell_bytes;
    double reference_put, reference_get;
};

/* Dense columns of bytes, all of it touched. */
struct e2e_batch {
    struct tq_batch batch;
    struct tq_column *columns;
    char (*names)[32];
    int64_t shape[2];
};

struct e2e_times {
    double put, get_meta, get, clear; /* seconds */
};

/* False without memory. */
bool e2e_batch_open(struct e2e_batch *batch, const struct e2e_case *c);
void e2e_batch_close(struct e2e_batch *batch);
/* Puts into a fresh partition, fetches, gets, clears. A wrong byte count is DATA_LOSS. */
TQ_MUST_CHECK tq_status e2e_once(struct tq_client *client, const struct e2e_batch *batch, const struct e2e_case *c,
                                 struct e2e_times *out_times, struct tq_error *err);

/* 512 MiB copied from one half of 1 GiB to the other. */
struct e2e_floor {
    uint8_t *from, *to;
};
bool e2e_floor_open(struct e2e_floor *floor);
void e2e_floor_close(struct e2e_floor *floor);
/* In pieces of so many bytes. */
double e2e_floor_gbps(const struct e2e_floor *floor, size_t piece_bytes);

/* "64KiB" */
void e2e_size_name(size_t bytes, char *name, size_t room);

#endif

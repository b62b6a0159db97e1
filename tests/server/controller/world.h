/* tests/server/controller/world.h: a table with units on virtual time, and short forms of what tests do with it.
 * Owns: the table. Threads: one. */
#ifndef TQ_TESTS_CONTROLLER_WORLD_H
#define TQ_TESTS_CONTROLLER_WORLD_H

#include "server/controller/table.h"

enum { WORLD_UNITS = 2, WORLD_MAX = 4096 };

struct world {
    struct tq_table table;
    int64_t now_ns;
    struct tq_error err;
    struct tq_sample_ref refs[WORLD_MAX]; /* of the last insert or fetch */
    uint32_t units[WORLD_MAX];
    uint64_t groups[WORLD_MAX];
    uint32_t n;
    bool remainder;
    unsigned n_ended; /* waiters */
};

#define WORLD_MS INT64_C(1000000)

/* With limits NULL: the defaults. Registers `units` units "u1", "u2", ... */
void world_open(struct world *world, const struct tq_controller_limits *limits, uint32_t units);
/* The same on a seam of the test. */
void world_open_on(struct world *world, const struct tq_seam *seam, const struct tq_controller_limits *limits,
                   uint32_t units);
/* Every waiter must have ended. */
void world_close(struct world *world);

uint32_t world_join(struct world *world, const char *name, uint64_t epoch, uint64_t budget_bytes);
void world_advance(struct world *world, int64_t ms, bool heartbeats);

/* Inserts n samples; refs, units and groups are set. */
tq_status world_insert(struct world *world, const char *partition, uint32_t n, uint32_t group_size);
/* `fields` separated by commas, dense int32 scalars. Returns the status; *cells may be NULL. */
tq_status world_produce(struct world *world, const char *partition, const struct tq_sample_ref *refs, uint32_t n,
                        const char *fields, uint64_t *cells);
/* At once; refs, n and remainder are set. A short fetch gives OK and n 0. group_size 0: sequential. */
tq_status world_fetch(struct world *world, const char *partition, const char *task, const char *fields,
                      uint32_t batch_size, uint32_t group_size);

/* Parks (or ends) a fetch in memory of the caller. `fields` lives as long as the waiter and is cut at its commas. */
struct world_waiter {
    struct tq_waiter waiter;
    char fields[128];
    char *names[8];
    unsigned ended; /* 1, 2, ...: the how manieth to end; 0: it waits */
};
void world_park(struct world *world, struct world_waiter *waiter, const char *partition, const char *task,
                const char *fields, uint32_t batch_size, uint32_t group_size, int64_t wait_ms, bool polling);
/* Takes those that have ended and marks them; returns how many. Results stay until world_drop. */
unsigned world_take_done(struct world *world);
void world_drop(struct world *world, struct world_waiter *waiter);

#endif

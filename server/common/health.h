/* server/common/health.h: HealthService/Check for every daemon. The loop answers, so an answer proves the loop; other
 * threads are supervised by their hearts: a counter that must grow.
 *
 *     SERVING -> DRAINING (for good); any of them is SICK while a supervised heart stands still
 *
 * Owns: nothing. Threads: set up before the server starts; then the loop's, tq_health_drain from any. */
#ifndef TQ_SERVER_HEALTH_H
#define TQ_SERVER_HEALTH_H

#include <stdatomic.h>

#include "tq/rpc.h"

struct tq_metrics;

enum { TQ_HEALTH_HEARTS = 4, TQ_HEALTH_LOOK_MS = 1000, TQ_HEALTH_STILL_MS = 5000 };

struct tq_heart {
    const char *thread;            /* "bulk" */
    uint64_t (*beats)(void *user); /* any thread */
    void *user;
    uint64_t last_beats;
    int64_t last_ns; /* when it grew */
};

struct tq_health {
    const char *name;
    uint64_t epoch;
    int64_t start_ns;
    struct tq_server *server;
    const struct tq_metrics *metrics;
    struct tq_server_timer timer; /* looks at the hearts */
    struct tq_heart hearts[TQ_HEALTH_HEARTS];
    size_t n_hearts;
    atomic_bool is_draining;
};

/* `name` outlives it. */
void tq_health_init(struct tq_health *health, const char *name, uint64_t epoch);
/* At most TQ_HEALTH_HEARTS. Before start. */
void tq_health_supervise(struct tq_health *health, const char *thread, uint64_t (*beats)(void *user), void *user);
/* Adds the service; with tq_metrics (NULL: none) it answers GetMetrics as well. */
TQ_MUST_CHECK tq_status tq_health_serve(struct tq_health *health, const struct tq_metrics *metrics,
                                        struct tq_server *server, struct tq_error *err);
/* Begins to look; after the server has started. */
void tq_health_watch(struct tq_health *health);
void tq_health_drain(struct tq_health *health);

/* The thread whose heart stood still at `now_ns`, or NULL. The core of Check, without I/O and clock. */
const char *tq_health_find_sick(struct tq_health *health, int64_t now_ns);

#endif

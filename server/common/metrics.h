/* server/common/metrics.h: what a process counts, by name, for GetMetrics. Whoever counts registers a function that
 * reports; nothing is kept twice.
 * Owns: nothing. Threads: set up before the server starts; reports run on the loop. */
#ifndef TQ_SERVER_METRICS_H
#define TQ_SERVER_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "tq/bulk.h"
#include "tq/rpc.h"

enum { TQ_METRICS_SOURCES = 8, TQ_METRICS_MAX = 256 };

/* Where a source reports. */
struct tq_metric_sink {
    const char *prefix; /* others are left out */
    const char *names[TQ_METRICS_MAX];
    double values[TQ_METRICS_MAX];
    size_t count;
};

/* `name` is constant text: "storage_used_bytes". Names beyond TQ_METRICS_MAX are dropped. */
void tq_metric_put(struct tq_metric_sink *sink, const char *name, double value);

typedef void tq_metric_source(void *user, struct tq_metric_sink *sink);

struct tq_metrics {
    struct {
        tq_metric_source *report;
        void *user;
    } sources[TQ_METRICS_SOURCES];
    size_t n_sources;
};

/* At most TQ_METRICS_SOURCES. */
void tq_metrics_add(struct tq_metrics *metrics, tq_metric_source *report, void *user);
void tq_metrics_collect(const struct tq_metrics *metrics, const char *prefix, struct tq_metric_sink *out_sink);

/* Ready-made sources; `user` is the server or the bulk runtime. */
tq_metric_source tq_metrics_of_server;
tq_metric_source tq_metrics_of_bulk;
tq_metric_source tq_metrics_of_process;

/* Resident memory of this process; 0 when the system does not tell. */
uint64_t tq_process_rss_bytes(void);

#endif

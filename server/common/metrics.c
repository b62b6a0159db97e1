#include "server/common/metrics.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "transport/base/assert.h"

void tq_metrics_add(struct tq_metrics *metrics, tq_metric_source *report, void *user)
{
    TQ_ASSERT(metrics->n_sources < TQ_METRICS_SOURCES);
    metrics->sources[metrics->n_sources].report = report;
    metrics->sources[metrics->n_sources++].user = user;
}

void tq_metric_put(struct tq_metric_sink *sink, const char *name, double value)
{
    if (sink->count == TQ_METRICS_MAX || strncmp(name, sink->prefix, strlen(sink->prefix)) != 0)
        return;
    sink->names[sink->count] = name;
    sink->values[sink->count++] = value;
}

void tq_metrics_collect(const struct tq_metrics *metrics, const char *prefix, struct tq_metric_sink *out_sink)
{
    *out_sink = (struct tq_metric_sink){ .prefix = prefix };
    for (size_t i = 0; i < metrics->n_sources; i++)
        metrics->sources[i].report(metrics->sources[i].user, out_sink);
}

/* name, member */
#define SERVER_COUNTERS(X)                                                                                             \
    X("rpc_arrivals", arrivals)                                                                                        \
    X("rpc_dispatched", dispatched)                                                                                    \
    X("rpc_answered", answered)                                                                                        \
    X("rpc_refused", refused)                                                                                          \
    X("rpc_cancelled", cancelled)                                                                                      \
    X("rpc_expired", expired)                                                                                          \
    X("rpc_garbage", garbage)                                                                                          \
    X("rpc_foreign_ids", foreign_ids)                                                                                  \
    X("rpc_hellos", hellos)                                                                                            \
    X("rpc_sessions_opened", sessions_opened)                                                                          \
    X("rpc_sessions_ended", sessions_ended)                                                                            \
    X("rpc_joins", joins)                                                                                              \
    X("rpc_running", running)                                                                                          \
    X("rpc_sessions", sessions)                                                                                        \
    X("rpc_reply_queue_bytes", reply_queue_bytes)

void tq_metrics_of_server(void *user, struct tq_metric_sink *sink)
{
    struct tq_server_stats stats;
    tq_server_read_stats(user, &stats);
#define REPORT(name, member) tq_metric_put(sink, name, (double)stats.member);
    SERVER_COUNTERS(REPORT)
}

uint64_t tq_process_rss_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void tq_metrics_of_process(void *user, struct tq_metric_sink *sink)
{
    (void)user;
    tq_metric_put(sink, "process_rss_bytes", (double)tq_process_rss_bytes());
}

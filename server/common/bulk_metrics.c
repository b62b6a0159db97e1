/* What the bulk runtime counts; declared in metrics.h. In a file of its own, so that a program without bulk transfers
 * does not need UCX. */
#include "server/common/metrics.h"

#define REPORT(name, member) tq_metric_put(sink, name, (double)stats.member);

#define BULK_COUNTERS(X)                                                                                               \
    X("bulk_reads_remote_read", reads[TQ_ENGINE_REMOTE_READ])                                                          \
    X("bulk_reads_rendezvous", reads[TQ_ENGINE_RENDEZVOUS])                                                            \
    X("bulk_read_bytes_remote_read", read_bytes[TQ_ENGINE_REMOTE_READ])                                                \
    X("bulk_read_bytes_rendezvous", read_bytes[TQ_ENGINE_RENDEZVOUS])                                                  \
    X("bulk_sends", sends)                                                                                             \
    X("bulk_sent_bytes", sent_bytes)                                                                                   \
    X("bulk_failures", failures)                                                                                       \
    X("bulk_expired", expired)                                                                                         \
    X("bulk_stale", stale)                                                                                             \
    X("bulk_forced_closes", forced_closes)                                                                             \
    X("bulk_registrations", registrations)                                                                             \
    X("bulk_endpoints", endpoints)                                                                                     \
    X("bulk_reads_in_flight", reads_in_flight)                                                                         \
    X("bulk_arena_bytes", arena_bytes)                                                                                 \
    X("bulk_arena_used_bytes", arena_used_bytes)                                                                       \
    X("bulk_quarantined_bytes", quarantined_bytes)                                                                     \
    X("bulk_heartbeat", heartbeat)

void tq_metrics_of_bulk(void *user, struct tq_metric_sink *sink)
{
    struct tq_bulk_stats stats;
    tq_bulk_read_stats(user, &stats);
    BULK_COUNTERS(REPORT)
}

#include "examples/grpo_words/report.h"

#include <inttypes.h>

static void print_engines(const struct report *report, FILE *out)
{
    fprintf(out, "\n  %-24s %12s %12s\n", "MB by engine", "put", "get");
    for (unsigned engine = TQ_ENGINE_REMOTE_READ; engine < TQ_ENGINE_COUNT; engine++)
        fprintf(out, "  %-24s %12.1f %12.1f\n", tq_engine_name((enum tq_bulk_engine)engine),
                (double)report->put_bytes[engine] / 1e6, (double)report->get_bytes[engine] / 1e6);
}

static void print_latencies(const struct report *report, FILE *out)
{
#define OP_TITLE_(name, title) title,
    static const char *const titles[] = { WORKER_OPS(OP_TITLE_) };
#undef OP_TITLE_
    fprintf(out, "\n  %-24s %12s %12s %12s\n", "operations", "count", "p50 ms", "p99 ms");
    for (unsigned op = 0; op < WORKER_OP_COUNT; op++) {
        const struct latency *latency = &report->latencies[op];
        fprintf(out, "  %-24s %12" PRIu64 " %12.2f %12.2f\n", titles[op], latency_count(latency),
                (double)latency_percentile_ns(latency, 0.5) / 1e6, (double)latency_percentile_ns(latency, 0.99) / 1e6);
    }
}

static double gigabytes_per_second(uint64_t bytes, uint64_t ns)
{
    return ns == 0 ? 0 : (double)bytes / (double)ns;
}

void report_print(const struct report *report, uint64_t samples, double seconds, FILE *out)
{
    fprintf(out, "\n  %" PRIu64 " samples in %.1f s, %.0f a second; %" PRIu64 " calls, %" PRIu64 " retries\n", samples,
            seconds, (double)samples / seconds, report->calls, report->retries);
    print_engines(report, out);
    print_latencies(report, out);
    fprintf(out, "\n  weights published at %.2f GB/s, received at %.2f GB/s\n",
            gigabytes_per_second(report->flow_bytes[WORKER_PUBLISHED], report->flow_ns[WORKER_PUBLISHED]),
            gigabytes_per_second(report->flow_bytes[WORKER_RECEIVED], report->flow_ns[WORKER_RECEIVED]));
}

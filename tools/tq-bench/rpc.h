/* tools/tq-bench/rpc.h: the rpc suite's own parts: the floor (raw libzmq) and the product, by the same measure.
 * Owns: sockets and channels of a measurement. Threads: as said. */
#ifndef TOOLS_TQ_BENCH_RPC_H
#define TOOLS_TQ_BENCH_RPC_H

#include "bench.pb-c.h"
#include "tools/tq-bench/bench.h"
#include "tq/rpc.h"

enum { RPC_PAYLOAD = 64, RPC_FLOOR_BYTES = 128, RPC_SPIN_NS = 50 * 1000 };

extern const struct tq_method rpc_echo_method;
extern const struct tq_service rpc_echo_service;

struct rpc_latency {
    double p50_us, p99_us;
};

/* Raw ROUTER loops of the other process. */
void rpc_raw_serve(void *context, const char *endpoint, char *out_address, size_t cap, bool spin);
/* One request at a time over a DEALER for `seconds`. */
struct rpc_latency rpc_raw_blocking(void *context, const char *address, double seconds, bool spin);
/* Calls a second with `window` messages in flight. */
double rpc_raw_pipelined(void *context, const char *address, double seconds, unsigned window);
/* Calls a second of `clients` threads, each one at a time over its own socket. */
double rpc_raw_clients(void *context, const char *address, double seconds, unsigned clients);

struct rpc_latency rpc_ours_blocking(struct tq_channel *channel, double seconds);
double rpc_ours_pipelined(struct tq_channel *channel, double seconds, unsigned window);
double rpc_ours_clients(struct tq_runtime *runtime, const char *address, double seconds, unsigned clients);

/* Nanoseconds to encode and decode one request envelope: ours, and by nanopb alone. */
void rpc_envelope_cost(double *ours_ns, double *nanopb_ns);

#endif

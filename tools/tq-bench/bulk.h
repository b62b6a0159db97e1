/* tools/tq-bench/bulk.h: the bulk suite's own parts: what the other process offers, and the floors by the same measure.
 * Owns: the memory of a measurement. Threads: one here; the other process has one for each floor. */
#ifndef TOOLS_TQ_BENCH_BULK_H
#define TOOLS_TQ_BENCH_BULK_H

#include "tools/tq-bench/bench.h"
#include "tq/bulk.h"

/* One operation moves so many bytes from as many others: with both ends more than any cache. */
#define BULK_BYTES ((size_t)512 << 20)

/* Encodes bytes as a line of hexadecimal digits on stdout, and back. A line that is none gives 0 bytes. */
void bulk_print_hex(const void *bytes, size_t len);
size_t bulk_parse_hex(const char *line, uint8_t *out, size_t cap);

/* ---- floors: bulk_floor.c ---- */

/* GB/s of a copy of BULK_BYTES in pieces. */
double bulk_copy(uint8_t *to, const uint8_t *from, size_t piece);
/* Serves raw TCP streams of BULK_BYTES on a thread; prints the port. */
bool bulk_tcp_serve(const uint8_t *from);
int bulk_tcp_connect(uint16_t port);
double bulk_tcp_read(int fd, uint8_t *to, size_t piece);

/* ---- raw UCX active-message rendezvous over TCP, polling: bulk_ucx.c ---- */

struct bulk_ucx;
/* Serves on a thread; prints its address in hexadecimal. */
bool bulk_ucx_serve(const uint8_t *from);
struct bulk_ucx *bulk_ucx_open(const uint8_t *address, size_t len);
void bulk_ucx_close(struct bulk_ucx *ucx);
/* Reads BULK_BYTES in frames, as many at once as fit into 4 MiB, at least one. GB/s; 0: it failed. */
double bulk_ucx_read(struct bulk_ucx *ucx, uint8_t *to, size_t frame);

#endif

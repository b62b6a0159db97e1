/* transport/rpc/arrivals.h: a bounded ring of the requests that arrived last, to answer "what became of my call?".
 * Owns: its ring. Threads: one. */
#ifndef TQ_RPC_ARRIVALS_H
#define TQ_RPC_ARRIVALS_H

#include "tq/wire/session.pb.h"
#include "transport/base/seam.h"

enum { TQ_ARRIVALS_MAX = 8192 };

struct tq_arrival {
    uint64_t session, call_id;
    int64_t at_ns;
    uint32_t wire_bytes;
    uint32_t answered;
};

struct tq_arrivals {
    const struct tq_seam *seam;
    struct tq_arrival *ring; /* NULL without memory: then every call is forgotten */
    uint64_t count;          /* in this life */
};

void tq_arrivals_init(struct tq_arrivals *arrivals, const struct tq_seam *seam);
void tq_arrivals_fini(struct tq_arrivals *arrivals);
/* Returns the number of the arrival, for tq_arrivals_answered. */
uint64_t tq_arrivals_note(struct tq_arrivals *arrivals, uint64_t session, uint64_t call_id, size_t wire_bytes,
                          int64_t now_ns);
void tq_arrivals_answered(struct tq_arrivals *arrivals, uint64_t number, uint64_t call_id);
/* Fills all but in_flight. Walks the ring: some ten microseconds. */
void tq_arrivals_look_up(const struct tq_arrivals *arrivals, uint64_t session, uint64_t call_id, int64_t now_ns,
                         tq_wire_LookupReply *out);

#endif

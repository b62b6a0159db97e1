#include "transport/rpc/arrivals.h"

void tq_arrivals_init(struct tq_arrivals *arrivals, const struct tq_seam *seam)
{
    *arrivals = (struct tq_arrivals){ .seam = seam };
    arrivals->ring = tq_seam_alloc_array(seam, TQ_ARRIVALS_MAX, sizeof(*arrivals->ring));
}

void tq_arrivals_fini(struct tq_arrivals *arrivals)
{
    tq_seam_free(arrivals->seam, arrivals->ring);
    arrivals->ring = NULL;
}

uint64_t tq_arrivals_note(struct tq_arrivals *arrivals, uint64_t session, uint64_t call_id, size_t wire_bytes,
                          int64_t now_ns)
{
    uint64_t number = arrivals->count++;
    if (arrivals->ring != NULL)
        arrivals->ring[number % TQ_ARRIVALS_MAX] =
            (struct tq_arrival){ session, call_id, now_ns, wire_bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)wire_bytes,
                                 false };
    return number;
}

void tq_arrivals_answered(struct tq_arrivals *arrivals, uint64_t number, uint64_t call_id)
{
    if (arrivals->ring != NULL && arrivals->ring[number % TQ_ARRIVALS_MAX].call_id == call_id)
        arrivals->ring[number % TQ_ARRIVALS_MAX].answered = true;
}

/* The latest arrival of the call, or NULL. */
static const struct tq_arrival *find(const struct tq_arrivals *arrivals, uint64_t session, uint64_t call_id)
{
    uint64_t n = arrivals->count < TQ_ARRIVALS_MAX ? arrivals->count : TQ_ARRIVALS_MAX;
    for (uint64_t back = 1; back <= n; back++) {
        const struct tq_arrival *arrival = &arrivals->ring[(arrivals->count - back) % TQ_ARRIVALS_MAX];
        if (arrival->call_id == call_id && arrival->session == session)
            return arrival;
    }
    return NULL;
}

void tq_arrivals_look_up(const struct tq_arrivals *arrivals, uint64_t session, uint64_t call_id, int64_t now_ns,
                         tq_wire_LookupReply *out)
{
    const struct tq_arrival *arrival = arrivals->ring != NULL ? find(arrivals, session, call_id) : NULL;
    bool complete = arrivals->ring != NULL && arrivals->count <= TQ_ARRIVALS_MAX;
    *out = (tq_wire_LookupReply){ .arrivals = arrivals->count,
                                  .oldest_arrival = complete ? 0 : arrivals->count - TQ_ARRIVALS_MAX };
    if (arrival == NULL) {
        out->verdict = complete ? tq_wire_Verdict_VERDICT_NEVER_ARRIVED : tq_wire_Verdict_VERDICT_PEER_FORGOT;
        return;
    }
    out->verdict =
        arrival->answered ? tq_wire_Verdict_VERDICT_ANSWERED_REPLY_LOST : tq_wire_Verdict_VERDICT_ARRIVED_UNFINISHED;
    out->wire_bytes = arrival->wire_bytes;
    out->age_us = now_ns > arrival->at_ns ? (uint64_t)(now_ns - arrival->at_ns) / 1000 : 0;
}

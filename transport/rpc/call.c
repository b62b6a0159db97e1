#include "transport/rpc/call.h"

#include "transport/base/assert.h"

enum { KEPT_REQUEST_BYTES = 4096 };

#define TO(state) (1u << TQ_CALL_##state)
static const unsigned next_states[TQ_CALL_STATES] = {
    [TQ_CALL_NEW] = TO(QUEUED) | TO(DONE),
    [TQ_CALL_QUEUED] = TO(SENT) | TO(DONE),
    [TQ_CALL_SENT] = TO(QUEUED) | TO(RESTING) | TO(ASKING) | TO(DONE), /* QUEUED: the peer wants a hello first */
    [TQ_CALL_RESTING] = TO(QUEUED) | TO(DONE),
    [TQ_CALL_ASKING] = TO(DONE),
    [TQ_CALL_DONE] = 0,
};

void tq_call_move(struct tq_call *call, enum tq_call_state to)
{
    TQ_ASSERT((next_states[call->state] & (1u << to)) != 0);
    call->state = to;
    TQ_ASSERT((call->link != NULL) <= (to == TQ_CALL_SENT));
}

void tq_call_recycle(struct tq_call *call)
{
    struct tq_packet request = call->request;
    TQ_ASSERT(call->timer.slot == 0);
    tq_inbound_release(&call->answer);
    tq_payload_drop(call->payload);
    tq_packet_trim(&request, KEPT_REQUEST_BYTES);
    *call = (struct tq_call){ .request = request };
    tq_list_init(&call->node);
}

void tq_call_fini(struct tq_call *call)
{
    tq_call_recycle(call);
    tq_packet_fini(&call->request);
}

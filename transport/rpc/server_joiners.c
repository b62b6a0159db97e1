/* Who still waits for the answer of a running call: its caller, and those who joined it by its key. The handler is told
 * that the call is gone when nobody does. */
#include "transport/rpc/server_core.h"

void tq_server_call_gone(struct tq_server_core *core, struct tq_server_call *call, tq_status why)
{
    call->gone = true;
    if (call->told || (why != TQ_DEADLINE_EXCEEDED && call->n_joiners > 0))
        return; /* the deadline is that of the joiners, too */
    call->told = true;
    call->gone_why = why;
    tq_heap_remove(&core->call_timers, &call->timer);
    if (call->on_gone != NULL)
        call->on_gone(call->on_gone_user, why);
}

static bool is_joiner(const struct tq_joiner *joiner, uint64_t session, uint64_t call_id)
{
    return joiner->session == session && (call_id == 0 || joiner->call_id == call_id);
}

/* True: one is off, and there may be more. */
static bool drop_joiner(struct tq_server_core *core, uint64_t session, uint64_t call_id)
{
    tq_list_each (node, &core->running) {
        struct tq_server_call *call = tq_container_of(node, struct tq_server_call, node);
        for (unsigned i = 0; i < call->n_joiners; i++) {
            if (!is_joiner(&call->joiners[i], session, call_id))
                continue;
            call->joiners[i] = call->joiners[--call->n_joiners];
            core->n_joiners--;
            if (call->gone)
                tq_server_call_gone(core, call, TQ_CANCELLED); /* may answer and so change the list */
            return true;
        }
    }
    return false;
}

void tq_server_drop_joiners(struct tq_server_core *core, uint64_t session, uint64_t call_id)
{
    while (core->n_joiners > 0 && drop_joiner(core, session, call_id))
        continue;
}

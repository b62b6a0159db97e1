/* The ends of attempts: how long each may take, whether another one follows, and the question what became of the last.
 */
#include <inttypes.h>

#include "transport/base/assert.h"
#include "transport/base/log.h"
#include "transport/rpc/client_core.h"
#include "transport/rpc/wire_body.h"

#define MS INT64_C(1000000)
enum { ASK_LEAST_MS = 80, ASK_LONGEST_MS = 500, REST_FIRST_MS = 2, REST_SHARE = 16 };

static bool may_repeat(const struct tq_call *call)
{
    return call->method->idempotency == TQ_KEYED || call->method->idempotency == TQ_IDEMPOTENT;
}

/* What is kept of the deadline for the question after the last attempt. */
static int64_t ask_reserve_ns(int64_t left_ns)
{
    if (left_ns < ASK_LEAST_MS * MS)
        return 0;
    return left_ns / 8 < ASK_LONGEST_MS * MS ? left_ns / 8 : ASK_LONGEST_MS * MS;
}

/* An attempt gets an equal share of what is left. A call that the server may park gets all of it: its silence is no
 * sign of loss. */
int64_t tq_client_attempt_due_ns(const struct tq_call *call, int64_t now_ns)
{
    int64_t left = call->deadline_ns - now_ns;
    unsigned attempts = call->attempt < call->max_attempts ? call->max_attempts - call->attempt + 1 : 1;
    if (!may_repeat(call) || (call->method->flags & TQ_METHOD_WAITS) != 0 || attempts == 1)
        return call->deadline_ns - ask_reserve_ns(left);
    return now_ns + left / attempts;
}

static const char *verdict_text(uint32_t verdict)
{
    switch (verdict) {
    case tq_wire_Verdict_VERDICT_NEVER_ARRIVED:
        return "never_arrived";
    case tq_wire_Verdict_VERDICT_ARRIVED_UNFINISHED:
        return "arrived_unfinished";
    case tq_wire_Verdict_VERDICT_ANSWERED_REPLY_LOST:
        return "answered_reply_lost";
    case tq_wire_Verdict_VERDICT_PEER_FORGOT:
        return "peer_forgot";
    default:
        return "peer_unreachable";
    }
}

/* The deadline passed with at least one attempt made. */
static void fail_late(struct tq_client_core *core, struct tq_call *call, int64_t now_ns)
{
    const char *verdict = call->state == TQ_CALL_ASKING ? verdict_text(call->verdict) : "not_asked";
    enum tq_outcome outcome = call->verdict == tq_wire_Verdict_VERDICT_NEVER_ARRIVED && !call->epochs_differ
                                  ? TQ_OUTCOME_NOT_STARTED
                                  : TQ_OUTCOME_UNKNOWN;
    core->stats.timeouts++;
    tq_warn("call-lost", "method=%s call=%016" PRIx64 " peer=%s attempts=%u verdict=%s bytes=%" PRIu64 " age_ms=%lld",
            call->method->name, call->id, core->address, call->attempt, verdict, call->bytes,
            (long long)((now_ns - call->submitted_ns) / MS));
    tq_client_fail(core, call, TQ_DEADLINE_EXCEEDED, outcome, NULL,
                   "no answer from %s in %lld ms after %u attempts; verdict %s", core->address,
                   (long long)((now_ns - call->submitted_ns) / MS), call->attempt, verdict);
}

/* The deadline passed before the call was ever sent. */
static void fail_unsent(struct tq_client_core *core, struct tq_call *call, int64_t now_ns)
{
    core->stats.timeouts++;
    bool connected = core->last_ready_ns >= call->submitted_ns || tq_client_link_for(core, 0) != NULL;
    if (connected || call->deadline_ns <= call->submitted_ns)
        tq_client_fail(core, call, TQ_DEADLINE_EXCEEDED, TQ_OUTCOME_NOT_STARTED, NULL,
                       "the deadline passed %lld us ago; it waited %lld ms for the window of %s",
                       (long long)((now_ns - call->deadline_ns) / 1000),
                       (long long)((now_ns - call->submitted_ns) / MS), core->address);
    else
        tq_client_fail(core, call, TQ_UNAVAILABLE, TQ_OUTCOME_NOT_STARTED, "PEER_UNREACHABLE",
                       "no connection to %s within %lld ms, %llu dials", core->address,
                       (long long)((now_ns - call->submitted_ns) / MS), (unsigned long long)core->stats.dials);
}

static void fail_at_deadline(struct tq_client_core *core, struct tq_call *call, int64_t now_ns)
{
    if (call->attempt == 0)
        fail_unsent(core, call, now_ns);
    else
        fail_late(core, call, now_ns);
}

static void rest(struct tq_client_core *core, struct tq_call *call, int64_t now_ns)
{
    int64_t most = (call->deadline_ns - now_ns) / REST_SHARE;
    int64_t longest = (REST_FIRST_MS * MS) << (2 * call->attempt);
    most = most < longest ? most : longest;
    int64_t due = now_ns + (most > 0 ? (int64_t)(tq_seam_random64(core->seam) % (uint64_t)most) : 0);
    core->stats.retries++;
    core->retry_tokens -= 1;
    core->n_waiting++;
    tq_call_move(call, TQ_CALL_RESTING);
    tq_list_add_tail(&core->resting, &call->node);
    bool in_heap = tq_heap_set(&core->timers, &call->timer, due);
    TQ_ASSERT(in_heap); /* SENT calls are in the heap or have just been taken from it: there is room */
}

static void ask(struct tq_client_core *core, struct tq_call *call)
{
    tq_call_move(call, TQ_CALL_ASKING);
    tq_list_add_tail(&core->retries, &call->node);
    bool in_heap = tq_heap_set(&core->timers, &call->timer, call->deadline_ns);
    TQ_ASSERT(in_heap);
}

void tq_client_attempt_over(struct tq_client_core *core, struct tq_call *call, bool timed_out, int64_t now_ns)
{
    bool again = may_repeat(call) && call->attempt < call->max_attempts && call->deadline_ns > now_ns && !core->closed;
    bool budget = core->retry_tokens >= 1;
    tq_client_unsend(core, call);
    if (again && budget) {
        rest(core, call, now_ns);
    } else if (timed_out && call->deadline_ns > now_ns) {
        ask(core, call);
    } else if (call->deadline_ns <= now_ns) {
        call->link = NULL;
        fail_at_deadline(core, call, now_ns);
    } else {
        tq_client_fail(core, call, TQ_UNAVAILABLE, TQ_OUTCOME_UNKNOWN, again ? "RETRY_BUDGET" : "CONNECTION_LOST",
                       "the connection to %s was lost after attempt %u", core->address, call->attempt);
    }
}

void tq_client_session_lost(struct tq_client_core *core, const struct tq_link *greeted, int64_t now_ns)
{
    for (unsigned i = 0; i < TQ_LINKS_MAX; i++) {
        struct tq_link *link = &core->links[i];
        if (link->n_calls == 0)
            continue;
        tq_list_each_safe (node, &link->calls) {
            struct tq_call *call = tq_container_of(node, struct tq_call, node);
            if (call->sent_ns > greeted->greeted_ns)
                continue; /* another link was quicker: it may have been sent to the new session */
            call->sent_serial = greeted->serial - 1; /* it has just spoken: no fresher link is needed */
            tq_client_attempt_over(core, call, false, now_ns);
        }
        if (link->state == TQ_LINK_SUSPECT && link->n_calls == 0)
            tq_client_lose(core, link, now_ns);
    }
}

/* The call's timer fired; it is out of the heap. */
void tq_client_call_due(struct tq_client_core *core, struct tq_call *call, int64_t now_ns)
{
    struct tq_link *link = call->link;
    bool expired = now_ns >= call->deadline_ns;
    switch (call->state) {
    case TQ_CALL_SENT:
        if (expired)
            (void)tq_client_send_control(core, link, tq_wire_Kind_KIND_CANCEL, call->id, NULL, NULL, now_ns);
        tq_client_attempt_over(core, call, true, now_ns);
        tq_client_suspect(core, link, now_ns);
        return;
    case TQ_CALL_RESTING:
        if (!expired) {
            tq_list_remove(&call->node);
            tq_call_move(call, TQ_CALL_QUEUED);
            tq_list_add_tail(&core->retries, &call->node);
            bool in_heap = tq_heap_set(&core->timers, &call->timer, call->deadline_ns);
            TQ_ASSERT(in_heap);
            return;
        }
        fail_at_deadline(core, call, now_ns);
        return;
    default:
        fail_at_deadline(core, call, now_ns);
        return;
    }
}

/* Noted, not acted upon: the answer itself may still come before the deadline. */
void tq_client_on_lookup_reply(struct tq_client_core *core, const tq_wire_Envelope *envelope, struct tq_bytes body)
{
    struct tq_call *call = tq_map_get(&core->calls, envelope->call_id);
    tq_wire_LookupReply reply;
    if (call == NULL || call->state != TQ_CALL_ASKING ||
        tq_wire_unpack(body, tq_wire_LookupReply_fields, &reply, sizeof(reply), NULL) != TQ_OK)
        return;
    call->verdict = envelope->epoch == call->peer_epoch ? reply.verdict : tq_wire_Verdict_VERDICT_PEER_FORGOT;
}

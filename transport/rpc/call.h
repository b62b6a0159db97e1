/* transport/rpc/call.h: one call of a client, from submission to its end, as the client core sees it.
 *
 *              +------------- rested ------------+
 *              v                                 |
 *   NEW --> QUEUED --> SENT -- attempt lost --> RESTING
 *              |        |  \                     |
 *              |        |   +- last attempt --> ASKING (what became of it? a late reply still counts)
 *              v        v                        v
 *             DONE <----+------------------------+          each call gets there exactly once
 *
 * Owns: its request, its answer. Threads: the core's (the channel's lock); after DONE whoever completes it. */
#ifndef TQ_RPC_CALL_H
#define TQ_RPC_CALL_H

#include "tq/rpc.h"
#include "transport/base/heap.h"
#include "transport/base/list.h"
#include "transport/rpc/message.h"
#include "transport/rpc/packet.h"

enum tq_call_state {
    TQ_CALL_NEW,
    TQ_CALL_QUEUED,
    TQ_CALL_SENT,
    TQ_CALL_RESTING,
    TQ_CALL_ASKING,
    TQ_CALL_DONE,
    TQ_CALL_STATES
};

enum { TQ_TRACE_BYTES = 25, TQ_ATTEMPTS_MAX = 3 };

struct tq_link;
struct tq_channel;
struct tq_waiter;

struct tq_call {
    struct tq_list node; /* in the queue or retries of the core, the calls of a link, or the finished */
    struct tq_heap_node timer;
    enum tq_call_state state;
    unsigned attempt; /* 0: never sent */
    unsigned max_attempts;
    unsigned greetings;   /* how often the peer wanted a new hello for it */
    bool asked;           /* the lookup is on its way */
    uint32_t verdict;     /* tq_wire_Verdict */
    struct tq_link *link; /* SENT: on which it is counted */
    uint64_t id;
    const struct tq_method *method;
    int64_t deadline_ns, submitted_ns, sent_ns;
    uint64_t sent_serial; /* links dialled later than this are fresh for it */
    uint64_t peer_epoch;  /* of its first attempt */
    bool epochs_differ;   /* a later attempt went to another life of the peer */
    uint8_t key[TQ_KEY_BYTES], trace[TQ_TRACE_BYTES];
    size_t key_len, trace_len;
    struct tq_packet request;
    struct tq_payload *payload;
    uint64_t bytes; /* what it takes of the window */

    struct tq_error error;    /* after DONE */
    struct tq_inbound answer; /* after DONE with OK */
    size_t answer_at;         /* where the body begins */

    /* the channel's: how the end is told */
    struct tq_channel *channel;
    tq_done_fn *done;
    void *user;
    struct tq_waiter *waiter;
};

/* The only way to change the state; asserts that the change is one of the drawing. */
void tq_call_move(struct tq_call *call, enum tq_call_state to);
/* Back to a fresh call that keeps only its request's memory, for reuse. It must be in no list. */
void tq_call_recycle(struct tq_call *call);
/* Frees what it holds. */
void tq_call_fini(struct tq_call *call);

static inline struct tq_bytes tq_call_answer_body(const struct tq_call *call)
{
    return (struct tq_bytes){ call->answer.head.ptr + call->answer_at, call->answer.head.len - call->answer_at };
}

#endif

/* transport/rpc/client_core.h: the client's half of the protocol: calls in a window, on links that say hello first,
 * with deadlines, retries, keep-alives and the question what became of a lost call. Does no I/O and reads no clock:
 * events and `now` come in, messages go out through struct tq_client_io, finished calls are collected in a list.
 *
 * Links (one connection each):
 *
 *   EMPTY --> DIALING --> GREETING --> READY --> SUSPECT          SUSPECT: a call timed out on it or the peer said
 *     ^          |           |  ^        |  |        |            goodbye: no new calls, closes with its last one
 *     |          |           |  +--------+  |        |            READY -> GREETING: the peer forgot the session
 *     +----------+-----------+--------------+--------+
 *
 * Owns: its calls until they are finished. Threads: one at a time (the channel's lock). */
#ifndef TQ_RPC_CLIENT_CORE_H
#define TQ_RPC_CLIENT_CORE_H

#include "tq/wire/session.pb.h"
#include "transport/base/map.h"
#include "transport/rpc/call.h"
#include "transport/rpc/self.h"

enum {
    TQ_POOL_MAX = 4,
    TQ_LINKS_MAX = 2 * TQ_POOL_MAX + 1, /* the pool, as many suspects, and one that the next retry dials */
    TQ_PEER_BODY_MAX = 64 << 20,        /* what we accept from a server, in bytes */
};
#define TQ_PEER_INLINE_MAX (UINT64_C(1) << 30)

enum tq_link_state { TQ_LINK_EMPTY, TQ_LINK_DIALING, TQ_LINK_GREETING, TQ_LINK_READY, TQ_LINK_SUSPECT, TQ_LINK_STATES };

struct tq_link {
    enum tq_link_state state;
    unsigned index;
    uint64_t serial;      /* of the dial: grows with time */
    struct tq_list calls; /* SENT on it */
    uint32_t n_calls;
    int64_t give_up_ns; /* DIALING, GREETING */
    int64_t heard_ns, spoke_ns;
    int64_t asked_ns; /* when the keep-alive without an answer was sent; 0: none */
    uint64_t hello_id, peer_epoch;
    int64_t greeted_ns; /* when the hello was sent */
};

/* What the core wants done. Called under the core's lock; must not call back into it. */
struct tq_client_io {
    void *self;
    tq_status (*dial)(void *self, unsigned link, struct tq_error *err);
    enum tq_sent (*send)(void *self, unsigned link, const struct tq_outbound *message);
    void (*hang_up)(void *self, unsigned link);
};

struct tq_client_core {
    const struct tq_seam *seam; /* allocation and randomness only */
    struct tq_client_io io;
    struct tq_self *who;
    struct tq_channel_opts opts; /* defaults filled in */
    const char *address;         /* for messages */
    bool closed;
    bool defers; /* submissions are sent by the next tick: many together cost libzmq fewer wake-ups */

    uint64_t session, peer_epoch;
    char peer_name[TQ_NAME_BYTES];
    tq_wire_Limits peer_limits;
    uint32_t window_calls;
    uint64_t window_bytes;
    int64_t keepalive_ns;

    struct tq_link links[TQ_LINKS_MAX];
    uint64_t serial; /* of the last dial */
    unsigned dial_failures;
    int64_t redial_ns;     /* not before */
    bool wants_dial;       /* at redial_ns */
    int64_t last_ready_ns; /* when a link was last known to be ready; INT64_MIN: never */

    struct tq_map calls;      /* by id: all that are not DONE */
    struct tq_list queue;     /* QUEUED, first attempts, in order */
    struct tq_list retries;   /* QUEUED again and ASKING: want a fresh link */
    struct tq_list resting;   /* RESTING */
    struct tq_list finished;  /* DONE, for the shell to complete */
    struct tq_heap timers;    /* of calls */
    struct tq_packet control; /* for messages without a call */
    uint64_t next_id;
    uint32_t n_waiting, n_sent;
    uint64_t bytes_held; /* of waiting and sent calls */
    uint64_t bytes_sent; /* of sent calls */
    double retry_tokens;
    struct tq_channel_stats stats;
};

/* `address` and `who` outlive the core. Cannot fail. */
void tq_client_init(struct tq_client_core *core, const struct tq_channel_opts *opts, const char *address,
                    struct tq_self *who, struct tq_client_io io, const struct tq_seam *seam);
/* Ends all calls with CANCELLED (into `finished`), says goodbye, hangs up. Later submissions are refused. */
void tq_client_shut(struct tq_client_core *core, int64_t now_ns);
/* After shut, with `finished` taken. */
void tq_client_fini(struct tq_client_core *core);

/* Takes the call, whose method, request, deadline, max_attempts, key, trace and payload are set. Gives it an id.
 * Fails with RESOURCE_EXHAUSTED (queue, bytes, memory), CANCELLED (shut); then the call stays the caller's. A call
 * whose deadline has passed is accepted and finishes at once. */
TQ_MUST_CHECK tq_status tq_client_submit(struct tq_client_core *core, struct tq_call *call, int64_t now_ns,
                                         struct tq_error *err);
/* No such call: no-op. */
void tq_client_cancel(struct tq_client_core *core, uint64_t call_id, int64_t now_ns);

/* The link's connection stands. */
void tq_client_up(struct tq_client_core *core, unsigned link, int64_t now_ns);
/* The link's connection is lost; the shell has nothing of it any more (hang_up is called). */
void tq_client_down(struct tq_client_core *core, unsigned link, int64_t now_ns);
/* Takes what it needs out of *message; the rest is the caller's to release. */
void tq_client_receive(struct tq_client_core *core, unsigned link, struct tq_inbound *message, int64_t now_ns);
/* Does what is due. */
void tq_client_tick(struct tq_client_core *core, int64_t now_ns);
/* When tick wants to run next; INT64_MAX: never. */
int64_t tq_client_next_ns(const struct tq_client_core *core);

/* ---- between the files of the core ---- */

struct tq_link *tq_client_link_for(struct tq_client_core *core, uint64_t after_serial);
/* Sends what may be sent, dials what is needed. */
void tq_client_pump(struct tq_client_core *core, int64_t now_ns);
void tq_client_dial(struct tq_client_core *core, int64_t now_ns);
void tq_client_greet(struct tq_client_core *core, struct tq_link *link, int64_t now_ns);
void tq_client_lose(struct tq_client_core *core, struct tq_link *link, int64_t now_ns);
void tq_client_suspect(struct tq_client_core *core, struct tq_link *link, int64_t now_ns);
void tq_client_tend_links(struct tq_client_core *core, int64_t now_ns);
int64_t tq_client_links_next_ns(const struct tq_client_core *core);
bool tq_client_on_link_message(struct tq_client_core *core, struct tq_link *link, const tq_wire_Envelope *envelope,
                               struct tq_bytes body, int64_t now_ns);
enum tq_sent tq_client_send_control(struct tq_client_core *core, struct tq_link *link, tq_wire_Kind kind,
                                    uint64_t call_id, const pb_msgdesc_t *fields, const void *body, int64_t now_ns);
/* Takes the call off its link's books. */
void tq_client_unsend(struct tq_client_core *core, struct tq_call *call);
/* Ends the call with call->error. */
void tq_client_finish(struct tq_client_core *core, struct tq_call *call);
void tq_client_fail(struct tq_client_core *core, struct tq_call *call, tq_status status, enum tq_outcome outcome,
                    const char *reason, const char *format, ...) TQ_PRINTF(6, 7);
/* Ends every call that has not been sent: nobody will take them. */
void tq_client_fail_waiting(struct tq_client_core *core, const struct tq_error *error);
/* The attempt is over without an answer: lost with its link, or timed out. */
void tq_client_attempt_over(struct tq_client_core *core, struct tq_call *call, bool timed_out, int64_t now_ns);
/* The peer greeted this link as the first of a new session: attempts sent before the greeting will not be answered. */
void tq_client_session_lost(struct tq_client_core *core, const struct tq_link *greeted, int64_t now_ns);
int64_t tq_client_attempt_due_ns(const struct tq_call *call, int64_t now_ns);
void tq_client_call_due(struct tq_client_core *core, struct tq_call *call, int64_t now_ns);
void tq_client_on_lookup_reply(struct tq_client_core *core, const tq_wire_Envelope *envelope, struct tq_bytes body);

#endif

/* transport/rpc/server_core.h: the server's half of the protocol: sessions, admission, duplicates, deadlines, answers.
 * Does no I/O and reads no clock: messages and `now` come in, messages go out through struct tq_server_io.
 *
 * What happens to a request, in this order: envelope, version, session, duplicate of a running call (joins it), drain,
 * method, duplicate by key (gets the kept answer), deadline, sizes, admission, then the window entry is made, and only
 * then the body is decoded and the handler runs: a duplicate that comes in between finds the entry.
 *
 * A call:  RUNNING --> ENDED    ended by the answer. `gone` (cancel, session end, deadline) is a flag on the way: the
 *                               answer is then dropped, except that the window keeps it for a repetition, unless it
 *                               says that nothing was started. The handler is told once nobody else waits for it.
 *
 * Owns: sessions, calls, the window. Threads: one (the loop). */
#ifndef TQ_RPC_SERVER_CORE_H
#define TQ_RPC_SERVER_CORE_H

#include "tq/rpc.h"
#include "tq/wire/session.pb.h"
#include "transport/base/arena.h"
#include "transport/base/heap.h"
#include "transport/base/list.h"
#include "transport/base/map.h"
#include "transport/rpc/arrivals.h"
#include "transport/rpc/letter.h"
#include "transport/rpc/message.h"
#include "transport/rpc/packet.h"
#include "transport/rpc/self.h"
#include "transport/rpc/window.h"
#include "transport/rpc/zmq_frames.h"

/* A connection: the routing id that the client chose. */
struct tq_peer {
    uint8_t id[TQ_PEER_ID_BYTES];
};

enum { TQ_SESSION_PEERS = 12, TQ_JOINERS_MAX = 8, TQ_GIVEN_UP_MAX = 64 };

struct tq_session {
    uint64_t id;
    unsigned holds; /* the core's and one of each call */
    bool ended;
    char name[TQ_NAME_BYTES];
    uint32_t role;
    tq_wire_Limits limits;
    struct tq_peer peers[TQ_SESSION_PEERS]; /* the connections that said hello, newest last */
    unsigned n_peers;
    int64_t heard_ns;
    struct tq_heap_node timer; /* the end of its silence */
    struct tq_map running;     /* calls by id */
    uint64_t running_bytes;
    uint64_t given_up[TQ_GIVEN_UP_MAX]; /* calls that were asked for before they arrived: refused when they do */
    unsigned n_given_up;
    struct tq_list replies; /* that its peers did not take yet */
    uint64_t reply_bytes;
    struct tq_list with_replies; /* in core->blocked while replies wait */
};

/* Somebody who waits for the answer of a running call. */
struct tq_joiner {
    uint64_t session, call_id;
    struct tq_peer peer;
};

struct tq_service_entry {
    const struct tq_method *method;
    const void *ops;
    void *state;
};

struct tq_server_core;

struct tq_server_call {
    struct tq_server_core *core;
    void *server;            /* the shell's */
    struct tq_list node;     /* in core->running, or spare */
    struct tq_letter letter; /* its answer, when it comes from another thread */
    bool orphan, answered;   /* the shell's, when it closes with the call unanswered */
    struct tq_heap_node timer;
    struct tq_session *session;           /* held */
    const struct tq_service_entry *entry; /* until the server is closed */
    const struct tq_method *method;
    uint64_t id, session_id;
    struct tq_peer peer; /* of the latest attempt */
    int64_t deadline_ns;
    uint64_t bytes;
    uint64_t arrival; /* its number in the ring */
    bool gone;        /* who sent it does not wait any more */
    bool told;        /* nobody does, and the handler knows or may know */
    tq_status gone_why;
    void (*on_gone)(void *user, tq_status why);
    void *on_gone_user;
    uint8_t key[TQ_KEY_BYTES];
    size_t key_len;
    struct tq_window_entry *window; /* NULL: answers are not kept */
    struct tq_joiner joiners[TQ_JOINERS_MAX];
    unsigned n_joiners;
    struct tq_inbound request;
    struct tq_bytes body;
    struct tq_arena *arena; /* of the decoded request */

    struct tq_error error; /* the answer: status OK and packet, or the error */
    struct tq_packet answer;
    struct tq_payload *payload;
};

struct tq_server_io {
    void *self;
    enum tq_sent (*send)(void *self, const struct tq_peer *to, const struct tq_outbound *message);
    /* Runs the handler of an admitted call. The call must end by tq_server_core_finish, now or later. */
    void (*dispatch)(void *self, struct tq_server_call *call);
    void (*session_ended)(void *self, uint64_t session);
};

struct tq_server_core {
    const struct tq_seam *seam;
    struct tq_server_io io;
    struct tq_self *who;
    struct tq_server_opts opts; /* defaults filled in */
    int64_t keepalive_ns;
    bool draining;

    struct tq_map services; /* struct tq_service_entry by method id */
    struct tq_map sessions;
    struct tq_heap session_timers, call_timers;
    struct tq_list blocked; /* sessions whose replies wait */
    int64_t retry_replies_ns;
    struct tq_arrivals arrivals;
    struct tq_window window;
    struct tq_packet control;
    struct tq_list running; /* all calls that have not ended */
    size_t n_joiners;       /* of all calls */
    struct tq_list spare;
    uint32_t n_spare;
    int64_t planned_ns; /* when the last tick wanted the next one */
    uint64_t reply_bytes;
    struct tq_server_stats stats; /* `running` and `sessions` are kept up to date */
};

void tq_server_core_init(struct tq_server_core *core, const struct tq_server_opts *opts, struct tq_self *who,
                         struct tq_server_io io, const struct tq_seam *seam);
/* No call may be running. */
void tq_server_core_fini(struct tq_server_core *core);
/* Fails with ALREADY_EXISTS, RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_server_core_add(struct tq_server_core *core, const struct tq_service *service,
                                           const void *ops, void *state, struct tq_error *err);

/* Takes what it needs out of *message; the rest is the caller's to release. */
void tq_server_core_receive(struct tq_server_core *core, const struct tq_peer *from, struct tq_inbound *message,
                            int64_t now_ns);
/* The call has its answer in error, answer, payload. Sends or drops it; the call is invalid afterwards. */
void tq_server_core_finish(struct tq_server_core *core, struct tq_server_call *call, int64_t now_ns);
/* A message that io.send had taken could not be sent after all: a reply goes another way, or waits. */
void tq_server_undelivered(struct tq_server_core *core, const struct tq_peer *to, struct tq_bytes frame,
                           enum tq_sent why, int64_t now_ns);
void tq_server_core_tick(struct tq_server_core *core, int64_t now_ns);
int64_t tq_server_core_next_ns(const struct tq_server_core *core);
/* From now on new calls are refused with UNAVAILABLE. */
void tq_server_core_drain(struct tq_server_core *core);
/* Ends all sessions: their calls are told that they are gone (CANCELLED). */
void tq_server_core_shut(struct tq_server_core *core);
/* Takes the call off all books without an answer: it ends outside. */
void tq_server_core_forget(struct tq_server_core *core, struct tq_server_call *call);
/* Frees a call that ends outside the core, after the loop is gone. */
void tq_server_call_free(struct tq_server_call *call);

/* ---- between the files of the core ---- */

/* Sends a body of the runtime's own; where the peer does not take it now, it is lost. */
void tq_server_send_control(struct tq_server_core *core, const struct tq_peer *to, tq_wire_Kind kind, uint64_t call_id,
                            uint64_t session, const pb_msgdesc_t *fields, const void *body);
void tq_server_send_error(struct tq_server_core *core, const struct tq_peer *to, tq_wire_Kind kind, uint64_t call_id,
                          uint64_t session, const struct tq_error *error);
/* Sends a reply, or queues it. `session` may be NULL or ended: then it is dropped. */
void tq_server_reply(struct tq_server_core *core, struct tq_session *session, const struct tq_peer *to,
                     uint64_t call_id, const struct tq_error *error, struct tq_packet *packet,
                     struct tq_payload *payload, int64_t now_ns);
void tq_server_retry_replies(struct tq_server_core *core, int64_t now_ns);
void tq_session_drop_replies(struct tq_server_core *core, struct tq_session *session);

/* The session if this connection has said hello to it; NULL else. Counts as a sign of life. */
struct tq_session *tq_session_find(struct tq_server_core *core, uint64_t id, const struct tq_peer *peer,
                                   int64_t now_ns);
void tq_session_hello(struct tq_server_core *core, const struct tq_peer *from, const tq_wire_Envelope *envelope,
                      struct tq_bytes body, int64_t now_ns);
void tq_session_end(struct tq_server_core *core, struct tq_session *session);
void tq_session_drop(struct tq_server_core *core, struct tq_session *session);
void tq_session_lose_peer(struct tq_session *session, const struct tq_peer *peer);
/* The caller does not wait any more. The handler is told when no joiner waits either, or when the deadline of all is
 * over. */
void tq_server_call_gone(struct tq_server_core *core, struct tq_server_call *call, tq_status why);
/* The session does not wait any more for what it joined: call_id, or with 0 all. May answer calls. */
void tq_server_drop_joiners(struct tq_server_core *core, uint64_t session, uint64_t call_id);

#endif

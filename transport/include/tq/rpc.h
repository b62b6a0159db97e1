/* tq/rpc.h: calls over pooled ZMQ DEALER sockets, and the server loop that answers them. The runtime of the stubs that
 * protoc-gen-tq writes; an application calls the stubs and needs from here only runtime, channel, options and reply.
 *
 * Owns: runtime > channels, servers; a reply owns its message. Everything opened is closed by its opener.
 * Threads: every function may be called from any thread unless it says "loop thread". Callbacks run on the runtime's
 * driver thread (client) or on the server's loop thread (handlers), never inside the call that asked for them, never
 * with a lock held. After fork() every call in the child fails with FAILED_PRECONDITION. */
#ifndef TQ_RPC_H
#define TQ_RPC_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tq/bytes.h"
#include "tq/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- descriptors: what the generator knows about a service ---- */

enum tq_idempotency {
    TQ_ONCE = 1,       /* sent once, never again */
    TQ_KEYED = 2,      /* repeated only with its key; a duplicate joins the running execution */
    TQ_IDEMPOTENT = 3, /* may run any number of times */
};

enum tq_method_flags {
    TQ_METHOD_BULK = 1u << 0,  /* inline frames may accompany request and response */
    TQ_METHOD_WAITS = 1u << 1, /* the server may park the call until max_wait_ms */
};

struct tq_server_call;

/* Hands a decoded request to the handler of one method. Returns false when `ops` has no handler for it. Written by the
 * generator; runs on the loop thread. */
typedef bool tq_invoke_fn(const void *ops, void *state, const ProtobufCMessage *request, struct tq_server_call *call);

struct tq_method {
    uint32_t id;      /* pinned; what the wire carries */
    const char *name; /* "tq.v1.StorageService/Put" */
    const ProtobufCMessageDescriptor *request;
    const ProtobufCMessageDescriptor *response;
    enum tq_idempotency idempotency;
    uint32_t timeout_ms; /* of a call that names no deadline */
    uint32_t request_bytes;
    uint32_t response_bytes;
    uint32_t request_elements;
    uint32_t response_elements;
    uint32_t flags;
    tq_invoke_fn *invoke;
};

struct tq_service {
    const char *name; /* "tq.v1.StorageService" */
    const struct tq_method *methods;
    size_t n_methods;
    struct tq_bytes file_descriptor; /* serialized FileDescriptorProto, for reflection */
};

/* ---- runtime ---- */

enum tq_role { TQ_ROLE_CLIENT = 1, TQ_ROLE_CONTROLLER = 2, TQ_ROLE_STORAGE = 3, TQ_ROLE_TOOL = 4 };

struct tq_seam; /* clock, randomness, allocation, I/O faults: transport/base/seam.h; tests replace it */

/* Zero means the default. */
struct tq_runtime_opts {
    const char *name; /* who we are, in the peer's logs; default: program name and pid */
    enum tq_role role;
    uint8_t cluster_id[16];     /* all zero: a client learns it from the first server that knows it, then insists on it
                                   (a controller may come back with another); a server learns it from no client */
    const struct tq_seam *seam; /* NULL: the system's */
};

struct tq_runtime;

/* A ZMQ context and, once somebody needs it, a driver thread. Fails with RESOURCE_EXHAUSTED, FAILED_PRECONDITION. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_runtime_open(const struct tq_runtime_opts *opts, struct tq_runtime **out_runtime,
                                                  struct tq_error *err);
/* Ends pending calls with CANCELLED, joins the driver. All channels and servers must be closed. NULL is allowed. */
TQ_PUBLIC void tq_runtime_close(struct tq_runtime *runtime);
/* This life's number: random, never 0. */
TQ_PUBLIC uint64_t tq_runtime_epoch(const struct tq_runtime *runtime);

/* ---- client: channels and calls ---- */

/* Zero means the default. */
struct tq_channel_opts {
    uint32_t sockets;      /* pooled DEALER sockets, 1..4; default 1 */
    uint64_t expect_epoch; /* refuse a peer with another epoch; 0: any */
    uint32_t max_calls;    /* our own window, beside the peer's credit; default 1024 */
    uint64_t max_bytes;    /* of requests waiting or in flight; default 256 MiB */
    uint32_t queue_calls;  /* calls waiting for the window before RESOURCE_EXHAUSTED; default 65536 */
};

struct tq_channel;

/* A pool of sockets to one address ("tcp://127.0.0.1:7600", "ipc:///run/tq.sock"). Returns at once: the first call
 * dials. Fails with INVALID_ARGUMENT (address, limits), RESOURCE_EXHAUSTED. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_channel_open(struct tq_runtime *runtime, const char *address,
                                                  const struct tq_channel_opts *opts, struct tq_channel **out_channel,
                                                  struct tq_error *err);
/* Says goodbye, ends the channel's calls with CANCELLED, closes the sockets (LINGER 0). NULL is allowed. */
TQ_PUBLIC void tq_channel_close(struct tq_channel *channel);
TQ_PUBLIC const char *tq_channel_address(const struct tq_channel *channel);
TQ_PUBLIC struct tq_runtime *tq_channel_runtime(struct tq_channel *channel);
/* Starts the driver, so that keep-alives keep this channel's session (its parked calls, leases and pins) alive without
 * calls. Released by tq_channel_close. */
TQ_PUBLIC void tq_channel_keep(struct tq_channel *channel);

/* Zero means the default; NULL options are all defaults. */
struct tq_call_opts {
    int64_t deadline_ns;           /* absolute (tq_now_ns); 0: the method's timeout. A past one ends the call at
                                      once with DEADLINE_EXCEEDED, NOT_STARTED. More than an hour ahead: an hour. */
    const uint8_t *key;            /* 16 bytes idempotency key, or NULL: one is made for keyed methods */
    const struct tq_bytes *frames; /* inline frames; copied before the call returns */
    size_t n_frames;
    uint32_t max_attempts; /* 1..3; default 3 */
    struct tq_bytes trace; /* W3C trace context, at most 25 bytes */
};

struct tq_arena;

/* What came back. Caller's memory, filled by the call whatever the outcome; drop it always (dropping a zeroed or failed
 * one is fine). `message` and `frames` live until then. */
struct tq_reply {
    struct tq_error error;           /* status, outcome, reason, message */
    const ProtobufCMessage *message; /* NULL unless status is OK; use the stub's typed accessor */
    const struct tq_bytes *frames;
    size_t n_frames;
    struct tq_arena *owner_; /* private */
    void *frames_;           /* private */
};
TQ_PUBLIC void tq_reply_drop(struct tq_reply *reply);

/* Blocking. Returns reply->error.status. `reply` must not be NULL. Ends by the deadline whatever the peer does: with
 * DEADLINE_EXCEEDED, whose message says what became of the request; with UNAVAILABLE (PEER_UNREACHABLE, NOT_STARTED)
 * when no connection was found in all that time; before it with UNAVAILABLE (CONNECTION_LOST, PEER_RESTARTED; UNKNOWN)
 * when the method may not be repeated. Not in a callback or handler: FAILED_PRECONDITION (WOULD_BLOCK). */
TQ_PUBLIC tq_status tq_call(struct tq_channel *channel, const struct tq_method *method, const ProtobufCMessage *request,
                            const struct tq_call_opts *opts, struct tq_reply *reply);

/* Called exactly once for each accepted call, on the driver thread. Borrows the reply; to keep it, copy the struct and
 * zero the original (tq_reply_take). Must not block: a blocking tq_call in here fails with FAILED_PRECONDITION. */
typedef void tq_done_fn(void *user, struct tq_reply *reply);

/* With a callback. Returns OK when `done` will run; otherwise the call was refused, `done` will not run and *err says
 * why (INVALID_ARGUMENT, RESOURCE_EXHAUSTED, FAILED_PRECONDITION). `request` may be freed on return. *out_call_id (NULL
 * allowed) names the call for tq_call_cancel. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_call_cb(struct tq_channel *channel, const struct tq_method *method,
                                             const ProtobufCMessage *request, const struct tq_call_opts *opts,
                                             tq_done_fn *done, void *user, uint64_t *out_call_id, struct tq_error *err);
/* Ends the call with CANCELLED (its `done` runs once, as always) and tells the server. Unknown or finished: no-op. */
TQ_PUBLIC void tq_call_cancel(struct tq_channel *channel, uint64_t call_id);
/* Moves the reply to the caller: *from is zeroed. */
TQ_PUBLIC struct tq_reply tq_reply_take(struct tq_reply *from);

struct tq_future;
/* Returns a future; refused calls come back as a finished future, so that there is one path. NULL only without memory.
 */
TQ_PUBLIC struct tq_future *tq_call_start(struct tq_channel *channel, const struct tq_method *method,
                                          const ProtobufCMessage *request, const struct tq_call_opts *opts);
/* Waits for the end of the call (which its deadline bounds) and moves the reply out; a second wait gives the status
 * with no message. */
TQ_PUBLIC tq_status tq_future_wait(struct tq_future *future, struct tq_reply *reply);
TQ_PUBLIC bool tq_future_done(const struct tq_future *future);
TQ_PUBLIC void tq_future_cancel(struct tq_future *future);
/* Cancels when still running. NULL is allowed. */
TQ_PUBLIC void tq_future_drop(struct tq_future *future);

/* Counters of one channel, for tests, metrics and diagnosis. */
struct tq_channel_stats {
    uint64_t calls, replies, timeouts, cancels, retries, dials, hellos, strays /* replies to no call of ours */;
    uint64_t bytes_sent, bytes_received;
    uint32_t in_flight, waiting, sockets_open;
};
TQ_PUBLIC void tq_channel_read_stats(struct tq_channel *channel, struct tq_channel_stats *out_stats);

/* ---- server ---- */

/* Zero means the default. */
struct tq_server_opts {
    const char *listen;         /* "tcp://127.0.0.1:0": a free port */
    const char *advertise;      /* what peers are told; default: the bound address */
    bool insecure;              /* allow other than loopback and unix sockets */
    uint32_t max_calls;         /* running at once, all sessions; default 16384 */
    uint32_t session_calls;     /* credit of one session; default 4096 */
    uint64_t session_bytes;     /* default 256 MiB */
    uint64_t reply_queue_bytes; /* of a session whose peer does not read; default 64 MiB. Beside the 8192 messages a
                                   connection that libzmq takes first */
    uint32_t max_sessions;      /* default 4096 */
    uint32_t keepalive_ms;      /* default 1000; three missed end the session */
    uint32_t max_body_bytes;    /* default 16 MiB */
    uint64_t max_inline_bytes;  /* of one message; default 64 MiB */
};

struct tq_server;

/* Binds; serves nothing before tq_server_start. Fails with INVALID_ARGUMENT, UNAVAILABLE (address in use),
 * PERMISSION_DENIED (not loopback and not insecure). */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_server_open(struct tq_runtime *runtime, const struct tq_server_opts *opts,
                                                 struct tq_server **out_server, struct tq_error *err);
/* Before start. `ops` is the service's generated vtable, `state` comes back to its handlers; both outlive the server.
 * Fails with ALREADY_EXISTS when a method id is taken. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_server_add(struct tq_server *server, const struct tq_service *service,
                                                const void *ops, void *state, struct tq_error *err);
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_server_start(struct tq_server *server, struct tq_error *err);
/* Stops taking calls (UNAVAILABLE, NOT_STARTED), waits until running ones are answered or the deadline is there. */
TQ_PUBLIC void tq_server_drain(struct tq_server *server, int64_t deadline_ns);
/* Ends what still runs with CANCELLED, joins the loop. NULL is allowed. */
TQ_PUBLIC void tq_server_close(struct tq_server *server);
/* The bound address with its real port. Lives as long as the server. */
TQ_PUBLIC const char *tq_server_address(const struct tq_server *server);
TQ_PUBLIC const char *tq_server_advertised(const struct tq_server *server);

/* Handlers run on the loop thread and must not block. A handler answers now or keeps `call` and answers later from any
 * thread; exactly one of answer and fail ends it, and invalidates `call` and the request. */

/* `response` must be of the method's response type (checked); it is packed before this returns. */
TQ_PUBLIC void tq_server_answer(struct tq_server_call *call, const ProtobufCMessage *response);
/* The same with inline frames. `release` (NULL allowed) is called once with `user` when the frames' memory is no longer
 * needed, from any thread. With release NULL the frames are copied. */
TQ_PUBLIC void tq_server_answer_frames(struct tq_server_call *call, const ProtobufCMessage *response,
                                       const struct tq_bytes *frames, size_t n_frames, void (*release)(void *user),
                                       void *user);
TQ_PUBLIC void tq_server_fail(struct tq_server_call *call, tq_status status, const char *reason, const char *format,
                              ...) TQ_PRINTF(4, 5);
TQ_PUBLIC void tq_server_fail_error(struct tq_server_call *call, const struct tq_error *err);

/* The caller's deadline on our clock. */
TQ_PUBLIC int64_t tq_server_call_deadline_ns(const struct tq_server_call *call);
/* The session that the call belongs to; never 0. */
TQ_PUBLIC uint64_t tq_server_call_session(const struct tq_server_call *call);
/* The name that the caller gave itself in hello; lives as long as the call. */
TQ_PUBLIC const char *tq_server_call_peer(const struct tq_server_call *call);
/* 16 bytes, or empty. */
TQ_PUBLIC struct tq_bytes tq_server_call_key(const struct tq_server_call *call);
/* Inline frames of the request; they live until the call ends. */
TQ_PUBLIC const struct tq_bytes *tq_server_call_frames(const struct tq_server_call *call, size_t *out_n);
TQ_PUBLIC struct tq_server *tq_server_call_server(const struct tq_server_call *call);
/* Runs `gone` on the loop thread when the caller cancels, its session ends or its deadline passes before the answer;
 * the handler must then answer soon (the answer is dropped where nobody waits). Not while other calls wait for the same
 * keyed answer. Where nothing was executed, answer with the outcome NOT_STARTED: that frees the key. One hook a call;
 * NULL removes it. */
TQ_PUBLIC void tq_server_call_on_gone(struct tq_server_call *call, void (*gone)(void *user, tq_status why), void *user);

/* Runs on the loop thread when a session ends: goodbye, three missed keep-alives, or an overfull reply queue. Before
 * start. */
TQ_PUBLIC void tq_server_on_session_end(struct tq_server *server, void (*ended)(void *user, uint64_t session),
                                        void *user);
/* Runs `fn` on the loop thread, soon, once. Returns false when the server is closing (then `fn` will not run). */
TQ_PUBLIC TQ_MUST_CHECK bool tq_server_post(struct tq_server *server, void (*fn)(void *user), void *user);

/* A timer of the loop. Embed it; zero it before first use. Loop thread only. */
struct tq_server_timer {
    void (*fire)(void *user);
    void *user;
    int64_t due_ns_; /* private */
    size_t slot_;    /* private: 1 + index in the heap; 0: not armed */
};
/* (Re)arms: fire(user) runs on the loop thread at `due_ns` or soon after, once. Fails (false) only without memory. */
TQ_PUBLIC TQ_MUST_CHECK bool tq_server_timer_arm(struct tq_server *server, struct tq_server_timer *timer,
                                                 int64_t due_ns);
TQ_PUBLIC void tq_server_timer_disarm(struct tq_server *server, struct tq_server_timer *timer);

struct tq_server_stats {
    uint64_t arrivals, dispatched, answered, refused, cancelled, expired;
    uint64_t garbage;     /* messages dropped before or at the envelope */
    uint64_t foreign_ids; /* routing ids that no client of ours would choose */
    uint64_t hellos, sessions_opened, sessions_ended, lookups, joins /* duplicates that joined an execution */;
    uint32_t running, sessions;
    uint64_t reply_queue_bytes;
};
TQ_PUBLIC void tq_server_read_stats(struct tq_server *server, struct tq_server_stats *out_stats);

#ifdef __cplusplus
}
#endif
#endif

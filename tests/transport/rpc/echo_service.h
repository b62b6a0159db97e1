/* tests/transport/rpc/echo_service.h: a service with handlers that answer, fail, park, answer later or elsewhere.
 * Owns: the service its parked calls. Threads: the server's loop, except the counters. */
#ifndef TESTS_TRANSPORT_RPC_ECHO_SERVICE_H
#define TESTS_TRANSPORT_RPC_ECHO_SERVICE_H

#include <stdatomic.h>

#include "echo.pb-c.h"
#include "tq/rpc.h"

enum echo_action {
    ECHO_ANSWER,
    ECHO_FAIL,   /* ABORTED, reason ECHO_FAIL */
    ECHO_PARK,   /* answered with CANCELLED once the call is gone */
    ECHO_LATER,  /* after delay_ms, by a timer */
    ECHO_THREAD, /* from another thread */
    ECHO_FRAMES, /* the request's frames come back, without a copy of ours */
    ECHO_HOLD,   /* kept until echo_release */
};

enum { ECHO_IDEMPOTENT = 1, ECHO_KEYED = 2, ECHO_ONCE = 3, ECHO_WAITS = 4, ECHO_BULK = 5, ECHO_MISSING = 6 };

struct echo_service {
    struct tq_server *server;
    atomic_ullong executions, gone, released;
    _Atomic(struct tq_server_call *) held;
    int ended_fd; /* eventfd: counts ended sessions */
};

extern const struct tq_method echo_methods[];
extern const struct tq_service echo_table;
const struct tq_method *echo_method(uint32_t id);

/* Opens a server with the service on `listen` and starts it. Asserts (cmocka) on failure. */
void echo_open(struct echo_service *service, struct tq_runtime *runtime, const struct tq_server_opts *opts);
/* Waits until a session has ended; false after `timeout_ms`. */
bool echo_wait_session_end(struct echo_service *service, int timeout_ms);
/* Closes the server, if it is open. */
void echo_close(struct echo_service *service);
/* Answers the held call from this thread; false when there is none. */
bool echo_release(struct echo_service *service);

/* A blocking call; the reply's number is checked against the request's. */
tq_status echo_call(struct tq_channel *channel, uint32_t method, enum echo_action action, uint64_t number,
                    int64_t timeout_ms, struct tq_error *out_error);

#endif

/* tests/transport/rpc/server_stage.h: a server core on a stage: the test plays clients, handlers and clock.
 * Owns: the one stage. Threads: one. */
#ifndef TESTS_TRANSPORT_RPC_SERVER_STAGE_H
#define TESTS_TRANSPORT_RPC_SERVER_STAGE_H

#include "tests/support/cmocka_all.h"
#include "tests/support/test_seam.h"
#include "tests/transport/rpc/echo_service.h"
#include "transport/base/log.h"
#include "transport/rpc/body.h"
#include "transport/rpc/server_core.h"
#include "transport/rpc/wire_body.h"

#define MS INT64_C(1000000)
enum { SENT_MAX = 128, RUNNING_MAX = 128 };

struct stage {
    struct test_seam seam;
    struct tq_self self;
    struct tq_server_core core;
    int64_t now_ns;
    struct {
        struct tq_peer to;
        tq_wire_Envelope envelope;
        struct tq_error error;
        tq_wire_HelloReply hello;
        tq_wire_LookupReply lookup;
    } sent[SENT_MAX];
    unsigned n_sent;
    struct tq_server_call *running[RUNNING_MAX]; /* dispatched, kept by the handler */
    unsigned n_dispatched, n_ended_sessions, n_gone;
    tq_status gone_why;
    bool answer_at_once;
    enum tq_sent will;
};

extern struct stage stage;

/* The handler answers. */
void finish(struct tq_server_call *call, tq_status status);
/* A core at 1 s of virtual time with the echo service. */
void open_stage(const struct tq_server_opts *opts);
/* Teardown: asserts that nothing leaked. */
int close_stage(void **state);
struct tq_peer peer(uint8_t number);
/* A connection says something. */
void hear_packet(uint8_t from, const tq_wire_Envelope *envelope, struct tq_packet *packet);
void hear(uint8_t from, const tq_wire_Envelope *envelope, const pb_msgdesc_t *fields, const void *body);
tq_wire_Hello hello_of(uint64_t session);
void say_hello(uint8_t from, const tq_wire_Hello *hello);
/* A good hello. */
void join(uint8_t from, uint64_t session);
tq_wire_Envelope request_of(uint64_t session, uint64_t call_id, uint32_t method);
/* An empty request, its call id the key of keyed methods. */
void request(uint8_t from, uint64_t session, uint64_t call_id, uint32_t method);
/* The last message sent was this refusal. */
void assert_refused(tq_status status, enum tq_outcome outcome, const char *reason);
/* Time passes; what is due happens on the way. */
void pass(int64_t ns);

#endif

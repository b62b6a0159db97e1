/* tests/transport/rpc/client_stage.h: a client core on a stage: the test plays peer, network and clock.
 * Owns: the one stage. Threads: one. */
#ifndef TESTS_TRANSPORT_RPC_CLIENT_STAGE_H
#define TESTS_TRANSPORT_RPC_CLIENT_STAGE_H

#include "tests/support/cmocka_all.h"
#include "tests/support/test_seam.h"
#include "tests/transport/rpc/echo_service.h"
#include "transport/base/log.h"
#include "transport/rpc/client_core.h"
#include "transport/rpc/wire_body.h"

#define MS INT64_C(1000000)
enum { SENT_MAX = 64 };

/* What the core asked for, and the peer's side of it. */
struct stage {
    struct test_seam seam;
    struct tq_self self;
    struct tq_client_core core;
    int64_t now_ns;
    struct {
        unsigned link;
        tq_wire_Envelope envelope;
        uint8_t body[256];
        size_t body_len;
    } sent[SENT_MAX];
    unsigned n_sent, n_dials, n_hang_ups;
    unsigned last_dialled;
    bool open[TQ_LINKS_MAX];
    uint64_t epoch;
    tq_status dial_status;
};

extern struct stage stage;

/* A core at 1 s of virtual time, before anything happened. */
void open_stage(const struct tq_channel_opts *opts);
/* A finished call, the caller's; NULL when there is none. */
struct tq_call *next_ended(void);
void free_call(struct tq_call *call);
/* The next ended call has this status; frees it. */
void assert_ended(tq_status status, enum tq_outcome outcome, const char *reason);
/* Teardown: asserts that nothing leaked. */
int close_stage(void **state);
/* On failure there is no call. */
tq_status try_submit(uint32_t method, int64_t deadline_ns, struct tq_error *err);
void submit(uint32_t method, int64_t timeout_ns);
/* The peer says something on a link. */
void hear(unsigned link, const tq_wire_Envelope *envelope, struct tq_packet *packet);
void answer_hello(unsigned link, const tq_wire_HelloReply *reply);
/* Of a peer that has kept our session, if there was one. */
tq_wire_HelloReply good_hello(void);
/* The link comes up and a good peer answers its hello. */
void connect_link(unsigned link);
/* An empty answer with OK. */
void answer(unsigned link, uint64_t call_id, uint64_t epoch);
void answer_error(unsigned link, tq_wire_Kind kind, uint64_t call_id, tq_status status, const char *reason);
/* Time passes to the next thing that is due. */
void wait_until_due(void);
/* What the core sent last. */
const tq_wire_Envelope *last_sent(void);

#endif

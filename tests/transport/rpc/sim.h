/* tests/transport/rpc/sim.h: the cores of a client and a server against each other, on virtual time, over a network
 * that loses, delays, repeats, reorders and cuts, all from one seed. Owns: both cores and everything on the wire.
 * Threads: one. */
#ifndef TESTS_TRANSPORT_RPC_SIM_H
#define TESTS_TRANSPORT_RPC_SIM_H

#include "tests/support/test_seam.h"
#include "transport/rpc/client_core.h"
#include "transport/rpc/server_core.h"

enum { SIM_CALLS = 40, SIM_CONNECTIONS = 512, SIM_ANSWERS = 256 };
#define SIM_MS INT64_C(1000000)

/* Chances in percent. */
struct sim_weather {
    unsigned lose, repeat, cut, refuse_dial, restart, park, fail;
    int64_t delay_most_ns, answer_most_ns;
    bool in_order;
};

struct sim_call {
    uint32_t method; /* 1-based row of echo_methods */
    int64_t deadline_ns, ended_ns;
    unsigned ended, executed;
    bool foreign_reply;
    struct tq_error error;
    uint64_t id;
};

struct sim_connection {
    bool open, up;
    unsigned link;
    struct tq_peer peer;
    int64_t last_ns[2]; /* when the latest message of each direction arrives */
};

struct sim {
    struct test_seam seam;
    struct sim_weather weather;
    uint64_t dice;
    int64_t now_ns;
    struct tq_heap events;
    struct tq_self client_self, server_self;
    struct tq_client_core client;
    struct tq_server_core server;
    struct sim_connection connections[SIM_CONNECTIONS];
    unsigned n_connections;
    int current[TQ_LINKS_MAX]; /* connection of each link; -1: none */
    struct tq_server_call *answers[SIM_ANSWERS];
    uint64_t answer_numbers[SIM_ANSWERS];
    struct sim_call calls[SIM_CALLS];
    unsigned n_calls, n_ended, restarts;
};

void sim_init(struct sim *sim, uint64_t seed, struct sim_weather weather, const struct tq_channel_opts *opts,
              const struct tq_server_opts *server_opts);
/* Ends everything; asserts that nothing leaked. */
void sim_fini(struct sim *sim);
/* Less than `below`. */
uint64_t sim_roll(struct sim *sim, uint64_t below);
/* A call `after_ns` from now. */
void sim_call_at(struct sim *sim, uint32_t method, int64_t after_ns, int64_t timeout_ns);
void sim_cancel_at(struct sim *sim, unsigned call, int64_t after_ns);
/* Runs until nothing is left to happen but keep-alives, or `until_ns`. */
void sim_run(struct sim *sim, int64_t until_ns);

#endif

/* The rpc suite: small calls against raw libzmq, two processes, loopback. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <zmq.h>

#include "tools/tq-bench/rpc.h"

enum { HELD_CONNECTIONS = 200, CLIENTS = 16, WINDOW = 64 };

/* ---- the other process ---- */

int bench_rpc_serve(int argc, char **argv)
{
    char spinning[256], sleeping[256];
    struct tq_runtime *runtime;
    struct tq_server *server;
    struct tq_error err;
    struct tq_server_opts opts = { .listen = "tcp://127.0.0.1:0" };
    (void)argc;
    (void)argv;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bench_pin(1);
    void *context = zmq_ctx_new();
    rpc_raw_serve(context, "tcp://127.0.0.1:*", spinning, sizeof(spinning), true);
    rpc_raw_serve(context, "tcp://127.0.0.1:*", sleeping, sizeof(sleeping), false);
    if (tq_runtime_open(NULL, &runtime, &err) != TQ_OK || tq_server_open(runtime, &opts, &server, &err) != TQ_OK ||
        tq_server_add(server, &rpc_echo_service, NULL, NULL, &err) != TQ_OK || tq_server_start(server, &err) != TQ_OK) {
        fprintf(stderr, "tq-bench: server: %s\n", err.message);
        return 1;
    }
    printf("%s\n%s\n%s\n", spinning, sleeping, tq_server_address(server));
    fflush(stdout);
    for (;;)
        pause(); /* until we are killed, or our parent dies */
}

/* ---- this process ---- */

struct setting {
    const struct bench *bench;
    struct bench_child child;
    char spinning[256], sleeping[256], ours[256];
    void *context;
    struct tq_runtime *runtime;
    struct tq_channel *channel;
};

static void measure_blocking(struct setting *s)
{
    struct report_rounds p50 = { .n = 0 }, p99 = { .n = 0 }, spins = { .n = 0 };
    for (unsigned i = 0; i < s->bench->rounds; i++) {
        struct rpc_latency ours = rpc_ours_blocking(s->channel, s->bench->seconds);
        struct rpc_latency raw = rpc_raw_blocking(s->context, s->sleeping, s->bench->seconds, false);
        struct rpc_latency spun = rpc_raw_blocking(s->context, s->spinning, s->bench->seconds, true);
        report_round(&p50, ours.p50_us, raw.p50_us);
        report_round(&p99, ours.p99_us, raw.p99_us);
        report_round(&spins, ours.p50_us, spun.p50_us);
    }
    struct report *report = s->bench->report;
    struct report_row *row = report_add(
        report, "blocking 64 B, p50",
        "\"name\": \"blocking\", \"bytes\": 64, \"quantile\": 0.5, \"floor\": \"raw zmq, sleeps\"", "us", &p50);
    row->target = 2.0;
    row->lower_is_better = true;
    report_add(report, "blocking 64 B, p99",
               "\"name\": \"blocking\", \"bytes\": 64, \"quantile\": 0.99, \"floor\": \"raw zmq, sleeps\"", "us", &p99)
        ->lower_is_better = true;
    report_add(report, "blocking 64 B, p50, raw spins",
               "\"name\": \"blocking\", \"bytes\": 64, \"quantile\": 0.5, \"floor\": \"raw zmq, spins 50 us\"", "us",
               &spins)
        ->lower_is_better = true;
}

static void measure_pipelined(struct setting *s)
{
    struct report_rounds rounds = { .n = 0 };
    for (unsigned i = 0; i < s->bench->rounds; i++) {
        double ours = rpc_ours_pipelined(s->channel, s->bench->seconds, WINDOW);
        report_round(&rounds, ours, rpc_raw_pipelined(s->context, s->sleeping, s->bench->seconds, WINDOW));
    }
    report_add(s->bench->report, "64 in flight", "\"name\": \"pipelined\", \"bytes\": 64, \"in_flight\": 64", "calls/s",
               &rounds)
        ->target = 0.40;
}

static void measure_clients(struct setting *s)
{
    struct report_rounds rounds = { .n = 0 };
    for (unsigned i = 0; i < s->bench->rounds; i++) {
        double ours = rpc_ours_clients(s->runtime, s->ours, s->bench->seconds, CLIENTS);
        report_round(&rounds, ours, rpc_raw_clients(s->context, s->sleeping, s->bench->seconds, CLIENTS));
    }
    report_add(s->bench->report, "16 clients, blocking", "\"name\": \"clients\", \"bytes\": 64, \"clients\": 16",
               "calls/s", &rounds)
        ->target = 0.50;
}

static void measure_envelope(struct setting *s)
{
    struct report_rounds rounds = { .n = 0 };
    for (unsigned i = 0; i < s->bench->rounds; i++) {
        double ours, nanopb;
        rpc_envelope_cost(&ours, &nanopb);
        report_round(&rounds, ours, nanopb);
    }
    report_add(s->bench->report, "envelope encode + decode", "\"name\": \"envelope\", \"floor\": \"nanopb alone\"",
               "ns", &rounds)
        ->lower_is_better = true;
}

/* Resident memory of the server process, in KiB. */
static double server_kib(const struct setting *s)
{
    char path[64], line[256];
    double kib = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)s->child.pid);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0)
            kib = strtod(line + 6, NULL);
    if (file != NULL)
        fclose(file);
    return kib;
}

static void measure_memory(struct setting *s)
{
    static struct tq_channel *held[HELD_CONNECTIONS];
    struct tq_error err;
    double before = server_kib(s);
    unsigned n = 0;
    for (; n < HELD_CONNECTIONS; n++) {
        if (tq_channel_open(s->runtime, s->ours, NULL, &held[n], &err) != TQ_OK)
            break;
        (void)rpc_ours_blocking(held[n], 0.0001);
    }
    report_add_single(s->bench->report, "server memory for a connection",
                      "\"name\": \"connection_memory\", \"connections\": 200", "KiB",
                      n > 0 ? (server_kib(s) - before) / n : 0);
    while (n > 0)
        tq_channel_close(held[--n]);
}

static bool open_setting(struct setting *s)
{
    static const char *const arguments[] = { "serve-rpc", NULL };
    struct tq_error err;
    bench_pin(0);
    if (!bench_child_start(&s->child, s->bench->program, arguments))
        return false;
    if (!bench_child_read_line(&s->child, s->spinning, sizeof(s->spinning)) ||
        !bench_child_read_line(&s->child, s->sleeping, sizeof(s->sleeping)) ||
        !bench_child_read_line(&s->child, s->ours, sizeof(s->ours))) {
        fprintf(stderr, "tq-bench: the server did not start\n");
        return false;
    }
    s->context = zmq_ctx_new();
    if (tq_runtime_open(NULL, &s->runtime, &err) != TQ_OK ||
        tq_channel_open(s->runtime, s->ours, NULL, &s->channel, &err) != TQ_OK) {
        fprintf(stderr, "tq-bench: %s\n", err.message);
        return false;
    }
    return true;
}

int bench_rpc(const struct bench *bench)
{
    struct setting setting = { .bench = bench };
    if (!open_setting(&setting))
        return 1;
    measure_blocking(&setting);
    measure_pipelined(&setting);
    measure_clients(&setting);
    measure_envelope(&setting);
    measure_memory(&setting);
    tq_channel_close(setting.channel);
    tq_runtime_close(setting.runtime);
    zmq_ctx_term(setting.context);
    bench_child_stop(&setting.child);
    return 0;
}

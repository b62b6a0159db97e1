/* The floor: what libzmq does with frames of the same size, and nothing else. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "tools/tq-bench/rpc.h"

enum { SAMPLES_MAX = 1 << 20 };

static void die(const char *what)
{
    fprintf(stderr, "tq-bench: raw libzmq: %s: %s\n", what, zmq_strerror(errno));
    exit(1);
}

/* Receives one message; with `spin` it looks for a while before it sleeps, as the product does. */
static int receive(void *socket, void *buffer, size_t cap, bool spin)
{
    int64_t until = tq_now_ns() + RPC_SPIN_NS;
    while (spin) {
        int len = zmq_recv(socket, buffer, cap, ZMQ_DONTWAIT);
        if (len >= 0 || errno != EAGAIN)
            return len;
        if (tq_now_ns() >= until)
            break;
    }
    return zmq_recv(socket, buffer, cap, 0);
}

struct raw_server {
    void *router;
    bool spin;
};

static void *serve(void *arg)
{
    struct raw_server *server = arg;
    char id[256], body[1024];
    for (;;) {
        int id_len = receive(server->router, id, sizeof(id), server->spin);
        int len = id_len < 0 ? -1 : zmq_recv(server->router, body, sizeof(body), 0);
        if (len < 0)
            return NULL;
        zmq_send(server->router, id, (size_t)id_len, ZMQ_SNDMORE);
        zmq_send(server->router, body, (size_t)len, 0);
    }
}

static void set_int(void *socket, int option, int value)
{
    if (zmq_setsockopt(socket, option, &value, sizeof(value)) != 0)
        die("zmq_setsockopt");
}

void rpc_raw_serve(void *context, const char *endpoint, char *out_address, size_t cap, bool spin)
{
    struct raw_server *server = calloc(1, sizeof(*server)); /* as long as the process */
    pthread_t thread;
    if (server == NULL || (server->router = zmq_socket(context, ZMQ_ROUTER)) == NULL)
        die("socket");
    server->spin = spin;
    set_int(server->router, ZMQ_SNDHWM, 8192);
    set_int(server->router, ZMQ_RCVHWM, 8192);
    if (zmq_bind(server->router, endpoint) != 0 ||
        zmq_getsockopt(server->router, ZMQ_LAST_ENDPOINT, out_address, &cap) != 0)
        die("bind");
    if (pthread_create(&thread, NULL, serve, server) != 0)
        die("thread");
    pthread_detach(thread);
}

static void *dial(void *context, const char *address)
{
    void *socket = zmq_socket(context, ZMQ_DEALER);
    if (socket == NULL)
        die("socket");
    set_int(socket, ZMQ_LINGER, 0);
    set_int(socket, ZMQ_RCVTIMEO, 5000);
    if (zmq_connect(socket, address) != 0)
        die("connect");
    return socket;
}

static void exchange(void *socket, bool spin)
{
    static const char body[RPC_FLOOR_BYTES];
    char answer[1024];
    if (zmq_send(socket, body, sizeof(body), 0) < 0 || receive(socket, answer, sizeof(answer), spin) < 0)
        die("exchange");
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct rpc_latency rpc_raw_blocking(void *context, const char *address, double seconds, bool spin)
{
    static double samples[SAMPLES_MAX];
    void *socket = dial(context, address);
    size_t n = 0;
    for (unsigned i = 0; i < 200; i++)
        exchange(socket, spin);
    int64_t until = tq_now_ns() + (int64_t)(seconds * 1e9), last = tq_now_ns();
    while (last < until && n < SAMPLES_MAX) {
        exchange(socket, spin);
        int64_t now = tq_now_ns();
        samples[n++] = (double)(now - last) / 1e3;
        last = now;
    }
    zmq_close(socket);
    qsort(samples, n, sizeof(samples[0]), compare);
    return (struct rpc_latency){ report_quantile(samples, n, 0.5), report_quantile(samples, n, 0.99) };
}

double rpc_raw_pipelined(void *context, const char *address, double seconds, unsigned window)
{
    static const char body[RPC_FLOOR_BYTES];
    char answer[1024];
    void *socket = dial(context, address);
    uint64_t done = 0;
    exchange(socket, false);
    for (unsigned i = 0; i < window; i++)
        if (zmq_send(socket, body, sizeof(body), 0) < 0)
            die("send");
    int64_t begin = tq_now_ns(), until = begin + (int64_t)(seconds * 1e9), now = begin;
    while (now < until) {
        for (unsigned i = 0; i < 64; i++)
            if (zmq_recv(socket, answer, sizeof(answer), 0) < 0 || zmq_send(socket, body, sizeof(body), 0) < 0)
                die("exchange");
        done += 64;
        now = tq_now_ns();
    }
    zmq_close(socket);
    return (double)done / ((double)(now - begin) / 1e9);
}

struct raw_client {
    void *context;
    const char *address;
    int64_t until_ns;
    uint64_t done;
};

static void *run_client(void *arg)
{
    struct raw_client *client = arg;
    void *socket = dial(client->context, client->address);
    while (tq_now_ns() < client->until_ns) {
        exchange(socket, false);
        client->done++;
    }
    zmq_close(socket);
    return NULL;
}

double rpc_raw_clients(void *context, const char *address, double seconds, unsigned clients)
{
    struct raw_client all[64];
    pthread_t threads[64];
    uint64_t done = 0;
    int64_t begin = tq_now_ns();
    for (unsigned i = 0; i < clients; i++) {
        all[i] = (struct raw_client){ context, address, begin + (int64_t)(seconds * 1e9), 0 };
        if (pthread_create(&threads[i], NULL, run_client, &all[i]) != 0)
            die("thread");
    }
    for (unsigned i = 0; i < clients; i++) {
        pthread_join(threads[i], NULL);
        done += all[i].done;
    }
    return (double)done / ((double)(tq_now_ns() - begin) / 1e9);
}

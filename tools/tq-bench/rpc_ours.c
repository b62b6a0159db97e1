/* The product, by the same measure as the floor. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pb_decode.h>
#include <pb_encode.h>

#include "tools/tq-bench/rpc.h"
#include "transport/rpc/envelope.h"

enum { SAMPLES_MAX = 1 << 20 };

static bool invoke(const void *ops, void *state, const ProtobufCMessage *message, struct tq_server_call *call)
{
    (void)ops;
    (void)state;
    tq_server_answer(call, message);
    return true;
}

const struct tq_method rpc_echo_method = { .id = 0x7e01,
                                           .name = "tqbench.Echo/Echo",
                                           .request = &tqbench__blob__descriptor,
                                           .response = &tqbench__blob__descriptor,
                                           .idempotency = TQ_IDEMPOTENT,
                                           .timeout_ms = 10000,
                                           .request_bytes = 65536,
                                           .response_bytes = 65536,
                                           .request_elements = 16,
                                           .response_elements = 16,
                                           .invoke = invoke };
const struct tq_service rpc_echo_service = { "tqbench.Echo", &rpc_echo_method, 1, { NULL, 0 } };

static Tqbench__Blob request_of(uint8_t payload[RPC_PAYLOAD])
{
    Tqbench__Blob request = TQBENCH__BLOB__INIT;
    memset(payload, 'x', RPC_PAYLOAD);
    request.payload = (ProtobufCBinaryData){ RPC_PAYLOAD, payload };
    return request;
}

static void die(const struct tq_error *err)
{
    fprintf(stderr, "tq-bench: call: %s %s\n", tq_status_name(err->status), err->message);
    exit(1);
}

static void exchange(struct tq_channel *channel, const Tqbench__Blob *request)
{
    struct tq_reply reply;
    if (tq_call(channel, &rpc_echo_method, &request->base, NULL, &reply) != TQ_OK)
        die(&reply.error);
    tq_reply_drop(&reply);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct rpc_latency rpc_ours_blocking(struct tq_channel *channel, double seconds)
{
    static double samples[SAMPLES_MAX];
    uint8_t payload[RPC_PAYLOAD];
    Tqbench__Blob request = request_of(payload);
    size_t n = 0;
    for (unsigned i = 0; i < 200; i++)
        exchange(channel, &request);
    int64_t until = tq_now_ns() + (int64_t)(seconds * 1e9), last = tq_now_ns();
    while (last < until && n < SAMPLES_MAX) {
        exchange(channel, &request);
        int64_t now = tq_now_ns();
        samples[n++] = (double)(now - last) / 1e3;
        last = now;
    }
    qsort(samples, n, sizeof(samples[0]), compare);
    return (struct rpc_latency){ report_quantile(samples, n, 0.5), report_quantile(samples, n, 0.99) };
}

/* Each answer starts the next call, on the driver thread, until the time is over. */
struct pipeline {
    struct tq_channel *channel;
    const Tqbench__Blob *request;
    int64_t until_ns, last_ns;
    uint64_t done;
    unsigned running;
    pthread_mutex_t lock;
    pthread_cond_t ended;
};

static void on_answer(void *user, struct tq_reply *reply)
{
    struct pipeline *pipeline = user;
    struct tq_error err;
    if (reply->error.status != TQ_OK)
        die(&reply->error);
    if ((++pipeline->done & 63) == 0)
        pipeline->last_ns = tq_now_ns();
    if (pipeline->last_ns < pipeline->until_ns) {
        if (tq_call_cb(pipeline->channel, &rpc_echo_method, &pipeline->request->base, NULL, on_answer, pipeline, NULL,
                       &err) != TQ_OK)
            die(&err);
        return;
    }
    pthread_mutex_lock(&pipeline->lock);
    if (--pipeline->running == 0)
        pthread_cond_signal(&pipeline->ended);
    pthread_mutex_unlock(&pipeline->lock);
}

double rpc_ours_pipelined(struct tq_channel *channel, double seconds, unsigned window)
{
    uint8_t payload[RPC_PAYLOAD];
    Tqbench__Blob request = request_of(payload);
    struct tq_error err;
    exchange(channel, &request);
    int64_t begin = tq_now_ns();
    struct pipeline pipeline = {
        .channel = channel, .request = &request, .until_ns = begin + (int64_t)(seconds * 1e9), .running = window
    };
    pthread_mutex_init(&pipeline.lock, NULL);
    pthread_cond_init(&pipeline.ended, NULL);
    for (unsigned i = 0; i < window; i++)
        if (tq_call_cb(channel, &rpc_echo_method, &request.base, NULL, on_answer, &pipeline, NULL, &err) != TQ_OK)
            die(&err);
    pthread_mutex_lock(&pipeline.lock);
    while (pipeline.running > 0)
        pthread_cond_wait(&pipeline.ended, &pipeline.lock);
    pthread_mutex_unlock(&pipeline.lock);
    return (double)pipeline.done / ((double)(tq_now_ns() - begin) / 1e9);
}

struct client {
    struct tq_runtime *runtime;
    const char *address;
    int64_t until_ns;
    uint64_t done;
};

static void *run_client(void *arg)
{
    struct client *client = arg;
    struct tq_channel *channel;
    struct tq_error err;
    uint8_t payload[RPC_PAYLOAD];
    Tqbench__Blob request = request_of(payload);
    if (tq_channel_open(client->runtime, client->address, NULL, &channel, &err) != TQ_OK)
        die(&err);
    while (tq_now_ns() < client->until_ns) {
        exchange(channel, &request);
        client->done++;
    }
    tq_channel_close(channel);
    return NULL;
}

double rpc_ours_clients(struct tq_runtime *runtime, const char *address, double seconds, unsigned clients)
{
    struct client all[64];
    pthread_t threads[64];
    uint64_t done = 0;
    int64_t begin = tq_now_ns();
    for (unsigned i = 0; i < clients; i++) {
        all[i] = (struct client){ runtime, address, begin + (int64_t)(seconds * 1e9), 0 };
        if (pthread_create(&threads[i], NULL, run_client, &all[i]) != 0)
            exit(1);
    }
    for (unsigned i = 0; i < clients; i++) {
        pthread_join(threads[i], NULL);
        done += all[i].done;
    }
    return (double)done / ((double)(tq_now_ns() - begin) / 1e9);
}

/* ---- the envelope alone ---- */

static tq_wire_Envelope typical_envelope(uint64_t number)
{
    return (tq_wire_Envelope){ .version = 1,
                               .kind = tq_wire_Kind_KIND_REQUEST,
                               .call_id = UINT64_C(0x7123456789abcdef) + number,
                               .method = 0x0201,
                               .remaining_us = 29999999,
                               .attempt = 1,
                               .session = UINT64_C(0x8123456789abcdef),
                               .epoch = UINT64_C(0x9123456789abcdef) };
}

static void use(const tq_wire_Envelope *envelope)
{
    __asm__ volatile("" ::"r"(envelope) : "memory");
}

void rpc_envelope_cost(double *ours_ns, double *nanopb_ns)
{
    enum { TIMES = 200000 };
    uint8_t frame[TQ_HEADROOM];
    struct tq_bytes body;
    tq_wire_Envelope out;
    int64_t begin = tq_now_ns();
    for (uint64_t i = 0; i < TIMES; i++) {
        tq_wire_Envelope envelope = typical_envelope(i);
        size_t len = tq_envelope_encode(&envelope, frame);
        if (tq_envelope_decode((struct tq_bytes){ frame, len }, &out, &body, NULL) != TQ_OK)
            exit(1);
        use(&out);
    }
    *ours_ns = (double)(tq_now_ns() - begin) / TIMES;
    begin = tq_now_ns();
    for (uint64_t i = 0; i < TIMES; i++) {
        tq_wire_Envelope envelope = typical_envelope(i);
        pb_ostream_t stream = pb_ostream_from_buffer(frame, sizeof(frame));
        if (!pb_encode(&stream, tq_wire_Envelope_fields, &envelope))
            exit(1);
        pb_istream_t in = pb_istream_from_buffer(frame, stream.bytes_written);
        if (!pb_decode(&in, tq_wire_Envelope_fields, &out))
            exit(1);
        use(&out);
    }
    *nanopb_ns = (double)(tq_now_ns() - begin) / TIMES;
}

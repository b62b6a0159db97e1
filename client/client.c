#include "client/client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tq/v1/health.tq.h"
#include "transport/base/seam.h"

enum {
    TIMEOUT_MS = 30000,
    GREET_MS = 5000,        /* of opening */
    STAGE_BYTES = 64 << 20, /* of arenas kept between puts, for staging */
    CACHE_BYTES = 256 << 20,
    SOCKETS_MAX = 4
};

int64_t tq_op_deadline_ns(const struct tq_client *client, const struct tq_op_opts *opts)
{
    if (opts != NULL && opts->deadline_ns != 0)
        return opts->deadline_ns;
    return tq_deadline_after_ms(client->timeout_ms);
}

void tq_client_count(struct tq_client *client, const struct tq_client_stats *more)
{
    pthread_mutex_lock(&client->lock);
    struct tq_client_stats *stats = &client->stats;
    stats->calls += more->calls;
    stats->samples_put += more->samples_put;
    stats->samples_got += more->samples_got;
    stats->digest_failures += more->digest_failures;
    stats->retries += more->retries;
    for (int e = 0; e < TQ_ENGINE_COUNT; e++) {
        stats->put_bytes[e] += more->put_bytes[e];
        stats->get_bytes[e] += more->get_bytes[e];
    }
    pthread_mutex_unlock(&client->lock);
}

void tq_client_count_calls(struct tq_client *client, uint64_t calls)
{
    tq_client_count(client, &(struct tq_client_stats){ .calls = calls });
}

void tq_client_read_stats(struct tq_client *client, struct tq_client_stats *out_stats)
{
    pthread_mutex_lock(&client->lock);
    *out_stats = client->stats;
    pthread_mutex_unlock(&client->lock);
}

void tq_error_prefix(struct tq_error *err, const char *format, ...)
{
    if (err == NULL)
        return;
    struct tq_error inner = *err;
    char what[TQ_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    tq_fail(err, inner.status, inner.reason, "%s: %s", what, inner.message);
    err->outcome = inner.outcome;
    err->retry_after_ms = inner.retry_after_ms;
}

tq_status tq_reply_fail(struct tq_reply *reply, struct tq_error *err)
{
    tq_status status = reply->error.status;
    if (err != NULL)
        *err = reply->error;
    tq_reply_drop(reply);
    return status;
}

/* ---- open and close ---- */

static const char *controller_address(const struct tq_client_opts *opts)
{
    if (opts->controller != NULL)
        return opts->controller;
    const char *from_environment = getenv("TQ_CONTROLLER");
    return from_environment != NULL && from_environment[0] != '\0' ? from_environment : "tcp://127.0.0.1:7600";
}

/* Whether somebody who speaks our protocol is there. */
static tq_status greet(struct tq_client *client, struct tq_error *err)
{
    Tq__V1__CheckRequest request = TQ__V1__CHECK_REQUEST__INIT;
    uint32_t timeout_ms = client->timeout_ms < GREET_MS ? client->timeout_ms : GREET_MS;
    struct tq_call_opts opts = { .deadline_ns = tq_deadline_after_ms(timeout_ms) };
    struct tq_reply reply = { 0 };
    tq_client_count_calls(client, 1);
    tq_v1_health_check(client->controller, &request, &opts, &reply);
    tq_status status = tq_reply_fail(&reply, err);
    if (status != TQ_OK)
        tq_error_prefix(err, "controller %s", tq_channel_address(client->controller));
    return status;
}

static tq_status open_parts(struct tq_client *client, const struct tq_client_opts *opts, struct tq_error *err)
{
    struct tq_runtime_opts runtime_opts = { .name = opts->name, .role = TQ_ROLE_CLIENT };
    tq_status status = tq_runtime_open(&runtime_opts, &client->runtime, err);
    if (status != TQ_OK)
        return status;
    client->units.runtime = client->runtime;
    struct tq_channel_opts channel_opts = { .sockets = opts->sockets };
    status = tq_channel_open(client->runtime, controller_address(opts), &channel_opts, &client->controller, err);
    if (status != TQ_OK)
        return status;
    tq_channel_keep(client->controller);
    struct tq_bulk_opts bulk_opts = { .mode = opts->bulk, .tcp_only = opts->tcp_only, .keep_bytes = STAGE_BYTES };
    status = tq_bulk_open(&bulk_opts, &client->bulk, err);
    return status == TQ_OK ? greet(client, err) : status;
}

static tq_status check_opts(const struct tq_client_opts *opts, struct tq_error *err)
{
    if (opts->sockets > SOCKETS_MAX)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "sockets is %u; expected 1..%d", opts->sockets, SOCKETS_MAX);
    if (opts->bulk != TQ_BULK_AUTO && opts->bulk != TQ_BULK_OFF && opts->bulk != TQ_BULK_REQUIRED)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "bulk is %d; expected auto, off or required", (int)opts->bulk);
    return TQ_OK;
}

tq_status tq_client_open(const struct tq_client_opts *opts, struct tq_client **out_client, struct tq_error *err)
{
    static const struct tq_client_opts defaults;
    if (opts == NULL)
        opts = &defaults;
    tq_status status = check_opts(opts, err);
    if (status != TQ_OK)
        return status;
    struct tq_client *client = tq_seam_alloc(NULL, sizeof(*client));
    if (client == NULL)
        return tq_fail_no_memory(err);
    pthread_mutex_init(&client->lock, NULL);
    tq_undos_init(&client->undos);
    client->timeout_ms = opts->timeout_ms != 0 ? opts->timeout_ms : TIMEOUT_MS;
    tq_buffers_init(&client->buffers, opts->receive_cache_bytes != 0 ? opts->receive_cache_bytes : CACHE_BYTES);
    tq_units_init(&client->units, NULL, opts->sockets);
    status = open_parts(client, opts, err);
    if (status != TQ_OK) {
        tq_client_close(client);
        return status;
    }
    *out_client = client;
    return TQ_OK;
}

void tq_client_close(struct tq_client *client)
{
    if (client == NULL)
        return;
    tq_undos_fini(&client->undos);
    tq_units_fini(&client->units);
    tq_channel_close(client->controller);
    if (client->bulk != NULL)
        tq_bulk_close(client->bulk);
    tq_runtime_close(client->runtime);
    tq_buffers_fini(&client->buffers);
    pthread_mutex_destroy(&client->lock);
    tq_seam_free(NULL, client);
}

/* A server and a client of one service in one process, through the installed package. */
#include <stdio.h>
#include <string.h>

#include "greeter/v1/echo.tq.h"
#include "tq/init.h"
#include "tq/rpc.h"

enum { TIMES_MAX = 8 };

static void on_echo(void *state, const Greeter__V1__EchoRequest *request, struct tq_server_call *call)
{
    (void)state;
    if (request->times > TIMES_MAX) {
        tq_server_fail(call, TQ_INVALID_ARGUMENT, "TIMES", "times is %u; at most %d", request->times, TIMES_MAX);
        return;
    }
    char *texts[TIMES_MAX];
    for (uint32_t i = 0; i < request->times; i++)
        texts[i] = request->text;
    Greeter__V1__EchoResponse response = GREETER__V1__ECHO_RESPONSE__INIT;
    response.n_texts = request->times;
    response.texts = texts;
    greeter_v1_echo_echo_answer(call, &response);
}

static const struct greeter_v1_echo_ops ops = { .echo = on_echo };

static int expect_echo(struct tq_channel *channel)
{
    char text[] = "hello from outside";
    Greeter__V1__EchoRequest request = GREETER__V1__ECHO_REQUEST__INIT;
    request.text = text;
    request.times = 3;
    struct tq_reply reply = { 0 };
    tq_status status = greeter_v1_echo_echo(channel, &request, NULL, &reply);
    const Greeter__V1__EchoResponse *response = greeter_v1_echo_echo_response(&reply);
    int ok = status == TQ_OK && response && response->n_texts == 3 && strcmp(response->texts[2], text) == 0;
    if (!ok)
        fprintf(stderr, "echo: %s: %s\n", tq_status_name(status), reply.error.message);
    tq_reply_drop(&reply);
    return ok;
}

static int expect_refusal(struct tq_channel *channel)
{
    Greeter__V1__EchoRequest request = GREETER__V1__ECHO_REQUEST__INIT;
    request.times = TIMES_MAX + 1;
    struct tq_reply reply = { 0 };
    tq_status status = greeter_v1_echo_echo(channel, &request, NULL, &reply);
    int ok = status == TQ_INVALID_ARGUMENT && strcmp(reply.error.reason, "TIMES") == 0;
    if (!ok)
        fprintf(stderr, "echo of too many: %s, reason '%s'\n", tq_status_name(status), reply.error.reason);
    tq_reply_drop(&reply);
    return ok;
}

static int run(struct tq_error *err)
{
    struct tq_runtime *runtime = NULL;
    struct tq_server *server = NULL;
    struct tq_channel *channel = NULL;
    const struct tq_server_opts opts = { .listen = "tcp://127.0.0.1:0" };
    int ok = tq_init(err) == TQ_OK && tq_runtime_open(NULL, &runtime, err) == TQ_OK &&
             tq_server_open(runtime, &opts, &server, err) == TQ_OK &&
             greeter_v1_echo_add(server, &ops, NULL, err) == TQ_OK && tq_server_start(server, err) == TQ_OK &&
             tq_channel_open(runtime, tq_server_address(server), NULL, &channel, err) == TQ_OK &&
             expect_echo(channel) && expect_refusal(channel);
    tq_channel_close(channel);
    tq_server_close(server);
    tq_runtime_close(runtime);
    return ok;
}

int main(void)
{
    struct tq_error err = { 0 };
    if (!run(&err)) {
        fprintf(stderr, "greeter: %s\n", err.message);
        return 1;
    }
    puts("echo works from outside the tree");
    return 0;
}

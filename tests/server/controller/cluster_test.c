/* To which cluster tq-controller belongs: what it was started with, or what it made up; never what a client says. */
#include <signal.h>
#include <stdio.h>

#include "tests/server/storage/child.h"
#include "tests/support/cmocka_all.h"
#include "tq/init.h"
#include "tq/v1/health.tq.h"

#define HEX_OF_SEVENS "07070707070707070707070707070707"

static struct child controller;

static void start(const char *listen, const char *cluster_id)
{
    const char *const args[] = { "--listen", listen, "--log-level", "off", cluster_id != NULL ? "--cluster-id" : NULL,
                                 cluster_id, NULL };
    child_start(&controller, "tq-controller", args);
    child_wait_ready(&controller);
}

static int stop(void **state)
{
    (void)state;
    child_kill(&controller);
    return 0;
}

/* A client of its own with this cluster id, 16 times the same byte; 0: it knows none. */
struct client {
    struct tq_runtime *runtime;
    struct tq_channel *channel;
};

static void client_open(struct client *client, uint8_t cluster)
{
    struct tq_runtime_opts opts = { .name = "test" };
    memset(opts.cluster_id, cluster, sizeof(opts.cluster_id));
    assert_int_equal(tq_runtime_open(&opts, &client->runtime, NULL), TQ_OK);
    assert_int_equal(tq_channel_open(client->runtime, controller.address, NULL, &client->channel, NULL), TQ_OK);
}

static void client_close(struct client *client)
{
    tq_channel_close(client->channel);
    tq_runtime_close(client->runtime);
}

static tq_status ask(struct client *client, struct tq_error *err)
{
    const Tq__V1__CheckRequest request = TQ__V1__CHECK_REQUEST__INIT;
    const struct tq_call_opts opts = { .deadline_ns = tq_deadline_after_ms(10000) };
    struct tq_reply reply;
    tq_status status = tq_v1_health_check(client->channel, &request, &opts, &reply);
    *err = reply.error;
    tq_reply_drop(&reply);
    return status;
}

static void assert_served(uint8_t cluster)
{
    struct client client;
    struct tq_error err;
    client_open(&client, cluster);
    if (ask(&client, &err) != TQ_OK)
        fail_msg("cluster %u: %s", cluster, err.message);
    client_close(&client);
}

static void assert_refused(uint8_t cluster)
{
    struct client client;
    struct tq_error err;
    client_open(&client, cluster);
    assert_int_equal(ask(&client, &err), TQ_FAILED_PRECONDITION);
    assert_string_equal(err.reason, "CLUSTER_ID");
    client_close(&client);
}

static void the_first_client_locks_nobody_out(void **state)
{
    (void)state;
    start("tcp://127.0.0.1:0", HEX_OF_SEVENS);
    assert_refused(1);
    assert_served(0);
    assert_served(7);
    assert_refused(2);
}

static void without_an_id_it_makes_one_up(void **state)
{
    (void)state;
    start("tcp://127.0.0.1:0", NULL);
    assert_refused(1); /* had it none, or learnt this one, it would be served */
    assert_served(0);
    assert_refused(1);
}

static void its_clients_survive_its_next_life(void **state)
{
    struct client client;
    struct tq_error err;
    char address[200];
    (void)state;
    start("tcp://127.0.0.1:0", NULL);
    client_open(&client, 0);
    assert_int_equal(ask(&client, &err), TQ_OK);
    snprintf(address, sizeof(address), "%s", controller.address);
    assert_int_equal(child_end(&controller, SIGTERM), 0);
    start(address, NULL);
    if (ask(&client, &err) != TQ_OK)
        fail_msg("%s: %s", err.reason, err.message);
    client_close(&client);
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)

int main(void)
{
    if (tq_init(NULL) != TQ_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        TEST(the_first_client_locks_nobody_out),
        TEST(without_an_id_it_makes_one_up),
        TEST(its_clients_survive_its_next_life),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

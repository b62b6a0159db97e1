/* Where a server may listen, and what strangers do to it. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include "tests/support/cmocka_all.h"
#include "tests/transport/rpc/echo_service.h"
#include "tq/init.h"
#include "transport/base/log.h"
#include "transport/rpc/envelope.h"
#include "transport/rpc/listen.h"

static struct tq_runtime *runtime;

static int open_runtime(void **state)
{
    (void)state;
    assert_int_equal(tq_init(NULL), TQ_OK);
    assert_int_equal(tq_runtime_open(NULL, &runtime, NULL), TQ_OK);
    return 0;
}

static int close_runtime(void **state)
{
    (void)state;
    tq_runtime_close(runtime);
    return 0;
}

static tq_status try_listen(const char *address, bool insecure, struct tq_error *err)
{
    struct tq_server *server = NULL;
    struct tq_server_opts opts = { .listen = address, .insecure = insecure };
    tq_status status = tq_server_open(runtime, &opts, &server, err);
    assert_int_equal(status == TQ_OK, server != NULL);
    tq_server_close(server);
    return status;
}

static void keeps_to_this_machine(void **state)
{
    (void)state;
    struct tq_error err;
    const char *remote[] = { "tcp://0.0.0.0:0", "tcp://*:0", "tcp://[::]:0", "tcp://192.0.2.1:0", "tcp://eth0:0" };
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(try_listen(remote[i], false, &err), TQ_PERMISSION_DENIED);
        assert_non_null(strstr(err.message, remote[i]));
    }
    assert_int_equal(try_listen("tcp://0.0.0.0:0", true, &err), TQ_OK);
    assert_int_equal(try_listen("tcp://127.0.0.1:0", false, &err), TQ_OK);
    const char *wrong[] = { "", "127.0.0.1:7600", "udp://127.0.0.1:1", "inproc://x", "tcp://127.0.0.1:99999" };
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(try_listen(wrong[i], false, &err), TQ_INVALID_ARGUMENT);
    assert_int_equal(try_listen(NULL, false, &err), TQ_INVALID_ARGUMENT);
}

static void gives_its_address(void **state)
{
    (void)state;
    struct tq_server *server;
    struct tq_server_opts opts = { .listen = "tcp://127.0.0.1:0", .advertise = "tcp://other:1" };
    assert_int_equal(tq_server_open(runtime, &opts, &server, NULL), TQ_OK);
    assert_memory_equal(tq_server_address(server), "tcp://127.0.0.1:", 16);
    assert_true(strtol(tq_server_address(server) + 16, NULL, 10) > 0);
    assert_string_equal(tq_server_advertised(server), "tcp://other:1");
    assert_int_equal(try_listen(tq_server_address(server), false, NULL), TQ_UNAVAILABLE);
    tq_server_close(server);
}

static void leave_socket(const char *path)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
    unlink(path);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    close(fd);
}

static void does_not_steal_a_unix_socket(void **state)
{
    (void)state;
    char address[80], path[64];
    struct tq_error err;
    struct echo_service echo;
    struct tq_channel *channel;
    snprintf(path, sizeof(path), "/tmp/tq-listen-test-%d", (int)getpid());
    snprintf(address, sizeof(address), "ipc://%s", path);
    struct tq_server_opts opts = { .listen = address };
    echo_open(&echo, runtime, &opts);
    assert_int_equal(try_listen(address, false, &err), TQ_UNAVAILABLE);
    assert_string_equal(err.reason, "ADDRESS_IN_USE");
    assert_int_equal(tq_channel_open(runtime, address, NULL, &channel, NULL), TQ_OK);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(echo_call(channel, ECHO_KEYED, ECHO_ANSWER, i, 5000, NULL), TQ_OK);
    tq_channel_close(channel);
    echo_close(&echo);
    leave_socket(path); /* as a server that was killed leaves it: it is taken */
    assert_int_equal(try_listen(address, false, &err), TQ_OK);
    unlink(path);
}

static void refuses_a_method_id_twice(void **state)
{
    (void)state;
    struct tq_error err;
    struct tq_server *server;
    struct tq_server_opts opts = { .listen = "tcp://127.0.0.1:0" };
    assert_int_equal(tq_server_open(runtime, &opts, &server, NULL), TQ_OK);
    assert_int_equal(tq_server_add(server, &echo_table, NULL, NULL, &err), TQ_OK);
    assert_int_equal(tq_server_add(server, &echo_table, NULL, NULL, &err), TQ_ALREADY_EXISTS);
    tq_server_close(server);
}

/* ---- strangers ---- */

static int raw_connect(const char *address)
{
    struct sockaddr_in to = { .sin_family = AF_INET };
    to.sin_port = htons((uint16_t)strtol(strrchr(address, ':') + 1, NULL, 10));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

/* Sends as much as the peer takes; the connection may be closed in our face. */
static void throw_bytes(int fd, const void *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        struct pollfd ready = { .fd = fd, .events = POLLOUT };
        ssize_t n =
            poll(&ready, 1, 500) > 0 ? send(fd, (const char *)bytes + at, len - at, MSG_NOSIGNAL | MSG_DONTWAIT) : -1;
        if (n <= 0)
            return;
        at += (size_t)n;
    }
}

static void *stranger(void *context, const char *address, const void *id, size_t id_len)
{
    int zero = 0;
    void *dealer = zmq_socket(context, ZMQ_DEALER);
    assert_non_null(dealer);
    assert_int_equal(zmq_setsockopt(dealer, ZMQ_LINGER, &zero, sizeof(zero)), 0);
    if (id_len > 0)
        assert_int_equal(zmq_setsockopt(dealer, ZMQ_ROUTING_ID, id, id_len), 0);
    assert_int_equal(zmq_connect(dealer, address), 0);
    return dealer;
}

static void throw_messages(void *dealer)
{
    static uint8_t noise[3000];
    for (unsigned i = 0; i < 200; i++) {
        for (size_t at = 0; at < sizeof(noise); at++)
            noise[at] = (uint8_t)(noise[at] * 167 + at + i);
        if (i % 4 == 0)
            memcpy(noise, "TQ", 2);
        if (i % 3 == 0)
            zmq_send(dealer, noise, i, ZMQ_SNDMORE);
        zmq_send(dealer, noise, i * 13 % sizeof(noise), 0);
    }
    for (unsigned i = 0; i < 1500; i++) /* more parts than we take */
        zmq_send(dealer, noise, 3, ZMQ_SNDMORE);
    zmq_send(dealer, noise, 3, 0);
}

static void good_calls(struct tq_channel *channel, uint64_t *number)
{
    for (unsigned i = 0; i < 20; i++, ++*number)
        assert_int_equal(echo_call(channel, ECHO_ONCE, ECHO_ANSWER, *number, 5000, NULL), TQ_OK);
}

static void strangers_do_not_disturb_a_good_client(void **state)
{
    (void)state;
    static uint8_t noise[1 << 20];
    static const char http[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    static const uint8_t tls[] = { 0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3 };
    struct tq_server_opts opts = { .listen = "tcp://127.0.0.1:0" };
    struct echo_service echo;
    struct tq_channel *channel;
    struct tq_server_stats stats;
    uint64_t number = 0;
    echo_open(&echo, runtime, &opts);
    const char *address = tq_server_address(echo.server);
    assert_int_equal(tq_channel_open(runtime, address, NULL, &channel, NULL), TQ_OK);
    good_calls(channel, &number);
    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] = (uint8_t)((i * UINT64_C(2654435761)) >> 13);
    int fds[] = { raw_connect(address), raw_connect(address), raw_connect(address), raw_connect(address) };
    throw_bytes(fds[0], http, sizeof(http) - 1);
    throw_bytes(fds[1], tls, sizeof(tls));
    throw_bytes(fds[2], noise, sizeof(noise));
    good_calls(channel, &number); /* the fourth says nothing */
    void *context = zmq_ctx_new();
    const uint8_t ours[16] = { 'T', 'Q', '1', 1, 9, 9 }, almost[15] = { 'T', 'Q', '1', 1 };
    void *dealers[] = { stranger(context, address, NULL, 0), stranger(context, address, "me", 2),
                        stranger(context, address, ours, 16), stranger(context, address, almost, 15) };
    for (unsigned i = 0; i < 4; i++) {
        throw_messages(dealers[i]);
        good_calls(channel, &number);
    }
    for (int64_t until = tq_deadline_after_ms(5000); tq_now_ns() < until;) {
        tq_server_read_stats(echo.server, &stats);
        if (stats.foreign_ids >= 3 * 201 && stats.garbage >= 201)
            break;
    }
    assert_int_equal(stats.foreign_ids, 3 * 201);
    assert_int_equal(stats.garbage, 201);
    good_calls(channel, &number);
    assert_int_equal(atomic_load(&echo.executions), number);
    for (unsigned i = 0; i < 4; i++) {
        zmq_close(dealers[i]);
        close(fds[i]);
    }
    zmq_ctx_term(context);
    tq_channel_close(channel);
    echo_close(&echo);
}

/* One frame beyond the limit ends that connection and nobody else's. */
static void an_oversized_message_ends_its_own_connection(void **state)
{
    (void)state;
    static uint8_t large[200000];
    struct tq_server_opts opts = { .listen = "tcp://127.0.0.1:0", .max_body_bytes = 1000, .max_inline_bytes = 2000 };
    struct echo_service echo;
    struct tq_channel *channel;
    struct tq_error err;
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    struct tq_reply reply;
    uint64_t number = 0;
    echo_open(&echo, runtime, &opts);
    assert_int_equal(tq_channel_open(runtime, tq_server_address(echo.server), NULL, &channel, NULL), TQ_OK);
    good_calls(channel, &number);
    void *context = zmq_ctx_new();
    void *dealer = stranger(context, tq_server_address(echo.server), NULL, 0);
    zmq_send(dealer, large, sizeof(large), 0);
    good_calls(channel, &number);
    request.payload = (ProtobufCBinaryData){ 2000, large }; /* the method would take it, this server does not */
    assert_int_equal(tq_call(channel, echo_method(ECHO_ONCE), &request.base, NULL, &reply), TQ_INVALID_ARGUMENT);
    assert_string_equal(reply.error.reason, "PEER_LIMIT");
    good_calls(channel, &number);
    (void)err;
    zmq_close(dealer);
    zmq_ctx_term(context);
    tq_channel_close(channel);
    echo_close(&echo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_to_this_machine),
        cmocka_unit_test(gives_its_address),
        cmocka_unit_test(does_not_steal_a_unix_socket),
        cmocka_unit_test(refuses_a_method_id_twice),
        cmocka_unit_test(strangers_do_not_disturb_a_good_client),
        cmocka_unit_test(an_oversized_message_ends_its_own_connection),
    };
    tq_log_set_level(TQ_LOG_OFF);
    return cmocka_run_group_tests_name("listen", tests, open_runtime, close_runtime);
}

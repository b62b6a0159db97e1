/* Servers that are killed, stopped, gone or never there; connections that swallow. Every call ends by its deadline. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"
#include "tests/transport/rpc/echo_service.h"
#include "tests/transport/rpc/ends.h"
#include "tests/transport/rpc/peer_process.h"
#include "tq/init.h"
#include "transport/base/log.h"

#define MS INT64_C(1000000)

static struct tq_runtime *runtime;
static struct peer_process peer;
static struct tq_channel *channel;

static int open_all(void **state)
{
    (void)state;
    assert_int_equal(tq_init(NULL), TQ_OK);
    assert_int_equal(tq_runtime_open(NULL, &runtime, NULL), TQ_OK);
    peer_start(&peer, "tcp://127.0.0.1:0");
    assert_int_equal(tq_channel_open(runtime, peer.address, NULL, &channel, NULL), TQ_OK);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    tq_channel_close(channel);
    channel = NULL;
    tq_runtime_close(runtime);
    peer_kill(&peer);
    return 0;
}

/* A call ends no earlier than `least_ms` and no later than `most_ms`. */
static tq_status timed_call(uint32_t method, enum echo_action action, int64_t timeout_ms, int64_t least_ms,
                            int64_t most_ms, struct tq_error *err)
{
    int64_t begin = tq_now_ns();
    tq_status status = echo_call(channel, method, action, 1, timeout_ms, err);
    int64_t took_ms = (tq_now_ns() - begin) / MS;
    if (took_ms < least_ms || took_ms > most_ms)
        fail_msg("took %lld ms: expected %lld to %lld; %s", (long long)took_ms, (long long)least_ms, (long long)most_ms,
                 err->message);
    return status;
}

static void a_killed_server_ends_its_calls(void **state)
{
    (void)state;
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    static struct ends ends;
    struct tq_error err;
    ends_init(&ends);
    request.action = ECHO_PARK;
    assert_int_equal(echo_call(channel, ECHO_ONCE, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    struct tq_call_opts opts = { .deadline_ns = tq_deadline_after_ms(20000) };
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(
            tq_call_cb(channel, echo_method(ECHO_ONCE), &request.base, &opts, ends_count, &ends, NULL, &err), TQ_OK);
    assert_int_equal(echo_call(channel, ECHO_ONCE, ECHO_ANSWER, 1, 5000, NULL), TQ_OK); /* they have arrived */
    peer_kill(&peer);
    ends_wait(&ends, 16, 2000); /* long before their deadline */
    assert_int_equal(ends.by_status[TQ_UNAVAILABLE], 16);
    assert_int_equal(timed_call(ECHO_IDEMPOTENT, ECHO_ANSWER, 700, 600, 1200, &err), TQ_UNAVAILABLE);
    assert_string_equal(err.reason, "PEER_UNREACHABLE");
    assert_int_equal(err.outcome, TQ_OUTCOME_NOT_STARTED);
    char address[sizeof(peer.address)];
    snprintf(address, sizeof(address), "%s", peer.address);
    peer_start(&peer, address);
    assert_int_equal(echo_call(channel, ECHO_ONCE, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
}

/* BR-037: killed after some of its answers, while the rest is on the way in both directions. */
static void a_server_may_die_at_any_moment(void **state)
{
    enum { CALLS = 150, ROUNDS = 8 };
    static struct ends ends[ROUNDS];
    static const uint32_t methods[] = { ECHO_ONCE, ECHO_IDEMPOTENT, ECHO_KEYED };
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    char address[sizeof(peer.address)];
    (void)state;
    snprintf(address, sizeof(address), "%s", peer.address);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct tq_call_opts opts = { .deadline_ns = tq_deadline_after_ms(1000) };
        ends_init(&ends[round]);
        assert_int_equal(echo_call(channel, ECHO_IDEMPOTENT, ECHO_ANSWER, round, 5000, NULL), TQ_OK);
        for (unsigned i = 0; i < CALLS; i++) {
            request.number = i;
            request.action = i % 5 == 4 ? ECHO_THREAD : ECHO_ANSWER;
            assert_int_equal(tq_call_cb(channel, echo_method(methods[i % 3]), &request.base, &opts, ends_count,
                                        &ends[round], NULL, NULL),
                             TQ_OK);
        }
        ends_wait(&ends[round], round * 37 % 110, 5000);
        peer_kill(&peer);
        if (round % 2 == 0)
            peer_start(&peer, address); /* before the deadlines: attempts may go to its next life */
        ends_wait(&ends[round], CALLS, 2500);
        const unsigned *by_status = ends[round].by_status;
        assert_int_equal(ends[round].ended, CALLS);
        assert_int_equal(by_status[TQ_OK] + by_status[TQ_UNAVAILABLE] + by_status[TQ_DEADLINE_EXCEEDED], CALLS);
        assert_true(ends[round].last_ns <= opts.deadline_ns + 500 * MS);
        if (round % 2 != 0)
            peer_start(&peer, address);
    }
}

static void a_keyed_call_survives_no_restart(void **state)
{
    (void)state;
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    struct tq_reply reply;
    request.action = ECHO_PARK;
    struct tq_call_opts opts = { .deadline_ns = tq_deadline_after_ms(8000) };
    struct tq_future *future = tq_call_start(channel, echo_method(ECHO_KEYED), &request.base, &opts);
    assert_int_equal(echo_call(channel, ECHO_ONCE, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    char address[sizeof(peer.address)];
    snprintf(address, sizeof(address), "%s", peer.address);
    peer_kill(&peer);
    peer_start(&peer, address);
    assert_int_equal(tq_future_wait(future, &reply), TQ_UNAVAILABLE);
    assert_string_equal(reply.error.reason, "PEER_RESTARTED");
    assert_int_equal(reply.error.outcome, TQ_OUTCOME_UNKNOWN);
    tq_reply_drop(&reply);
    tq_future_drop(future);
}

static void a_stopped_server_ends_no_call_late(void **state)
{
    (void)state;
    struct tq_error err;
    assert_int_equal(echo_call(channel, ECHO_ONCE, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    peer_stop(&peer);
    assert_int_equal(timed_call(ECHO_ONCE, ECHO_ANSWER, 300, 299, 800, &err), TQ_DEADLINE_EXCEEDED);
    assert_int_equal(err.outcome, TQ_OUTCOME_UNKNOWN);
    assert_non_null(strstr(err.message, "peer_unreachable"));
    (void)timed_call(ECHO_IDEMPOTENT, ECHO_ANSWER, 1000, 999, 1500, &err);
    (void)timed_call(ECHO_WAITS, ECHO_ANSWER, 50, 49, 550, &err);
    peer_continue(&peer);
    assert_int_equal(echo_call(channel, ECHO_ONCE, ECHO_ANSWER, 1, 10000, NULL), TQ_OK);
}

/* It comes while the client asks what became of the call, and after its connection was given up. */
static void a_slow_answer_still_counts(void **state)
{
    (void)state;
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    struct tq_reply reply;
    request.action = ECHO_LATER;
    request.delay_ms = 1400; /* the question begins at 1312 ms */
    assert_int_equal(echo_call(channel, ECHO_ONCE, ECHO_ANSWER, 1, 5000, NULL), TQ_OK);
    struct tq_call_opts opts = { .deadline_ns = tq_deadline_after_ms(1500) };
    tq_status status = tq_call(channel, echo_method(ECHO_ONCE), &request.base, &opts, &reply);
    if (status != TQ_OK)
        fail_msg("%s", reply.error.message);
    tq_reply_drop(&reply);
}

/* BR-012: no length makes a wait endless. */
static void every_length_of_deadline_ends(void **state)
{
    (void)state;
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    int64_t past[] = { 1, -1, INT64_MIN, tq_now_ns() - 1 };
    for (unsigned i = 0; i < 4; i++) {
        struct tq_call_opts opts = { .deadline_ns = past[i] };
        struct tq_reply reply;
        assert_int_equal(tq_call(channel, echo_method(ECHO_ONCE), &request.base, &opts, &reply), TQ_DEADLINE_EXCEEDED);
        assert_int_equal(reply.error.outcome, TQ_OUTCOME_NOT_STARTED);
        tq_reply_drop(&reply);
    }
    struct tq_channel_stats stats;
    tq_channel_read_stats(channel, &stats);
    uint64_t sent = stats.bytes_sent;
    struct tq_call_opts forever = { .deadline_ns = INT64_MAX };
    struct tq_reply reply;
    assert_int_equal(tq_call(channel, echo_method(ECHO_ONCE), &request.base, &forever, &reply), TQ_OK);
    tq_reply_drop(&reply);
    tq_channel_read_stats(channel, &stats);
    assert_true(stats.bytes_sent > sent);
    int64_t lengths_ns[] = { 1, 999999, 1000000 };
    for (unsigned i = 0; i < 3; i++) {
        struct tq_call_opts opts = { .deadline_ns = tq_deadline_after_ns(lengths_ns[i]) };
        request.action = ECHO_PARK;
        int64_t begin = tq_now_ns();
        tq_status status = tq_call(channel, echo_method(ECHO_ONCE), &request.base, &opts, &reply);
        assert_true(status == TQ_DEADLINE_EXCEEDED || status == TQ_UNAVAILABLE); /* the latter while it redials */
        assert_true(tq_now_ns() - begin < 500 * MS);
        tq_reply_drop(&reply);
    }
}

/* ---- a proxy that swallows ---- */

struct proxy {
    int listen_fd, server_port;
    unsigned swallow; /* so many connections are accepted and never served */
    char address[64];
    pthread_t thread;
    int stop[2];
};

static int connect_to(int port)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static bool copy_some(int from, int to)
{
    char bytes[4096];
    ssize_t n = read(from, bytes, sizeof(bytes));
    return n > 0 && write(to, bytes, (size_t)n) == n;
}

/* Connection i is fds[1 + 2 i] (client) and fds[2 + 2 i] (server). The handshake passes; a swallowed connection loses
 * everything after its first 180 bytes and the message that they end in from the client, so that the hello comes
 * through and the request does not. */
static void *run_proxy(void *arg)
{
    enum { CONNECTIONS = 16 };
    struct proxy *proxy = arg;
    struct pollfd fds[2 + 2 * CONNECTIONS] = { { .fd = proxy->stop[0], .events = POLLIN },
                                               { .fd = proxy->listen_fd, .events = POLLIN } };
    size_t from_client[CONNECTIONS] = { 0 };
    unsigned n = 0;
    while (poll(fds, 2 + 2 * n, 20000) > 0 && fds[0].revents == 0) {
        for (unsigned i = 0; i < n; i++) {
            struct pollfd *client = &fds[2 + 2 * i], *server = &fds[3 + 2 * i];
            char bytes[4096];
            if (client->fd >= 0 && client->revents != 0) {
                ssize_t got = read(client->fd, bytes, sizeof(bytes));
                bool lost = i < proxy->swallow && from_client[i] > 180;
                from_client[i] += got > 0 ? (size_t)got : 0;
                if (got <= 0 || (!lost && write(server->fd, bytes, (size_t)got) != got)) {
                    shutdown(server->fd, SHUT_RDWR);
                    close(client->fd);
                    close(server->fd);
                    client->fd = server->fd = -1;
                }
            }
            if (server->fd >= 0 && server->revents != 0 && !copy_some(server->fd, client->fd)) {
                close(client->fd);
                close(server->fd);
                client->fd = server->fd = -1;
            }
        }
        if (fds[1].revents != 0 && n < CONNECTIONS) {
            fds[2 + 2 * n] = (struct pollfd){ .fd = accept(proxy->listen_fd, NULL, NULL), .events = POLLIN };
            fds[3 + 2 * n] = (struct pollfd){ .fd = connect_to(proxy->server_port), .events = POLLIN };
            n++;
        }
    }
    for (unsigned i = 0; i < n; i++) {
        if (fds[2 + 2 * i].fd >= 0)
            close(fds[2 + 2 * i].fd), close(fds[3 + 2 * i].fd);
    }
    return NULL;
}

static void proxy_start(struct proxy *proxy, const char *server, unsigned swallow)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    socklen_t size = sizeof(at);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *proxy = (struct proxy){ .swallow = swallow, .server_port = (int)strtol(strrchr(server, ':') + 1, NULL, 10) };
    proxy->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(proxy->listen_fd >= 0);
    assert_int_equal(bind(proxy->listen_fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(proxy->listen_fd, 16), 0);
    assert_int_equal(getsockname(proxy->listen_fd, (struct sockaddr *)&at, &size), 0);
    snprintf(proxy->address, sizeof(proxy->address), "tcp://127.0.0.1:%d", ntohs(at.sin_port));
    assert_int_equal(pipe(proxy->stop), 0);
    assert_int_equal(pthread_create(&proxy->thread, NULL, run_proxy, proxy), 0);
}

static void proxy_stop(struct proxy *proxy)
{
    assert_int_equal(write(proxy->stop[1], "x", 1), 1);
    pthread_join(proxy->thread, NULL);
    close(proxy->stop[0]);
    close(proxy->stop[1]);
    close(proxy->listen_fd);
}

/* BR-047: a request that got lost is not a slow one. */
static void a_swallowed_request_is_repeated_on_a_fresh_connection(void **state)
{
    (void)state;
    struct proxy proxy;
    struct tq_channel_stats stats;
    proxy_start(&proxy, peer.address, 1);
    tq_channel_close(channel);
    assert_int_equal(tq_channel_open(runtime, proxy.address, NULL, &channel, NULL), TQ_OK);
    struct tq_error err;
    tq_status status = timed_call(ECHO_IDEMPOTENT, ECHO_ANSWER, 3000, 900, 2500, &err);
    tq_channel_read_stats(channel, &stats);
    if (status != TQ_OK)
        fail_msg("%s after %llu dials: %s", tq_status_name(status), (unsigned long long)stats.dials, err.message);
    assert_int_equal(stats.retries, 1);
    assert_int_equal(stats.dials, 2);
    tq_channel_close(channel);
    channel = NULL;
    proxy_stop(&proxy);
}

static void a_swallowed_once_call_is_known_not_to_have_arrived(void **state)
{
    (void)state;
    struct proxy proxy;
    struct tq_error err;
    proxy_start(&proxy, peer.address, 1);
    tq_channel_close(channel);
    assert_int_equal(tq_channel_open(runtime, proxy.address, NULL, &channel, NULL), TQ_OK);
    assert_int_equal(timed_call(ECHO_ONCE, ECHO_ANSWER, 1000, 999, 1500, &err), TQ_DEADLINE_EXCEEDED);
    assert_non_null(strstr(err.message, "never_arrived"));
    assert_int_equal(err.outcome, TQ_OUTCOME_NOT_STARTED);
    tq_channel_close(channel);
    channel = NULL;
    proxy_stop(&proxy);
}

/* BR-041: answers that come too late belong to nobody. */
static void late_answers_reach_no_other_call(void **state)
{
    (void)state;
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    unsigned ok = 0, late = 0;
    request.action = ECHO_LATER;
    for (uint64_t i = 0; i < 120; i++) {
        struct tq_call_opts opts = { .deadline_ns = tq_deadline_after_ms(10) };
        struct tq_reply reply;
        request.number = i;
        request.delay_ms = (uint32_t)(i * 7 % 31);
        tq_status status = tq_call(channel, echo_method(ECHO_ONCE), &request.base, &opts, &reply);
        assert_true(status == TQ_OK || status == TQ_DEADLINE_EXCEEDED || status == TQ_UNAVAILABLE);
        if (status == TQ_OK)
            assert_int_equal(((const Tqtest__EchoResponse *)reply.message)->number, i);
        ok += status == TQ_OK;
        late += status != TQ_OK;
        tq_reply_drop(&reply);
    }
    assert_true(ok > 5 && late > 20);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    const struct CMUnitTest tests[] = {
        TEST(a_killed_server_ends_its_calls),
        TEST(a_server_may_die_at_any_moment),
        TEST(a_keyed_call_survives_no_restart),
        TEST(a_stopped_server_ends_no_call_late),
        TEST(a_slow_answer_still_counts),
        TEST(every_length_of_deadline_ends),
        TEST(a_swallowed_request_is_repeated_on_a_fresh_connection),
        TEST(a_swallowed_once_call_is_known_not_to_have_arrived),
        TEST(late_answers_reach_no_other_call),
    };
    tq_log_set_level(TQ_LOG_OFF);
    return cmocka_run_group_tests_name("loss", tests, NULL, NULL);
}

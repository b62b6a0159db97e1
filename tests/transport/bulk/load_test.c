/* Many ranges, many exposures, garbage at the ports: transfers work all the while, and nothing is left afterwards. */
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"
#include "tests/transport/bulk/pair.h"
#include "transport/base/crc32c.h"
#include "transport/base/environment.h"
#include "transport/bulk/address.h"

enum { RANGES = 16384, RANGE = 64 << 10, PARTS = 16 };

/* ---- 16384 ranges of 64 KiB ---- */

/* 1 GiB would be slow under sanitizers: the same 64 MiB are read as 16 overlapping targets of 1024 ranges. */
static void read_many_ranges(struct pair *pair, const struct peer_region *made, uint64_t version, uint8_t *target,
                             enum tq_bulk_engine engine)
{
    const size_t part = RANGES / PARTS;
    const struct tq_region region = peer_region(made);
    struct tq_bulk_range *ranges = calloc(RANGES, sizeof(*ranges));
    struct tq_bulk_result result;
    assert_non_null(ranges);
    for (size_t i = 0; i < RANGES; i++)
        ranges[i] = (struct tq_bulk_range){ .frame = made->frame,
                                            .skip = (i % part) * RANGE,
                                            .len = RANGE,
                                            .version = version,
                                            .into = target + (i % part) * RANGE };
    const struct tq_bulk_read_opts opts = { .deadline_ns = tq_deadline_after_ms(60000), .engine = engine };
    tq_status status = tq_bulk_read_wait(pair->bulk, pair->peer.address, &region, 1, ranges, RANGES, &opts, &result);
    if (status != TQ_OK)
        print_message("%s: %s\n", tq_status_name(status), result.error.message);
    assert_int_equal(status, TQ_OK);
    assert_int_equal(result.bytes[engine], (uint64_t)RANGES * RANGE);
    assert_true(peer_is_filled(target, part * RANGE, 5));
    for (size_t i = 0; i < RANGES; i += 37)
        assert_int_equal(ranges[i].crc32c, tq_crc32c(ranges[i].into, RANGE));
    free(ranges);
}

static void sixteen_thousand_ranges(void **state)
{
    static const char *const modes[] = { "posix", "tcp" };
    const size_t bytes = (size_t)RANGES / PARTS * RANGE;
    uint8_t *target = malloc(bytes);
    (void)state;
    assert_non_null(target);
    for (int m = 0; m < 2; m++) {
        struct pair pair;
        struct peer_answer block;
        pair_start(&pair, modes[m], modes[m]);
        pair_make(&pair, PEER_BLOCK, bytes, 2, 5, &block);
        if (m == 0)
            read_many_ranges(&pair, &block.region, 2, target, TQ_ENGINE_REMOTE_READ);
        read_many_ranges(&pair, &block.region, 2, target, TQ_ENGINE_RENDEZVOUS);
        pair_stop(&pair);
    }
    free(target);
}

/* ---- exposures come and go while the peer reads ---- */

enum { EXPOSURES = 32, EXPOSED = 1 << 20 };

static void exposures_go_while_they_are_read(const char *mode)
{
    static uint8_t memory[EXPOSURES][EXPOSED];
    struct tq_exposure *exposures[EXPOSURES];
    struct pair pair;
    struct peer_answer answer;
    pair_start(&pair, mode, mode);
    struct tq_bytes address = tq_bulk_address(pair.bulk);
    for (int i = 0; i < EXPOSURES; i++) {
        peer_fill(memory[i], EXPOSED, (uint64_t)i);
        assert_int_equal(tq_bulk_expose(pair.bulk, memory[i], EXPOSED, &exposures[i], NULL), TQ_OK);
    }
    unsigned good = 0, gone = 0;
    for (int i = 0; i < EXPOSURES; i++) {
        struct tq_region region;
        struct peer_order order = { .op = PEER_READ, .len = EXPOSED, .version = 1, .ms = 10000 };
        tq_exposure_region(exposures[i], &region);
        peer_region_pack(&region, 0, &order.region);
        order.address_len = (uint32_t)address.len;
        memcpy(order.address, address.ptr, address.len);
        peer_send(&pair.peer, &order);
        if (i % 2 == 1) { /* in the middle of it; the other half when it is over */
            tq_bulk_unexpose(exposures[i], tq_deadline_after_ms(5000));
            memset(memory[i], 0xee, EXPOSED);
        }
        peer_hear(&pair.peer, &answer);
        if (i % 2 == 0)
            tq_bulk_unexpose(exposures[i], tq_deadline_after_ms(5000));
        if (answer.status == TQ_OK) {
            static uint8_t expected[EXPOSED];
            peer_fill(expected, EXPOSED, (uint64_t)i);
            assert_int_equal(answer.crc32c, tq_crc32c(expected, EXPOSED)); /* never mixed */
            good++;
        } else {
            assert_int_equal(answer.status, TQ_NOT_FOUND);
            gone++;
        }
    }
    print_message("  %s: %u read, %u revoked before or during\n", mode, good, gone);
    assert_true(good >= EXPOSURES / 2);
    struct tq_bulk_stats stats;
    tq_bulk_read_stats(pair.bulk, &stats);
    assert_int_equal(stats.exposures, 0);
    pair_stop(&pair);
}

static void thirty_two_exposures(void **state)
{
    (void)state;
    exposures_go_while_they_are_read("posix");
    exposures_go_while_they_are_read("tcp");
}

/* ---- garbage at the ports ---- */

enum { PORTS = 32 };

/* The TCP ports on which this process listens: its own sockets in /proc/net/tcp. */
static int listening_ports(uint16_t *out_ports)
{
    int n = 0;
    for (int fd = 3; fd < 1024 && n < PORTS; fd++) {
        struct sockaddr_in at;
        socklen_t len = sizeof(at);
        int listens = 0;
        socklen_t listens_len = sizeof(listens);
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_len) == 0 && listens != 0 &&
            getsockname(fd, (struct sockaddr *)&at, &len) == 0 && at.sin_family == AF_INET)
            out_ports[n++] = ntohs(at.sin_port);
    }
    return n;
}

static void send_garbage(uint16_t port, const uint8_t *bytes, size_t len)
{
    const struct sockaddr_in at = { .sin_family = AF_INET,
                                    .sin_port = htons(port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const struct timeval patience = { .tv_usec = 200000 };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
        (void)!send(fd, bytes, len, MSG_NOSIGNAL);
    close(fd);
}

static void garbage_at_the_ports(void **state)
{
    static const uint8_t tls[] = { 0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9 };
    static const char http[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static uint8_t noise[1 << 20];
    uint16_t ports[PORTS];
    struct pair pair;
    (void)state;
    pair_start(&pair, "tcp", "tcp");
    pair_check_next(&pair);
    peer_fill(noise, sizeof(noise), 17);
    int n = listening_ports(ports);
    assert_true(n >= 1);
    print_message("  %d ports\n", n);
    for (int i = 0; i < n; i++) {
        send_garbage(ports[i], tls, sizeof(tls));
        pair_check_next(&pair);
        send_garbage(ports[i], (const uint8_t *)http, sizeof(http) - 1);
        pair_check_next(&pair);
        send_garbage(ports[i], noise, sizeof(noise));
        pair_check_next(&pair);
    }
    /* the direction in which we are the owner, too */
    static uint8_t memory[1 << 20];
    struct tq_exposure *exposure = NULL;
    struct tq_region region;
    struct peer_answer answer;
    struct peer_order order = { .op = PEER_READ, .len = sizeof(memory), .version = 1, .ms = 5000 };
    assert_int_equal(tq_bulk_expose(pair.bulk, memory, sizeof(memory), &exposure, NULL), TQ_OK);
    tq_exposure_region(exposure, &region);
    peer_region_pack(&region, 0, &order.region);
    struct tq_bytes address = tq_bulk_address(pair.bulk);
    order.address_len = (uint32_t)address.len;
    memcpy(order.address, address.ptr, address.len);
    peer_order(&pair.peer, &order, &answer);
    assert_int_equal(answer.status, TQ_OK);
    tq_bulk_unexpose(exposure, tq_deadline_after_ms(1000));
    pair_stop(&pair);
}

/* ---- inline mode, and ourselves ---- */

static void without_ucx(void **state)
{
    const struct tq_bulk_opts opts = { .mode = TQ_BULK_OFF };
    struct tq_bulk *bulk = NULL;
    struct tq_block block;
    struct tq_region region;
    struct tq_error err;
    (void)state;
    assert_int_equal(tq_bulk_open(&opts, &bulk, &err), TQ_OK);
    assert_int_equal(tq_bulk_address(bulk).len, 0);
    assert_int_equal(tq_bulk_alloc(bulk, 100000, &block, &err), TQ_OK);
    memset(block.ptr, 1, block.len);
    tq_block_publish(&block, 1);
    assert_false(tq_bulk_region(bulk, block.region, &region));
    struct tq_bulk_read_opts read = { .deadline_ns = tq_deadline_after_ms(100) };
    struct tq_bulk_result result;
    assert_int_equal(tq_bulk_read_wait(bulk, (struct tq_bytes){ 0 }, NULL, 0, NULL, 0, &read, &result), TQ_UNAVAILABLE);
    tq_bulk_free(bulk, &block);
    tq_bulk_close(bulk);
}

static void a_process_reads_from_itself(void **state)
{
    static uint8_t heap[300000], into[300000];
    const struct tq_bulk_opts opts = { .mode = TQ_BULK_REQUIRED };
    struct tq_bulk *bulk = NULL;
    struct tq_exposure *exposure = NULL;
    struct tq_region region;
    struct tq_bulk_result result;
    struct tq_error err;
    (void)state;
    assert_int_equal(tq_bulk_open(&opts, &bulk, &err), TQ_OK);
    peer_fill(heap, sizeof(heap), 8);
    assert_int_equal(tq_bulk_expose(bulk, heap, sizeof(heap), &exposure, &err), TQ_OK);
    tq_exposure_region(exposure, &region);
    struct tq_bulk_range range = { .len = sizeof(heap), .version = 1, .into = into };
    const struct tq_bulk_read_opts read = { .deadline_ns = tq_deadline_after_ms(5000) };
    assert_int_equal(tq_bulk_read_wait(bulk, tq_bulk_address(bulk), &region, 1, &range, 1, &read, &result), TQ_OK);
    assert_true(peer_is_filled(into, sizeof(into), 8));
    struct tq_block block;
    assert_int_equal(tq_bulk_alloc(bulk, sizeof(heap), &block, &err), TQ_OK);
    peer_fill(block.ptr, block.len, 9);
    tq_block_publish(&block, 4);
    assert_true(tq_bulk_region(bulk, block.region, &region));
    range = (struct tq_bulk_range){ .frame = block.frame, .len = sizeof(heap), .version = 4, .into = into };
    assert_int_equal(tq_bulk_read_wait(bulk, tq_bulk_address(bulk), &region, 1, &range, 1, &read, &result), TQ_OK);
    assert_true(peer_is_filled(into, sizeof(into), 9));
    tq_bulk_free(bulk, &block);
    tq_bulk_unexpose(exposure, tq_deadline_after_ms(1000));
    tq_bulk_close(bulk);
}

int main(int argc, char **argv)
{
    peer_main(argc, argv);
    tq_environment_prepare();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixteen_thousand_ranges),     cmocka_unit_test(thirty_two_exposures),
        cmocka_unit_test(garbage_at_the_ports),        cmocka_unit_test(without_ucx),
        cmocka_unit_test(a_process_reads_from_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

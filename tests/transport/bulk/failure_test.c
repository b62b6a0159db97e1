/* A peer is killed or stopped in the middle of a transfer, on either side, over shared memory and over TCP: the read
 * ends with an error in time, the destination is quiet or quarantined, nothing leaks, and the next transfer works. */
#include <stdlib.h>
#include <string.h>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"
#include "tests/transport/bulk/pair.h"
#include "transport/base/environment.h"
#include "transport/bulk/address.h"

enum { LARGE = 256 << 20, CANARY = 64 << 10 };

static const char *mode; /* of the group that runs */

static uint8_t *target; /* LARGE bytes */

static int64_t elapsed_ms(int64_t since_ns)
{
    return (tq_now_ns() - since_ns) / 1000000;
}

static struct tq_bulk_stats stats_of(struct tq_bulk *bulk)
{
    struct tq_bulk_stats stats;
    tq_bulk_read_stats(bulk, &stats);
    return stats;
}

/* Waits for a condition on the counters, which other threads change. Bounded. */
#define WAIT_FOR(bulk, condition)                                                                                      \
    do {                                                                                                               \
        int64_t until_ns_ = tq_deadline_after_ms(5000);                                                                \
        struct tq_bulk_stats stats = stats_of(bulk);                                                                   \
        while (!(condition) && tq_now_ns() < until_ns_) {                                                              \
            (void)poll(NULL, 0, 5);                                                                                    \
            stats = stats_of(bulk);                                                                                    \
        }                                                                                                              \
        assert_true(condition);                                                                                        \
    } while (0)

/* Lets a transfer get going: it must not be over. */
static void let_it_run(struct later *later, int ms)
{
    struct pollfd done = { .fd = later->done_fd, .events = POLLIN };
    (void)poll(&done, 1, ms);
}

static void check_quiet_bytes(const uint8_t *bytes, size_t len)
{
    static uint8_t before[CANARY];
    memcpy(before, bytes, sizeof(before));
    memset(target, 0x5e, LARGE);
    (void)poll(NULL, 0, 300); /* late bytes would come now */
    for (size_t i = 0; i < len; i += 64)
        assert_int_equal(bytes[i], 0x5e);
}

/* ---- the owner breaks ---- */

static void owner_is_killed(void **state)
{
    struct pair pair;
    struct peer_answer made;
    struct later later;
    (void)state;
    pair_start(&pair, mode, mode);
    pair_check_next(&pair);
    int fds = 0;
    for (int round = 0; round < 4; round++) {
        pair_make(&pair, PEER_EXPOSE, LARGE, 1, 3, &made);
        later_start(&later, &pair, &made.region, 1, LARGE, TQ_ENGINE_RENDEZVOUS, target, 20000);
        let_it_run(&later, 1 + 3 * round);
        int64_t killed_ns = tq_now_ns();
        peer_kill(&pair.peer);
        tq_status status = later_wait(&later, 4000);
        print_message("  %s: %s after %d ms: %s\n", mode, tq_status_name(status), (int)elapsed_ms(killed_ns),
                      later.result.error.message);
        assert_true(status == TQ_UNAVAILABLE || later.ended_ns < killed_ns);
        assert_true(later.ended_ns - killed_ns < INT64_C(2000000000));
        check_quiet_bytes(target, LARGE);
        WAIT_FOR(pair.bulk, stats.reads_in_flight == 0 && stats.endpoints == 0);
        assert_true(round < 2 || peer_count_fds() <= fds);
        fds = peer_count_fds();
        peer_start(&pair.peer, mode);
        pair_check_next(&pair);
    }
    pair_stop(&pair);
}

static void owner_is_stopped_under_the_callers_memory(void **state)
{
    struct pair pair;
    struct peer_answer made, gone;
    struct later later;
    (void)state;
    pair_start(&pair, mode, mode);
    pair_make(&pair, PEER_EXPOSE, LARGE, 1, 3, &made);
    for (int round = 0; round < 3; round++) {
        uint64_t forced = stats_of(pair.bulk).forced_closes;
        later_start(&later, &pair, &made.region, 1, LARGE, TQ_ENGINE_RENDEZVOUS, target, 700);
        let_it_run(&later, 5);
        kill(pair.peer.pid, SIGSTOP);
        tq_status status = later_wait(&later, 3000);
        print_message("  %s: %s after %d ms, %d forced closes\n", mode, tq_status_name(status),
                      (int)elapsed_ms(later.begun_ns), (int)(stats_of(pair.bulk).forced_closes - forced));
        assert_int_equal(status, TQ_DEADLINE_EXCEEDED);
        assert_true(later.ended_ns - later.begun_ns < INT64_C(1200000000));
        kill(pair.peer.pid, SIGCONT);
        check_quiet_bytes(target, LARGE);
        pair_check_next(&pair);
    }
    peer_order(&pair.peer, &(struct peer_order){ .op = PEER_UNEXPOSE, .handle = made.handle, .ms = 1000 }, &gone);
    WAIT_FOR(pair.bulk, stats.reads_in_flight == 0);
    pair_stop(&pair);
}

static void owner_is_stopped_under_our_block(void **state)
{
    struct pair pair;
    struct peer_answer made;
    struct later later;
    struct tq_block block;
    (void)state;
    pair_start(&pair, mode, mode);
    pair_check_next(&pair);
    pair_make(&pair, PEER_EXPOSE, LARGE, 1, 3, &made);
    assert_int_equal(tq_bulk_alloc(pair.bulk, LARGE / 2, &block, NULL), TQ_OK);
    later_start(&later, &pair, &made.region, 1, LARGE / 2, TQ_ENGINE_RENDEZVOUS, block.ptr, 700);
    let_it_run(&later, 5);
    kill(pair.peer.pid, SIGSTOP);
    assert_int_equal(later_wait(&later, 3000), TQ_DEADLINE_EXCEEDED);
    assert_true(later.ended_ns - later.begun_ns < INT64_C(1200000000));
    struct tq_bulk_stats now = stats_of(pair.bulk);
    print_message("  %s: %d KiB quarantined, %d forced closes\n", mode, (int)(now.quarantined_bytes >> 10),
                  (int)now.forced_closes);
    bool was_adrift = now.quarantined_bytes > 0;
    tq_bulk_free(pair.bulk, &block);
    assert_true(stats_of(pair.bulk).arena_used_bytes > 0 || !was_adrift); /* below the budget: it stays until SIGCONT */
    kill(pair.peer.pid, SIGCONT);
    WAIT_FOR(pair.bulk, stats.quarantined_bytes == 0 && stats.arena_used_bytes == 0 && stats.reads_in_flight == 0);
    pair_check_next(&pair);
    pair_stop(&pair);
}

static void owner_is_killed_under_our_block(void **state)
{
    struct pair pair;
    struct peer_answer made;
    struct later later;
    struct tq_block block;
    (void)state;
    pair_start(&pair, mode, mode);
    pair_check_next(&pair);
    pair_make(&pair, PEER_EXPOSE, LARGE, 1, 3, &made);
    assert_int_equal(tq_bulk_alloc(pair.bulk, LARGE, &block, NULL), TQ_OK);
    later_start(&later, &pair, &made.region, 1, LARGE, TQ_ENGINE_RENDEZVOUS, block.ptr, 700);
    let_it_run(&later, 5);
    kill(pair.peer.pid, SIGSTOP);
    assert_int_equal(later_wait(&later, 3000), TQ_DEADLINE_EXCEEDED);
    tq_bulk_free(pair.bulk, &block);
    peer_kill(&pair.peer);
    WAIT_FOR(pair.bulk, stats.quarantined_bytes == 0 && stats.arena_used_bytes == 0 && stats.endpoints == 0);
    pair_stop_alone(&pair);
}

/* It stops before it has ever answered: UCX over shared memory never notices its end. */
static void owner_dies_before_first_contact(void **state)
{
    struct pair pair;
    struct peer_answer made;
    struct later later;
    (void)state;
    pair_start(&pair, mode, mode);
    pair_make(&pair, PEER_EXPOSE, LARGE, 1, 3, &made);
    kill(pair.peer.pid, SIGSTOP);
    later_start(&later, &pair, &made.region, 1, LARGE, TQ_ENGINE_RENDEZVOUS, target, 500);
    assert_int_equal(later_wait(&later, 1500), TQ_DEADLINE_EXCEEDED);
    later_start(&later, &pair, &made.region, 1, LARGE, TQ_ENGINE_RENDEZVOUS, target, 20000);
    let_it_run(&later, 20);
    int64_t killed_ns = tq_now_ns();
    peer_kill(&pair.peer);
    assert_int_equal(later_wait(&later, 4000), TQ_UNAVAILABLE);
    assert_true(later.ended_ns - killed_ns < INT64_C(2000000000));
    WAIT_FOR(pair.bulk, stats.endpoints == 0);
    pair_stop_alone(&pair);
}

/* A process that is killed while it writes into the owner's queue blocks it for all. The same is seen when the queue is
 * that of a process that is stopped. */
static void silence_over_shared_memory_moves_to_tcp(void **state)
{
    struct pair pair;
    struct peer other;
    tq_wire_BulkAddress address, deaf;
    uint8_t bytes[TQ_ADDRESS_MAX];
    (void)state;
    if (strcmp(mode, "tcp") == 0)
        return; /* there is nothing to move from */
    pair_start(&pair, mode, mode);
    peer_start(&other, mode);
    assert_int_equal(tq_address_decode(pair.peer.address, &address, NULL), TQ_OK);
    assert_int_equal(tq_address_decode(other.address, &deaf, NULL), TQ_OK);
    memcpy(&address.worker, &deaf.worker, sizeof(address.worker));
    pair.peer.address = (struct tq_bytes){ bytes, tq_address_encode(&address, bytes, sizeof(bytes)) };
    kill(other.pid, SIGSTOP);
    int64_t begun_ns = tq_now_ns();
    pair_check_next(&pair);
    print_message("  %s: answered after %d ms\n", mode, (int)elapsed_ms(begun_ns));
    assert_true(elapsed_ms(begun_ns) < 2500);
    assert_int_equal(stats_of(pair.bulk).shm_endpoints, 1);
    assert_int_equal(stats_of(pair.bulk).tcp_endpoints, 1);
    begun_ns = tq_now_ns();
    pair_check_next(&pair); /* stays there */
    assert_int_equal(stats_of(pair.bulk).endpoints_made, 2);
    peer_kill(&other);
    pair_stop(&pair);
}

/* ---- the reader breaks; we are the owner ---- */

static void order_read(struct pair *pair, struct tq_exposure *exposure, size_t len, uint64_t ms)
{
    struct tq_region region;
    struct tq_bytes address = tq_bulk_address(pair->bulk);
    struct peer_order order = { .op = PEER_READ, .len = len, .version = 1, .ms = ms };
    tq_exposure_region(exposure, &region);
    peer_region_pack(&region, 0, &order.region);
    order.address_len = (uint32_t)address.len;
    memcpy(order.address, address.ptr, address.len);
    peer_send(&pair->peer, &order);
}

static void reader_is_killed(void **state)
{
    struct pair pair;
    struct tq_exposure *exposure = NULL;
    (void)state;
    pair_start(&pair, mode, mode);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(tq_bulk_expose(pair.bulk, target, LARGE, &exposure, NULL), TQ_OK);
        uint64_t before = stats_of(pair.bulk).sends;
        order_read(&pair, exposure, LARGE, 20000);
        WAIT_FOR(pair.bulk, stats.sends > before);
        int64_t killed_ns = tq_now_ns();
        peer_kill(&pair.peer);
        tq_bulk_unexpose(exposure, tq_deadline_after_ms(10000));
        print_message("  %s: unexposed %d ms after the kill\n", mode, (int)elapsed_ms(killed_ns));
        assert_true(elapsed_ms(killed_ns) < 2000);
        WAIT_FOR(pair.bulk, stats.endpoints == 0 && stats.exposures == 0);
        peer_start(&pair.peer, mode);
        pair_check_next(&pair);
    }
    pair_stop(&pair);
}

static void reader_is_stopped(void **state)
{
    struct pair pair;
    struct peer_answer answer;
    struct tq_exposure *exposure = NULL;
    (void)state;
    pair_start(&pair, mode, mode);
    memset(target, 0x77, LARGE);
    assert_int_equal(tq_bulk_expose(pair.bulk, target, LARGE, &exposure, NULL), TQ_OK);
    uint64_t before = stats_of(pair.bulk).sends;
    order_read(&pair, exposure, LARGE, 20000);
    WAIT_FOR(pair.bulk, stats.sends > before);
    kill(pair.peer.pid, SIGSTOP);
    int64_t begun_ns = tq_now_ns();
    tq_bulk_unexpose(exposure, tq_deadline_after_ms(300));
    print_message("  %s: unexposed after %d ms\n", mode, (int)elapsed_ms(begun_ns));
    assert_true(elapsed_ms(begun_ns) < 1000);
    memset(target, 0x11, LARGE); /* ours again: nobody reads it */
    kill(pair.peer.pid, SIGCONT);
    begun_ns = tq_now_ns();
    peer_hear(&pair.peer, &answer);
    print_message("  %s: the reader, %d ms after it went on: %s (%s)\n", mode, (int)elapsed_ms(begun_ns),
                  tq_status_name(answer.status), answer.result.error.message);
    assert_true(answer.status == TQ_NOT_FOUND || answer.status == TQ_UNAVAILABLE || answer.status == TQ_OK);
    assert_true(elapsed_ms(begun_ns) < 3000);

    assert_int_equal(tq_bulk_expose(pair.bulk, target, 1 << 20, &exposure, NULL), TQ_OK);
    order_read(&pair, exposure, 1 << 20, 5000);
    peer_hear(&pair.peer, &answer);
    if (answer.status != TQ_OK)
        print_message("  next: %s\n", answer.result.error.message);
    assert_int_equal(answer.status, TQ_OK);
    tq_bulk_unexpose(exposure, tq_deadline_after_ms(1000));
    pair_stop(&pair);
}

/* ---- a destination is freed under its transfer ---- */

static void our_block_is_freed_under_the_transfer(void **state)
{
    struct pair pair;
    struct peer_answer made;
    struct later later;
    struct tq_block block, next;
    (void)state;
    pair_start(&pair, mode, mode);
    pair_make(&pair, PEER_EXPOSE, LARGE, 1, 3, &made);
    assert_int_equal(tq_bulk_alloc(pair.bulk, LARGE, &block, NULL), TQ_OK);
    uint8_t *was = block.ptr;
    later_start(&later, &pair, &made.region, 1, LARGE, TQ_ENGINE_RENDEZVOUS, was, 20000);
    tq_bulk_free(pair.bulk, &block);
    assert_true(stats_of(pair.bulk).quarantined_bytes >= LARGE);
    assert_int_equal(tq_bulk_alloc(pair.bulk, LARGE, &next, NULL), TQ_OK);
    assert_ptr_not_equal(next.ptr, was);
    assert_int_equal(later_wait(&later, 20000), TQ_OK);
    assert_int_equal(stats_of(pair.bulk).quarantined_bytes, 0);
    tq_bulk_free(pair.bulk, &next);
    pair_check_next(&pair);
    pair_stop(&pair);
}

static int begin_posix(void **state)
{
    (void)state;
    mode = "posix";
    return 0;
}

static int begin_tcp(void **state)
{
    (void)state;
    mode = "tcp";
    return 0;
}

int main(int argc, char **argv)
{
    peer_main(argc, argv);
    tq_environment_prepare();
    target = malloc(LARGE);
    memset(target, 1, LARGE);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owner_is_killed),
        cmocka_unit_test(owner_is_stopped_under_the_callers_memory),
        cmocka_unit_test(owner_is_stopped_under_our_block),
        cmocka_unit_test(owner_is_killed_under_our_block),
        cmocka_unit_test(owner_dies_before_first_contact),
        cmocka_unit_test(silence_over_shared_memory_moves_to_tcp),
        cmocka_unit_test(reader_is_killed),
        cmocka_unit_test(reader_is_stopped),
        cmocka_unit_test(our_block_is_freed_under_the_transfer),
    };
    cmocka_set_test_filter(getenv("TQ_TEST_FILTER"));
    int failed = cmocka_run_group_tests_name("posix", tests, begin_posix, NULL);
    failed += cmocka_run_group_tests_name("tcp", tests, begin_tcp, NULL);
    free(target);
    return failed;
}

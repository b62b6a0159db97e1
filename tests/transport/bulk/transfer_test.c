/* Two real processes, both engines, shared memory and TCP: what is read is what was there. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tests/transport/bulk/pair.h"
#include "transport/base/crc32c.h"
#include "transport/base/environment.h"

static const size_t sizes[] = { 0, 1, 63, 64, 4095, 4096, 8192, 8193, 1 << 20, (1 << 20) + 1, 64 << 20 };

static void check_sizes(struct pair *f, enum peer_op op, enum tq_bulk_engine engine)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct peer_answer made, gone;
        struct tq_bulk_result result;
        uint32_t crc = 1;
        size_t len = sizes[i];
        uint8_t *into = malloc(len + 16);
        assert_non_null(into);
        memset(into, 0xa5, len + 16);
        peer_order(&f->peer, &(struct peer_order){ .op = op, .len = len, .version = 7, .seed = len }, &made);
        assert_int_equal(made.status, TQ_OK);
        uint64_t version = op == PEER_BLOCK ? 7 : 1;
        tq_status status = pair_read(f, &made.region, version, len, engine, into, &result, &crc);
        if (status != TQ_OK)
            print_message("size %zu: %s: %s\n", len, tq_status_name(status), result.error.message);
        assert_int_equal(status, TQ_OK);
        assert_true(peer_is_filled(into, len, len));
        assert_int_equal(crc, tq_crc32c(into, len));
        assert_int_equal(result.bytes[engine], len);
        for (size_t at = len; at < len + 16; at++)
            assert_int_equal(into[at], 0xa5);
        enum peer_op undo = op == PEER_BLOCK ? PEER_FREE : PEER_UNEXPOSE;
        peer_order(&f->peer, &(struct peer_order){ .op = undo, .handle = made.handle, .ms = 1000 }, &gone);
        free(into);
    }
}

static void check_lanes(struct pair *f, uint64_t shm, uint64_t tcp)
{
    struct tq_bulk_stats stats;
    tq_bulk_read_stats(f->bulk, &stats);
    assert_int_equal(stats.shm_endpoints, shm);
    assert_int_equal(stats.tcp_endpoints, tcp);
}

static void remote_read_of_blocks(void **state)
{
    struct pair f;
    (void)state;
    pair_start(&f, "posix", "posix");
    check_sizes(&f, PEER_BLOCK, TQ_ENGINE_REMOTE_READ);
    pair_stop(&f);
}

static void rendezvous_over_shared_memory(void **state)
{
    struct pair f;
    (void)state;
    pair_start(&f, "posix", "posix");
    check_sizes(&f, PEER_EXPOSE, TQ_ENGINE_RENDEZVOUS);
    check_sizes(&f, PEER_BLOCK, TQ_ENGINE_RENDEZVOUS);
    check_lanes(&f, 1, 0);
    pair_stop(&f);
}

static void rendezvous_over_tcp(void **state)
{
    struct pair f;
    (void)state;
    pair_start(&f, "tcp", "tcp");
    check_sizes(&f, PEER_EXPOSE, TQ_ENGINE_RENDEZVOUS);
    check_sizes(&f, PEER_BLOCK, TQ_ENGINE_RENDEZVOUS);
    check_lanes(&f, 0, 1);
    pair_stop(&f);
}

static void one_side_over_tcp_only(void **state)
{
    struct pair f;
    (void)state;
    pair_start(&f, "posix", "tcp");
    check_sizes(&f, PEER_BLOCK, TQ_ENGINE_RENDEZVOUS);
    pair_stop(&f);
}

int main(int argc, char **argv)
{
    peer_main(argc, argv);
    tq_environment_prepare();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remote_read_of_blocks),
        cmocka_unit_test(rendezvous_over_shared_memory),
        cmocka_unit_test(rendezvous_over_tcp),
        cmocka_unit_test(one_side_over_tcp_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

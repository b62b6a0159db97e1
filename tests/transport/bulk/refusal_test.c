/* What must not be read is not read, by either engine, and nothing around the destination is touched. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tests/transport/bulk/pair.h"
#include "transport/base/environment.h"
#include "transport/bulk/address.h"

enum { LEN = 256 << 10, CANARY = 4096 };

struct target {
    uint8_t *memory; /* canary | LEN | canary */
    uint8_t *into;
};

static void target_init(struct target *target)
{
    target->memory = malloc(LEN + 2 * CANARY);
    assert_non_null(target->memory);
    memset(target->memory, 0xc3, LEN + 2 * CANARY);
    target->into = target->memory + CANARY;
}

static void target_fini(struct target *target)
{
    for (size_t i = 0; i < CANARY; i++) {
        assert_int_equal(target->memory[i], 0xc3);
        assert_int_equal(target->memory[CANARY + LEN + i], 0xc3);
    }
    free(target->memory);
}

struct attempt {
    struct tq_region region;
    struct tq_bulk_range range;
};

static tq_status attempt(struct pair *pair, struct attempt *attempt, enum tq_bulk_engine engine,
                         struct tq_bulk_result *out_result)
{
    const struct tq_bulk_read_opts opts = { .deadline_ns = tq_deadline_after_ms(5000), .engine = engine };
    return tq_bulk_read_wait(pair->bulk, pair->peer.address, &attempt->region, 1, &attempt->range, 1, &opts,
                             out_result);
}

static void expect(struct pair *pair, struct attempt *try, enum tq_bulk_engine engine, tq_status status,
                   const char *reason)
{
    struct tq_bulk_result result;
    struct target target;
    target_init(&target);
    try->range.into = target.into;
    assert_int_equal(attempt(pair, try, engine, &result), status);
    if (strcmp(result.error.reason, reason) != 0)
        print_message("reason %s, message %s\n", result.error.reason, result.error.message);
    assert_string_equal(result.error.reason, reason);
    target_fini(&target);
}

/* Everything that can be wrong with one range of a frame of LEN bytes, version `version`. */
static void check_refusals(struct pair *pair, const struct peer_region *made, uint64_t version,
                           enum tq_bulk_engine engine)
{
    const struct attempt good = {
        .region = peer_region(made),
        .range = { .frame = made->frame, .len = LEN, .version = version },
    };
    uint8_t ticket[16];
    struct attempt try = good;
    expect(pair, &try, engine, TQ_OK, "");

    try = good;
    try.range.version++;
    expect(pair, &try, engine, TQ_ABORTED, "STALE_VERSION");
    try.range.version = 0;
    expect(pair, &try, engine, TQ_ABORTED, "STALE_VERSION");

    for (size_t byte = 0; byte < sizeof(ticket); byte += 15) {
        try = good;
        memcpy(ticket, good.region.ticket.ptr, sizeof(ticket));
        ticket[byte] ^= 0x80;
        try.region.ticket.ptr = ticket;
        expect(pair, &try, engine, TQ_PERMISSION_DENIED, "STALE_TICKET");
    }

    try = good;
    try.range.skip = 1;
    expect(pair, &try, engine, made->kind == TQ_REGION_HEAP ? TQ_INVALID_ARGUMENT : TQ_OUT_OF_RANGE, "RANGE");
    try.range.skip = UINT64_MAX - LEN + 1;
    expect(pair, &try, engine, TQ_INVALID_ARGUMENT, "RANGE");
    try = good;
    try.range.frame = UINT64_MAX;
    expect(pair, &try, engine, TQ_INVALID_ARGUMENT, "RANGE");
    try = good;
    try.range.source = 1;
    expect(pair, &try, engine, TQ_INVALID_ARGUMENT, "RANGE");
    try = good;
    try.region.length = UINT64_MAX; /* a region that claims to be larger than it is */
    try.range.skip = LEN;
    if (engine == TQ_ENGINE_RENDEZVOUS)
        expect(pair, &try, engine, TQ_OUT_OF_RANGE, "RANGE");
}

static void check_frame_places(struct pair *pair, const struct peer_region *made, enum tq_bulk_engine engine)
{
    static const int64_t shifts[] = { -64, 64, -1, 1, 8 };
    for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
        struct attempt try = {
            .region = peer_region(made),
            .range = { .frame = made->frame + (uint64_t)shifts[i], .len = 64, .version = 5 },
        };
        expect(pair, &try, engine, TQ_ABORTED, "STALE_VERSION");
    }
}

static void check_unknown_region(struct pair *pair, const struct peer_region *made, uint64_t version)
{
    struct attempt try = {
        .region = peer_region(made),
        .range = { .frame = made->frame, .len = LEN, .version = version },
    };
    try.region.id ^= 1;
    expect(pair, &try, TQ_ENGINE_RENDEZVOUS, TQ_NOT_FOUND, "STALE_REGION");
}

static void check_mode(const char *mode)
{
    struct pair pair;
    struct peer_answer block, heap, done;
    pair_start(&pair, mode, mode);
    pair_make(&pair, PEER_BLOCK, LEN, 5, 1, &block);
    pair_make(&pair, PEER_EXPOSE, LEN, 1, 2, &heap);
    if (strcmp(mode, "posix") == 0) {
        check_refusals(&pair, &block.region, 5, TQ_ENGINE_REMOTE_READ);
        check_frame_places(&pair, &block.region, TQ_ENGINE_REMOTE_READ);
    }
    check_refusals(&pair, &block.region, 5, TQ_ENGINE_RENDEZVOUS);
    check_frame_places(&pair, &block.region, TQ_ENGINE_RENDEZVOUS);
    check_refusals(&pair, &heap.region, 1, TQ_ENGINE_RENDEZVOUS);
    check_unknown_region(&pair, &block.region, 5);
    check_unknown_region(&pair, &heap.region, 1);

    struct attempt gone = {
        .region = peer_region(&block.region),
        .range = { .frame = block.region.frame, .len = LEN, .version = 5 },
    };
    peer_order(&pair.peer, &(struct peer_order){ .op = PEER_PUBLISH, .handle = block.handle, .version = 6 }, &done);
    expect(&pair, &gone, TQ_ENGINE_NONE, TQ_ABORTED, "STALE_VERSION");
    peer_order(&pair.peer, &(struct peer_order){ .op = PEER_FREE, .handle = block.handle }, &done);
    gone.range.version = 6;
    expect(&pair, &gone, TQ_ENGINE_NONE, TQ_ABORTED, "STALE_VERSION");
    expect(&pair, &gone, TQ_ENGINE_RENDEZVOUS, TQ_ABORTED, "STALE_VERSION");

    struct attempt revoked = { .region = peer_region(&heap.region), .range = { .len = LEN, .version = 1 } };
    peer_order(&pair.peer, &(struct peer_order){ .op = PEER_UNEXPOSE, .handle = heap.handle, .ms = 1000 }, &done);
    expect(&pair, &revoked, TQ_ENGINE_NONE, TQ_NOT_FOUND, "STALE_REGION");
    pair_check_next(&pair);
    pair_stop(&pair);
}

static void stale_and_wrong_over_shared_memory(void **state)
{
    (void)state;
    check_mode("posix");
}

static void stale_and_wrong_over_tcp(void **state)
{
    (void)state;
    check_mode("tcp");
}

static void damaged_keys_and_addresses_are_survived(void **state)
{
    struct pair pair;
    struct peer_answer block;
    struct tq_bulk_result result;
    (void)state;
    pair_start(&pair, "posix", "posix");
    pair_make(&pair, PEER_BLOCK, LEN, 5, 1, &block);
    uint8_t *into = malloc(LEN);
    uint8_t key[PEER_KEY_MAX], address[PEER_ADDRESS_MAX];
    struct attempt good = {
        .region = peer_region(&block.region),
        .range = { .frame = block.region.frame, .len = LEN, .version = 5, .into = into },
    };
    for (uint32_t at = 0; at < 8 * block.region.key_len; at += 5) { /* damaged keys: refused or by rendezvous */
        struct attempt try = good;
        memcpy(key, good.region.key.ptr, good.region.key.len);
        key[at / 8] = (uint8_t)(key[at / 8] ^ (1u << (at % 8)));
        try.region.key.ptr = key;
        assert_int_not_equal(attempt(&pair, &try, TQ_ENGINE_REMOTE_READ, &result), TQ_OK);
        try.region.key = (struct tq_bytes){ good.region.key.ptr, at / 8 };
        assert_int_not_equal(attempt(&pair, &try, TQ_ENGINE_REMOTE_READ, &result), TQ_OK);
    }
    struct tq_bytes real = pair.peer.address;
    for (size_t at = 0; at < 8 * real.len; at += 7) {
        struct attempt try = good;
        memcpy(address, real.ptr, real.len);
        address[at / 8] = (uint8_t)(address[at / 8] ^ (1u << (at % 8)));
        pair.peer.address.ptr = address;
        (void)attempt(&pair, &try, TQ_ENGINE_NONE, &result); /* an error, or success where the bit means little */
        pair.peer.address = (struct tq_bytes){ real.ptr, at / 8 };
        assert_int_equal(attempt(&pair, &try, TQ_ENGINE_NONE, &result), TQ_INVALID_ARGUMENT);
        pair.peer.address = real;
    }
    assert_int_equal(attempt(&pair, &good, TQ_ENGINE_REMOTE_READ, &result), TQ_OK);
    free(into);
    pair_stop(&pair);
}

/* An address of another machine, sound but for the way to it. */
static struct tq_bytes foreign_address(uint32_t ipv4, uint16_t port, uint8_t *out, size_t cap)
{
    tq_wire_BulkAddress address = tq_wire_BulkAddress_init_zero;
    tq_address_of_self(&address, 0x1234567, TQ_ADDRESS_TCP | TQ_ADDRESS_SHM);
    address.host ^= 2;
    address.worker.size = 1;
    address.ipv4 = ipv4;
    address.port = port;
    return (struct tq_bytes){ out, tq_address_encode(&address, out, cap) };
}

static void without_a_way_there_is_no_read(void **state)
{
    static const uint8_t ticket[16];
    uint8_t bytes[TQ_ADDRESS_MAX];
    uint8_t into[64];
    struct pair pair;
    struct tq_bulk_result result;
    (void)state;
    pair_start(&pair, "posix", "posix");
    struct tq_bytes real = pair.peer.address;
    assert_true(tq_bulk_reaches(pair.bulk, real));
    assert_true(tq_bulk_reaches(pair.bulk, foreign_address(0x0a000001, 9, bytes, sizeof(bytes))));
    assert_false(tq_bulk_reaches(pair.bulk, foreign_address(0x7f000001, 9, bytes, sizeof(bytes))));
    pair.peer.address = foreign_address(0x0a000001, 0, bytes, sizeof(bytes));
    assert_false(tq_bulk_reaches(pair.bulk, pair.peer.address));
    struct attempt try = {
        .region = { .id = 7, .kind = TQ_REGION_HEAP, .length = sizeof(into), .ticket = { ticket, sizeof(ticket) } },
        .range = { .len = sizeof(into), .version = 1, .into = into },
    };
    assert_int_equal(attempt(&pair, &try, TQ_ENGINE_NONE, &result), TQ_UNAVAILABLE);
    assert_string_equal(result.error.reason, "NO_WAY");
    pair.peer.address = real;
    pair_stop(&pair);
}

int main(int argc, char **argv)
{
    peer_main(argc, argv);
    tq_environment_prepare();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stale_and_wrong_over_shared_memory),
        cmocka_unit_test(stale_and_wrong_over_tcp),
        cmocka_unit_test(damaged_keys_and_addresses_are_survived),
        cmocka_unit_test(without_a_way_there_is_no_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Bodies from peers: limits that the bytes cannot escape. */
#include <stdlib.h>

#include "echo.pb-c.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/test_seam.h"
#include "transport/rpc/body.h"
#include "transport/rpc/scan.h"

enum { WIRE = 1 << 20 };
static uint8_t wire[WIRE];

static tq_status decode(const uint8_t *bytes, size_t len, size_t elements, struct tq_error *err)
{
    struct tq_arena *arena = tq_arena_open(NULL, 0);
    const ProtobufCMessage *message = NULL;
    struct tq_body_limits limits = { .bytes = WIRE, .elements = elements };
    assert_non_null(arena);
    tq_status status =
        tq_body_decode(arena, &tqtest__tree__descriptor, (struct tq_bytes){ bytes, len }, limits, &message, err);
    assert_int_equal(status == TQ_OK, message != NULL);
    tq_arena_close(arena);
    return status;
}

/* Writes nested Trees, innermost first; returns where they begin. */
static const uint8_t *nest(unsigned depth, size_t *out_len)
{
    uint8_t *end = wire + WIRE, *at = end;
    for (size_t len = 0; depth > 0; depth--, len = (size_t)(end - at)) {
        uint8_t head[12];
        size_t n = 0;
        head[n++] = 0x12; /* left */
        for (size_t v = len;; v >>= 7) {
            head[n++] = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
            if (v <= 0x7f)
                break;
        }
        at -= n;
        memcpy(at, head, n);
    }
    *out_len = (size_t)(end - at);
    return at;
}

static void bounds_the_depth(void **state)
{
    (void)state;
    struct tq_error err;
    size_t len;
    const uint8_t *bytes = nest(TQ_BODY_DEPTH, &len);
    assert_int_equal(decode(bytes, len, 100000, &err), TQ_OK);
    bytes = nest(TQ_BODY_DEPTH + 1, &len);
    assert_int_equal(decode(bytes, len, 100000, &err), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(err.reason, "DEPTH");
    bytes = nest(50000, &len); /* would overflow the stack of protobuf-c */
    assert_int_equal(decode(bytes, len, 100000, &err), TQ_RESOURCE_EXHAUSTED);
}

static void counts_everything_that_allocates(void **state)
{
    (void)state;
    struct tq_error err;
    static const uint8_t keys[] = { 0x0a, 0x12, 0x22, 0x2a, 0x7a }; /* repeated, singular, string, bytes, unknown */
    for (unsigned k = 0; k < sizeof(keys); k++) {
        for (size_t i = 0; i < 2000; i += 2)
            wire[i] = keys[k], wire[i + 1] = 0;
        assert_int_equal(decode(wire, 2000, 1000, &err), TQ_OK);
        assert_int_equal(decode(wire, 2000, 999, &err), TQ_RESOURCE_EXHAUSTED);
        assert_string_equal(err.reason, "ELEMENTS");
    }
    wire[0] = 0x1a, wire[1] = 0x64; /* 100 packed varints */
    memset(wire + 2, 1, 100);
    assert_int_equal(decode(wire, 102, 100, &err), TQ_OK);
    assert_int_equal(decode(wire, 102, 99, &err), TQ_RESOURCE_EXHAUSTED);
    wire[0] = 0x32; /* 100 packed bools */
    assert_int_equal(decode(wire, 102, 99, &err), TQ_RESOURCE_EXHAUSTED);
    wire[0] = 0x3a, wire[1] = 100; /* 25 packed fixed32 */
    assert_int_equal(decode(wire, 102, 25, &err), TQ_OK);
    assert_int_equal(decode(wire, 102, 24, &err), TQ_RESOURCE_EXHAUSTED);
}

/* However the elements are spent, the computed budget suffices for what is accepted. */
static void gives_enough_memory_for_what_it_accepts(void **state)
{
    (void)state;
    struct tq_error err;
    uint64_t dice = 99;
    for (unsigned round = 0; round < 2000; round++) {
        size_t len = 0;
        while (len < 3000) {
            static const uint8_t keys[] = { 0x0a, 0x12, 0x22, 0x2a, 0x1a, 0x18, 0x7a, 0x32 };
            dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
            uint8_t key = keys[dice >> 33 & 7], n = (uint8_t)(dice >> 40 & 7);
            wire[len++] = key;
            if (key == 0x18) {
                wire[len++] = n;
                continue;
            }
            wire[len++] = key == 0x0a || key == 0x12 ? 0 : n;
            for (unsigned i = 0; key != 0x0a && key != 0x12 && i < n; i++)
                wire[len++] = 1;
        }
        tq_status status = decode(wire, len, 100000, &err);
        if (status != TQ_OK)
            fail_msg("round %u: %s", round, err.message);
    }
}

static void tells_malformed_from_too_large(void **state)
{
    (void)state;
    struct tq_error err;
    struct {
        const char *bytes;
        size_t len;
    } bad[] = { { "\x0a\x05", 2 },                                          /* beyond the end */
                { "\x0a", 1 },                                              /* no length */
                { "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12 }, /* overlong */
                { "\x0b\x0c", 2 },                                          /* group */
                { "\x00\x01", 2 },                                          /* field 0 */
                { "\x18", 1 },
                { "\x1a\x01\x80", 3 }, /* a packed varint that does not end */
                { "\x2a\xff\xff\xff\xff\x0f", 6 } };
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        tq_status status = decode((const uint8_t *)bad[i].bytes, bad[i].len, 100, &err);
        if (status != TQ_INVALID_ARGUMENT)
            fail_msg("bad %u: %s", i, tq_status_name(status));
        assert_string_equal(err.reason, "MALFORMED");
    }
    struct tq_arena *arena = tq_arena_open(NULL, 0);
    const ProtobufCMessage *message;
    assert_int_equal(tq_body_decode(arena, &tqtest__tree__descriptor, (struct tq_bytes){ wire, 65537 },
                                    (struct tq_body_limits){ 0 }, &message, &err),
                     TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(err.reason, "BODY_BYTES");
    tq_arena_close(arena);
}

static void takes_an_empty_body(void **state)
{
    (void)state;
    struct tq_error err;
    assert_int_equal(decode(NULL, 0, 0, &err), TQ_OK);
}

static void survives_each_allocation_failure(void **state)
{
    (void)state;
    struct test_seam seam;
    struct tq_error err;
    tq_status status = TQ_OK;
    int64_t nth = 0;
    size_t len = 0;
    for (unsigned i = 0; i < 1000; i++) {
        wire[len++] = 0x0a;
        wire[len++] = 2;
        wire[len++] = 0x22;
        wire[len++] = 0;
    }
    do {
        test_seam_init(&seam, 1);
        test_seam_fail_allocation(&seam, nth++, false);
        struct tq_arena *arena = tq_arena_open(&seam.seam, 0);
        const ProtobufCMessage *message;
        status = arena == NULL ? TQ_RESOURCE_EXHAUSTED
                               : tq_body_decode(arena, &tqtest__tree__descriptor, (struct tq_bytes){ wire, len },
                                                (struct tq_body_limits){ 0 }, &message, &err);
        assert_int_equal(status == TQ_OK, !atomic_load(&seam.failed));
        if (arena != NULL && status != TQ_OK)
            assert_string_equal(err.reason, "NO_MEMORY");
        tq_arena_close(arena);
        assert_int_equal(atomic_load(&seam.outstanding), 0);
    } while (status != TQ_OK);
    assert_true(nth > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_the_depth),
        cmocka_unit_test(counts_everything_that_allocates),
        cmocka_unit_test(gives_enough_memory_for_what_it_accepts),
        cmocka_unit_test(tells_malformed_from_too_large),
        cmocka_unit_test(takes_an_empty_body),
        cmocka_unit_test(survives_each_allocation_failure),
    };
    return cmocka_run_group_tests_name("body", tests, NULL, NULL);
}

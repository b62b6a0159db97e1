/* The envelope: our bytes are nanopb's bytes, and what is wrong is refused. */
#include <pb_encode.h>
#include <stdlib.h>

#include "tests/support/cmocka_all.h"
#include "transport/rpc/envelope.h"
#include "transport/rpc/wire_body.h"

static uint64_t dice = 0x123456789abcdef;

static uint64_t roll(void)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice;
}

/* Zero, small, large: each field at random. */
static uint64_t some(uint64_t most)
{
    switch (roll() % 4) {
    case 0:
        return 0;
    case 1:
        return roll() % 200 <= most ? roll() % 200 : 0;
    case 2:
        return most;
    default:
        return most == UINT64_MAX ? roll() : roll() % (most + 1);
    }
}

static tq_wire_Envelope random_envelope(void)
{
    tq_wire_Envelope e = { .version = (uint32_t)some(UINT32_MAX),
                           .kind = (tq_wire_Kind)(1 + roll() % _tq_wire_Kind_MAX),
                           .call_id = some(UINT64_MAX) | 1,
                           .method = (uint32_t)some(UINT32_MAX),
                           .remaining_us = (uint32_t)some(UINT32_MAX),
                           .attempt = (uint32_t)some(UINT32_MAX),
                           .session = some(UINT64_MAX),
                           .epoch = some(UINT64_MAX),
                           .status = (uint32_t)some(UINT32_MAX),
                           .inline_frames = (uint32_t)some(UINT32_MAX),
                           .inline_bytes = some(UINT64_MAX) };
    e.idempotency_key.size = roll() % 2 ? 16 : 0;
    e.trace.size = (pb_size_t)(roll() % 26);
    for (unsigned i = 0; i < e.idempotency_key.size; i++)
        e.idempotency_key.bytes[i] = (uint8_t)roll();
    for (unsigned i = 0; i < e.trace.size; i++)
        e.trace.bytes[i] = (uint8_t)roll();
    return e;
}

static void assert_same(const tq_wire_Envelope *a, const tq_wire_Envelope *b)
{
    uint8_t first[TQ_HEADROOM], second[TQ_HEADROOM];
    size_t len = tq_envelope_encode(a, first);
    assert_int_equal(tq_envelope_encode(b, second), len);
    assert_memory_equal(first, second, len);
}

static void writes_what_nanopb_writes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        tq_wire_Envelope e = random_envelope(), got;
        uint8_t ours[TQ_HEADROOM], theirs[TQ_HEADROOM];
        struct tq_bytes body;
        pb_ostream_t out = pb_ostream_from_buffer(theirs, sizeof(theirs));
        assert_true(pb_encode(&out, tq_wire_Envelope_fields, &e));
        size_t len = tq_envelope_encode(&e, ours);
        assert_int_equal(len, out.bytes_written + TQ_ENVELOPE_PREFIX);
        assert_memory_equal(ours + TQ_ENVELOPE_PREFIX, theirs, out.bytes_written);
        assert_int_equal(tq_envelope_decode((struct tq_bytes){ ours, len }, &got, &body, NULL), TQ_OK);
        assert_same(&e, &got);
        assert_int_equal(body.len, 0);
    }
}

static void finds_the_body(void **state)
{
    (void)state;
    tq_wire_Envelope e = { .version = 1, .kind = tq_wire_Kind_KIND_REQUEST, .call_id = 7 }, got;
    uint8_t frame[TQ_HEADROOM + 4];
    struct tq_bytes body;
    size_t head = tq_envelope_encode(&e, frame);
    memcpy(frame + head, "body", 4);
    assert_int_equal(tq_envelope_decode((struct tq_bytes){ frame, head + 4 }, &got, &body, NULL), TQ_OK);
    assert_int_equal(body.len, 4);
    assert_memory_equal(body.ptr, "body", 4);
    assert_int_equal(got.call_id, 7);
}

static void refuses_every_truncation(void **state)
{
    (void)state;
    tq_wire_Envelope e = random_envelope(), got;
    uint8_t frame[TQ_HEADROOM];
    struct tq_bytes body;
    size_t head = tq_envelope_encode(&e, frame);
    for (size_t len = 0; len < head; len++) {
        uint8_t *copy = malloc(len + 1); /* of its own, so that a read past the end is seen */
        assert_non_null(copy);
        memcpy(copy, frame, len);
        assert_int_equal(tq_envelope_decode((struct tq_bytes){ copy, len }, &got, &body, NULL), TQ_INVALID_ARGUMENT);
        free(copy);
    }
}

/* Decodes an envelope of these bytes. */
static tq_status decode(const char *bytes, size_t len, struct tq_error *err)
{
    uint8_t frame[512] = { 'T', 'Q', (uint8_t)len, (uint8_t)(len >> 8) };
    tq_wire_Envelope got;
    struct tq_bytes body;
    memcpy(frame + TQ_ENVELOPE_PREFIX, bytes, len);
    return tq_envelope_decode((struct tq_bytes){ frame, len + TQ_ENVELOPE_PREFIX }, &got, &body, err);
}
#define GOOD                  "\x08\x01\x10\x01\x19\x07\0\0\0\0\0\0\0"
#define assert_refused(bytes) assert_int_equal(decode(bytes, sizeof(bytes) - 1, NULL), TQ_INVALID_ARGUMENT)

static void refuses_what_is_wrong(void **state)
{
    (void)state;
    struct tq_error err;
    assert_int_equal(decode(GOOD, sizeof(GOOD) - 1, NULL), TQ_OK);
    assert_refused("");
    assert_refused("\x08\x01\x10\x01");                       /* no call id */
    assert_refused("\x08\x01\x19\x07\0\0\0\0\0\0\0");         /* no kind */
    assert_refused("\x08\x01\x10\x0a\x19\x07\0\0\0\0\0\0\0"); /* kind 10 */
    assert_refused("\x08\x01\x10\xff\xff\xff\xff\x0f\x19\x07\0\0\0\0\0\0\0");
    assert_refused(GOOD "\x4a\x11"
                        "12345678901234567"); /* key of 17 bytes */
    assert_refused(GOOD "\x4a\x0f"
                        "123456789012345"); /* key of 15 bytes */
    assert_refused(GOOD "\x52\x1a"
                        "12345678901234567890123456"); /* trace of 26 bytes */
    assert_refused(GOOD "\x4a\xff\xff\xff\xff\x0f");   /* key of 4 GiB */
    assert_refused(GOOD "\x18\x01");                   /* call id as varint */
    assert_refused(GOOD "\x0b\x0c");                   /* group */
    assert_refused(GOOD "\x00\x01");                   /* field 0 */
    assert_int_equal(decode("\x08\x01\x10\x01", 4, &err), TQ_INVALID_ARGUMENT);
    assert_string_equal(err.reason, "ENVELOPE");
    assert_non_null(strstr(err.message, "call_id"));
}

static void refuses_other_magics_and_lengths(void **state)
{
    (void)state;
    tq_wire_Envelope got;
    struct tq_bytes body;
    const char *frames[] = { "tQ\x02\0\x08\x01", "GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
                             "TQ\xff\xff\x08\x01" };
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(
            tq_envelope_decode((struct tq_bytes){ (const uint8_t *)frames[i], i == 1 ? 18 : 6 }, &got, &body, NULL),
            TQ_INVALID_ARGUMENT);
    assert_int_equal(tq_envelope_decode((struct tq_bytes){ NULL, 0 }, &got, &body, NULL), TQ_INVALID_ARGUMENT);
}

static void carries_errors(void **state)
{
    (void)state;
    struct tq_error error, got;
    struct tq_packet packet = { .seam = NULL };
    (void)tq_fail(&error, TQ_RESOURCE_EXHAUSTED, "BUDGET_BYTES", "no \"room\"\nfor %d", 7);
    error.outcome = TQ_OUTCOME_NOT_STARTED;
    error.retry_after_ms = 50;
    assert_true(tq_wire_pack_error(&packet, &error));
    tq_wire_unpack_error(8, (struct tq_bytes){ tq_packet_body(&packet), packet.len }, &got);
    assert_int_equal(got.status, TQ_RESOURCE_EXHAUSTED);
    assert_int_equal(got.outcome, TQ_OUTCOME_NOT_STARTED);
    assert_int_equal(got.retry_after_ms, 50);
    assert_string_equal(got.reason, "BUDGET_BYTES");
    assert_string_equal(got.message, "no ?room??for 7");
    tq_wire_unpack_error(99, (struct tq_bytes){ NULL, 0 }, &got);
    assert_int_equal(got.status, TQ_UNKNOWN);
    assert_int_equal(got.outcome, TQ_OUTCOME_FAILED);
    tq_packet_fini(&packet);
}

/* The longest texts fit, and a long one is cut where a character begins. */
static void cuts_texts_between_characters(void **state)
{
    (void)state;
    struct tq_error error, got;
    struct tq_packet packet = { .seam = NULL };
    (void)tq_fail(&error, TQ_ABORTED, "0123456789012345678901234567890123456789", "x");
    memset(error.message, 'a', sizeof(error.message) - 1);
    memcpy(error.message + sizeof(error.message) - 3, "\xc3\xa4", 2);
    error.message[sizeof(error.message) - 1] = 0;
    assert_true(tq_wire_pack_error(&packet, &error));
    tq_wire_unpack_error(10, (struct tq_bytes){ tq_packet_body(&packet), packet.len }, &got);
    assert_string_equal(got.message, error.message);
    assert_int_equal(strlen(got.reason), TQ_REASON_MAX - 1);
    tq_packet_fini(&packet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_what_nanopb_writes),        cmocka_unit_test(finds_the_body),
        cmocka_unit_test(refuses_every_truncation),         cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(refuses_other_magics_and_lengths), cmocka_unit_test(carries_errors),
        cmocka_unit_test(cuts_texts_between_characters),
    };
    return cmocka_run_group_tests_name("envelope", tests, NULL, NULL);
}

/* Every vector of docs/wire-vectors.json, written by another implementation of protobuf, must decode with ours and come
 * out again byte for byte; whole frames must be framed as docs/wire.md says. */
#include <stdlib.h>

#include <pb_decode.h>
#include <pb_encode.h>

#include "tests/support/cmocka_all.h"
#include "tq/v1/controller.pb-c.h"
#include "tq/v1/health.pb-c.h"
#include "tq/v1/reflection.pb-c.h"
#include "tq/v1/storage.pb-c.h"
#include "tq/wire/bulk.pb.h"
#include "tq/wire/envelope.pb.h"
#include "tq/wire/session.pb.h"
#include "transport/bulk/address.h"
#include "transport/rpc/envelope.h"
#include "wire_vectors.h"

enum { LARGEST = 4096 };

struct raw {
    uint8_t bytes[LARGEST];
    size_t len;
};

static struct raw from_hex(const char *hex)
{
    struct raw raw = { .len = strlen(hex) / 2 };
    assert_true(raw.len <= LARGEST);
    for (size_t i = 0; i < raw.len; i++) {
        const char pair[3] = { hex[2 * i], hex[2 * i + 1], '\0' };
        raw.bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return raw;
}

union any_wire {
    tq_wire_Envelope envelope;
    tq_wire_StatusDetail status;
    tq_wire_Hello hello;
    tq_wire_HelloReply hello_reply;
    tq_wire_KeepAlive keep_alive;
    tq_wire_Goodbye goodbye;
    tq_wire_Lookup lookup;
    tq_wire_LookupReply lookup_reply;
    tq_wire_BulkAddress bulk_address;
    tq_wire_BulkKey bulk_key;
    tq_wire_BulkRead bulk_read;
    tq_wire_BulkPiece bulk_piece;
};

static const struct wire_type {
    const char *name;
    const pb_msgdesc_t *fields;
} wire_types[] = {
    { "tq.wire.Envelope", tq_wire_Envelope_fields },
    { "tq.wire.StatusDetail", tq_wire_StatusDetail_fields },
    { "tq.wire.Hello", tq_wire_Hello_fields },
    { "tq.wire.HelloReply", tq_wire_HelloReply_fields },
    { "tq.wire.KeepAlive", tq_wire_KeepAlive_fields },
    { "tq.wire.Goodbye", tq_wire_Goodbye_fields },
    { "tq.wire.Lookup", tq_wire_Lookup_fields },
    { "tq.wire.LookupReply", tq_wire_LookupReply_fields },
    { "tq.wire.BulkAddress", tq_wire_BulkAddress_fields },
    { "tq.wire.BulkKey", tq_wire_BulkKey_fields },
    { "tq.wire.BulkRead", tq_wire_BulkRead_fields },
    { "tq.wire.BulkPiece", tq_wire_BulkPiece_fields },
};

static const pb_msgdesc_t *wire_fields(const char *type)
{
    for (size_t i = 0; i < sizeof(wire_types) / sizeof(wire_types[0]); i++)
        if (strcmp(wire_types[i].name, type) == 0)
            return wire_types[i].fields;
    return NULL;
}

static const ProtobufCMessageDescriptor *service_descriptor(const char *type)
{
    for (size_t i = 0; i < sizeof(service_types) / sizeof(service_types[0]); i++)
        if (strcmp(service_types[i].name, type) == 0)
            return service_types[i].descriptor;
    return NULL;
}

static void check_wire(const struct vector *vector, const pb_msgdesc_t *fields)
{
    struct raw raw = from_hex(vector->hex);
    union any_wire message;
    memset(&message, 0, sizeof(message));
    pb_istream_t in = pb_istream_from_buffer(raw.bytes, raw.len);
    if (!pb_decode(&in, fields, &message))
        fail_msg("%s: %s", vector->name, PB_GET_ERROR(&in));
    uint8_t again[LARGEST];
    pb_ostream_t out = pb_ostream_from_buffer(again, sizeof(again));
    assert_true(pb_encode(&out, fields, &message));
    assert_int_equal(out.bytes_written, raw.len);
    assert_memory_equal(again, raw.bytes, raw.len);
}

static void check_service(const struct vector *vector, const ProtobufCMessageDescriptor *descriptor)
{
    struct raw raw = from_hex(vector->hex);
    ProtobufCMessage *message = protobuf_c_message_unpack(descriptor, NULL, raw.len, raw.bytes);
    if (message == NULL)
        fail_msg("%s does not decode", vector->name);
    uint8_t again[LARGEST];
    assert_int_equal(protobuf_c_message_get_packed_size(message), raw.len);
    assert_int_equal(protobuf_c_message_pack(message, again), raw.len);
    assert_memory_equal(again, raw.bytes, raw.len);
    assert_int_equal(message->n_unknown_fields, 0);
    protobuf_c_message_free_unpacked(message, NULL);
}

/* The framing of docs/wire.md section 1, by hand; then our own codec must say the same. */
static void check_frame(const struct vector *vector)
{
    struct raw raw = from_hex(vector->hex);
    assert_true(raw.len >= 4);
    assert_memory_equal(raw.bytes, "TQ", 2);
    size_t envelope_len = raw.bytes[2] | (size_t)raw.bytes[3] << 8;
    assert_true(4 + envelope_len <= raw.len);
    tq_wire_Envelope envelope = tq_wire_Envelope_init_zero;
    pb_istream_t in = pb_istream_from_buffer(raw.bytes + 4, envelope_len);
    assert_true(pb_decode(&in, tq_wire_Envelope_fields, &envelope));
    assert_int_equal(envelope.version, 1);

    tq_wire_Envelope ours;
    struct tq_bytes body;
    struct tq_error err;
    uint8_t head[TQ_HEADROOM];
    if (tq_envelope_decode((struct tq_bytes){ raw.bytes, raw.len }, &ours, &body, &err) != TQ_OK)
        fail_msg("%s: %s", vector->name, err.message);
    assert_true(ours.call_id == UINT64_C(0xa1b2c3d4e5f60718) && ours.kind == envelope.kind);
    assert_ptr_equal(body.ptr, raw.bytes + 4 + envelope_len);
    assert_int_equal(body.len, raw.len - 4 - envelope_len);
    assert_int_equal(tq_envelope_encode(&ours, head), 4 + envelope_len);
    assert_memory_equal(head, raw.bytes, 4 + envelope_len);
}

static struct raw vector_named(const char *name)
{
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
        if (strcmp(vectors[i].name, name) == 0)
            return from_hex(vectors[i].hex);
    fail_msg("no vector '%s'", name);
    return (struct raw){ 0 };
}

/* Their digests were computed by the other implementation. */
static void bulk_address_and_key_pass_our_checks(void **state)
{
    (void)state;
    struct tq_error err;
    tq_wire_BulkAddress address;
    tq_wire_BulkKey key;
    struct raw raw = vector_named("bulk address");
    assert_int_equal(tq_address_decode((struct tq_bytes){ raw.bytes, raw.len }, &address, &err), TQ_OK);
    assert_int_equal(address.port, 7601);
    raw.bytes[raw.len / 2] ^= 1;
    assert_int_equal(tq_address_decode((struct tq_bytes){ raw.bytes, raw.len }, &address, &err), TQ_INVALID_ARGUMENT);
    raw = vector_named("bulk key");
    assert_int_equal(tq_key_decode((struct tq_bytes){ raw.bytes, raw.len }, UINT64_C(0x0102030405060708),
                                   UINT64_C(0xa1b2c3d4e5f60718), &key, &err),
                     TQ_OK);
    raw.bytes[raw.len / 2] ^= 1;
    assert_int_equal(tq_key_decode((struct tq_bytes){ raw.bytes, raw.len }, UINT64_C(0x0102030405060708),
                                   UINT64_C(0xa1b2c3d4e5f60718), &key, &err),
                     TQ_INVALID_ARGUMENT);
}

static void every_vector_decodes_and_comes_out_again(void **state)
{
    (void)state;
    size_t checked = 0;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        const pb_msgdesc_t *fields = wire_fields(vectors[i].type);
        const ProtobufCMessageDescriptor *descriptor = service_descriptor(vectors[i].type);
        if (fields != NULL)
            check_wire(&vectors[i], fields);
        else if (descriptor != NULL)
            check_service(&vectors[i], descriptor);
        else if (strcmp(vectors[i].type, "frame") == 0)
            check_frame(&vectors[i]);
        else
            fail_msg("%s: no decoder for %s in this test", vectors[i].name, vectors[i].type);
        checked++;
    }
    assert_true(checked >= 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_vector_decodes_and_comes_out_again),
        cmocka_unit_test(bulk_address_and_key_pass_our_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

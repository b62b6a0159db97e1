/* What the messages of the cases do when they run: cases of oneofs, their initialisers, presence, names. */
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include "field_words.tq.h"
#include "main.tq.h"
#include "oneof_counts.tq.h"
#include "oneof_sizes.tq.h"
#include "tests/support/cmocka_all.h"

typedef Case__OneofSizes__Sizes Sizes;

/* Packs, unpacks, packs again: the bytes must be the same. Returns the unpacked message. */
static ProtobufCMessage *round_trip(const ProtobufCMessage *message)
{
    uint8_t first[4096], second[4096];
    size_t len = protobuf_c_message_get_packed_size(message);
    assert_true(len <= sizeof(first));
    assert_int_equal(protobuf_c_message_pack(message, first), len);
    ProtobufCMessage *again = protobuf_c_message_unpack(message->descriptor, NULL, len, first);
    assert_non_null(again);
    assert_int_equal(protobuf_c_message_get_packed_size(again), len);
    protobuf_c_message_pack(again, second);
    assert_memory_equal(first, second, len);
    return again;
}

static Sizes *round_trip_sizes(Sizes *sizes)
{
    sizes->before = 0x11111111;
    sizes->after = 0x22222222;
    Sizes *again = (Sizes *)round_trip(&sizes->base);
    assert_int_equal(again->before, 0x11111111); /* the neighbours of the case are whole */
    assert_int_equal(again->after, 0x22222222);
    assert_int_equal(again->body_case, sizes->body_case);
    return again;
}

static void each_case_survives_a_round_trip(void **state)
{
    (void)state;
    Case__OneofSizes__Big big = CASE__ONEOF_SIZES__BIG__INIT;
    uint8_t bytes[] = { 1, 0, 2 };
    big.d = 44;
    Sizes cases[5], *again;
    for (size_t i = 0; i < 5; i++)
        case__oneof_sizes__sizes__init(&cases[i]);
    cases[0].body_case = CASE__ONEOF_SIZES__SIZES__BODY_FLAG;
    cases[0].flag = 1;
    cases[1].body_case = CASE__ONEOF_SIZES__SIZES__BODY_NUMBER;
    cases[1].number = UINT64_MAX;
    cases[2].body_case = CASE__ONEOF_SIZES__SIZES__BODY_BLOB;
    cases[2].blob = (ProtobufCBinaryData){ .len = sizeof(bytes), .data = bytes };
    cases[3].body_case = CASE__ONEOF_SIZES__SIZES__BODY_BIG;
    cases[3].big = &big;
    cases[4].body_case = CASE__ONEOF_SIZES__SIZES__BODY_COLOUR;
    cases[4].colour = CASE__ONEOF_SIZES__COLOUR__COLOUR_RED;
    for (size_t i = 0; i < 5; i++) {
        again = round_trip_sizes(&cases[i]);
        case__oneof_sizes__sizes__free_unpacked(again, NULL);
    }
    again = round_trip_sizes(&cases[2]);
    assert_memory_equal(again->blob.data, bytes, sizeof(bytes));
    case__oneof_sizes__sizes__free_unpacked(again, NULL);
    again = round_trip_sizes(&cases[3]);
    assert_int_equal(again->big->d, 44);
    case__oneof_sizes__sizes__free_unpacked(again, NULL);
}

static void assert_union_is_zero(const Sizes *sizes)
{
    static const uint8_t zero[sizeof(ProtobufCBinaryData)];
    assert_memory_equal(&sizes->blob, zero, sizeof(zero));
    assert_int_equal(sizes->body_case, CASE__ONEOF_SIZES__SIZES__BODY__NOT_SET);
}

static void both_initialisers_clear_the_whole_union(void **state)
{
    (void)state;
    union {
        Sizes sizes;
        uint8_t bytes[sizeof(Sizes)];
    } dirty;
    memset(dirty.bytes, 0xa5, sizeof(dirty.bytes));
    dirty.sizes = (Sizes)CASE__ONEOF_SIZES__SIZES__INIT;
    assert_union_is_zero(&dirty.sizes);
    memset(dirty.bytes, 0xa5, sizeof(dirty.bytes));
    case__oneof_sizes__sizes__init(&dirty.sizes);
    assert_union_is_zero(&dirty.sizes);
}

static void the_last_member_on_the_wire_wins(void **state)
{
    (void)state;
    static const uint8_t wire[] = { 0x22, 3, 'a', 'b', 'c', 0x2a, 0, 0x22, 1, 'z', 0x10, 1 }; /* blob big blob flag */
    Sizes *sizes = case__oneof_sizes__sizes__unpack(NULL, sizeof(wire), wire);
    assert_non_null(sizes);
    assert_int_equal(sizes->body_case, CASE__ONEOF_SIZES__SIZES__BODY_FLAG);
    assert_int_equal(sizes->flag, 1);
    case__oneof_sizes__sizes__free_unpacked(sizes, NULL);
}

static void two_oneofs_keep_their_own_cases(void **state)
{
    (void)state;
    Case__OneofCounts__Two two = CASE__ONEOF_COUNTS__TWO__INIT;
    two.body_case = CASE__ONEOF_COUNTS__TWO__BODY_Y;
    two.y = (char *)(uintptr_t) "text";
    two.tail_case = CASE__ONEOF_COUNTS__TWO__TAIL_W;
    two.w = 1;
    Case__OneofCounts__Two *again = (Case__OneofCounts__Two *)round_trip(&two.base);
    assert_int_equal(again->body_case, CASE__ONEOF_COUNTS__TWO__BODY_Y);
    assert_string_equal(again->y, "text");
    assert_int_equal(again->tail_case, CASE__ONEOF_COUNTS__TWO__TAIL_W);
    case__oneof_counts__two__free_unpacked(again, NULL);
}

/* A zero of a plain field is not sent and reads as zero; the only member of a oneof is, and is seen. */
static void presence_shows_where_it_exists(void **state)
{
    (void)state;
    Sizes sizes = CASE__ONEOF_SIZES__SIZES__INIT;
    assert_int_equal(case__oneof_sizes__sizes__get_packed_size(&sizes), 0);
    sizes.body_case = CASE__ONEOF_SIZES__SIZES__BODY_COLOUR;
    assert_int_equal(case__oneof_sizes__sizes__get_packed_size(&sizes), 2);
    Sizes *again = (Sizes *)round_trip(&sizes.base);
    assert_int_equal(again->body_case, CASE__ONEOF_SIZES__SIZES__BODY_COLOUR);
    assert_int_equal(again->colour, CASE__ONEOF_SIZES__COLOUR__COLOUR_UNSPECIFIED);
    case__oneof_sizes__sizes__free_unpacked(again, NULL);
}

static void fields_named_like_keywords_are_fields(void **state)
{
    (void)state;
    Case__FieldWords__Words words = CASE__FIELD_WORDS__WORDS__INIT;
    words.int_ = 7;
    words.default_ = 8;
    words.descriptor = 9;
    words.size = 10;
    Case__FieldWords__Words *again = (Case__FieldWords__Words *)round_trip(&words.base);
    assert_int_equal(again->int_, 7);
    assert_int_equal(again->default_, 8);
    assert_int_equal(again->descriptor, 9);
    assert_int_equal(again->size, 10);
    case__field_words__words__free_unpacked(again, NULL);
}

static void messages_of_one_name_keep_their_own_fields(void **state)
{
    (void)state;
    A__Meta a = A__META__INIT;
    B__Meta b = B__META__INIT;
    Case__SameMessageName__Meta both = CASE__SAME_MESSAGE_NAME__META__INIT;
    uint8_t wire[16];
    a.from_a = 1;
    b.from_b = 2;
    both.a = &a;
    both.b = &b;
    static const uint8_t expected[] = { 0x0a, 2, 3 << 3, 1, 0x12, 2, 7 << 3, 2 };
    assert_int_equal(case__same_message_name__meta__pack(&both, wire), sizeof(expected));
    assert_memory_equal(wire, expected, sizeof(expected));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case_survives_a_round_trip),
        cmocka_unit_test(both_initialisers_clear_the_whole_union),
        cmocka_unit_test(the_last_member_on_the_wire_wins),
        cmocka_unit_test(two_oneofs_keep_their_own_cases),
        cmocka_unit_test(presence_shows_where_it_exists),
        cmocka_unit_test(fields_named_like_keywords_are_fields),
        cmocka_unit_test(messages_of_one_name_keep_their_own_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "transport/base/crc32c.h"

#include "tests/support/cmocka_all.h"

/* RFC 3720, appendix B.4, and the check value of the CRC catalogue. */
static void it_is_the_crc_of_iscsi(void **state)
{
    (void)state;
    uint8_t bytes[32];
    assert_int_equal(tq_crc32c("123456789", 9), 0xe3069283u);
    memset(bytes, 0, sizeof(bytes));
    assert_int_equal(tq_crc32c(bytes, 32), 0x8a9136aau);
    memset(bytes, 0xff, sizeof(bytes));
    assert_int_equal(tq_crc32c(bytes, 32), 0x62a8ab43u);
    for (size_t i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(tq_crc32c(bytes, 32), 0x46dd794eu);
    assert_int_equal(tq_crc32c(NULL, 0), TQ_CRC32C_EMPTY);
}

static void parts_combine_to_the_whole(void **state)
{
    (void)state;
    uint8_t bytes[1000];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 31 + (i >> 3));
    const uint32_t whole = tq_crc32c(bytes, sizeof(bytes));
    for (size_t cut = 0; cut <= sizeof(bytes); cut++) {
        uint32_t head = tq_crc32c(bytes, cut), tail = tq_crc32c(bytes + cut, sizeof(bytes) - cut);
        assert_int_equal(tq_crc32c_extend(head, bytes + cut, sizeof(bytes) - cut), whole);
        assert_int_equal(tq_crc32c_combine(head, tail, sizeof(bytes) - cut), whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_crc_of_iscsi),
        cmocka_unit_test(parts_combine_to_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "transport/base/crc32c.h"

#include <isa-l/crc.h>

enum { PIECE = 1 << 30 };

static const uint32_t polynomial = 0x82f63b78u; /* Castagnoli, bits reversed */

uint32_t tq_crc32c_extend(uint32_t crc, const void *bytes, size_t len)
{
    uint32_t state = ~crc;
    unsigned char *at = (unsigned char *)(uintptr_t)bytes; /* ISA-L reads only */
    while (len > 0) {
        int piece = len > PIECE ? PIECE : (int)len;
        state = crc32_iscsi(at, piece, state);
        at += piece;
        len -= (size_t)piece;
    }
    return ~state;
}

uint32_t tq_crc32c(const void *bytes, size_t len)
{
    return tq_crc32c_extend(TQ_CRC32C_EMPTY, bytes, len);
}

/* Product of two polynomials modulo the CRC's, in the reflected representation (bit 31 is x^0). */
static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (uint32_t bit = 0x80000000u; bit != 0; bit >>= 1) {
        if ((a & bit) != 0)
            product ^= b;
        b = (b & 1) != 0 ? (b >> 1) ^ polynomial : b >> 1;
    }
    return product;
}

/* x^(8 len) modulo the polynomial, by repeated squaring. */
static uint32_t shift_by_bytes(size_t len)
{
    uint32_t result = 0x80000000u; /* 1 */
    uint32_t square = 0x00800000u; /* x^8 */
    for (; len > 0; len >>= 1) {
        if ((len & 1) != 0)
            result = multiply(result, square);
        square = multiply(square, square);
    }
    return result;
}

uint32_t tq_crc32c_combine(uint32_t crc_a, uint32_t crc_b, size_t len_b)
{
    return multiply(shift_by_bytes(len_b), crc_a) ^ crc_b;
}

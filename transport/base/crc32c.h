/* transport/base/crc32c.h: the digest of every frame: CRC-32C (Castagnoli), as in iSCSI, RFC 3720 section 12.1; the
 * check value of "123456789" is e3069283. ISA-L computes it; combining needs only the lengths. Owns: nothing. Threads:
 * any. */
#ifndef TQ_BASE_CRC32C_H
#define TQ_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The digest of the empty sequence. */
#define TQ_CRC32C_EMPTY 0u

uint32_t tq_crc32c(const void *bytes, size_t len);
/* The digest of a sequence whose beginning has digest `crc`, extended by `bytes`. */
uint32_t tq_crc32c_extend(uint32_t crc, const void *bytes, size_t len);
/* The digest of A followed by B from their digests and the length of B (matrix powers over GF(2), O(log len)). */
uint32_t tq_crc32c_combine(uint32_t crc_a, uint32_t crc_b, size_t len_b);

#endif

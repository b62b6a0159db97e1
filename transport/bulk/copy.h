/* transport/bulk/copy.h: the copy of remote read: bytes and their digest in one walk, so that the digest is of what
 * arrived and costs no second trip to memory.
 * Owns: nothing. Threads: any. */
#ifndef TQ_BULK_COPY_H
#define TQ_BULK_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Copies and returns `crc` extended by the bytes at `to`. */
uint32_t tq_copy_digest(uint8_t *to, const uint8_t *from, size_t len, uint32_t crc);
/* Copies only. */
void tq_copy(uint8_t *to, const uint8_t *from, size_t len);

#endif

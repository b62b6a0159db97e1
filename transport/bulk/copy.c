#include "transport/bulk/copy.h"

#include <string.h>

#include "transport/base/crc32c.h"

/* Small enough that what was copied is still in the first caches when its digest is taken. */
enum { STEP_BYTES = 32 << 10 };

uint32_t tq_copy_digest(uint8_t *to, const uint8_t *from, size_t len, uint32_t crc)
{
    for (size_t at = 0; at < len; at += STEP_BYTES) {
        size_t step = len - at < STEP_BYTES ? len - at : STEP_BYTES;
        memcpy(to + at, from + at, step);
        crc = tq_crc32c_extend(crc, to + at, step);
    }
    return crc;
}

void tq_copy(uint8_t *to, const uint8_t *from, size_t len)
{
    memcpy(to, from, len);
}

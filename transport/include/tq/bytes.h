/* tq/bytes.h: views of memory and time stamps, the two vocabulary types of every interface.
 * Owns: nothing; a view never frees. Threads: any. */
#ifndef TQ_BYTES_H
#define TQ_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "tq/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A view: passed by value, never freed. len 0 with ptr NULL is the empty view. */
struct tq_bytes {
    const uint8_t *ptr;
    size_t len;
};

/* Now on the monotonic clock of this machine, in nanoseconds. Deadlines are absolute values on this clock. */
TQ_PUBLIC int64_t tq_now_ns(void);
/* The deadline `timeout_ns` from now; saturates instead of wrapping. Zero or negative: a deadline that has passed. */
TQ_PUBLIC int64_t tq_deadline_after_ns(int64_t timeout_ns);
TQ_PUBLIC int64_t tq_deadline_after_ms(int64_t timeout_ms);

#ifdef __cplusplus
}
#endif
#endif

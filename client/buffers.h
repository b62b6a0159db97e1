/* client/buffers.h: memory for received columns, kept for the next get, because first touch of fresh memory is several
 * times slower than the copy into it.
 * Owns: what is cached; a buffer that was taken belongs to the taker. Threads: any. */
#ifndef TQ_CLIENT_BUFFERS_H
#define TQ_CLIENT_BUFFERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tq/status.h"

struct tq_buffer {
    uint8_t *ptr; /* aligned to 64 bytes; not zeroed */
    size_t capacity;
};

enum { TQ_BUFFERS_MAX = 64 };

struct tq_buffers {
    size_t limit_bytes;
    pthread_mutex_t lock;
    struct tq_buffer cached[TQ_BUFFERS_MAX]; /* under lock; oldest first */
    size_t count;                            /* under lock */
    size_t bytes;                            /* under lock; of cached */
};

void tq_buffers_init(struct tq_buffers *buffers, size_t limit_bytes);
/* Frees what is cached. */
void tq_buffers_fini(struct tq_buffers *buffers);

/* At least `len` bytes. False without memory. */
TQ_MUST_CHECK bool tq_buffers_take(struct tq_buffers *buffers, size_t len, struct tq_buffer *out_buffer);
/* Gives it back: kept within the limit, else freed. *buffer is zeroed; a zeroed one is allowed. */
void tq_buffers_give(struct tq_buffers *buffers, struct tq_buffer *buffer);
/* Cached bytes, now. */
size_t tq_buffers_bytes(struct tq_buffers *buffers);

#endif

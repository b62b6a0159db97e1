#include "client/buffers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ALIGNMENT = 64,
    SMALL = 256 << 10,    /* below, malloc is as good as a cache */
    HUGE_PAGE = 2 << 20,  /* one fault instead of 512 */
    WASTE = HUGE_PAGE / 2 /* a cached buffer may be larger than asked for by this much, or by half */
};

void tq_buffers_init(struct tq_buffers *buffers, size_t limit_bytes)
{
    *buffers = (struct tq_buffers){ .limit_bytes = limit_bytes };
    pthread_mutex_init(&buffers->lock, NULL);
}

static bool map_new(size_t len, struct tq_buffer *buffer)
{
    size_t unit = len < SMALL ? ALIGNMENT : len < HUGE_PAGE ? 4096 : HUGE_PAGE;
    if (len > SIZE_MAX / 2 - unit)
        return false;
    size_t capacity = len == 0 ? unit : (len + unit - 1) / unit * unit;
    buffer->ptr = aligned_alloc(unit, capacity);
    if (buffer->ptr == NULL)
        return false;
    buffer->capacity = capacity;
    if (unit == HUGE_PAGE)
        (void)madvise(buffer->ptr, capacity, MADV_HUGEPAGE); /* an optimisation: works without */
    return true;
}

void tq_buffers_fini(struct tq_buffers *buffers)
{
    for (size_t i = 0; i < buffers->count; i++)
        free(buffers->cached[i].ptr);
    buffers->count = 0;
    pthread_mutex_destroy(&buffers->lock);
}

static struct tq_buffer remove_locked(struct tq_buffers *buffers, size_t at)
{
    struct tq_buffer buffer = buffers->cached[at];
    buffers->count--;
    memmove(&buffers->cached[at], &buffers->cached[at + 1], (buffers->count - at) * sizeof(buffer));
    buffers->bytes -= buffer.capacity;
    return buffer;
}

/* The smallest that is large enough and not much too large. */
static bool take_cached(struct tq_buffers *buffers, size_t len, struct tq_buffer *out_buffer)
{
    size_t most = len + (len / 2 > WASTE ? len / 2 : WASTE);
    size_t best = SIZE_MAX;
    pthread_mutex_lock(&buffers->lock);
    for (size_t i = 0; i < buffers->count; i++) {
        size_t capacity = buffers->cached[i].capacity;
        if (capacity >= len && capacity <= most && (best == SIZE_MAX || capacity < buffers->cached[best].capacity))
            best = i;
    }
    if (best != SIZE_MAX)
        *out_buffer = remove_locked(buffers, best);
    pthread_mutex_unlock(&buffers->lock);
    return best != SIZE_MAX;
}

bool tq_buffers_take(struct tq_buffers *buffers, size_t len, struct tq_buffer *out_buffer)
{
    return (len >= SMALL && len < SIZE_MAX / 4 && take_cached(buffers, len, out_buffer)) || map_new(len, out_buffer);
}

void tq_buffers_give(struct tq_buffers *buffers, struct tq_buffer *buffer)
{
    struct tq_buffer given = *buffer, evicted[TQ_BUFFERS_MAX];
    size_t n_evicted = 0;
    *buffer = (struct tq_buffer){ 0 };
    if (given.ptr == NULL || given.capacity < SMALL || given.capacity > buffers->limit_bytes) {
        free(given.ptr);
        return;
    }
    pthread_mutex_lock(&buffers->lock);
    while (buffers->count == TQ_BUFFERS_MAX || buffers->bytes > buffers->limit_bytes - given.capacity)
        evicted[n_evicted++] = remove_locked(buffers, 0);
    buffers->cached[buffers->count++] = given;
    buffers->bytes += given.capacity;
    pthread_mutex_unlock(&buffers->lock);
    while (n_evicted > 0)
        free(evicted[--n_evicted].ptr);
}

size_t tq_buffers_bytes(struct tq_buffers *buffers)
{
    pthread_mutex_lock(&buffers->lock);
    size_t bytes = buffers->bytes;
    pthread_mutex_unlock(&buffers->lock);
    return bytes;
}

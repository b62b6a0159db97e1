/* transport/base/seam.h: the one seam between us and the world: clock, randomness, allocation and I/O faults. The
 * system's seam is the default everywhere; tests pass another one and so run on virtual time, with chosen failures.
 * Owns: nothing; a seam outlives what uses it. Threads: a seam's functions are called from any thread. */
#ifndef TQ_BASE_SEAM_H
#define TQ_BASE_SEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tq/bytes.h"

/* Where I/O can be made to fail. */
#define TQ_FAULT_LIST(X)                                                                                               \
    X(SOCKET_OPEN)                                                                                                     \
    X(SOCKET_SEND)                                                                                                     \
    X(SOCKET_RECEIVE)                                                                                                  \
    X(THREAD_START)                                                                                                    \
    X(BULK_OPEN)                                                                                                       \
    X(BULK_CONNECT)                                                                                                    \
    X(BULK_READ)                                                                                                       \
    X(BULK_SEND)                                                                                                       \
    X(ARENA_GROW)                                                                                                      \
    X(FILE_OPEN)                                                                                                       \
    X(FILE_READ)                                                                                                       \
    X(FILE_WRITE)

#define TQ_FAULT_ENUM_(name) TQ_FAULT_##name,
enum tq_fault { TQ_FAULT_LIST(TQ_FAULT_ENUM_) TQ_FAULT_COUNT };
#undef TQ_FAULT_ENUM_

struct tq_seam {
    void *self;
    /* Monotonic, nanoseconds. */
    int64_t (*now_ns)(void *self);
    void (*random)(void *self, void *out, size_t len);
    /* Zeroed memory, or NULL. */
    void *(*alloc)(void *self, size_t len);
    void (*free)(void *self, void *memory);
    /* True: the I/O at this point is to fail now. */
    bool (*fault)(void *self, enum tq_fault point);
};

/* Clock, getrandom, calloc, free, no faults. */
const struct tq_seam *tq_seam_system(void);

/* NULL is the system's seam. */
int64_t tq_seam_now_ns(const struct tq_seam *seam);
uint64_t tq_seam_random64(const struct tq_seam *seam); /* never 0 */
void tq_seam_random(const struct tq_seam *seam, void *out, size_t len);
void *tq_seam_alloc(const struct tq_seam *seam, size_t len);
/* count * size with the product checked: NULL when it overflows. */
void *tq_seam_alloc_array(const struct tq_seam *seam, size_t count, size_t size);
void tq_seam_free(const struct tq_seam *seam, void *memory); /* NULL is allowed */
char *tq_seam_strdup(const struct tq_seam *seam, const char *text);
bool tq_seam_fault(const struct tq_seam *seam, enum tq_fault point);

#endif

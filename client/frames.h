/* client/frames.h: the inline frames of a message read as one run of bytes, region 0.
 * Owns: nothing; the table lives in the arena that was passed. Threads: one at a time. */
#ifndef TQ_CLIENT_FRAMES_H
#define TQ_CLIENT_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "tq/bytes.h"
#include "transport/base/arena.h"

struct tq_frames {
    const struct tq_bytes *frames;
    size_t n;
    uint64_t *starts; /* n + 1; the last is the length of all */
    size_t last;      /* frame of the last copy: cells come mostly in order */
};

/* False without memory. */
TQ_MUST_CHECK bool tq_frames_init(struct tq_frames *frames, struct tq_arena *arena, const struct tq_bytes *list,
                                  size_t n);
uint64_t tq_frames_bytes(const struct tq_frames *frames);
/* [offset, offset + len) must be inside. */
void tq_frames_copy(struct tq_frames *frames, uint64_t offset, size_t len, uint8_t *into);

#endif

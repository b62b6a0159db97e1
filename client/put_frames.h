/* client/put_frames.h: the inline cells of a part as frames of a message. Small columns share the first frame, a large
 * one whose cells are packed is sent from where it lies.
 * Owns: nothing; copies live in the arena that was passed. Threads: one at a time. */
#ifndef TQ_CLIENT_PUT_FRAMES_H
#define TQ_CLIENT_PUT_FRAMES_H

#include "client/column.h"
#include "transport/base/arena.h"

struct tq_put_frames {
    struct tq_bytes *frames;
    size_t n;
    uint64_t *starts; /* one a column: where its bytes begin in region 0 */
};

/* `inlined[c]`: whether column c is inline. The cells at n positions of each. False without memory. */
TQ_MUST_CHECK bool tq_put_frames_make(struct tq_arena *arena, const struct tq_cells *cells, size_t n_columns,
                                      const bool *inlined, const size_t *positions, size_t n,
                                      struct tq_put_frames *out_frames);

#endif

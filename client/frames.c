#include "client/frames.h"

#include <string.h>

#include "client/meta.h"
#include "transport/base/assert.h"

bool tq_frames_init(struct tq_frames *frames, struct tq_arena *arena, const struct tq_bytes *list, size_t n)
{
    *frames = (struct tq_frames){ .frames = list, .n = n };
    frames->starts = tq_arena_array(arena, n + 1, sizeof(*frames->starts));
    if (frames->starts == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        frames->starts[i + 1] = frames->starts[i] + list[i].len;
    return true;
}

uint64_t tq_frames_bytes(const struct tq_frames *frames)
{
    return frames->starts[frames->n];
}

/* The frame that holds the byte at `offset`. */
static size_t find(const struct tq_frames *frames, uint64_t offset)
{
    size_t at = frames->starts[frames->last] <= offset ? frames->last : 0;
    while (frames->starts[at + 1] <= offset)
        at++;
    return at;
}

void tq_frames_copy(struct tq_frames *frames, uint64_t offset, size_t len, uint8_t *into)
{
    TQ_ASSERT(offset <= tq_frames_bytes(frames) && len <= tq_frames_bytes(frames) - offset);
    while (len > 0) {
        frames->last = find(frames, offset);
        const struct tq_bytes *frame = &frames->frames[frames->last];
        size_t skip = (size_t)(offset - frames->starts[frames->last]);
        size_t piece = frame->len - skip < len ? frame->len - skip : len;
        memcpy(into, frame->ptr + skip, piece);
        offset += piece;
        into += piece;
        len -= piece;
    }
}

/* server/storage/limits.h: everything that a peer could make grow in a storage unit, with its bound. One table feeds
 * the struct, its defaults, the range check, GetLimits and the documentation. Owns: nothing. Threads: constant after
 * open. */
#ifndef TQ_STORAGE_LIMITS_H
#define TQ_STORAGE_LIMITS_H

#include <stdint.h>

/* name, default, min, max, help */
#define TQ_STORAGE_LIMITS(X)                                                                                           \
    X(budget_bytes, UINT64_C(1) << 30, UINT64_C(1) << 16, UINT64_C(1) << 46, "payload bytes that the unit holds")      \
    X(budget_samples, UINT64_C(1) << 24, 1, UINT64_C(1) << 32, "samples that the unit holds")                          \
    X(budget_cells, UINT64_C(1) << 26, 1, UINT64_C(1) << 36, "cells that the unit holds, empty ones included")         \
    X(request_cells, 262144, 1, 262144, "fields times samples of one put or get")                                      \
    X(request_samples, UINT64_C(1) << 20, 1, UINT64_C(1) << 22, "samples of one clear or describe")                    \
    X(request_fields, 1024, 1, 65536, "fields of one request")                                                         \
    X(request_regions, 4096, 1, 65536, "memory regions that one put reads from")                                       \
    X(name_bytes, 128, 1, 1024, "length of the name of a partition or a field")                                        \
    X(content_type_bytes, 256, 1, 1024, "length of a content type")                                                    \
    X(rank, 8, 1, 32, "dimensions of one sample")                                                                      \
    X(inline_bytes, UINT64_C(64) << 20, UINT64_C(1) << 10, UINT64_C(64) << 20, "inline bytes of one answer")           \
    X(session_pins, 4096, 1, UINT64_C(1) << 20, "answers of gets that one session has not released")                   \
    X(session_pinned_cells, UINT64_C(1) << 22, 1, UINT64_C(1) << 30, "cells that those answers hold")                  \
    X(cleared_samples, 262144, 1, UINT64_C(1) << 24, "cleared samples remembered, to refuse late puts")

struct tq_storage_limits {
#define TQ_LIMIT_MEMBER_(name, initial, min, max, help) uint64_t name;
    TQ_STORAGE_LIMITS(TQ_LIMIT_MEMBER_)
#undef TQ_LIMIT_MEMBER_
};

enum {
    /* Puts above this find their memory beside the loop: memory that was never touched comes at a gigabyte a second. */
    TQ_PLACE_AT_ONCE_BYTES = 4 << 20,
    /* Cells below this live beside their metadata and always travel inline: a block of an arena and a bulk range cost
     * more than the copy. */
    TQ_SMALL_CELL_BYTES = 4096,
    /* An answer of at most so many bytes is all inline: a pin and its release cost a round trip. */
    TQ_SMALL_ANSWER_BYTES = 32768,
    /* Inline cells from this size on are sent from where they lie; smaller ones are gathered in one frame. */
    TQ_INLINE_FRAME_BYTES = 65536,
    TQ_INLINE_FRAMES = 64,
};

#endif

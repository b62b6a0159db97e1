/* transport/bulk/frame.h: how bytes lie in an extent, seen by its owner and, mapped, by readers of the same host.
 *
 *   extent:  extent header | frame | frame | ...          all at multiples of 64 bytes
 *   frame:   frame header  | payload
 *
 * A reader trusts none of it: the header tells a stale frame from a fresh one, the digest tells good bytes from bad.
 * The owner keeps its own books elsewhere, because whoever maps the extent can write to it. Owns: nothing. Threads:
 * version is atomic, the rest is written before it is published. */
#ifndef TQ_BULK_FRAME_H
#define TQ_BULK_FRAME_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

enum { TQ_FRAME_ALIGN = 64, TQ_TICKET_BYTES = 16 };

#define TQ_EXTENT_MAGIC UINT64_C(0x31746e6574786571) /* "qextent1" */
#define TQ_FRAME_MAGIC  UINT64_C(0x31656d6172667174) /* "tqframe1" */

struct tq_extent_header {
    uint64_t magic;
    uint64_t region;
    uint64_t length;
    uint8_t ticket[TQ_TICKET_BYTES];
    uint8_t reserved[24];
};

struct tq_frame_header {
    uint64_t magic;
    _Atomic uint64_t version; /* 0: being written, or freed */
    uint64_t length;          /* of the payload */
    uint8_t reserved[40];
};

static_assert(sizeof(struct tq_extent_header) == TQ_FRAME_ALIGN, "frames are aligned behind it");
static_assert(sizeof(struct tq_frame_header) == TQ_FRAME_ALIGN, "the payload is aligned behind it");

#endif

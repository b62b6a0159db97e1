/* transport/rpc/outbox.h: the replies of one batch of requests, sent together: libzmq's I/O thread is woken once and
 * not between any two of them. What could not be sent comes back to whoever flushes. Owns: the messages until they are
 * flushed. Threads: loop thread. */
#ifndef TQ_RPC_OUTBOX_H
#define TQ_RPC_OUTBOX_H

#include "transport/rpc/server_core.h"

enum { TQ_OUTBOX_MAX = 256, TQ_OUTBOX_FRAME_MAX = 512 };

struct tq_outgoing {
    struct tq_peer to;
    size_t len;
    uint8_t frame[TQ_OUTBOX_FRAME_MAX];
};

struct tq_outbox {
    bool open; /* a batch is under way */
    unsigned count;
    struct tq_outgoing items[TQ_OUTBOX_MAX];
};

/* Copies a short message without payload frames. False: not taken (closed, full, long), send it now. */
bool tq_outbox_put(struct tq_outbox *outbox, const struct tq_peer *to, const struct tq_outbound *message);
/* Closes the box, then sends what is in it through the core's io; tells the core of each message that did not go. */
void tq_outbox_flush(struct tq_outbox *outbox, struct tq_server_core *core, int64_t now_ns);

#endif

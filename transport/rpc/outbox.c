#include "transport/rpc/outbox.h"

#include <string.h>

bool tq_outbox_put(struct tq_outbox *outbox, const struct tq_peer *to, const struct tq_outbound *message)
{
    if (!outbox->open || outbox->count == TQ_OUTBOX_MAX || message->payload != NULL ||
        message->head.len > TQ_OUTBOX_FRAME_MAX)
        return false;
    struct tq_outgoing *item = &outbox->items[outbox->count++];
    item->to = *to;
    item->len = message->head.len;
    memcpy(item->frame, message->head.ptr, message->head.len);
    return true;
}

void tq_outbox_flush(struct tq_outbox *outbox, struct tq_server_core *core, int64_t now_ns)
{
    outbox->open = false;
    for (unsigned i = 0; i < outbox->count; i++) {
        const struct tq_outgoing *item = &outbox->items[i];
        struct tq_outbound message = { { item->frame, item->len }, NULL };
        enum tq_sent sent = core->io.send(core->io.self, &item->to, &message);
        if (sent != TQ_SENT)
            tq_server_undelivered(core, &item->to, message.head, sent, now_ns);
    }
    outbox->count = 0;
}

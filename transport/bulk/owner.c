#include "transport/bulk/owner.h"

#include <pb_decode.h>
#include <pb_encode.h>

#include "transport/base/assert.h"
#include "transport/base/log.h"

enum { SENDS_OF_ONE_CALLER = 1024 };

/* A send outlives the reader's deadline by this before we take its endpoint for dead. */
static const int64_t overdue_after_ns = INT64_C(1000000000);
static const int64_t longest_ns = INT64_C(3600000000000);

void tq_owner_init(struct tq_owner *owner, const struct tq_seam *seam, const struct tq_owner_port *port)
{
    *owner = (struct tq_owner){ .seam = seam, .port = *port };
    tq_map_init(&owner->by_process, seam);
    tq_list_init(&owner->callers);
}

void tq_owner_fini(struct tq_owner *owner)
{
    TQ_ASSERT(tq_list_empty(&owner->callers));
    tq_map_fini(&owner->by_process);
}

/* ---- callers ---- */

static void settle(struct tq_owner *owner, struct tq_caller *caller)
{
    if (!caller->closed || caller->flying > 0)
        return;
    owner->port.gone(owner->port.self, caller);
    tq_list_remove(&caller->node);
    tq_seam_free(owner->seam, caller);
}

static void close_caller(struct tq_owner *owner, struct tq_caller *caller)
{
    if (caller->closing)
        return;
    caller->closing = true;
    owner->dead[owner->dead_at++ % TQ_DEAD_LINKS] = (struct tq_dead_link){ caller->process, caller->link };
    (void)tq_map_remove(&owner->by_process, caller->process);
    owner->port.close(owner->port.self, caller);
}

static bool is_dead_link(const struct tq_owner *owner, const tq_wire_BulkRead *message)
{
    for (uint32_t i = 0; i < TQ_DEAD_LINKS; i++)
        if (owner->dead[i].process == message->process && owner->dead[i].link >= message->link)
            return true;
    return false;
}

static struct tq_caller *open_caller(struct tq_owner *owner, const tq_wire_BulkRead *message, void *from)
{
    struct tq_error why;
    tq_wire_BulkAddress reader;
    const struct tq_bytes reply_to = { message->reply_to.bytes, message->reply_to.size };
    if (tq_address_decode(reply_to, &reader, &why) != TQ_OK || reader.process != message->process) {
        owner->garbage++;
        return NULL;
    }
    struct tq_caller *caller = tq_seam_alloc(owner->seam, sizeof(*caller));
    if (caller == NULL)
        return NULL;
    *caller = (struct tq_caller){ .process = message->process, .link = message->link };
    tq_list_init(&caller->node);
    tq_list_init(&caller->sends);
    if (!tq_map_put(&owner->by_process, caller->process, caller) ||
        owner->port.open(owner->port.self, caller, &reader, from, &why) != TQ_OK) {
        (void)tq_map_remove(&owner->by_process, caller->process);
        tq_seam_free(owner->seam, caller);
        return NULL;
    }
    tq_list_add_tail(&owner->callers, &caller->node);
    return caller;
}

/* The caller of this link; NULL: the link is an old one, or cannot be answered (the reader's deadline tells it). */
static struct tq_caller *find_caller(struct tq_owner *owner, const tq_wire_BulkRead *message, void *from)
{
    struct tq_caller *caller = tq_map_get(&owner->by_process, message->process);
    if (caller != NULL && caller->link == message->link)
        return caller;
    if (is_dead_link(owner, message) || (caller != NULL && caller->link > message->link))
        return NULL;
    if (caller != NULL)
        close_caller(owner, caller);
    return open_caller(owner, message, from);
}

/* ---- sends ---- */

static void send_over(struct tq_owner *owner, struct tq_send *send)
{
    owner->port.drop(owner->port.self, &send->hold);
    tq_list_remove(&send->node);
    send->caller->flying--;
    tq_seam_free(owner->seam, send);
}

static tq_status hold_range(struct tq_owner *owner, const tq_wire_BulkRead *message, pb_size_t i, struct tq_send *send,
                            struct tq_error *err)
{
    const struct tq_claim claim = {
        .region = message->region,
        .ticket = { message->ticket.bytes, message->ticket.size },
        .frame = message->frame[i],
        .skip = message->skip[i],
        .length = message->length[i],
        .version = message->version[i],
    };
    if (send->caller->flying >= SENDS_OF_ONE_CALLER)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "OWNER_BUSY", "more than %d sends under way", SENDS_OF_ONE_CALLER);
    return owner->port.hold(owner->port.self, &claim, &send->payload, &send->hold, err);
}

static void encode_header(struct tq_send *send, const tq_wire_BulkRead *message, pb_size_t i, tq_status status)
{
    const tq_wire_BulkPiece header = {
        .transfer = message->transfer,
        .piece = message->first_piece + i,
        .status = (uint32_t)status,
        .length = status == TQ_OK ? message->length[i] : 0,
    };
    pb_ostream_t stream = pb_ostream_from_buffer(send->header, sizeof(send->header));
    TQ_ASSERT(pb_encode(&stream, tq_wire_BulkPiece_fields, &header));
    send->header_len = stream.bytes_written;
}

static int64_t overdue_at(int64_t now_ns, uint64_t expires_us)
{
    int64_t left_ns = expires_us < (uint64_t)(longest_ns / 1000) ? (int64_t)expires_us * 1000 : longest_ns;
    return now_ns + left_ns + overdue_after_ns;
}

static void answer(struct tq_owner *owner, struct tq_caller *caller, const tq_wire_BulkRead *message, pb_size_t i)
{
    struct tq_error why = { 0 };
    if (caller->flying >= 2 * SENDS_OF_ONE_CALLER) { /* refusals are sends, too: it asks and takes nothing */
        close_caller(owner, caller);
        return;
    }
    struct tq_send *send = tq_seam_alloc(owner->seam, sizeof(*send));
    if (send == NULL)
        return; /* the reader's deadline ends it */
    *send = (struct tq_send){ .caller = caller };
    tq_list_init(&send->node);
    tq_list_init(&send->over);
    tq_status status = hold_range(owner, message, i, send, &why);
    encode_header(send, message, i, status);
    send->length = status == TQ_OK ? message->length[i] : 0;
    send->overdue_ns = overdue_at(tq_seam_now_ns(owner->seam), message->expires_us);
    tq_list_add_tail(&caller->sends, &send->node);
    caller->flying++;
    owner->sends += status == TQ_OK;
    owner->refused += status != TQ_OK;
    owner->sent_bytes += send->length;
    if (owner->port.send(owner->port.self, send, &why) == TQ_OK)
        return;
    tq_debug("bulk-send", "why=\"%s\"", why.message);
    send_over(owner, send);
    close_caller(owner, caller);
}

static bool is_well_formed(const tq_wire_BulkRead *message)
{
    return message->frame_count > 0 && message->skip_count == message->frame_count &&
           message->length_count == message->frame_count && message->version_count == message->frame_count &&
           message->process != 0 && message->link != 0;
}

void tq_owner_asked(struct tq_owner *owner, struct tq_bytes bytes, void *from)
{
    tq_wire_BulkRead message = tq_wire_BulkRead_init_zero;
    pb_istream_t stream = pb_istream_from_buffer(bytes.ptr, bytes.len);
    if (owner->closing)
        return;
    if (!pb_decode(&stream, tq_wire_BulkRead_fields, &message) || !is_well_formed(&message)) {
        owner->garbage++;
        return;
    }
    struct tq_caller *caller = find_caller(owner, &message, from);
    tq_debug("bulk-asked", "process=%llx link=%u transfer=%llx pieces=%u answered=%d",
             (unsigned long long)message.process, (unsigned)message.link, (unsigned long long)message.transfer,
             (unsigned)message.frame_count, caller != NULL);
    if (caller == NULL)
        return;
    caller->flying++; /* a send that fails at once must not free it under us */
    for (pb_size_t i = 0; i < message.frame_count && !caller->closing; i++)
        answer(owner, caller, &message, i);
    caller->flying--;
    settle(owner, caller);
}

void tq_owner_sent(struct tq_owner *owner, struct tq_send *send, tq_status status)
{
    struct tq_caller *caller = send->caller;
    tq_debug("bulk-sent", "link=%u status=%d bytes=%llu", (unsigned)caller->link, (int)status,
             (unsigned long long)send->length);
    send_over(owner, send);
    if (status != TQ_OK)
        close_caller(owner, caller);
    settle(owner, caller);
}

void tq_owner_failed(struct tq_owner *owner, struct tq_caller *caller)
{
    close_caller(owner, caller);
}

void tq_owner_closed(struct tq_owner *owner, struct tq_caller *caller)
{
    TQ_ASSERT(caller->closing && !caller->closed);
    caller->closed = true;
    settle(owner, caller);
}

/* ---- time, and memory that is wanted back ---- */

static bool has_wanted(struct tq_owner *owner, const struct tq_caller *caller)
{
    tq_list_each (node, &caller->sends) {
        if (owner->port.is_wanted(owner->port.self, &tq_container_of(node, struct tq_send, node)->hold))
            return true;
    }
    return false;
}

/* The oldest send of a caller is not the first to be overdue, but near enough: readers wait about equally long. */
int64_t tq_owner_tick(struct tq_owner *owner, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX;
    tq_list_each_safe (node, &owner->callers) {
        struct tq_caller *caller = tq_container_of(node, struct tq_caller, node);
        if (caller->closing || tq_list_empty(&caller->sends))
            continue;
        int64_t due_ns = tq_container_of(caller->sends.next, struct tq_send, node)->overdue_ns;
        if (due_ns <= now_ns) {
            owner->overdue++;
            close_caller(owner, caller);
        } else if (due_ns < next_ns) {
            next_ns = due_ns;
        }
    }
    return next_ns;
}

void tq_owner_relieve(struct tq_owner *owner)
{
    tq_list_each_safe (node, &owner->callers) {
        struct tq_caller *caller = tq_container_of(node, struct tq_caller, node);
        if (!caller->closing && has_wanted(owner, caller))
            close_caller(owner, caller);
    }
}

void tq_owner_close_all(struct tq_owner *owner)
{
    owner->closing = true;
    tq_list_each_safe (node, &owner->callers)
        close_caller(owner, tq_container_of(node, struct tq_caller, node));
}

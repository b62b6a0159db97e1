/* transport/bulk/reader.h: the reader's side of rendezvous transfers, without I/O and without a clock. Events come in,
 * calls of the port go out.
 *
 * A link is our endpoint to one owner, and the unit of cancellation: a receive can be stopped only by closing its link
 * by force, which stops all others on it, too; those start again within their deadlines.
 *
 *   DOWN --ask--> UP --failure, or a deadline with receives into the caller's memory--> CLOSING
 *   CLOSING --closed, and every receive has called back--> DOWN
 *
 * Owns: the transfers between tq_reader_start and the end of `finished`.
 * Threads: the bulk thread. */
#ifndef TQ_BULK_READER_H
#define TQ_BULK_READER_H

#include "transport/base/map.h"
#include "transport/bulk/transfer.h"

struct tq_reader_port {
    void *self;
    /* Makes the endpoint, and sets link->reply_to. */
    TQ_MUST_CHECK tq_status (*open)(void *self, struct tq_link *link, struct tq_error *err);
    /* Sends a BulkRead; the bytes are copied. A later failure is the link's. */
    TQ_MUST_CHECK tq_status (*ask)(void *self, struct tq_link *link, const uint8_t *bytes, size_t len,
                                   struct tq_error *err);
    /* Begins to close by force. tq_reader_closed follows, perhaps inside the call. */
    void (*close)(void *self, struct tq_link *link);
    /* See tq_memory_adrift. */
    TQ_MUST_CHECK bool (*adrift)(void *self, const uint8_t *ptr, size_t len, struct tq_hold *out_hold);
    void (*land)(void *self, struct tq_hold *hold);
    bool (*quarantine_is_full)(void *self);
    /* Whether the owner is known to have died: then nothing is tried again. */
    bool (*is_dead)(void *self, struct tq_link *link);
    /* The transfer is over, its result filled, its destinations quiet. The port reports and frees it. */
    void (*finished)(void *self, struct tq_transfer *transfer);
    /* Reports the result of a transfer that is adrift; `finished` comes later. */
    void (*expired)(void *self, struct tq_transfer *transfer);
};

enum tq_link_state { TQ_LINK_DOWN, TQ_LINK_UP, TQ_LINK_CLOSING, TQ_LINK_STATES };

/* How much of a link may be under way. Over shared memory it is so little that it fits into the queue of the link's
 * worker (2 MiB): else an owner could not get its bytes back from UCX while we are stopped. */
struct tq_pace {
    size_t piece_bytes;
    uint64_t window_bytes;
};

extern const struct tq_pace tq_pace_shm, tq_pace_tcp;

struct tq_link {
    const struct tq_pace *pace;
    enum tq_link_state state;
    uint32_t number;        /* counts endpoints; the owner follows it */
    struct tq_list waiting; /* transfers with pieces left to ask for */
    struct tq_list asked;   /* all others */
    struct tq_list adrift;
    uint32_t flying; /* pieces asked for or being received */
    uint64_t flying_bytes;
    uint32_t receiving;       /* of all transfers, adrift ones too */
    int64_t heard_ns;         /* when the owner last answered, or was asked after a pause */
    bool closed;              /* the endpoint is gone; receives may still have to call back */
    struct tq_error why;      /* of the failure that closes it; OK: closed by ourselves */
    struct tq_bytes reply_to; /* our encoded address for this link; the port's, from open to closed */
};

struct tq_reader {
    const struct tq_seam *seam;
    struct tq_reader_port port;
    struct tq_heap *timers; /* transfers by deadline; whoever owns it calls tq_reader_expire */
    struct tq_map by_id;    /* transfers by their number on the wire */
    uint64_t process;       /* ours */
    uint32_t links;         /* endpoints made so far, of all links: an owner never sees a number twice */
    uint32_t window_pieces; /* of one link */
};

void tq_reader_init(struct tq_reader *reader, const struct tq_seam *seam, const struct tq_reader_port *port,
                    struct tq_heap *timers);
void tq_reader_fini(struct tq_reader *reader);
void tq_link_init(struct tq_link *link, const struct tq_pace *pace);
/* No transfer, no receive: it can be forgotten once its endpoint is closed. */
bool tq_link_is_idle(const struct tq_link *link);

/* The transfer's pieces are planned, its timer is armed. May finish it at once. */
void tq_reader_start(struct tq_reader *reader, struct tq_link *link, struct tq_transfer *transfer);

/* An owner announces a piece. Non-NULL: receive exactly piece->len bytes to piece->into, then call tq_reader_received,
 * once. NULL: decline. A piece without bytes, or refused by the owner, is taken here and NULL is returned. */
struct tq_piece *tq_reader_announced(struct tq_reader *reader, struct tq_bytes header, size_t len);
/* `crc32c` of what arrived, when `status` is OK. */
void tq_reader_received(struct tq_reader *reader, struct tq_piece *piece, tq_status status, uint32_t crc32c);

/* The endpoint reports an error. */
void tq_reader_failed(struct tq_reader *reader, struct tq_link *link, const struct tq_error *why);
/* Whether pieces were asked for and for so long nothing at all has come. */
bool tq_link_is_silent(const struct tq_link *link, int64_t now_ns, int64_t silence_ns);
/* The endpoint is gone. */
void tq_reader_closed(struct tq_reader *reader, struct tq_link *link);
/* The transfer's deadline has passed. */
void tq_reader_expire(struct tq_reader *reader, struct tq_transfer *transfer);
/* Ends all transfers of the link with CANCELLED and closes it. */
void tq_reader_cancel(struct tq_reader *reader, struct tq_link *link);

#endif

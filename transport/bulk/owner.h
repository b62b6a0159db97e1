/* transport/bulk/owner.h: the owner's side of rendezvous transfers, without I/O and without a clock: checks what a
 * reader asks for, holds the bytes, sends them.
 *
 * A caller is one link of one reader. When the reader comes with a higher link number, it has given the old link up,
 * and the old caller closes.
 *
 *   UP --failure, a newer link, an overdue send, or bytes wanted back--> CLOSING --closed, every send called back-->
 * gone
 *
 * Owns: callers and sends. Threads: the bulk thread. */
#ifndef TQ_BULK_OWNER_H
#define TQ_BULK_OWNER_H

#include "transport/base/heap.h"
#include "transport/base/map.h"
#include "transport/bulk/address.h"
#include "transport/bulk/memory.h"

struct tq_caller {
    struct tq_list node;
    uint64_t process;
    uint32_t link;
    bool closing, closed;
    uint32_t flying;
    struct tq_list sends;
    void *endpoint; /* the port's */
};

struct tq_send {
    struct tq_list node;
    struct tq_caller *caller;
    struct tq_hold hold;
    const uint8_t *payload;
    uint64_t length;
    int64_t overdue_ns;
    uint8_t header[tq_wire_BulkPiece_size];
    size_t header_len;
    void *carrier; /* the port's, as are the two below */
    struct tq_list over;
    tq_status status;
};

struct tq_owner_port {
    void *self;
    TQ_MUST_CHECK tq_status (*hold)(void *self, const struct tq_claim *claim, const uint8_t **out_ptr,
                                    struct tq_hold *out_hold, struct tq_error *err);
    void (*drop)(void *self, struct tq_hold *hold);
    bool (*is_wanted)(void *self, const struct tq_hold *hold);
    /* Makes an endpoint to the reader, or takes the one that its message came by. */
    TQ_MUST_CHECK tq_status (*open)(void *self, struct tq_caller *caller, const tq_wire_BulkAddress *reader, void *from,
                                    struct tq_error *err);
    /* Sends header and payload. On OK tq_owner_sent follows, once, perhaps inside the call. */
    TQ_MUST_CHECK tq_status (*send)(void *self, struct tq_send *send, struct tq_error *err);
    /* Begins to close by force. tq_owner_closed follows, perhaps inside the call. */
    void (*close)(void *self, struct tq_caller *caller);
    /* The caller is about to be freed. */
    void (*gone)(void *self, struct tq_caller *caller);
};

/* A link that ended here. Its reader has not noticed yet; to answer on another endpoint would escape its force close.
 */
struct tq_dead_link {
    uint64_t process;
    uint32_t link;
};

enum { TQ_DEAD_LINKS = 256 };

struct tq_owner {
    const struct tq_seam *seam;
    struct tq_owner_port port;
    struct tq_map by_process;                /* the callers that are up */
    struct tq_list callers;                  /* all */
    struct tq_dead_link dead[TQ_DEAD_LINKS]; /* the last ones, round and round */
    uint32_t dead_at;
    bool closing;
    uint64_t sends, sent_bytes, refused, garbage, overdue;
};

void tq_owner_init(struct tq_owner *owner, const struct tq_seam *seam, const struct tq_owner_port *port);
/* All callers must be gone: tq_owner_close_all and its events. */
void tq_owner_fini(struct tq_owner *owner);

/* A BulkRead, as it came. `from` goes to the port's open. */
void tq_owner_asked(struct tq_owner *owner, struct tq_bytes message, void *from);
void tq_owner_sent(struct tq_owner *owner, struct tq_send *send, tq_status status);
void tq_owner_failed(struct tq_owner *owner, struct tq_caller *caller);
void tq_owner_closed(struct tq_owner *owner, struct tq_caller *caller);

/* Closes callers with overdue sends. Returns when it wants to be called again. */
int64_t tq_owner_tick(struct tq_owner *owner, int64_t now_ns);
/* Closes the callers that read bytes which their owner wants back. */
void tq_owner_relieve(struct tq_owner *owner);
/* Lets nobody in any more: whoever asks while we close is not answered. */
void tq_owner_close_all(struct tq_owner *owner);

#endif

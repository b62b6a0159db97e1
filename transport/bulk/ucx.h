/* transport/bulk/ucx.h: the skin over UCX: contexts, workers, endpoints, messages, mapped extents. It decides nothing.
 *
 * Three contexts. Two carry active messages, one over shared memory, one over TCP, each by two workers: `asking` (our
 * reads; the pieces come back to it) and `serving` (other processes' reads; the pieces leave from it). Between a
 * reader's asking worker and an owner's serving worker there is then one endpoint on each side, and closing it stops
 * everything that belongs to it. Over shared memory both sides make their endpoint from the other's worker address.
 * Over TCP the reader connects to the owner's listener and the owner adopts what it accepted: such endpoints are closed
 * at once, while endpoints made from worker addresses are half closed first, and UCX 1.13 dies when the other side does
 * the same while data waits. The memory context knows shared memory only; extents come from it, and endpoints of its
 * worker do nothing but unpack keys.
 *
 * Owns: everything of UCX. Threads: tq_ucx_map and tq_ucx_unmap from any; all else on the bulk thread, except open and
 * close. Events come from inside tq_ucx_progress; `sent` also from inside a send, `received` from inside an
 * announcement. */
#ifndef TQ_BULK_UCX_H
#define TQ_BULK_UCX_H

#include <stdbool.h>

#include "tq/bytes.h"
#include "transport/base/seam.h"
#include "transport/bulk/memory.h"

struct tq_ucx;
struct tq_endpoint;
struct tq_view;
struct tq_piece;
struct tq_send;

struct tq_ucx_events {
    void *user;
    /* `from`: the accepted endpoint that it came by; NULL over shared memory. */
    void (*asked)(void *user, struct tq_bytes message, struct tq_endpoint *from);
    struct tq_piece *(*announced)(void *user, struct tq_bytes header, size_t len);
    void (*received)(void *user, struct tq_piece *piece, tq_status status);
    void (*sent)(void *user, struct tq_send *send, tq_status status);
    void (*failed)(void *user, void *whose, const struct tq_error *why);
    void (*closed)(void *user, void *whose); /* the endpoint is freed afterwards */
};

struct tq_ucx_opts {
    const struct tq_seam *seam;
    bool tcp_only;
    const char *devices;
    struct tq_ucx_events events;
};

enum tq_ucx_role { TQ_UCX_ASKING, TQ_UCX_SERVING, TQ_UCX_ROLES };

/* Fails with UNAVAILABLE. Without shared memory it opens all the same: tq_ucx_has_shared_memory. */
TQ_MUST_CHECK tq_status tq_ucx_open(const struct tq_ucx_opts *opts, struct tq_ucx **out_ucx, struct tq_error *err);
/* All endpoints and views are closed, all mappings given back. NULL is allowed. */
void tq_ucx_close(struct tq_ucx *ucx);
bool tq_ucx_has_shared_memory(const struct tq_ucx *ucx);

/* Worker addresses for shared memory; empty without it. They live as long as `ucx`. */
struct tq_bytes tq_ucx_serving_address(const struct tq_ucx *ucx);
struct tq_bytes tq_ucx_mapping_address(const struct tq_ucx *ucx);
/* Where it listens for readers over TCP, in host order. */
void tq_ucx_listens_at(const struct tq_ucx *ucx, uint32_t *out_ipv4, uint16_t *out_port);

/* Rejects connections from now on, and those that wait. The listener itself stays until tq_ucx_close: progress after
 * its end would run UCX's callbacks of connections that came meanwhile. */
void tq_ucx_turn_away(struct tq_ucx *ucx);

/* Delivers events. Returns how much was done: 0: nothing to do. */
unsigned tq_ucx_progress(struct tq_ucx *ucx);
/* How many are not freed yet, mappers included. */
unsigned tq_ucx_endpoints(const struct tq_ucx *ucx);
/* Whether a close is under way: its end signals nothing, so keep making progress. */
bool tq_ucx_is_closing(const struct tq_ucx *ucx);
/* Prepares to sleep on the descriptor. False: something has come, make progress instead. */
TQ_MUST_CHECK bool tq_ucx_arm(struct tq_ucx *ucx);
int tq_ucx_fd(const struct tq_ucx *ucx);

/* ---- endpoints: ucx_endpoints.c ---- */

enum tq_lane { TQ_LANE_SHM = 1u << 0, TQ_LANE_TCP = 1u << 1, TQ_LANE_OTHER = 1u << 2 };

/* `whose` comes back with the endpoint's events. All fail with UNAVAILABLE. Over shared memory: */
TQ_MUST_CHECK tq_status tq_endpoint_open(struct tq_ucx *ucx, enum tq_ucx_role role, struct tq_bytes worker, void *whose,
                                         struct tq_endpoint **out_endpoint, struct tq_error *err);
/* Where an endpoint that asks is answered: the address of its own worker; empty over TCP. */
struct tq_bytes tq_endpoint_answered_at(const struct tq_endpoint *endpoint);
/* Over TCP, the reader's side: */
TQ_MUST_CHECK tq_status tq_endpoint_connect(struct tq_ucx *ucx, uint32_t ipv4, uint16_t port, void *whose,
                                            struct tq_endpoint **out_endpoint, struct tq_error *err);
/* Over TCP, the owner's: an endpoint that `asked` named becomes somebody's. Fails when it is closing. */
TQ_MUST_CHECK tq_status tq_endpoint_adopt(struct tq_endpoint *accepted, void *whose, struct tq_error *err);
/* Closes what was accepted and never adopted. */
void tq_ucx_close_strangers(struct tq_ucx *ucx);
/* Begins to close by force: what is under way on it is called back as cancelled. `closed` follows. */
void tq_endpoint_close(struct tq_endpoint *endpoint);
/* The transports that it really obtained: enum tq_lane. */
unsigned tq_endpoint_lanes(const struct tq_endpoint *endpoint);

/* ---- messages: ucx_messages.c ---- */

/* Sends a BulkRead; the bytes are copied. */
TQ_MUST_CHECK tq_status tq_endpoint_ask(struct tq_endpoint *endpoint, const uint8_t *bytes, size_t len,
                                        struct tq_error *err);
/* Sends a piece. On OK `sent` follows, perhaps inside the call. */
TQ_MUST_CHECK tq_status tq_endpoint_send(struct tq_endpoint *endpoint, struct tq_send *send, struct tq_error *err);

/* ---- extents, ours and others': ucx_memory.c ---- */

/* An extent that peers can map, with its packed key. Fails with RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_ucx_map(struct tq_ucx *ucx, size_t bytes, struct tq_mapping *out_mapping,
                                   struct tq_error *err);
void tq_ucx_unmap(struct tq_ucx *ucx, struct tq_mapping *mapping);

/* Connects to the mapping worker of another process; the same object for all its extents. */
TQ_MUST_CHECK tq_status tq_mapper_open(struct tq_ucx *ucx, struct tq_bytes address, struct tq_endpoint **out_mapper,
                                       struct tq_error *err);
void tq_mapper_close(struct tq_endpoint *mapper);
/* Maps an extent of that process. Fails with UNAVAILABLE: no shared memory in between. */
TQ_MUST_CHECK tq_status tq_view_open(struct tq_endpoint *mapper, struct tq_bytes packed, uint64_t base,
                                     struct tq_view **out_view, const uint8_t **out_ptr, struct tq_error *err);
void tq_view_close(struct tq_view *view);

#endif

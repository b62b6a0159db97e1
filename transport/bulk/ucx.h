/* transport/bulk/ucx.h: the skin over UCX: contexts, workers, endpoints, messages, mapped extents. It decides nothing.
 *
 * Two contexts. The message context carries active messages by two workers: `asking` (our reads; the pieces come back
 * to it) and `serving` (other processes' reads; the pieces leave from it). Between a reader's asking worker and an
 * owner's serving worker there is then one endpoint on each side, and closing it stops everything that belongs to it.
 * The memory context knows shared memory only; extents come from it, and endpoints of its worker do nothing but unpack
 * keys.
 *
 * Owns: everything of UCX. Threads: tq_ucx_map and tq_ucx_unmap from any; all else on the bulk thread, except open and
 * close. Events come from inside tq_ucx_progress, `sent` and `received` also from inside a send or an announcement. */
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
    void (*asked)(void *user, struct tq_bytes message);
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

/* Worker addresses; they live as long as `ucx`. The mapping worker's is empty without shared memory. */
struct tq_bytes tq_ucx_worker_address(const struct tq_ucx *ucx, enum tq_ucx_role role);
struct tq_bytes tq_ucx_mapping_address(const struct tq_ucx *ucx);

/* Delivers events. Returns how much was done: 0: nothing to do. */
unsigned tq_ucx_progress(struct tq_ucx *ucx);
/* How many are not freed yet, mappers included. */
unsigned tq_ucx_endpoints(const struct tq_ucx *ucx);
/* Prepares to sleep on the two descriptors. False: something has come, make progress instead. */
TQ_MUST_CHECK bool tq_ucx_arm(struct tq_ucx *ucx);
int tq_ucx_fd(const struct tq_ucx *ucx, enum tq_ucx_role role);

/* ---- endpoints: ucx_endpoints.c ---- */

enum tq_lane { TQ_LANE_SHM = 1u << 0, TQ_LANE_TCP = 1u << 1, TQ_LANE_OTHER = 1u << 2 };

/* `whose` comes back with the endpoint's events. Fails with UNAVAILABLE. */
TQ_MUST_CHECK tq_status tq_endpoint_open(struct tq_ucx *ucx, enum tq_ucx_role role, struct tq_bytes worker, void *whose,
                                         struct tq_endpoint **out_endpoint, struct tq_error *err);
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

/* tq/bulk.h: tensor bytes between processes, beside the RPCs. One primitive, tq_bulk_read: pull ranges of memory that a
 * peer exposes into mine. A put is the unit reading from the client, a get is the client reading from the unit; the RPC
 * is the rendezvous.
 *
 * Three engines, chosen per peer and kind of memory, visible in the result and in the counters:
 *   remote read            arenas of a peer on this host: a copy without the owner's help; version word and digest tell
 *                          whether the copy is good
 *   rendezvous             everything else over UCX: the reader asks by active message, the owner checks and sends
 *   inline                 not here: small payloads and peers without UCX travel as frames of the RPC
 *
 * Owns: tq_bulk > extents > blocks; exposures hold memory that the application owns.
 * Threads: every function from any thread; `done` callbacks run on the bulk thread and must not block. */
#ifndef TQ_BULK_H
#define TQ_BULK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tq/bytes.h"
#include "tq/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tq_bulk_mode {
    TQ_BULK_AUTO = 0, /* UCX where it works, inline frames elsewhere */
    TQ_BULK_OFF = 1,  /* inline frames only; no UCX context is made */
    TQ_BULK_REQUIRED = 2,
};

struct tq_seam;

/* Zero means the default. */
struct tq_bulk_opts {
    enum tq_bulk_mode mode;
    bool tcp_only;           /* no shared memory: transports tcp,self instead of posix,tcp,self */
    const char *devices;     /* network devices UCX may listen on; default "lo" */
    size_t extent_bytes;     /* arenas grow by this; default 64 MiB; larger blocks get their own extent */
    size_t arena_bytes;      /* budget of all extents; default 1 GiB */
    size_t keep_bytes;       /* of empty extents kept for the next blocks, so that these need not be touched again;
                                default: one extent, for two seconds */
    size_t quarantine_bytes; /* of memory under uncertain writers; default 256 MiB */
    const struct tq_seam *seam;
};

struct tq_bulk;

/* Makes the UCX context and starts the bulk thread. tq_init() must have run. Fails with UNAVAILABLE (mode REQUIRED and
 * UCX does not start; with AUTO it opens in inline mode and logs why), RESOURCE_EXHAUSTED. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_bulk_open(const struct tq_bulk_opts *opts, struct tq_bulk **out_bulk,
                                               struct tq_error *err);
/* Ends transfers with CANCELLED, closes endpoints by force, frees the arenas. Blocks and exposures must be back. */
TQ_PUBLIC void tq_bulk_close(struct tq_bulk *bulk);

/* How peers reach us: an encoded tq.wire.BulkAddress to carry in RPCs. Empty in inline mode. Lives as long as `bulk`.
 */
TQ_PUBLIC struct tq_bytes tq_bulk_address(const struct tq_bulk *bulk);
/* Whether a transfer with the owner of this address can go over UCX at all (well formed, a transport in common). When
 * false, use inline frames. */
TQ_PUBLIC bool tq_bulk_reaches(struct tq_bulk *bulk, struct tq_bytes address);

/* ---- own memory: blocks of the arenas ---- */

/* Memory that UCX owns and peers of this host can map. A block is one frame: a header with its version stands in front
 * of ptr, invisible to the user. Version 0: being written or freed; readers refuse it. */
struct tq_block {
    uint8_t *ptr; /* aligned to 64 bytes; pages are touched already */
    size_t len;
    uint64_t region; /* of the extent; what tq_bulk_region() describes */
    uint64_t frame;  /* offset of ptr in the region */
    void *extent_;   /* private */
};

/* Fails with RESOURCE_EXHAUSTED (reason BUDGET_BYTES: the budget; NO_MEMORY: the system). In inline mode the block is
 * plain memory. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_bulk_alloc(struct tq_bulk *bulk, size_t len, struct tq_block *out_block,
                                                struct tq_error *err);
/* Zeroes the version first, so that readers notice. A block under an unfinished transfer is quarantined and freed when
 * the transfer is proved quiet. A zeroed block is allowed; *block is zeroed. */
TQ_PUBLIC void tq_bulk_free(struct tq_bulk *bulk, struct tq_block *block);
/* Publishes the frame's bytes under a version, not 0. Release order: whoever sees the version sees the bytes. */
TQ_PUBLIC void tq_block_publish(const struct tq_block *block, uint64_t version);

/* ---- what a peer must know to read ---- */

enum tq_region_kind { TQ_REGION_ARENA = 1, TQ_REGION_HEAP = 2 };

/* Travels in RPC messages as columns. The bytes point into memory of whoever filled it. */
struct tq_region {
    uint64_t id;
    uint32_t kind; /* enum tq_region_kind */
    uint64_t base; /* address in the owner; meaningful for arenas only */
    uint64_t length;
    struct tq_bytes key;    /* packed remote key; empty: no remote read */
    struct tq_bytes ticket; /* capability */
};

/* The region of an extent, to be told to peers; false when there is none (freed, inline mode). Its bytes live as long
 * as the extent, that is, as long as any block of it. */
TQ_PUBLIC TQ_MUST_CHECK bool tq_bulk_region(struct tq_bulk *bulk, uint64_t region, struct tq_region *out_region);

struct tq_exposure;

/* Lets peers that are told the region read [memory, memory + len). Frame 0, version 1. The memory must not change or go
 * before tq_bulk_unexpose returns. Fails with RESOURCE_EXHAUSTED. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_bulk_expose(struct tq_bulk *bulk, const void *memory, size_t len,
                                                 struct tq_exposure **out_exposure, struct tq_error *err);
TQ_PUBLIC void tq_exposure_region(const struct tq_exposure *exposure, struct tq_region *out_region);
/* Revokes. Returns when no engine reads the memory any more: unfinished sends are waited for until `deadline_ns`, then
 * their endpoint is closed by force, which proves it quiet. Not on the bulk thread. NULL is allowed. */
TQ_PUBLIC void tq_bulk_unexpose(struct tq_exposure *exposure, int64_t deadline_ns);

/* ---- the primitive ---- */

enum tq_bulk_engine { TQ_ENGINE_NONE, TQ_ENGINE_REMOTE_READ, TQ_ENGINE_RENDEZVOUS, TQ_ENGINE_INLINE, TQ_ENGINE_COUNT };

/* Bytes [skip, skip + len) of the frame at `frame` of sources[source]. */
struct tq_bulk_range {
    uint32_t source;
    uint64_t frame;
    uint64_t skip;
    uint64_t len;
    uint64_t version;
    uint8_t *into;
    uint32_t crc32c; /* out: of the bytes that arrived */
};

struct tq_bulk_read_opts {
    int64_t deadline_ns;        /* absolute; required */
    enum tq_bulk_engine engine; /* NONE: choose; else insist (tests, benchmarks): UNAVAILABLE when impossible */
    bool no_digest;             /* benchmarks only: crc32c stays 0 */
};

struct tq_bulk_result {
    struct tq_error error;           /* OK, ABORTED (STALE_VERSION), NOT_FOUND (STALE_REGION), PERMISSION_DENIED
                                        (STALE_TICKET), OUT_OF_RANGE (RANGE: past the end of the frame),
                                        DEADLINE_EXCEEDED, UNAVAILABLE (PEER_DIED, PEER_LOST, ENGINE), CANCELLED,
                                        RESOURCE_EXHAUSTED (OWNER_BUSY, NO_MEMORY), INTERNAL (PIECE_LENGTH) */
    uint64_t bytes[TQ_ENGINE_COUNT]; /* by engine */
};

typedef void tq_bulk_done_fn(void *user, const struct tq_bulk_result *result);

/* Reads all ranges; `done` runs exactly once, by the deadline + 0.5 s, whatever happens to the peer. On any error the
 * destinations hold garbage. `address`, sources and their bytes are copied; `ranges` (the array) and the destinations
 * belong to the transfer until done. When done has run the destinations are quiet, with one exception: destinations
 * inside blocks of `bulk` whose transfer expired are quarantined by tq_bulk_free. Returns OK when done will run. Fails
 * with INVALID_ARGUMENT (a range outside its source, an address that is none), RESOURCE_EXHAUSTED, UNAVAILABLE (inline
 * mode), FAILED_PRECONDITION (after fork, while closing). */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_bulk_read(struct tq_bulk *bulk, struct tq_bytes address,
                                               const struct tq_region *sources, size_t n_sources,
                                               struct tq_bulk_range *ranges, size_t n_ranges,
                                               const struct tq_bulk_read_opts *opts, tq_bulk_done_fn *done, void *user,
                                               struct tq_error *err);
/* Blocking. Not on the bulk thread. */
TQ_PUBLIC tq_status tq_bulk_read_wait(struct tq_bulk *bulk, struct tq_bytes address, const struct tq_region *sources,
                                      size_t n_sources, struct tq_bulk_range *ranges, size_t n_ranges,
                                      const struct tq_bulk_read_opts *opts, struct tq_bulk_result *out_result);

/* "remote_read", "rendezvous", "inline". */
TQ_PUBLIC const char *tq_engine_name(enum tq_bulk_engine engine);

struct tq_bulk_stats {
    uint64_t reads[TQ_ENGINE_COUNT], read_bytes[TQ_ENGINE_COUNT]; /* as the reader */
    uint64_t sends, sent_bytes;                                   /* as the owner, rendezvous */
    uint64_t failures, expired, stale, forced_closes, endpoints_made, registrations;
    uint64_t shm_endpoints, tcp_endpoints; /* of those made, by the transports that they really obtained */
    uint64_t arena_bytes, arena_used_bytes, quarantined_bytes;
    uint32_t endpoints, reads_in_flight, exposures;
    uint64_t heartbeat; /* grows while the bulk thread lives */
};
TQ_PUBLIC void tq_bulk_read_stats(struct tq_bulk *bulk, struct tq_bulk_stats *out_stats);

#ifdef __cplusplus
}
#endif
#endif

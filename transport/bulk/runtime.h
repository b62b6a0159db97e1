/* transport/bulk/runtime.h: the inside of struct tq_bulk: what the public functions and the bulk thread share.
 *
 * Owns: everything. Threads: three kinds of field, marked below. */
#ifndef TQ_BULK_RUNTIME_H
#define TQ_BULK_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>

#include "tq/bulk.h"
#include "transport/base/heap.h"
#include "transport/base/mailbox.h"
#include "transport/base/map.h"
#include "transport/bulk/owner.h"
#include "transport/bulk/reader.h"
#include "transport/bulk/ucx.h"

/* One process at the other end of an endpoint of ours: an owner that we read from, or a reader that we serve. It gets
 * the endpoint's events, and its death is watched. */
struct tq_party {
    struct tq_bulk *bulk;
    struct tq_endpoint *endpoint;
    int watch_fd; /* -1: not on this machine */
    struct tq_list node;
    struct tq_peer *peer; /* one of the two */
    struct tq_caller *caller;
};

/* A process that we read from. */
struct tq_peer {
    struct tq_party party;
    uint64_t process;
    tq_wire_BulkAddress address;
    struct tq_link link;
    uint8_t reply_to[TQ_REPLY_TO_MAX];
    bool dead;
    bool mapper_failed;
    int64_t avoid_shm_until_ns; /* it did not answer over shared memory; 0: it does */
    uint32_t copying;           /* transfers that use views */
    struct tq_endpoint *mapper;
    struct tq_map views; /* by region */
    size_t sweep_at;
};

/* What the threads ask of the bulk thread. */
struct tq_letter {
    struct tq_list node;
    void (*run)(struct tq_bulk *bulk, struct tq_letter *letter); /* frees the letter */
};

struct tq_counters {
    _Atomic uint64_t reads[TQ_ENGINE_COUNT], read_bytes[TQ_ENGINE_COUNT];
    _Atomic uint64_t sends, sent_bytes, failures, expired, stale, forced_closes, endpoints_made;
    _Atomic uint64_t shm_endpoints, tcp_endpoints, heartbeat;
    _Atomic uint32_t endpoints, reads_in_flight, exposures;
};

struct tq_bulk {
    /* fixed after open */
    const struct tq_seam *seam;
    pid_t pid;
    enum tq_bulk_mode mode;
    struct tq_ucx *ucx; /* NULL: inline mode */
    tq_wire_BulkAddress self;
    uint8_t address[TQ_ADDRESS_MAX];
    size_t address_len;
    pthread_t thread;
    bool has_thread;

    /* any thread: they have their own locks, or are atomic */
    struct tq_memory memory;
    struct tq_mailbox mailbox;
    struct tq_counters counters;

    /* the bulk thread's */
    struct {
        struct tq_reader reader;
        struct tq_owner owner;
        struct tq_heap timers; /* transfers by deadline */
        struct tq_map peers;   /* by process */
        struct tq_list copying;
        int deaths_fd; /* epoll over the watches */
        int64_t trim_ns, listen_ns;
        bool closing;
    } loop;
};

/* ---- peers.c ---- */

/* The peer of this address, made when it is new. NULL without memory. */
struct tq_peer *tq_peer_find(struct tq_bulk *bulk, const tq_wire_BulkAddress *address);
/* Gives each arena source of the transfer a view where it can be mapped. Fails where the view proves the source wrong.
 */
TQ_MUST_CHECK tq_status tq_peer_map_sources(struct tq_peer *peer, struct tq_transfer *transfer, struct tq_error *err);
/* Moves links that get no answer over shared memory to TCP, and back after a while: somebody who was killed while he
 * wrote into the owner's queue has blocked it for all. */
void tq_peers_listen(struct tq_bulk *bulk, int64_t now_ns);
/* Forgets peers that are down and unused; all of them when `all` says so. */
void tq_peers_sweep(struct tq_bulk *bulk, bool all);
/* The process of the party has ended. */
void tq_party_died(struct tq_party *party);
void tq_party_watch(struct tq_party *party, const tq_wire_BulkAddress *address);
void tq_party_unwatch(struct tq_party *party);

/* ---- ports.c: what the cores and the UCX skin call ---- */

void tq_ports_of_reader(struct tq_bulk *bulk, struct tq_reader_port *out_port);
void tq_ports_of_owner(struct tq_bulk *bulk, struct tq_owner_port *out_port);
void tq_ports_of_ucx(struct tq_bulk *bulk, struct tq_ucx_events *out_events);

/* ---- transfers.c: a transfer on the bulk thread ---- */

void tq_transfer_begin(struct tq_bulk *bulk, struct tq_transfer *transfer);
/* Counts, reports, frees. */
void tq_transfer_end(struct tq_bulk *bulk, struct tq_transfer *transfer);
void tq_transfer_due(struct tq_bulk *bulk, struct tq_transfer *transfer);
/* Copies at most 1 MiB. Whether there was anything to copy. */
bool tq_transfers_copy(struct tq_bulk *bulk);
void tq_transfers_cancel(struct tq_bulk *bulk);

/* ---- loop.c ---- */

TQ_MUST_CHECK tq_status tq_loop_open(struct tq_bulk *bulk, struct tq_error *err);
/* Cancels everything, joins the thread. */
void tq_loop_close(struct tq_bulk *bulk);

#endif

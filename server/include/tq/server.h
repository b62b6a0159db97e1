/* tq/server.h: the controller and the storage unit inside a process of your own, as tests and embedding programs run
 * them; tq-controller and tq-storage are thin programs around the same calls.
 *
 * Owns: everything opened here, threads included, until its close. Threads: open, drain and close from one thread;
 * addresses from any. tq_init() must have run. */
#ifndef TQ_SERVER_H
#define TQ_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "tq/bulk.h"
#include "tq/bytes.h"
#include "tq/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- controller ---- */

/* Zero means the default. */
struct tq_controller_opts {
    const char *listen;     /* default: "tcp://127.0.0.1:7600"; port 0: a free one */
    const char *advertise;  /* what peers are told; default: the bound address */
    const char *name;       /* in peers' logs; default: "controller" */
    bool insecure;          /* allow other than loopback and unix sockets */
    uint32_t heartbeat_ms;  /* asked of units, three missed: lost; 20..60000, default 1000 */
    uint8_t cluster_id[16]; /* all zero: make a random one */
};

struct tq_controller;

/* Serves when it returns, on a thread of its own. Fails with INVALID_ARGUMENT (which option), UNAVAILABLE (address in
 * use), PERMISSION_DENIED (not loopback and not insecure), RESOURCE_EXHAUSTED. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_controller_open(const struct tq_controller_opts *opts,
                                                     struct tq_controller **out_controller, struct tq_error *err);
/* Takes no calls any more; fetches that wait end with UNAVAILABLE, other running calls by the deadline. */
TQ_PUBLIC void tq_controller_drain(struct tq_controller *controller, int64_t deadline_ns);
/* Ends what still runs; forgets everything. NULL is allowed. */
TQ_PUBLIC void tq_controller_close(struct tq_controller *controller);
/* Lives as long as the controller. */
TQ_PUBLIC const char *tq_controller_address(const struct tq_controller *controller);

/* ---- storage unit ---- */

/* Zero means the default. */
struct tq_storage_opts {
    const char *listen;     /* default: "tcp://127.0.0.1:0", a free port */
    const char *advertise;  /* what peers are told; default: the bound address */
    const char *controller; /* where to register; default: nowhere */
    const char *name;       /* stable over restarts; default: "storage-" and this life's number */
    bool insecure;          /* allow other than loopback and unix sockets, and other devices than loopback */
    uint64_t memory_bytes;  /* payload it may hold; default 1 GiB */
    uint64_t max_samples;   /* it may hold; default 16 Mi */
    enum tq_bulk_mode bulk;
    bool tcp_only;          /* no shared memory for bulk */
    const char *devices;    /* network devices that UCX may use, "lo,eth0"; default "lo" */
    uint8_t cluster_id[16]; /* all zero: learn it from the controller */
};

struct tq_storage;

/* Serves when it returns; registers in the background, for ever. Fails with INVALID_ARGUMENT (which option),
 * UNAVAILABLE (address in use, bulk required and not there), PERMISSION_DENIED (not loopback and not insecure),
 * RESOURCE_EXHAUSTED. */
TQ_PUBLIC TQ_MUST_CHECK tq_status tq_storage_open(const struct tq_storage_opts *opts, struct tq_storage **out_storage,
                                                  struct tq_error *err);
/* Takes no calls any more, lets running ones end by the deadline. */
TQ_PUBLIC void tq_storage_drain(struct tq_storage *storage, int64_t deadline_ns);
/* Ends what still runs; frees everything stored. NULL is allowed. */
TQ_PUBLIC void tq_storage_close(struct tq_storage *storage);
/* Lives as long as the unit. */
TQ_PUBLIC const char *tq_storage_address(const struct tq_storage *storage);
/* The controller's number for it; 0: not registered (yet). */
TQ_PUBLIC uint32_t tq_storage_unit(const struct tq_storage *storage);

#ifdef __cplusplus
}
#endif
#endif

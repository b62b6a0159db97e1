/* transport/bulk/ucx_private.h: what the files of the UCX skin share. Only ucx_*.c include it.
 * Owns: see ucx.h. Threads: the bulk thread. */
#ifndef TQ_BULK_UCX_PRIVATE_H
#define TQ_BULK_UCX_PRIVATE_H

#include <ucp/api/ucp.h>

#include "transport/base/list.h"
#include "transport/bulk/ucx.h"

enum tq_am_id { TQ_AM_READ = 1, TQ_AM_PIECE = 2 };

struct tq_ucx_worker {
    ucp_worker_h worker;
    ucp_address_t *address;
    size_t address_len;
    int fd;
};

struct tq_ucx {
    const struct tq_seam *seam;
    struct tq_ucx_events events;
    ucp_context_h messages;
    ucp_context_h memory; /* NULL: no shared memory */
    struct tq_ucx_worker roles[TQ_UCX_ROLES];
    struct tq_ucx_worker mapping;
    unsigned endpoints;
    struct tq_list asked;  /* BulkReads that came during progress */
    struct tq_list failed; /* endpoints whose failure is not reported yet */
    struct tq_list closed; /* endpoints whose end is not reported yet */
};

struct tq_endpoint {
    struct tq_list node;
    struct tq_ucx *ucx;
    ucp_ep_h ep;
    void *whose;
    ucs_status_t why;
    bool closing;
    unsigned lanes;
};

tq_status tq_ucx_status(ucs_status_t status);
/* Reports endpoints that failed or closed, and BulkReads that came, outside UCX's callbacks. Returns how many. */
unsigned tq_ucx_report_endpoints(struct tq_ucx *ucx);
unsigned tq_ucx_report_asked(struct tq_ucx *ucx);
/* Registers the handlers of a worker: before its address is given out, for a worker without one dies of the first
 * message. */
TQ_MUST_CHECK ucs_status_t tq_ucx_set_handlers(struct tq_ucx *ucx, ucp_worker_h worker);
void tq_ucx_forget_asked(struct tq_ucx *ucx);
/* UCX prints to stdout, which belongs to the application: its lines go into our log. */
void tq_ucx_capture_log(void);

#endif

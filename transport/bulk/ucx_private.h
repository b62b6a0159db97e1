/* transport/bulk/ucx_private.h: what the files of the UCX skin share. Only ucx_*.c include it.
 * Owns: see ucx.h. Threads: the bulk thread. */
#ifndef TQ_BULK_UCX_PRIVATE_H
#define TQ_BULK_UCX_PRIVATE_H

#include <ucp/api/ucp.h>

#include "transport/base/list.h"
#include "transport/bulk/ucx.h"

enum tq_am_id { TQ_AM_READ = 1, TQ_AM_PIECE = 2 };

enum tq_net_name { TQ_NET_SHM, TQ_NET_TCP, TQ_NETS };

struct tq_ucx_worker {
    struct tq_list node; /* in workers; not the mapping worker */
    struct tq_ucx *ucx;
    unsigned under_way;  /* receives and asks that UCX has not called back */
    ucp_worker_h worker; /* NULL: this net is not there */
    ucp_address_t *address;
    size_t address_len;
    int fd;
};

struct tq_net {
    ucp_context_h context;
    struct tq_ucx_worker roles[TQ_UCX_ROLES]; /* no common asking worker over shared memory */
};

struct tq_ucx {
    const struct tq_seam *seam;
    struct tq_ucx_events events;
    struct tq_net nets[TQ_NETS];
    ucp_listener_h listener; /* of TCP */
    uint32_t listener_ipv4;
    uint16_t listener_port;
    ucp_context_h memory; /* NULL: no shared memory */
    struct tq_ucx_worker mapping;
    struct tq_list workers; /* that carry messages */
    int wake_fd;            /* epoll over the workers' descriptors */
    unsigned endpoints, closing;
    bool turns_away;         /* whoever connects */
    struct tq_list arrivals; /* connections that wait to be accepted */
    struct tq_list accepted; /* endpoints from them, by `born` */
    struct tq_list asked;    /* BulkReads that came during progress */
    struct tq_list received; /* receives that are over */
    struct tq_list sent;     /* sends that are over */
    struct tq_list to_close; /* endpoints: UCX asserts when one is closed inside a callback of its own failure */
    struct tq_list failed;   /* endpoints whose failure is not reported yet */
    struct tq_list closed;   /* endpoints whose end is not reported yet */
};

struct tq_endpoint {
    struct tq_list node; /* in failed, to_close or closed */
    struct tq_list born; /* in accepted */
    struct tq_ucx *ucx;
    ucp_ep_h ep;
    struct tq_ucx_worker *worker;
    struct tq_ucx_worker *own; /* it goes with the endpoint */
    void *whose;
    ucs_status_t why;
    bool closing;
    bool connected; /* to a listener: the owner answers by the endpoint that a message came by */
    unsigned lanes;
};

tq_status tq_ucx_status(ucs_status_t status);
/* What came up inside UCX's callbacks is reported outside them, where endpoints may be opened and closed. Each returns
 * how many there were. */
unsigned tq_ucx_report_endpoints(struct tq_ucx *ucx);
unsigned tq_ucx_report_messages(struct tq_ucx *ucx);
unsigned tq_ucx_accept(struct tq_ucx *ucx);
/* The accepted endpoint of this handle; NULL: none, or it is closing. */
struct tq_endpoint *tq_ucx_find_accepted(struct tq_ucx *ucx, ucp_ep_h ep);
/* A worker for messages, with its handlers, in the wake-up set. A failed one is closed the same way. */
TQ_MUST_CHECK ucs_status_t tq_ucx_worker_open(struct tq_ucx *ucx, ucp_context_h context, enum tq_ucx_role role,
                                              struct tq_ucx_worker *out_worker);
void tq_ucx_worker_close(struct tq_ucx_worker *worker);
/* Makes an endpoint of a connection, nobody's as yet. */
TQ_MUST_CHECK tq_status tq_endpoint_accept(struct tq_ucx *ucx, ucp_conn_request_h request, struct tq_error *err);
/* Listens on the first IPv4 address of the device. */
TQ_MUST_CHECK ucs_status_t tq_ucx_listen(struct tq_ucx *ucx, const char *device);
void tq_ucx_stop_listening(struct tq_ucx *ucx);
/* Registers the handlers of a worker: before its address is given out, for a worker without one dies of the first
 * message. */
TQ_MUST_CHECK ucs_status_t tq_ucx_set_handlers(struct tq_ucx_worker *worker, enum tq_ucx_role role);
void tq_ucx_forget_asked(struct tq_ucx *ucx);
/* UCX prints to stdout, which belongs to the application: its lines go into our log. */
void tq_ucx_capture_log(void);

#endif

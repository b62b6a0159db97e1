#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "transport/base/assert.h"
#include "transport/base/log.h"
#include "transport/bulk/ucx_private.h"

tq_status tq_ucx_status(ucs_status_t status)
{
    switch (status) {
    case UCS_OK:
        return TQ_OK;
    case UCS_ERR_CANCELED:
        return TQ_CANCELLED;
    case UCS_ERR_NO_MEMORY:
    case UCS_ERR_NO_RESOURCE:
        return TQ_RESOURCE_EXHAUSTED;
    default:
        return TQ_UNAVAILABLE;
    }
}

static tq_status refuse(struct tq_error *err, const char *what, ucs_status_t status)
{
    return tq_fail(err, TQ_UNAVAILABLE, "UCX", "%s: %s", what, ucs_status_string(status));
}

/* ---- contexts ---- */

static ucs_status_t open_context(const char *transports, const char *devices, uint64_t features,
                                 ucp_context_h *out_context)
{
    ucp_config_t *config = NULL;
    ucs_status_t status = ucp_config_read(NULL, NULL, &config);
    if (status != UCS_OK)
        return status;
    const ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
        .features = features,
        .mt_workers_shared = 1,
    };
    if (transports != NULL)
        status = ucp_config_modify(config, "TLS", transports);
    if (status == UCS_OK)
        status = ucp_config_modify(config, "NET_DEVICES", devices);
    if (status == UCS_OK)
        status = ucp_init(&params, config, out_context);
    ucp_config_release(config);
    return status;
}

/* ---- workers ---- */

static ucs_status_t open_worker(struct tq_ucx *ucx, ucp_context_h context, bool wakes, struct tq_ucx_worker *out_worker)
{
    out_worker->ucx = ucx;
    out_worker->fd = -1;
    const ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SERIALIZED, /* opened and closed by another thread than the one that works it */
    };
    ucs_status_t status = ucp_worker_create(context, &params, &out_worker->worker);
    if (status == UCS_OK && wakes)
        status = ucp_worker_get_efd(out_worker->worker, &out_worker->fd);
    if (status == UCS_OK)
        status = ucp_worker_get_address(out_worker->worker, &out_worker->address, &out_worker->address_len);
    return status;
}

static void close_worker(struct tq_ucx_worker *worker)
{
    if (worker->address != NULL)
        ucp_worker_release_address(worker->worker, worker->address);
    if (worker->worker != NULL)
        ucp_worker_destroy(worker->worker);
    *worker = (struct tq_ucx_worker){ .fd = -1 };
}

ucs_status_t tq_ucx_worker_open(struct tq_ucx *ucx, ucp_context_h context, enum tq_ucx_role role,
                                struct tq_ucx_worker *out_worker)
{
    struct epoll_event event = { .events = EPOLLIN };
    tq_list_add_tail(&ucx->workers, &out_worker->node);
    ucs_status_t status = open_worker(ucx, context, true, out_worker);
    if (status == UCS_OK)
        status = tq_ucx_set_handlers(out_worker, role);
    if (status == UCS_OK && epoll_ctl(ucx->wake_fd, EPOLL_CTL_ADD, out_worker->fd, &event) != 0)
        status = UCS_ERR_IO_ERROR;
    return status;
}

void tq_ucx_worker_close(struct tq_ucx_worker *worker)
{
    if (worker->node.next == NULL) /* never opened */
        return;
    tq_list_remove(&worker->node);
    if (worker->worker != NULL && worker->fd >= 0)
        (void)epoll_ctl(worker->ucx->wake_fd, EPOLL_CTL_DEL, worker->fd, NULL);
    close_worker(worker);
}

static ucs_status_t open_net(struct tq_ucx *ucx, struct tq_net *net, const char *transports, const char *devices,
                             enum tq_ucx_role first_role)
{
    ucs_status_t status = open_context(transports, devices, UCP_FEATURE_AM | UCP_FEATURE_WAKEUP, &net->context);
    for (int role = (int)first_role; status == UCS_OK && role < TQ_UCX_ROLES; role++)
        status = tq_ucx_worker_open(ucx, net->context, (enum tq_ucx_role)role, &net->roles[role]);
    return status;
}

static void close_net(struct tq_net *net)
{
    for (int role = 0; role < TQ_UCX_ROLES; role++)
        tq_ucx_worker_close(&net->roles[role]);
    if (net->context != NULL)
        ucp_cleanup(net->context);
    net->context = NULL;
}

/* The user's UCX_TLS stands, so that other fabrics can be put in front. */
static tq_status open_tcp(struct tq_ucx *ucx, const struct tq_ucx_opts *opts, struct tq_error *err)
{
    const char *transports = getenv("UCX_TLS") != NULL && !opts->tcp_only ? NULL : "tcp,self";
    ucs_status_t status = open_net(ucx, &ucx->nets[TQ_NET_TCP], transports, opts->devices, TQ_UCX_ASKING);
    if (status != UCS_OK)
        return refuse(err, "UCX over TCP", status);
    status = tq_ucx_listen(ucx, opts->devices);
    return status == UCS_OK ? TQ_OK : refuse(err, "ucp_listener_create", status);
}

static void without_shared_memory(ucs_status_t why)
{
    tq_warn("bulk-no-shared-memory", "why=\"%s\" then=\"TCP\"", ucs_status_string(why));
}

/* A small /dev/shm, or none, is survived. */
static void open_shared_memory(struct tq_ucx *ucx)
{
    ucs_status_t status = open_net(ucx, &ucx->nets[TQ_NET_SHM], "posix,self", "lo", TQ_UCX_SERVING);
    if (status != UCS_OK) {
        without_shared_memory(status);
        close_net(&ucx->nets[TQ_NET_SHM]);
        return;
    }
    status = open_context("posix,self", "lo", UCP_FEATURE_RMA, &ucx->memory);
    if (status == UCS_OK)
        status = open_worker(ucx, ucx->memory, false, &ucx->mapping);
    if (status == UCS_OK)
        return;
    without_shared_memory(status);
    close_worker(&ucx->mapping);
    if (ucx->memory != NULL)
        ucp_cleanup(ucx->memory);
    ucx->memory = NULL;
}

tq_status tq_ucx_open(const struct tq_ucx_opts *opts, struct tq_ucx **out_ucx, struct tq_error *err)
{
    tq_ucx_capture_log();
    if (tq_seam_fault(opts->seam, TQ_FAULT_BULK_OPEN))
        return tq_fail(err, TQ_UNAVAILABLE, "UCX", "injected fault");
    struct tq_ucx *ucx = tq_seam_alloc(opts->seam, sizeof(*ucx));
    if (ucx == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for the bulk runtime");
    ucx->seam = opts->seam;
    ucx->events = opts->events;
    tq_list_init(&ucx->workers);
    tq_list_init(&ucx->arrivals);
    tq_list_init(&ucx->accepted);
    tq_list_init(&ucx->asked);
    tq_list_init(&ucx->received);
    tq_list_init(&ucx->sent);
    tq_list_init(&ucx->to_close);
    tq_list_init(&ucx->failed);
    tq_list_init(&ucx->closed);
    ucx->wake_fd = epoll_create1(EPOLL_CLOEXEC);
    tq_status status = ucx->wake_fd >= 0 ? open_tcp(ucx, opts, err)
                                         : tq_fail(err, TQ_RESOURCE_EXHAUSTED, "DESCRIPTORS", "no descriptor is free");
    if (status != TQ_OK) {
        tq_ucx_close(ucx);
        return status;
    }
    if (!opts->tcp_only)
        open_shared_memory(ucx);
    *out_ucx = ucx;
    return TQ_OK;
}

void tq_ucx_close(struct tq_ucx *ucx)
{
    if (ucx == NULL)
        return;
    TQ_ASSERT(ucx->endpoints == 0);
    tq_ucx_forget_asked(ucx);
    tq_ucx_stop_listening(ucx);
    close_worker(&ucx->mapping);
    if (ucx->memory != NULL)
        ucp_cleanup(ucx->memory);
    for (int net = 0; net < TQ_NETS; net++)
        close_net(&ucx->nets[net]);
    if (ucx->wake_fd >= 0)
        close(ucx->wake_fd);
    tq_seam_free(ucx->seam, ucx);
}

bool tq_ucx_has_shared_memory(const struct tq_ucx *ucx)
{
    return ucx->memory != NULL;
}

static struct tq_bytes address_of(const struct tq_ucx_worker *worker)
{
    return (struct tq_bytes){ (const uint8_t *)worker->address, worker->address_len };
}

struct tq_bytes tq_ucx_serving_address(const struct tq_ucx *ucx)
{
    return address_of(&ucx->nets[TQ_NET_SHM].roles[TQ_UCX_SERVING]);
}

struct tq_bytes tq_ucx_mapping_address(const struct tq_ucx *ucx)
{
    return address_of(&ucx->mapping);
}

/* ---- progress ---- */

unsigned tq_ucx_progress(struct tq_ucx *ucx)
{
    unsigned done = 0;
    tq_list_each (node, &ucx->workers) {
        done += ucp_worker_progress(tq_container_of(node, struct tq_ucx_worker, node)->worker);
    }
    if (ucx->mapping.worker != NULL)
        (void)ucp_worker_progress(ucx->mapping.worker);
    return done + tq_ucx_accept(ucx) + tq_ucx_report_messages(ucx) + tq_ucx_report_endpoints(ucx);
}

bool tq_ucx_arm(struct tq_ucx *ucx)
{
    tq_list_each (node, &ucx->workers) {
        if (ucp_worker_arm(tq_container_of(node, struct tq_ucx_worker, node)->worker) != UCS_OK)
            return false; /* busy, or broken: both want progress */
    }
    return true;
}

int tq_ucx_fd(const struct tq_ucx *ucx)
{
    return ucx->wake_fd;
}

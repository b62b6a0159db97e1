#include <stdlib.h>
#include <string.h>

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

/* The user's UCX_TLS stands, so that other fabrics can be put in front. */
static const char *transports_of(const struct tq_ucx_opts *opts)
{
    if (opts->tcp_only)
        return "tcp,self";
    return getenv("UCX_TLS") != NULL ? NULL : "posix,tcp,self";
}

/* ---- workers ---- */

static ucs_status_t open_worker(ucp_context_h context, bool wakes, struct tq_ucx_worker *out_worker)
{
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

static tq_status open_messages(struct tq_ucx *ucx, const struct tq_ucx_opts *opts, struct tq_error *err)
{
    ucs_status_t status =
        open_context(transports_of(opts), opts->devices, UCP_FEATURE_AM | UCP_FEATURE_WAKEUP, &ucx->messages);
    if (status != UCS_OK)
        return refuse(err, "ucp_init", status);
    for (int role = 0; role < TQ_UCX_ROLES; role++) {
        status = open_worker(ucx->messages, true, &ucx->roles[role]);
        if (status == UCS_OK)
            status = tq_ucx_set_handlers(ucx, ucx->roles[role].worker);
        if (status != UCS_OK)
            return refuse(err, "ucp_worker_create", status);
    }
    return TQ_OK;
}

/* A small /dev/shm, or none, is survived. */
static void open_memory(struct tq_ucx *ucx)
{
    ucs_status_t status = open_context("posix,self", "lo", UCP_FEATURE_RMA, &ucx->memory);
    if (status == UCS_OK)
        status = open_worker(ucx->memory, false, &ucx->mapping);
    if (status == UCS_OK)
        return;
    tq_warn("bulk-no-shared-memory", "why=\"%s\" then=\"rendezvous only\"", ucs_status_string(status));
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
    tq_list_init(&ucx->asked);
    tq_list_init(&ucx->failed);
    tq_list_init(&ucx->closed);
    tq_status status = open_messages(ucx, opts, err);
    if (status != TQ_OK) {
        tq_ucx_close(ucx);
        return status;
    }
    if (!opts->tcp_only)
        open_memory(ucx);
    *out_ucx = ucx;
    return TQ_OK;
}

void tq_ucx_close(struct tq_ucx *ucx)
{
    if (ucx == NULL)
        return;
    TQ_ASSERT(tq_list_empty(&ucx->failed) && tq_list_empty(&ucx->closed));
    tq_ucx_forget_asked(ucx);
    close_worker(&ucx->mapping);
    for (int role = 0; role < TQ_UCX_ROLES; role++)
        close_worker(&ucx->roles[role]);
    if (ucx->memory != NULL)
        ucp_cleanup(ucx->memory);
    if (ucx->messages != NULL)
        ucp_cleanup(ucx->messages);
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

struct tq_bytes tq_ucx_worker_address(const struct tq_ucx *ucx, enum tq_ucx_role role)
{
    return address_of(&ucx->roles[role]);
}

struct tq_bytes tq_ucx_mapping_address(const struct tq_ucx *ucx)
{
    return address_of(&ucx->mapping);
}

/* ---- progress ---- */

unsigned tq_ucx_progress(struct tq_ucx *ucx)
{
    unsigned done = 0;
    for (int role = 0; role < TQ_UCX_ROLES; role++)
        done += ucp_worker_progress(ucx->roles[role].worker);
    if (ucx->mapping.worker != NULL)
        (void)ucp_worker_progress(ucx->mapping.worker);
    return done + tq_ucx_report_asked(ucx) + tq_ucx_report_endpoints(ucx);
}

bool tq_ucx_arm(struct tq_ucx *ucx)
{
    for (int role = 0; role < TQ_UCX_ROLES; role++)
        if (ucp_worker_arm(ucx->roles[role].worker) != UCS_OK) /* busy, or broken: both want progress */
            return false;
    return true;
}

int tq_ucx_fd(const struct tq_ucx *ucx, enum tq_ucx_role role)
{
    return ucx->roles[role].fd;
}

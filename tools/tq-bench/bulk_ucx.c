/* The floor of the TCP engine: UCX alone, active-message rendezvous, both sides polling. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ucp/api/ucp.h>

#include "tools/tq-bench/bulk.h"

enum { ASK = 1, PIECE = 2, WINDOW_BYTES = 4 << 20 };

static const int64_t longest_ns = INT64_C(20000000000);

struct ask {
    uint64_t offset, len;
};

struct bulk_ucx {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;
    const uint8_t *from; /* owner */
    uint8_t *to;         /* reader */
    size_t here, asked;
    bool failed;
};

/* UCX as it is without our settings, so that the floor is not lowered by what the product gives up. */
static bool open_worker_plain(struct bulk_ucx *ucx)
{
    ucp_config_t *config = NULL;
    const ucp_params_t params = { .field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_AM };
    const ucp_worker_params_t worker = { .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                         .thread_mode = UCS_THREAD_MODE_SERIALIZED };
    if (ucp_config_read(NULL, NULL, &config) != UCS_OK)
        return false;
    bool good = ucp_config_modify(config, "TLS", "tcp,self") == UCS_OK &&
                ucp_config_modify(config, "NET_DEVICES", "lo") == UCS_OK &&
                ucp_init(&params, config, &ucx->context) == UCS_OK &&
                ucp_worker_create(ucx->context, &worker, &ucx->worker) == UCS_OK;
    ucp_config_release(config);
    return good;
}

static bool open_worker(struct bulk_ucx *ucx)
{
    unsetenv("UCX_TCP_PUT_ENABLE");
    bool good = open_worker_plain(ucx);
    setenv("UCX_TCP_PUT_ENABLE", "n", 1);
    return good;
}

static bool handle(struct bulk_ucx *ucx, unsigned id, ucp_am_recv_callback_t callback)
{
    const ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id = id,
        .cb = callback,
        .arg = ucx,
    };
    return ucp_worker_set_am_recv_handler(ucx->worker, &handler) == UCS_OK;
}

static void request_over(void *request, ucs_status_t status, void *arg)
{
    struct bulk_ucx *ucx = arg;
    ucx->failed |= status != UCS_OK;
    ucp_request_free(request);
}

/* ---- the owner ---- */

static uint64_t headers[BULK_BYTES >> 16]; /* they must live as long as their sends */

static ucs_status_t on_ask(void *arg, const void *header, size_t header_len, void *data, size_t len,
                           const ucp_am_recv_param_t *param)
{
    struct bulk_ucx *ucx = arg;
    struct ask ask;
    (void)data;
    (void)len;
    if (header_len != sizeof(ask))
        return UCS_OK;
    memcpy(&ask, header, sizeof(ask));
    if (ask.offset >= BULK_BYTES || ask.len > BULK_BYTES - ask.offset)
        return UCS_OK;
    uint64_t *offset = &headers[ask.offset >> 16];
    *offset = ask.offset;
    const ucp_request_param_t send = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .flags = UCP_AM_SEND_FLAG_RNDV,
        .cb.send = request_over,
        .user_data = ucx,
    };
    (void)ucp_am_send_nbx(param->reply_ep, PIECE, offset, sizeof(*offset), ucx->from + ask.offset, ask.len, &send);
    return UCS_OK;
}

static void *serve(void *arg)
{
    struct bulk_ucx *ucx = arg;
    int64_t active_ns = tq_now_ns();
    while (ucx->from != NULL) { /* until the process is killed */
        if (ucp_worker_progress(ucx->worker) > 0)
            active_ns = tq_now_ns();
        else if (tq_now_ns() - active_ns > 5000000) /* another case is being measured: leave it the CPU */
            nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
    }
    return NULL;
}

bool bulk_ucx_serve(const uint8_t *from)
{
    static struct bulk_ucx ucx;
    ucp_address_t *address = NULL;
    size_t len = 0;
    pthread_t thread;
    ucx.from = from;
    if (!open_worker(&ucx) || !handle(&ucx, ASK, on_ask) ||
        ucp_worker_get_address(ucx.worker, &address, &len) != UCS_OK ||
        pthread_create(&thread, NULL, serve, &ucx) != 0) {
        fprintf(stderr, "tq-bench: raw UCX does not start\n");
        return false;
    }
    pthread_detach(thread);
    bulk_print_hex(address, len);
    ucp_worker_release_address(ucx.worker, address);
    return true;
}

/* ---- the reader ---- */

static void received(void *request, ucs_status_t status, size_t len, void *arg)
{
    struct bulk_ucx *ucx = arg;
    ucx->failed |= status != UCS_OK;
    ucx->here += len;
    ucp_request_free(request);
}

static ucs_status_t on_piece(void *arg, const void *header, size_t header_len, void *data, size_t len,
                             const ucp_am_recv_param_t *param)
{
    struct bulk_ucx *ucx = arg;
    uint64_t offset;
    (void)header_len;
    (void)param;
    memcpy(&offset, header, sizeof(offset));
    const ucp_request_param_t take = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.recv_am = received,
        .user_data = ucx,
    };
    ucs_status_ptr_t request = ucp_am_recv_data_nbx(ucx->worker, data, ucx->to + offset, len, &take);
    if (!UCS_PTR_IS_PTR(request)) {
        ucx->failed |= UCS_PTR_STATUS(request) != UCS_OK;
        ucx->here += len;
    }
    return UCS_INPROGRESS;
}

struct bulk_ucx *bulk_ucx_open(const uint8_t *address, size_t len)
{
    struct bulk_ucx *ucx = calloc(1, sizeof(*ucx));
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
        .address = (const ucp_address_t *)(const void *)address,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER, /* as the product */
    };
    (void)len;
    if (ucx != NULL && open_worker(ucx) && handle(ucx, PIECE, on_piece) &&
        ucp_ep_create(ucx->worker, &params, &ucx->ep) == UCS_OK)
        return ucx;
    fprintf(stderr, "tq-bench: raw UCX does not connect\n");
    free(ucx);
    return NULL;
}

void bulk_ucx_close(struct bulk_ucx *ucx)
{
    if (ucx == NULL)
        return;
    ucp_worker_destroy(ucx->worker);
    ucp_cleanup(ucx->context);
    free(ucx);
}

double bulk_ucx_read(struct bulk_ucx *ucx, uint8_t *to, size_t frame)
{
    static struct ask asks[BULK_BYTES >> 16];
    const ucp_request_param_t send = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .flags = UCP_AM_SEND_FLAG_REPLY,
        .cb.send = request_over,
        .user_data = ucx,
    };
    int64_t begun_ns = tq_now_ns();
    ucx->to = to;
    ucx->here = ucx->asked = 0;
    ucx->failed = false;
    while (ucx->here < BULK_BYTES) {
        if (ucx->failed || tq_now_ns() - begun_ns > longest_ns)
            return 0;
        while (ucx->asked < BULK_BYTES && (ucx->asked == ucx->here || ucx->asked + frame - ucx->here <= WINDOW_BYTES)) {
            struct ask *ask = &asks[ucx->asked / frame];
            *ask = (struct ask){ ucx->asked, frame };
            ucx->asked += frame;
            if (UCS_PTR_IS_ERR(ucp_am_send_nbx(ucx->ep, ASK, ask, sizeof(*ask), NULL, 0, &send)))
                return 0;
        }
        ucp_worker_progress(ucx->worker);
    }
    return (double)BULK_BYTES / (double)(tq_now_ns() - begun_ns);
}

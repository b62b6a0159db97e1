#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/bulk/ucx_private.h"

static void on_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct tq_endpoint *endpoint = arg;
    (void)ep;
    endpoint->why = status;
    if (endpoint->closing || endpoint->node.next != &endpoint->node)
        return;
    tq_list_add_tail(&endpoint->ucx->failed, &endpoint->node); /* reported outside UCX's callbacks */
}

/* The only way in 1.13 to see what an endpoint obtained is the text that it prints. */
static unsigned lanes_of(ucp_ep_h ep)
{
    char *text = NULL;
    size_t len = 0;
    unsigned lanes = 0;
    FILE *out = open_memstream(&text, &len);
    if (out == NULL)
        return 0;
    ucp_ep_print_info(ep, out);
    fclose(out);
    for (const char *at = text; at != NULL && (at = strstr(at, "lane[")) != NULL; at++) {
        const char *end = strchr(at, '\n');
        size_t line = end != NULL ? (size_t)(end - at) : strlen(at);
        if (memmem(at, line, "posix", 5) != NULL)
            lanes |= TQ_LANE_SHM;
        else if (memmem(at, line, "tcp", 3) != NULL)
            lanes |= TQ_LANE_TCP;
        else
            lanes |= TQ_LANE_OTHER;
    }
    free(text);
    return lanes;
}

/* `params` name the other side; the rest is the same for all. */
static tq_status create(struct tq_ucx *ucx, struct tq_ucx_worker *worker, const ucp_ep_params_t *other_side,
                        void *whose, struct tq_endpoint **out_endpoint, struct tq_error *err)
{
    ucp_ep_params_t params = *other_side;
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    if (tq_seam_fault(ucx->seam, TQ_FAULT_BULK_CONNECT))
        return tq_fail(err, TQ_UNAVAILABLE, "UCX", "ucp_ep_create: injected fault");
    struct tq_endpoint *endpoint = tq_seam_alloc(ucx->seam, sizeof(*endpoint));
    if (endpoint != NULL) {
        *endpoint = (struct tq_endpoint){ .ucx = ucx, .worker = worker, .whose = whose };
        tq_list_init(&endpoint->node);
        tq_list_init(&endpoint->born);
        params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
        params.err_mode = UCP_ERR_HANDLING_MODE_PEER; /* without it a killed peer can abort us */
        params.err_handler = (ucp_err_handler_t){ on_error, endpoint };
        status = ucp_ep_create(worker->worker, &params, &endpoint->ep);
    }
    if (status != UCS_OK) {
        tq_seam_free(ucx->seam, endpoint);
        return tq_fail(err, TQ_UNAVAILABLE, "UCX", "ucp_ep_create: %s", ucs_status_string(status));
    }
    ucx->endpoints++;
    endpoint->lanes = lanes_of(endpoint->ep);
    *out_endpoint = endpoint;
    return TQ_OK;
}

static tq_status open_on(struct tq_ucx *ucx, struct tq_ucx_worker *worker, struct tq_bytes address, void *whose,
                         struct tq_endpoint **out_endpoint, struct tq_error *err)
{
    if (worker->worker == NULL || address.len == 0)
        return tq_fail(err, TQ_UNAVAILABLE, "NO_SHARED_MEMORY", "one side has no shared memory");
    uint8_t *padded = tq_seam_alloc(ucx->seam, address.len + 256); /* UCX is not told how long the address is */
    if (padded == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for an endpoint");
    memcpy(padded, address.ptr, address.len);
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
        .address = (const ucp_address_t *)(const void *)padded,
    };
    tq_status status = create(ucx, worker, &params, whose, out_endpoint, err);
    tq_seam_free(ucx->seam, padded);
    return status;
}

static tq_status open_asking(struct tq_ucx *ucx, struct tq_bytes address, void *whose,
                             struct tq_endpoint **out_endpoint, struct tq_error *err)
{
    ucp_context_h context = ucx->nets[TQ_NET_SHM].context;
    if (context == NULL)
        return tq_fail(err, TQ_UNAVAILABLE, "NO_SHARED_MEMORY", "we have no shared memory");
    struct tq_ucx_worker *own = tq_seam_alloc(ucx->seam, sizeof(*own));
    if (own == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a worker");
    ucs_status_t opened = tq_ucx_worker_open(ucx, context, TQ_UCX_ASKING, own);
    tq_status status = opened == UCS_OK
                           ? open_on(ucx, own, address, whose, out_endpoint, err)
                           : tq_fail(err, TQ_UNAVAILABLE, "UCX", "ucp_worker_create: %s", ucs_status_string(opened));
    if (status == TQ_OK) {
        (*out_endpoint)->own = own;
        return TQ_OK;
    }
    tq_ucx_worker_close(own);
    tq_seam_free(ucx->seam, own);
    return status;
}

tq_status tq_endpoint_open(struct tq_ucx *ucx, enum tq_ucx_role role, struct tq_bytes worker, void *whose,
                           struct tq_endpoint **out_endpoint, struct tq_error *err)
{
    if (role == TQ_UCX_ASKING)
        return open_asking(ucx, worker, whose, out_endpoint, err);
    return open_on(ucx, &ucx->nets[TQ_NET_SHM].roles[role], worker, whose, out_endpoint, err);
}

struct tq_bytes tq_endpoint_answered_at(const struct tq_endpoint *endpoint)
{
    if (endpoint->own == NULL)
        return (struct tq_bytes){ 0 };
    return (struct tq_bytes){ (const uint8_t *)endpoint->own->address, endpoint->own->address_len };
}

tq_status tq_endpoint_connect(struct tq_ucx *ucx, uint32_t ipv4, uint16_t port, void *whose,
                              struct tq_endpoint **out_endpoint, struct tq_error *err)
{
    const struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(ipv4) };
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR,
        .flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
        .sockaddr = { (const struct sockaddr *)&at, sizeof(at) },
    };
    tq_status status = create(ucx, &ucx->nets[TQ_NET_TCP].roles[TQ_UCX_ASKING], &params, whose, out_endpoint, err);
    if (status == TQ_OK)
        (*out_endpoint)->connected = true;
    return status;
}

/* ---- what a listener accepted ---- */

tq_status tq_endpoint_accept(struct tq_ucx *ucx, ucp_conn_request_h request, struct tq_error *err)
{
    struct tq_endpoint *endpoint = NULL;
    const ucp_ep_params_t params = { .field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST, .conn_request = request };
    tq_status status = create(ucx, &ucx->nets[TQ_NET_TCP].roles[TQ_UCX_SERVING], &params, NULL, &endpoint, err);
    if (status == TQ_OK)
        tq_list_add_tail(&ucx->accepted, &endpoint->born);
    return status;
}

struct tq_endpoint *tq_ucx_find_accepted(struct tq_ucx *ucx, ucp_ep_h ep)
{
    tq_list_each (node, &ucx->accepted) {
        struct tq_endpoint *endpoint = tq_container_of(node, struct tq_endpoint, born);
        if (endpoint->ep == ep)
            return endpoint->closing ? NULL : endpoint;
    }
    return NULL;
}

tq_status tq_endpoint_adopt(struct tq_endpoint *accepted, void *whose, struct tq_error *err)
{
    if (accepted->closing || accepted->whose != NULL)
        return tq_fail(err, TQ_UNAVAILABLE, "PEER_LOST", "the connection is closing, or another reader's");
    accepted->whose = whose;
    accepted->lanes = lanes_of(accepted->ep);
    return TQ_OK;
}

void tq_ucx_close_strangers(struct tq_ucx *ucx)
{
    tq_list_each (node, &ucx->accepted) {
        struct tq_endpoint *endpoint = tq_container_of(node, struct tq_endpoint, born);
        if (endpoint->whose == NULL)
            tq_endpoint_close(endpoint);
    }
}

/* ---- the end of endpoints ---- */

unsigned tq_ucx_endpoints(const struct tq_ucx *ucx)
{
    return ucx->endpoints;
}

bool tq_ucx_is_closing(const struct tq_ucx *ucx)
{
    return ucx->closing > 0;
}

unsigned tq_endpoint_lanes(const struct tq_endpoint *endpoint)
{
    return endpoint->lanes;
}

static void on_closed(void *request, ucs_status_t status, void *arg)
{
    struct tq_endpoint *endpoint = arg;
    (void)status;
    ucp_request_free(request);
    tq_list_add_tail(&endpoint->ucx->closed, &endpoint->node);
}

void tq_endpoint_close(struct tq_endpoint *endpoint)
{
    if (endpoint->closing)
        return;
    endpoint->closing = true;
    endpoint->ucx->closing++;
    tq_list_remove(&endpoint->node);
    tq_list_add_tail(&endpoint->ucx->to_close, &endpoint->node);
}

static void close_now(struct tq_endpoint *endpoint)
{
    const ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .flags = UCP_EP_CLOSE_FLAG_FORCE,
        .cb.send = on_closed,
        .user_data = endpoint,
    };
    ucs_status_ptr_t request = ucp_ep_close_nbx(endpoint->ep, &force);
    if (!UCS_PTR_IS_PTR(request))
        tq_list_add_tail(&endpoint->ucx->closed, &endpoint->node);
}

static void endpoint_free(struct tq_endpoint *endpoint)
{
    struct tq_ucx *ucx = endpoint->ucx;
    tq_list_remove(&endpoint->born);
    if (endpoint->own != NULL) {
        tq_ucx_worker_close(endpoint->own);
        tq_seam_free(ucx->seam, endpoint->own);
    }
    ucx->endpoints--;
    ucx->closing--;
    tq_seam_free(ucx->seam, endpoint);
}

static unsigned report_closed(struct tq_ucx *ucx)
{
    unsigned count = 0;
    tq_list_each_safe (node, &ucx->closed) {
        struct tq_endpoint *endpoint = tq_container_of(node, struct tq_endpoint, node);
        if (endpoint->own != NULL && endpoint->own->under_way > 0)
            continue; /* UCX calls back soon; its worker must be there */
        tq_list_remove(node);
        if (endpoint->whose != NULL)
            ucx->events.closed(ucx->events.user, endpoint->whose);
        endpoint_free(endpoint);
        count++;
    }
    return count;
}

unsigned tq_ucx_report_endpoints(struct tq_ucx *ucx)
{
    unsigned count = 0;
    for (struct tq_list *node; (node = tq_list_take_head(&ucx->failed)) != NULL; count++) {
        struct tq_endpoint *endpoint = tq_container_of(node, struct tq_endpoint, node);
        struct tq_error why;
        (void)tq_fail(&why, TQ_UNAVAILABLE, "PEER_LOST", "UCX: %s", ucs_status_string(endpoint->why));
        if (endpoint->whose != NULL)
            ucx->events.failed(ucx->events.user, endpoint->whose, &why);
        else if (endpoint->born.next != &endpoint->born) /* a stranger; a mapper stays until its peer closes it */
            tq_endpoint_close(endpoint);
    }
    for (struct tq_list *node; (node = tq_list_take_head(&ucx->to_close)) != NULL; count++)
        close_now(tq_container_of(node, struct tq_endpoint, node));
    return count + report_closed(ucx);
}

/* ---- mappers: endpoints that only unpack keys ---- */

tq_status tq_mapper_open(struct tq_ucx *ucx, struct tq_bytes address, struct tq_endpoint **out_mapper,
                         struct tq_error *err)
{
    return open_on(ucx, &ucx->mapping, address, NULL, out_mapper, err);
}

void tq_mapper_close(struct tq_endpoint *mapper)
{
    if (mapper != NULL)
        tq_endpoint_close(mapper);
}

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

static tq_status open_on(struct tq_ucx *ucx, ucp_worker_h worker, struct tq_bytes address, void *whose,
                         struct tq_endpoint **out_endpoint, struct tq_error *err)
{
    if (tq_seam_fault(ucx->seam, TQ_FAULT_BULK_CONNECT))
        return tq_fail(err, TQ_UNAVAILABLE, "UCX", "ucp_ep_create: injected fault");
    struct tq_endpoint *endpoint = tq_seam_alloc(ucx->seam, sizeof(*endpoint));
    uint8_t *padded = tq_seam_alloc(ucx->seam, address.len + 256); /* UCX is not told how long the address is */
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    if (endpoint != NULL && padded != NULL) {
        *endpoint = (struct tq_endpoint){ .ucx = ucx, .whose = whose };
        tq_list_init(&endpoint->node);
        memcpy(padded, address.ptr, address.len);
        const ucp_ep_params_t params = {
            .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                          UCP_EP_PARAM_FIELD_ERR_HANDLER,
            .address = (const ucp_address_t *)(const void *)padded,
            .err_mode = UCP_ERR_HANDLING_MODE_PEER, /* without it a killed peer can abort us */
            .err_handler = { on_error, endpoint },
        };
        status = ucp_ep_create(worker, &params, &endpoint->ep);
    }
    tq_seam_free(ucx->seam, padded);
    if (status != UCS_OK) {
        tq_seam_free(ucx->seam, endpoint);
        return tq_fail(err, TQ_UNAVAILABLE, "UCX", "ucp_ep_create: %s", ucs_status_string(status));
    }
    ucx->endpoints++;
    endpoint->lanes = lanes_of(endpoint->ep);
    *out_endpoint = endpoint;
    return TQ_OK;
}

tq_status tq_endpoint_open(struct tq_ucx *ucx, enum tq_ucx_role role, struct tq_bytes worker, void *whose,
                           struct tq_endpoint **out_endpoint, struct tq_error *err)
{
    return open_on(ucx, ucx->roles[role].worker, worker, whose, out_endpoint, err);
}

unsigned tq_ucx_endpoints(const struct tq_ucx *ucx)
{
    return ucx->endpoints;
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
    const ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .flags = UCP_EP_CLOSE_FLAG_FORCE,
        .cb.send = on_closed,
        .user_data = endpoint,
    };
    if (endpoint->closing)
        return;
    endpoint->closing = true;
    tq_list_remove(&endpoint->node);
    ucs_status_ptr_t request = ucp_ep_close_nbx(endpoint->ep, &force);
    if (!UCS_PTR_IS_PTR(request))
        tq_list_add_tail(&endpoint->ucx->closed, &endpoint->node);
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
    }
    for (struct tq_list *node; (node = tq_list_take_head(&ucx->closed)) != NULL; count++) {
        struct tq_endpoint *endpoint = tq_container_of(node, struct tq_endpoint, node);
        if (endpoint->whose != NULL)
            ucx->events.closed(ucx->events.user, endpoint->whose);
        ucx->endpoints--;
        tq_seam_free(ucx->seam, endpoint);
    }
    return count;
}

/* ---- mappers: endpoints that only unpack keys ---- */

tq_status tq_mapper_open(struct tq_ucx *ucx, struct tq_bytes address, struct tq_endpoint **out_mapper,
                         struct tq_error *err)
{
    if (ucx->mapping.worker == NULL || address.len == 0)
        return tq_fail(err, TQ_UNAVAILABLE, "NO_SHARED_MEMORY", "one side has no shared memory");
    return open_on(ucx, ucx->mapping.worker, address, NULL, out_mapper, err);
}

void tq_mapper_close(struct tq_endpoint *mapper)
{
    if (mapper != NULL)
        tq_endpoint_close(mapper);
}

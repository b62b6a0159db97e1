#include <arpa/inet.h>
#include <ifaddrs.h>
#include <string.h>

#include "transport/base/log.h"
#include "transport/bulk/ucx_private.h"

/* ---- connections come in ---- */

struct arrival {
    struct tq_list node;
    ucp_conn_request_h request;
};

static void on_arrival(ucp_conn_request_h request, void *arg)
{
    struct tq_ucx *ucx = arg;
    struct arrival *arrival = ucx->turns_away ? NULL : tq_seam_alloc(ucx->seam, sizeof(*arrival));
    if (arrival == NULL) {
        (void)ucp_listener_reject(ucx->listener, request);
        return;
    }
    arrival->request = request;
    tq_list_add_tail(&ucx->arrivals, &arrival->node);
}

unsigned tq_ucx_accept(struct tq_ucx *ucx)
{
    unsigned count = 0;
    for (struct tq_list *node; (node = tq_list_take_head(&ucx->arrivals)) != NULL; count++) {
        struct arrival *arrival = tq_container_of(node, struct arrival, node);
        struct tq_error why;
        if (tq_endpoint_accept(ucx, arrival->request, &why) != TQ_OK)
            tq_info("bulk-not-accepted", "why=\"%s\"", why.message);
        tq_seam_free(ucx->seam, arrival);
    }
    return count;
}

/* ---- listening ---- */

static bool address_of_device(const char *device, struct in_addr *out_address)
{
    struct ifaddrs *all = NULL;
    bool found = false;
    size_t len = strcspn(device, ",");
    if (getifaddrs(&all) != 0)
        return false;
    for (const struct ifaddrs *one = all; one != NULL && !found; one = one->ifa_next) {
        if (one->ifa_addr == NULL || one->ifa_addr->sa_family != AF_INET || strlen(one->ifa_name) != len ||
            strncmp(one->ifa_name, device, len) != 0)
            continue;
        *out_address = ((const struct sockaddr_in *)(const void *)one->ifa_addr)->sin_addr;
        found = true;
    }
    freeifaddrs(all);
    return found;
}

ucs_status_t tq_ucx_listen(struct tq_ucx *ucx, const char *device)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    if (!address_of_device(device, &at.sin_addr))
        return UCS_ERR_NO_DEVICE;
    const ucp_listener_params_t params = {
        .field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
        .sockaddr = { (const struct sockaddr *)&at, sizeof(at) },
        .conn_handler = { on_arrival, ucx },
    };
    ucs_status_t status =
        ucp_listener_create(ucx->nets[TQ_NET_TCP].roles[TQ_UCX_SERVING].worker, &params, &ucx->listener);
    if (status != UCS_OK)
        return status;
    ucp_listener_attr_t attr = { .field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR };
    status = ucp_listener_query(ucx->listener, &attr);
    if (status != UCS_OK)
        return status;
    const struct sockaddr_in *bound = (const struct sockaddr_in *)(const void *)&attr.sockaddr;
    ucx->listener_ipv4 = ntohl(bound->sin_addr.s_addr);
    ucx->listener_port = ntohs(bound->sin_port);
    return UCS_OK;
}

void tq_ucx_listens_at(const struct tq_ucx *ucx, uint32_t *out_ipv4, uint16_t *out_port)
{
    *out_ipv4 = ucx->listener_ipv4;
    *out_port = ucx->listener_port;
}

void tq_ucx_turn_away(struct tq_ucx *ucx)
{
    ucx->turns_away = true;
    for (struct tq_list *node; (node = tq_list_take_head(&ucx->arrivals)) != NULL;) {
        struct arrival *arrival = tq_container_of(node, struct arrival, node);
        (void)ucp_listener_reject(ucx->listener, arrival->request);
        tq_seam_free(ucx->seam, arrival);
    }
}

void tq_ucx_stop_listening(struct tq_ucx *ucx)
{
    tq_ucx_turn_away(ucx);
    if (ucx->listener != NULL)
        ucp_listener_destroy(ucx->listener);
    ucx->listener = NULL;
}

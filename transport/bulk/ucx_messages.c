#include <string.h>

#include "transport/bulk/owner.h"
#include "transport/bulk/transfer.h"
#include "transport/bulk/ucx_private.h"

/* Below this a piece travels with its header; above, the reader chooses when and where to. */
enum { EAGER_BYTES = 8192 };

/* ---- reads come in ---- */

struct asked {
    struct tq_list node;
    ucp_ep_h from; /* NULL over shared memory */
    size_t len;
    uint8_t bytes[];
};

static ucs_status_t on_read(void *arg, const void *header, size_t header_len, void *data, size_t len,
                            const ucp_am_recv_param_t *param)
{
    struct tq_ucx *ucx = ((struct tq_ucx_worker *)arg)->ucx;
    (void)data;
    (void)len;
    if (header_len == 0 || header_len > tq_wire_BulkRead_size)
        return UCS_OK;
    struct asked *asked = tq_seam_alloc(ucx->seam, sizeof(*asked) + header_len);
    if (asked == NULL)
        return UCS_OK; /* the reader's deadline ends it */
    asked->from = (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0 ? param->reply_ep : NULL;
    asked->len = header_len;
    memcpy(asked->bytes, header, header_len);
    tq_list_add_tail(&ucx->asked, &asked->node);
    return UCS_OK;
}

static unsigned report_asked(struct tq_ucx *ucx)
{
    unsigned count = 0;
    for (struct tq_list *node; (node = tq_list_take_head(&ucx->asked)) != NULL; count++) {
        struct asked *asked = tq_container_of(node, struct asked, node);
        struct tq_endpoint *from = asked->from != NULL ? tq_ucx_find_accepted(ucx, asked->from) : NULL;
        if (asked->from == NULL || from != NULL)
            ucx->events.asked(ucx->events.user, (struct tq_bytes){ asked->bytes, asked->len }, from);
        tq_seam_free(ucx->seam, asked);
    }
    return count;
}

void tq_ucx_forget_asked(struct tq_ucx *ucx)
{
    for (struct tq_list *node; (node = tq_list_take_head(&ucx->asked)) != NULL;)
        tq_seam_free(ucx->seam, tq_container_of(node, struct asked, node));
}

/* ---- pieces come in ---- */

struct receive {
    struct tq_list node;
    ucs_status_t status;
    struct tq_ucx_worker *worker;
    struct tq_piece *piece;
};

static void receive_over(struct receive *receive, ucs_status_t status)
{
    receive->status = status;
    receive->worker->under_way--;
    tq_list_add_tail(&receive->worker->ucx->received, &receive->node);
}

static void on_received(void *request, ucs_status_t status, size_t len, void *arg)
{
    (void)len;
    ucp_request_free(request);
    receive_over(arg, status);
}

static unsigned report_received(struct tq_ucx *ucx)
{
    unsigned count = 0;
    for (struct tq_list *node; (node = tq_list_take_head(&ucx->received)) != NULL; count++) {
        struct receive *receive = tq_container_of(node, struct receive, node);
        struct tq_piece *piece = receive->piece;
        tq_status status = tq_ucx_status(receive->status);
        tq_seam_free(ucx->seam, receive);
        ucx->events.received(ucx->events.user, piece, status);
    }
    return count;
}

/* The piece has been checked: its destination is as long as the message. */
static ucs_status_t receive_rendezvous(struct tq_ucx_worker *worker, struct tq_piece *piece, void *data)
{
    struct tq_ucx *ucx = worker->ucx;
    struct receive *receive = tq_seam_alloc(ucx->seam, sizeof(*receive));
    if (receive == NULL || tq_seam_fault(ucx->seam, TQ_FAULT_BULK_READ)) {
        tq_seam_free(ucx->seam, receive);
        ucx->events.received(ucx->events.user, piece, TQ_RESOURCE_EXHAUSTED);
        return UCS_OK; /* declined */
    }
    *receive = (struct receive){ .worker = worker, .piece = piece };
    worker->under_way++;
    const ucp_request_param_t take = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.recv_am = on_received,
        .user_data = receive,
    };
    ucs_status_ptr_t request = ucp_am_recv_data_nbx(worker->worker, data, piece->into, piece->len, &take);
    if (!UCS_PTR_IS_PTR(request))
        receive_over(receive, UCS_PTR_STATUS(request));
    return UCS_INPROGRESS; /* UCX keeps what it needs of the message */
}

static ucs_status_t on_piece(void *arg, const void *header, size_t header_len, void *data, size_t len,
                             const ucp_am_recv_param_t *param)
{
    struct tq_ucx *ucx = ((struct tq_ucx_worker *)arg)->ucx;
    struct tq_piece *piece = ucx->events.announced(ucx->events.user, (struct tq_bytes){ header, header_len }, len);
    if (piece == NULL)
        return UCS_OK;
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0)
        return receive_rendezvous(arg, piece, data);
    memcpy(piece->into, data, piece->len);
    ucx->events.received(ucx->events.user, piece, TQ_OK);
    return UCS_OK;
}

/* What only the other side of a link should send. */
static ucs_status_t on_stray(void *arg, const void *header, size_t header_len, void *data, size_t len,
                             const ucp_am_recv_param_t *param)
{
    (void)arg;
    (void)header;
    (void)header_len;
    (void)data;
    (void)len;
    (void)param;
    return UCS_OK;
}

ucs_status_t tq_ucx_set_handlers(struct tq_ucx_worker *worker, enum tq_ucx_role role)
{
    bool asking = role == TQ_UCX_ASKING;
    const ucp_am_recv_callback_t callbacks[] = {
        [TQ_AM_READ] = asking ? on_stray : on_read,
        [TQ_AM_PIECE] = asking ? on_piece : on_stray,
    };
    ucs_status_t status = UCS_OK;
    for (unsigned id = TQ_AM_READ; status == UCS_OK && id <= TQ_AM_PIECE; id++) {
        const ucp_am_handler_param_t handler = {
            .field_mask =
                UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
            .id = id,
            .cb = callbacks[id],
            .arg = worker,
        };
        status = ucp_worker_set_am_recv_handler(worker->worker, &handler);
    }
    return status;
}

/* ---- messages go out ---- */

struct question {
    struct tq_ucx_worker *worker;
    uint8_t bytes[];
};

static void on_asked(void *request, ucs_status_t status, void *arg)
{
    struct question *question = arg;
    (void)status; /* the endpoint reports its failure */
    ucp_request_free(request);
    question->worker->under_way--;
    tq_seam_free(question->worker->ucx->seam, question);
}

tq_status tq_endpoint_ask(struct tq_endpoint *endpoint, const uint8_t *bytes, size_t len, struct tq_error *err)
{
    const struct tq_seam *seam = endpoint->ucx->seam;
    struct question *question = tq_seam_alloc(seam, sizeof(*question) + len);
    if (question == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a message");
    question->worker = endpoint->worker;
    memcpy(question->bytes, bytes, len); /* UCX reads it until the send is complete */
    const ucp_request_param_t eager = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .flags = UCP_AM_SEND_FLAG_EAGER | (endpoint->connected ? UCP_AM_SEND_FLAG_REPLY : 0),
        .cb.send = on_asked,
        .user_data = question,
    };
    ucs_status_ptr_t request = tq_seam_fault(seam, TQ_FAULT_BULK_SEND)
                                   ? UCS_STATUS_PTR(UCS_ERR_IO_ERROR)
                                   : ucp_am_send_nbx(endpoint->ep, TQ_AM_READ, question->bytes, len, NULL, 0, &eager);
    if (UCS_PTR_IS_PTR(request)) {
        endpoint->worker->under_way++;
        return TQ_OK;
    }
    tq_seam_free(seam, question);
    if (UCS_PTR_STATUS(request) == UCS_OK)
        return TQ_OK;
    return tq_fail(err, TQ_UNAVAILABLE, "PEER_LOST", "UCX send: %s", ucs_status_string(UCS_PTR_STATUS(request)));
}

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    struct tq_send *send = arg;
    struct tq_ucx *ucx = send->carrier;
    ucp_request_free(request);
    send->status = tq_ucx_status(status);
    tq_list_add_tail(&ucx->sent, &send->over);
}

static unsigned report_sent(struct tq_ucx *ucx)
{
    unsigned count = 0;
    for (struct tq_list *node; (node = tq_list_take_head(&ucx->sent)) != NULL; count++) {
        struct tq_send *send = tq_container_of(node, struct tq_send, over);
        ucx->events.sent(ucx->events.user, send, send->status);
    }
    return count;
}

unsigned tq_ucx_report_messages(struct tq_ucx *ucx)
{
    return report_received(ucx) + report_sent(ucx) + report_asked(ucx);
}

tq_status tq_endpoint_send(struct tq_endpoint *endpoint, struct tq_send *send, struct tq_error *err)
{
    struct tq_ucx *ucx = endpoint->ucx;
    send->carrier = ucx;
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .flags = send->length > EAGER_BYTES ? UCP_AM_SEND_FLAG_RNDV : UCP_AM_SEND_FLAG_EAGER,
        .cb.send = on_sent,
        .user_data = send,
    };
    const void *payload = send->length > 0 ? send->payload : NULL;
    ucs_status_ptr_t request =
        tq_seam_fault(ucx->seam, TQ_FAULT_BULK_SEND)
            ? UCS_STATUS_PTR(UCS_ERR_IO_ERROR)
            : ucp_am_send_nbx(endpoint->ep, TQ_AM_PIECE, send->header, send->header_len, payload, send->length, &param);
    if (UCS_PTR_IS_ERR(request))
        return tq_fail(err, TQ_UNAVAILABLE, "PEER_LOST", "UCX send: %s", ucs_status_string(UCS_PTR_STATUS(request)));
    if (request == NULL)
        ucx->events.sent(ucx->events.user, send, TQ_OK);
    return TQ_OK;
}

/* Learning which samples there are: batches that are ready, whole partitions, what has been consumed. */
#include "client/client.h"
#include "client/column.h"
#include "client/describe.h"
#include "client/field_wire.h"
#include "client/samples_wire.h"
#include "tq/v1/controller.tq.h"

/* What the round trip of a waiting call may take beside its waiting. */
enum { WAIT_MARGIN_MS = 250 };

static char *borrow(const char *text)
{
    return (char *)(uintptr_t)text;
}

static tq_status check_names(const char *const *fields, size_t n_fields, struct tq_error *err)
{
    for (size_t f = 0; f < n_fields; f++) {
        tq_status status = tq_name_check(fields[f], "field", err);
        if (status != TQ_OK)
            return status;
    }
    return TQ_OK;
}

static tq_status check_fetch(const struct tq_fetch *fetch, struct tq_error *err)
{
    tq_status status = tq_label_check(fetch->partition, "partition", err);
    if (status == TQ_OK)
        status = tq_label_check(fetch->task, "task", err);
    if (status != TQ_OK)
        return status;
    if (fetch->batch_size == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "batch_size is 0; expected 1 or more");
    if (fetch->fields == NULL || fetch->n_fields == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "no fields: expected 1 or more");
    return check_names(fetch->fields, fetch->n_fields, err);
}

/* A fetch waits on the server: its answer "nothing yet" must arrive before the deadline. Without a deadline of its own
 * it has the waiting time on top of the client's timeout. */
static int64_t bound_wait(const struct tq_client *client, const struct tq_op_opts *opts, uint32_t *wait_ms)
{
    if (opts == NULL || opts->deadline_ns == 0)
        return tq_deadline_after_ms((int64_t)client->timeout_ms + *wait_ms);
    int64_t left_ms = (opts->deadline_ns - tq_now_ns()) / 1000000;
    int64_t most_ms = left_ms > INT64_C(2) * WAIT_MARGIN_MS ? left_ms - WAIT_MARGIN_MS : left_ms / 2;
    if (most_ms < 0)
        most_ms = 0;
    if ((int64_t)*wait_ms > most_ms)
        *wait_ms = (uint32_t)most_ms;
    return opts->deadline_ns;
}

tq_status tq_client_fetch(struct tq_client *client, const struct tq_fetch *fetch, const struct tq_op_opts *opts,
                          struct tq_meta **out_meta, struct tq_error *err)
{
    tq_status status = check_fetch(fetch, err);
    if (status != TQ_OK)
        return status;
    uint32_t wait_ms = fetch->max_wait_ms;
    struct tq_call_opts call_opts = { .deadline_ns = bound_wait(client, opts, &wait_ms) };
    Tq__V1__Sampler sampler = TQ__V1__SAMPLER__INIT;
    if (fetch->sampler != NULL)
        sampler.name = borrow(fetch->sampler);
    sampler.group_size = fetch->group_size;
    Tq__V1__FetchBatchRequest request = TQ__V1__FETCH_BATCH_REQUEST__INIT;
    request.partition = borrow(fetch->partition);
    request.task = borrow(fetch->task);
    request.fields = (char **)(uintptr_t)fetch->fields;
    request.n_fields = fetch->n_fields;
    request.batch_size = fetch->batch_size;
    request.mode = TQ__V1__FETCH_MODE__FETCH_MODE_CONSUME;
    request.sampler = &sampler;
    request.max_wait_ms = wait_ms;
    request.polling = fetch->polling;
    request.want_tags = fetch->want_tags;
    request.want_keys = fetch->want_keys;
    struct tq_reply reply = { 0 };
    tq_client_count_calls(client, 1);
    if (tq_v1_controller_fetch_batch(client->controller, &request, &call_opts, &reply) != TQ_OK)
        return tq_reply_fail(&reply, err);
    status = tq_meta_from_wire(tq_v1_controller_fetch_batch_response(&reply)->batch, out_meta, err);
    tq_reply_drop(&reply);
    return status;
}

tq_status tq_describe_partition(struct tq_client *client, const char *partition, const char *const *fields,
                                size_t n_fields, int64_t deadline_ns, struct tq_meta **out_meta, struct tq_error *err)
{
    tq_status status = tq_label_check(partition, "partition", err);
    if (status == TQ_OK)
        status = check_names(fields, n_fields, err);
    if (status != TQ_OK)
        return status;
    Tq__V1__DescribePartitionRequest request = TQ__V1__DESCRIBE_PARTITION_REQUEST__INIT;
    request.partition = borrow(partition);
    request.fields = (char **)(uintptr_t)fields;
    request.n_fields = n_fields;
    request.want_tags = true;
    request.want_keys = true;
    struct tq_call_opts opts = { .deadline_ns = deadline_ns };
    struct tq_reply reply = { 0 };
    tq_client_count_calls(client, 1);
    if (tq_v1_controller_describe_partition(client->controller, &request, &opts, &reply) != TQ_OK)
        return tq_reply_fail(&reply, err);
    status = tq_meta_from_wire(tq_v1_controller_describe_partition_response(&reply)->batch, out_meta, err);
    tq_reply_drop(&reply);
    return status;
}

tq_status tq_client_force_fetch(struct tq_client *client, const char *partition, const char *const *fields,
                                size_t n_fields, const struct tq_op_opts *opts, struct tq_meta **out_meta,
                                struct tq_error *err)
{
    return tq_describe_partition(client, partition, fields, n_fields, tq_op_deadline_ns(client, opts), out_meta, err);
}

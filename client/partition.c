/* Whole partitions: seal, list, what a task has consumed of them. */
#include "client/client.h"
#include "client/column.h"
#include "client/field_wire.h"
#include "client/samples_wire.h"
#include "tq/v1/controller.tq.h"

static char *borrow(const char *text)
{
    return (char *)(uintptr_t)text;
}

tq_status tq_client_seal(struct tq_client *client, const char *partition, const struct tq_op_opts *opts,
                         struct tq_error *err)
{
    tq_status status = tq_label_check(partition, "partition", err);
    if (status != TQ_OK)
        return status;
    Tq__V1__SealPartitionRequest request = TQ__V1__SEAL_PARTITION_REQUEST__INIT;
    request.partition = borrow(partition);
    struct tq_call_opts call_opts = { .deadline_ns = tq_op_deadline_ns(client, opts) };
    struct tq_reply reply = { 0 };
    tq_client_count_calls(client, 1);
    tq_v1_controller_seal_partition(client->controller, &request, &call_opts, &reply);
    return tq_reply_fail(&reply, err);
}

static tq_status count_consumption(const Tq__V1__GetConsumptionResponse *response, const char *partition,
                                   uint64_t *out_consumed, uint64_t *out_total, struct tq_error *err)
{
    size_t consumed = 0, total = 0;
    if (!response->exists)
        return tq_fail(err, TQ_NOT_FOUND, NULL, "partition %s does not exist", partition);
    tq_status status = tq_runs_count(response->consumed, &consumed, err);
    if (status == TQ_OK)
        status = tq_runs_count(response->indexes, &total, err);
    if (status != TQ_OK)
        return status;
    *out_consumed = consumed;
    *out_total = total + response->reserved;
    return TQ_OK;
}

tq_status tq_client_consumption(struct tq_client *client, const char *partition, const char *task,
                                const struct tq_op_opts *opts, uint64_t *out_consumed, uint64_t *out_total,
                                struct tq_error *err)
{
    tq_status status = tq_label_check(partition, "partition", err);
    if (status == TQ_OK)
        status = tq_label_check(task, "task", err);
    if (status != TQ_OK)
        return status;
    Tq__V1__GetConsumptionRequest request = TQ__V1__GET_CONSUMPTION_REQUEST__INIT;
    request.partition = borrow(partition);
    request.task = borrow(task);
    struct tq_call_opts call_opts = { .deadline_ns = tq_op_deadline_ns(client, opts) };
    struct tq_reply reply = { 0 };
    tq_client_count_calls(client, 1);
    if (tq_v1_controller_get_consumption(client->controller, &request, &call_opts, &reply) != TQ_OK)
        return tq_reply_fail(&reply, err);
    status =
        count_consumption(tq_v1_controller_get_consumption_response(&reply), partition, out_consumed, out_total, err);
    tq_reply_drop(&reply);
    return status;
}

tq_status tq_client_reset_consumption(struct tq_client *client, const char *partition, const char *task,
                                      const struct tq_op_opts *opts, struct tq_error *err)
{
    tq_status status = tq_label_check(partition, "partition", err);
    if (status == TQ_OK && task != NULL && task[0] != '\0')
        status = tq_label_check(task, "task", err);
    if (status != TQ_OK)
        return status;
    Tq__V1__ResetConsumptionRequest request = TQ__V1__RESET_CONSUMPTION_REQUEST__INIT;
    request.partition = borrow(partition);
    if (task != NULL)
        request.task = borrow(task);
    struct tq_call_opts call_opts = { .deadline_ns = tq_op_deadline_ns(client, opts) };
    struct tq_reply reply = { 0 };
    tq_client_count_calls(client, 1);
    tq_v1_controller_reset_consumption(client->controller, &request, &call_opts, &reply);
    return tq_reply_fail(&reply, err);
}

tq_status tq_client_list_partitions(struct tq_client *client,
                                    void (*each)(void *user, const char *partition, uint64_t samples,
                                                 uint64_t produced),
                                    void *user, const struct tq_op_opts *opts, struct tq_error *err)
{
    Tq__V1__ListPartitionsRequest request = TQ__V1__LIST_PARTITIONS_REQUEST__INIT;
    struct tq_call_opts call_opts = { .deadline_ns = tq_op_deadline_ns(client, opts) };
    struct tq_reply reply = { 0 };
    tq_client_count_calls(client, 1);
    if (tq_v1_controller_list_partitions(client->controller, &request, &call_opts, &reply) != TQ_OK)
        return tq_reply_fail(&reply, err);
    const Tq__V1__ListPartitionsResponse *response = tq_v1_controller_list_partitions_response(&reply);
    size_t n = response->n_partition;
    tq_status status = TQ_OK;
    if (response->n_samples != n || response->n_produced != n)
        status = tq_fail_answer(err, "%zu partitions, %zu samples, %zu produced", n, response->n_samples,
                                response->n_produced);
    for (size_t i = 0; i < n && status == TQ_OK; i++)
        each(user, response->partition[i], response->samples[i], response->produced[i]);
    tq_reply_drop(&reply);
    return status;
}

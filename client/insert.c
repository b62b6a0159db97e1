#include "client/insert.h"

#include "client/column.h"
#include "client/field_wire.h"
#include "client/samples_wire.h"
#include "tq/v1/controller.tq.h"

enum { SAMPLES_MAX = 1048576 };

static tq_status check(const struct tq_insert *insert, struct tq_error *err)
{
    if (insert->n_samples < 1 || insert->n_samples > SAMPLES_MAX)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "n_samples is %zu; expected 1..%d", insert->n_samples,
                       SAMPLES_MAX);
    if (insert->groups != NULL && insert->group_size != 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "groups and group_size exclude each other");
    if (insert->group_size != 0 && insert->n_samples % insert->group_size != 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "n_samples is %zu; expected a multiple of group_size, %u",
                       insert->n_samples, insert->group_size);
    for (size_t i = 0; insert->keys != NULL && i < insert->n_samples; i++)
        if (insert->keys[i] == NULL || insert->keys[i][0] == '\0')
            return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "keys[%zu] is empty", i);
    return tq_label_check(insert->partition, "partition", err);
}

static uint64_t mean_bytes(const struct tq_batch *batch)
{
    uint64_t total = 0;
    for (size_t c = 0; c < batch->n_columns; c++) {
        const DLTensor *values = &batch->columns[c].values;
        uint64_t bytes = tq_dtype_bytes(values->dtype);
        for (int d = 0; d < values->ndim; d++)
            bytes *= (uint64_t)values->shape[d];
        total += bytes;
    }
    return total / batch->n_samples;
}

static tq_status fill(struct tq_arena *arena, const struct tq_insert *insert, const struct tq_batch *announced,
                      Tq__V1__InsertSamplesRequest *request, struct tq_error *err)
{
    request->partition = (char *)(uintptr_t)insert->partition;
    request->count = (uint32_t)insert->n_samples;
    request->group = (uint64_t *)(uintptr_t)insert->groups;
    request->n_group = insert->groups == NULL ? 0 : insert->n_samples;
    request->group_size = insert->group_size;
    request->key = (char **)(uintptr_t)insert->keys;
    request->n_key = insert->keys == NULL ? 0 : insert->n_samples;
    request->sample_bytes = insert->sample_bytes;
    request->near = insert->near_unit;
    if (insert->near_unit != 0)
        request->placement = TQ__V1__PLACEMENT_POLICY__PLACEMENT_POLICY_LOCAL_FIRST;
    if (announced == NULL)
        return TQ_OK;
    request->n_fields = announced->n_columns;
    request->fields = tq_fields_to_wire(arena, announced);
    if (request->sample_bytes == 0)
        request->sample_bytes = mean_bytes(announced);
    return request->fields == NULL ? tq_fail_no_memory(err) : TQ_OK;
}

static tq_status call(struct tq_client *client, const Tq__V1__InsertSamplesRequest *request, int64_t deadline_ns,
                      struct tq_meta **out_meta, struct tq_error *err)
{
    struct tq_call_opts opts = { .deadline_ns = deadline_ns };
    struct tq_reply reply = { 0 };
    tq_client_count_calls(client, 1);
    if (tq_v1_controller_insert_samples(client->controller, request, &opts, &reply) != TQ_OK)
        return tq_reply_fail(&reply, err);
    struct tq_meta *meta = NULL;
    tq_status status = tq_meta_from_wire(tq_v1_controller_insert_samples_response(&reply)->batch, &meta, err);
    tq_reply_drop(&reply);
    if (status == TQ_OK && meta->n != request->count) {
        status = tq_fail_answer(err, "asked for %u samples, got %zu", request->count, meta->n);
        tq_meta_drop(meta);
    }
    if (status != TQ_OK)
        return status;
    meta->n_fields = 0; /* announced, not produced */
    *out_meta = meta;
    return TQ_OK;
}

tq_status tq_insert_samples(struct tq_client *client, const struct tq_insert *insert, const struct tq_batch *announced,
                            int64_t deadline_ns, struct tq_meta **out_meta, struct tq_error *err)
{
    tq_status status = check(insert, err);
    if (status != TQ_OK)
        return status;
    struct tq_arena *arena = tq_arena_open(NULL, SIZE_MAX);
    if (arena == NULL)
        return tq_fail_no_memory(err);
    Tq__V1__InsertSamplesRequest request = TQ__V1__INSERT_SAMPLES_REQUEST__INIT;
    status = fill(arena, insert, announced, &request, err);
    if (status == TQ_OK)
        status = call(client, &request, deadline_ns, out_meta, err);
    tq_arena_close(arena);
    return status;
}

tq_status tq_client_insert(struct tq_client *client, const struct tq_insert *insert, const struct tq_op_opts *opts,
                           struct tq_meta **out_meta, struct tq_error *err)
{
    return tq_insert_samples(client, insert, NULL, tq_op_deadline_ns(client, opts), out_meta, err);
}

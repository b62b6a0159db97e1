/* Clearing: bytes first, because an index may be used again as soon as the controller has forgotten it. */
#include "client/clear.h"

#include "client/column.h"
#include "client/describe.h"
#include "client/samples_wire.h"
#include "client/shares.h"
#include "tq/v1/controller.tq.h"
#include "tq/v1/storage.tq.h"

/* A unit that does not answer must leave the controller its share of the time. */
static int64_t unit_deadline_ns(int64_t deadline_ns)
{
    int64_t now_ns = tq_now_ns();
    return now_ns >= deadline_ns ? deadline_ns : now_ns + (deadline_ns - now_ns) / 2;
}

static bool is_absent(tq_status status)
{
    return status == TQ_UNAVAILABLE || status == TQ_DEADLINE_EXCEEDED;
}

static tq_status judge(struct tq_reply *reply, const struct tq_share *share, struct tq_error *err)
{
    if (reply->error.status == TQ_OK || is_absent(reply->error.status)) {
        tq_reply_drop(reply);
        return TQ_OK;
    }
    tq_status status = tq_reply_fail(reply, err);
    tq_error_prefix(err, "clear on unit %u (%s)", share->info->number, share->info->name);
    return status;
}

static tq_status clear_shares(struct tq_shares *shares, struct tq_arena *arena, const struct tq_meta *meta,
                              int64_t deadline_ns, struct tq_error *err)
{
    struct tq_future **futures = tq_arena_array(arena, shares->n, sizeof(struct tq_future *));
    if (futures == NULL)
        return tq_fail_no_memory(err);
    struct tq_call_opts opts = { .deadline_ns = unit_deadline_ns(deadline_ns) };
    tq_status status = TQ_OK;
    for (size_t s = 0; s < shares->n && status == TQ_OK; s++) {
        Tq__V1__ClearRequest request = TQ__V1__CLEAR_REQUEST__INIT;
        request.samples = tq_samples_to_wire(arena, meta, shares->share[s].positions, shares->share[s].n);
        if (request.samples != NULL)
            futures[s] = tq_v1_storage_clear_start(shares->share[s].unit->channel, &request, &opts);
        if (futures[s] == NULL)
            status = tq_fail_no_memory(err);
    }
    for (size_t s = 0; s < shares->n && futures[s] != NULL; s++) {
        struct tq_reply reply = { 0 };
        tq_future_wait(futures[s], &reply);
        tq_future_drop(futures[s]);
        if (status == TQ_OK)
            status = judge(&reply, &shares->share[s], err);
        else
            tq_reply_drop(&reply);
    }
    return status;
}

tq_status tq_clear_bytes(struct tq_client *client, const struct tq_meta *meta, int64_t deadline_ns,
                         struct tq_error *err)
{
    struct tq_shares shares = { 0 };
    struct tq_arena *arena = tq_arena_open(NULL, SIZE_MAX);
    tq_status status =
        arena == NULL ? tq_fail_no_memory(err) : tq_shares_init_serving(&shares, client, arena, meta, err);
    if (status == TQ_OK)
        status = clear_shares(&shares, arena, meta, deadline_ns, err);
    tq_client_count_calls(client, shares.n);
    tq_shares_fini(&shares);
    tq_arena_close(arena);
    return status;
}

static tq_status clear_table(struct tq_client *client, const struct tq_meta *meta, int64_t deadline_ns,
                             struct tq_error *err)
{
    struct tq_arena *arena = tq_arena_open(NULL, SIZE_MAX);
    Tq__V1__ClearSamplesRequest request = TQ__V1__CLEAR_SAMPLES_REQUEST__INIT;
    request.samples = arena == NULL ? NULL : tq_samples_to_wire(arena, meta, NULL, meta->n);
    tq_status status;
    if (request.samples == NULL) {
        status = tq_fail_no_memory(err);
    } else {
        struct tq_call_opts opts = { .deadline_ns = deadline_ns };
        struct tq_reply reply = { 0 };
        tq_client_count_calls(client, 1);
        tq_v1_controller_clear_samples(client->controller, &request, &opts, &reply);
        status = tq_reply_fail(&reply, err);
    }
    tq_arena_close(arena);
    return status;
}

tq_status tq_clear_samples(struct tq_client *client, const struct tq_meta *meta, int64_t deadline_ns,
                           struct tq_error *err)
{
    if (meta->n == 0)
        return TQ_OK;
    tq_status status = tq_clear_bytes(client, meta, deadline_ns, err);
    return status == TQ_OK ? clear_table(client, meta, deadline_ns, err) : status;
}

tq_status tq_client_clear(struct tq_client *client, const struct tq_meta *meta, const struct tq_op_opts *opts,
                          struct tq_error *err)
{
    return tq_clear_samples(client, meta, tq_op_deadline_ns(client, opts), err);
}

static tq_status drop_partition(struct tq_client *client, const char *partition, int64_t deadline_ns,
                                struct tq_error *err)
{
    Tq__V1__ClearPartitionRequest request = TQ__V1__CLEAR_PARTITION_REQUEST__INIT;
    request.partition = (char *)(uintptr_t)partition;
    struct tq_call_opts opts = { .deadline_ns = deadline_ns };
    struct tq_reply reply = { 0 };
    tq_client_count_calls(client, 1);
    tq_v1_controller_clear_partition(client->controller, &request, &opts, &reply);
    return tq_reply_fail(&reply, err);
}

tq_status tq_client_clear_partition(struct tq_client *client, const char *partition, const struct tq_op_opts *opts,
                                    struct tq_error *err)
{
    int64_t deadline_ns = tq_op_deadline_ns(client, opts);
    struct tq_meta *meta = NULL;
    struct tq_error error = { 0 };
    tq_status status = tq_describe_partition(client, partition, NULL, 0, deadline_ns, &meta, &error);
    if (status == TQ_NOT_FOUND)
        return TQ_OK; /* idempotent */
    if (status == TQ_OK && meta->n > 0)
        status = tq_clear_bytes(client, meta, deadline_ns, &error);
    tq_meta_drop(meta);
    if (status == TQ_OK)
        return drop_partition(client, partition, deadline_ns, err);
    if (err != NULL)
        *err = error;
    return status;
}

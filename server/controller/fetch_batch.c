/* ControllerService/FetchBatch. */
#include <inttypes.h>
#include <string.h>

#include "server/controller/feed.h"
#include "server/controller/service.h"
#include "server/controller/text_in.h"
#include "server/controller/view.h"
#include "transport/base/log.h"

/* A fetch from its request to its answer. The request lives as long as the call. */
struct parked {
    struct tq_waiter waiter;
    struct tq_list in_controller;
    struct tq_controller *controller;
    struct tq_server_call *call;
    const Tq__V1__FetchBatchRequest *request;
    bool has_key;
    uint8_t key[TQ_HANDOUT_KEY];
};

/* ---- the request ---- */

static tq_status check_sampler(const Tq__V1__FetchBatchRequest *request, struct tq_want *want, struct tq_error *err)
{
    const Tq__V1__Sampler *sampler = request->sampler;
    tq_status status = tq_sampler_find(sampler != NULL ? sampler->name : NULL, &want->sampler, err);
    if (status != TQ_OK)
        return status;
    want->group_size = sampler != NULL ? sampler->group_size : 0;
    want->replacement = sampler != NULL && sampler->replacement;
    if (sampler != NULL && (sampler->dp_size != 0 || sampler->dp_rank != 0 || sampler->batch_index != 0))
        return tq_fail(err, TQ_UNIMPLEMENTED, "SAMPLER",
                       "sampler.dp_size: %u: batches by rank are not available yet, expected dp_rank, dp_size and "
                       "batch_index 0",
                       sampler->dp_size);
    if (sampler != NULL && (sampler->weight_tag[0] != '\0' || sampler->arguments.len > 0))
        return tq_fail(err, TQ_INVALID_ARGUMENT, "SAMPLER",
                       "sampler: weight_tag or arguments given, expected none with the sampler %s",
                       want->sampler->name);
    return want->sampler->check(request->batch_size, want->group_size, err);
}

static tq_status check_sizes(const struct tq_controller_limits *limits, const Tq__V1__FetchBatchRequest *request,
                             struct tq_error *err)
{
    if (request->batch_size == 0 || request->batch_size > limits->request_samples)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "BATCH_SIZE", "batch_size: %u, expected 1..%" PRIu64,
                       request->batch_size, limits->request_samples);
    if (request->max_wait_ms > limits->wait_ms)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "MAX_WAIT", "max_wait_ms: %u, expected at most %" PRIu64,
                       request->max_wait_ms, limits->wait_ms);
    if ((int)request->mode == (int)TQ__V1__FETCH_MODE__FETCH_MODE_LEASE)
        return tq_fail(err, TQ_UNIMPLEMENTED, "LEASE", "mode: LEASE is not available yet, expected CONSUME");
    if ((int)request->mode < 0 || (int)request->mode > (int)TQ__V1__FETCH_MODE__FETCH_MODE_LEASE)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "MODE", "mode: %d, expected CONSUME (1)", (int)request->mode);
    if (request->lease_ms != 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "LEASE", "lease_ms: %u, expected 0 without LEASE", request->lease_ms);
    return TQ_OK;
}

static tq_status check_names(const struct tq_intake *intake, const Tq__V1__FetchBatchRequest *request)
{
    const struct tq_controller_limits *limits = intake->limits;
    tq_status status = tq_text_check("partition", request->partition, limits->name_bytes, intake->err);
    if (status == TQ_OK)
        status = tq_text_check("task", request->task, limits->name_bytes, intake->err);
    if (status == TQ_OK && (request->n_fields == 0 || request->n_fields > limits->fields))
        status = tq_fail(intake->err, TQ_INVALID_ARGUMENT, "FIELD", "fields: %zu, expected 1..%" PRIu64,
                         request->n_fields, limits->fields);
    for (size_t i = 0; status == TQ_OK && i < request->n_fields; i++)
        status = tq_field_name_check("fields", request->fields[i], limits->name_bytes, intake->err);
    if (status == TQ_OK)
        status = tq_distinct_in(intake, "fields", request->fields, request->n_fields);
    return status;
}

static tq_status read_request(const struct tq_intake *intake, const Tq__V1__FetchBatchRequest *request,
                              struct tq_want *want)
{
    tq_status status = check_names(intake, request);
    if (status == TQ_OK)
        status = check_sizes(intake->limits, request, intake->err);
    if (status == TQ_OK)
        status = check_sampler(request, want, intake->err);
    want->partition = request->partition;
    want->task = request->task;
    want->fields = request->fields;
    want->n_fields = (uint32_t)request->n_fields;
    want->batch_size = request->batch_size;
    want->polling = request->polling;
    return status;
}

/* ---- the answer ---- */

static void free_parked(struct parked *parked)
{
    tq_list_remove(&parked->in_controller);
    tq_waiter_fini(&parked->controller->table, &parked->waiter);
    tq_seam_free(parked->controller->seam, parked);
}

static Tq__V1__Batch *render(struct tq_controller *controller, const Tq__V1__FetchBatchRequest *request,
                             const struct tq_partition *partition, const uint32_t *slots, uint32_t n)
{
    const struct tq_batch_wish wish = { .partition = request->partition,
                                        .fields = request->fields,
                                        .n_fields = request->n_fields,
                                        .all_ready = true,
                                        .want_tags = request->want_tags,
                                        .want_keys = request->want_keys };
    struct tq_error unused;
    (void)tq_controller_intake(controller, &unused); /* an empty arena */
    return tq_batch_out(controller->scratch, &controller->table, partition, slots, n, &wish);
}

/* Fills the response. Fails with RESOURCE_EXHAUSTED when there is no memory for it, or when it is larger than an answer
 * may be. */
static tq_status prepare(struct tq_controller *controller, const Tq__V1__FetchBatchRequest *request,
                         const struct tq_partition *partition, const uint32_t *slots, uint32_t n,
                         Tq__V1__FetchBatchResponse *response, struct tq_error *err)
{
    uint32_t most = TQ_V1_CONTROLLER_FETCH_BATCH_METHOD->response_bytes;
    response->batch = render(controller, request, partition, slots, n);
    if (response->batch == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "no memory for the answer");
    size_t bytes = tq__v1__fetch_batch_response__get_packed_size(response);
    if (bytes > most)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "ANSWER_BYTES",
                       "batch_size: the answer for %u samples has %zu bytes, expected at most %u: ask for fewer, or "
                       "without tags",
                       n, bytes, most);
    return TQ_OK;
}

/* All that needs the request comes before the answer, which ends it. */
static void answer(struct parked *parked)
{
    struct tq_controller *controller = parked->controller;
    struct tq_waiter *waiter = &parked->waiter;
    Tq__V1__FetchBatchResponse response = TQ__V1__FETCH_BATCH_RESPONSE__INIT;
    response.remainder = waiter->remainder;
    bool is_short = waiter->n == 0;
    if (waiter->error.status == TQ_OK && prepare(controller, parked->request, waiter->partition, waiter->slots,
                                                 waiter->n, &response, &waiter->error) != TQ_OK)
        tq_fetch_undo(&controller->table, waiter); /* nobody has it: it is for others */
    else if (!is_short && parked->has_key && !waiter->want.replacement)
        tq_handout_remember(&controller->handouts, parked->key, waiter);
    controller->stats.short_fetches += is_short;
    if (waiter->error.status != TQ_OK) {
        tq_server_fail_error(parked->call, &waiter->error);
    } else {
        controller->stats.batches += !is_short;
        controller->stats.batch_samples += waiter->n;
        tq_v1_controller_fetch_batch_answer(parked->call, &response);
    }
    free_parked(parked);
}

/* What was handed out before and is still there, in the same order. */
static void answer_again(struct tq_controller *controller, const struct tq_handout *handout,
                         const Tq__V1__FetchBatchRequest *request, struct tq_server_call *call)
{
    const struct tq_partition *partition = tq_table_find(&controller->table, handout->partition);
    uint32_t *slots = tq_seam_alloc_array(controller->seam, handout->n, sizeof(*slots)), n = 0;
    if (slots == NULL) {
        tq_controller_no_memory(call);
        return;
    }
    for (uint32_t i = 0; partition != NULL && i < handout->n; i++)
        n += tq_table_resolve(&controller->table, partition, &handout->samples[i], &slots[n], NULL) == TQ_OK;
    Tq__V1__FetchBatchResponse response = TQ__V1__FETCH_BATCH_RESPONSE__INIT;
    struct tq_error err;
    response.remainder = handout->remainder;
    controller->stats.repeated++;
    if (prepare(controller, request, partition, slots, n, &response, &err) == TQ_OK)
        tq_v1_controller_fetch_batch_answer(call, &response);
    else
        tq_server_fail_error(call, &err);
    tq_seam_free(controller->seam, slots);
}

void tq_controller_settle(struct tq_controller *controller)
{
    for (struct tq_waiter *waiter; (waiter = tq_fetch_take_done(&controller->table)) != NULL;)
        answer(tq_container_of(waiter, struct parked, waiter));
    int64_t next_ns = tq_fetch_next_due_ns(&controller->table);
    if (next_ns == INT64_MAX)
        tq_server_timer_disarm(controller->server, &controller->due);
    else if (!tq_server_timer_arm(controller->server, &controller->due, next_ns))
        tq_error_log("controller-timer", "reason=no-memory"); /* callers' deadlines end the waiting */
}

/* ---- waiting ---- */

/* Nobody waits for the answer any more: the batch stays for others. */
static void gone(void *user, tq_status why)
{
    struct parked *parked = user;
    tq_fetch_cancel(&parked->controller->table, &parked->waiter);
    struct tq_error err;
    (void)tq_fail(&err, why, NULL, "the fetch was given up while it waited; nothing was consumed");
    err.outcome = TQ_OUTCOME_NOT_STARTED;
    tq_server_fail_error(parked->call, &err);
    free_parked(parked);
}

void tq_controller_stop_waiting(void *user)
{
    struct tq_controller *controller = user;
    controller->is_draining = true;
    for (struct tq_list *node; (node = tq_list_take_head(&controller->fetches)) != NULL;) {
        struct parked *parked = tq_container_of(node, struct parked, in_controller);
        tq_fetch_cancel(&controller->table, &parked->waiter);
        struct tq_error err;
        tq_fail(&err, TQ_UNAVAILABLE, "DRAINING", "the controller shuts down; nothing was consumed");
        err.outcome = TQ_OUTCOME_NOT_STARTED;
        tq_server_fail_error(parked->call, &err);
        free_parked(parked);
    }
}

void tq_controller_abandon_fetches(struct tq_controller *controller)
{
    for (struct tq_list *node; (node = tq_list_take_head(&controller->fetches)) != NULL;) {
        struct parked *parked = tq_container_of(node, struct parked, in_controller);
        tq_fetch_cancel(&controller->table, &parked->waiter);
        free_parked(parked);
    }
}

static void begin(struct tq_controller *controller, struct parked *parked)
{
    const Tq__V1__FetchBatchRequest *request = parked->request;
    int64_t now_ns = tq_seam_now_ns(controller->seam);
    int64_t wait_ns = controller->is_draining ? 0 : (int64_t)request->max_wait_ms * 1000000;
    tq_list_add_tail(&controller->fetches, &parked->in_controller);
    tq_fetch_start(&controller->table, &parked->waiter, now_ns, now_ns + wait_ns);
    if (parked->waiter.state == TQ_WAITER_PARKED) {
        controller->stats.parked++;
        tq_server_call_on_gone(parked->call, gone, parked); /* may run it at once */
    }
    tq_controller_settle(controller);
}

void tq_controller_fetch_batch(void *state, const Tq__V1__FetchBatchRequest *request, struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_error err;
    struct tq_want want = { 0 };
    const struct tq_intake intake = tq_controller_intake(controller, &err);
    if (read_request(&intake, request, &want) != TQ_OK) {
        tq_server_fail_error(call, &err);
        return;
    }
    struct tq_bytes key = tq_server_call_key(call);
    const struct tq_handout *handout =
        key.len == TQ_HANDOUT_KEY ? tq_handout_find(&controller->handouts, key.ptr) : NULL;
    if (handout != NULL && strcmp(handout->partition, request->partition) == 0 &&
        strcmp(handout->task, request->task) == 0 && handout->batch_size == request->batch_size) {
        answer_again(controller, handout, request, call);
        return;
    }
    struct parked *parked = tq_seam_alloc(controller->seam, sizeof(*parked));
    if (parked == NULL) {
        tq_controller_no_memory(call);
        return;
    }
    parked->waiter.want = want;
    parked->controller = controller;
    parked->call = call;
    parked->request = request;
    parked->has_key = key.len == TQ_HANDOUT_KEY;
    if (parked->has_key)
        memcpy(parked->key, key.ptr, TQ_HANDOUT_KEY);
    begin(controller, parked);
}

/* Samples by key: the controller maps keys to samples, the rest is put, get and clear. */
#include <stdlib.h>
#include <string.h>

#include "client/clear.h"
#include "client/column.h"
#include "client/field_wire.h"
#include "client/put.h"
#include "client/samples_wire.h"
#include "client/undo.h"
#include "tq/v1/controller.tq.h"

enum { KEY_BYTES_MAX = 1024, KEYS_MAX = 262144 };

struct resolved {
    struct tq_meta *meta; /* known and made keys, in the order of the request */
    size_t n_missing;
    size_t first_missing;
    size_t *created; /* positions in the meta, when nothing is missing */
    size_t n_created;
};

static void resolved_fini(struct resolved *resolved)
{
    free(resolved->created);
    tq_meta_drop(resolved->meta);
}

static tq_status check_keys(const char *partition, const char *const *keys, size_t n, struct tq_error *err)
{
    tq_status status = tq_label_check(partition, "partition", err);
    if (status != TQ_OK)
        return status;
    if (keys == NULL || n < 1 || n > KEYS_MAX)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "%zu keys; expected 1..%d", n, KEYS_MAX);
    for (size_t k = 0; k < n; k++)
        if (keys[k] == NULL || keys[k][0] == '\0' || strnlen(keys[k], KEY_BYTES_MAX + 1) > KEY_BYTES_MAX)
            return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "keys[%zu] is %s; expected 1..%d bytes", k,
                           keys[k] == NULL || keys[k][0] == '\0' ? "empty" : "too long", KEY_BYTES_MAX);
    return TQ_OK;
}

static tq_status take_positions(const Tq__V1__ResolveKeysResponse *response, size_t n, struct resolved *resolved,
                                struct tq_error *err)
{
    resolved->n_missing = response->n_missing;
    for (size_t m = 0; m < response->n_missing; m++)
        if (response->missing[m] >= n)
            return tq_fail_answer(err, "missing key %u of %zu", response->missing[m], n);
    resolved->first_missing = response->n_missing > 0 ? response->missing[0] : 0;
    resolved->created = calloc(response->n_created + 1, sizeof(*resolved->created));
    if (resolved->created == NULL)
        return tq_fail_no_memory(err);
    for (size_t c = 0; c < response->n_created; c++) {
        if (response->created[c] >= n)
            return tq_fail_answer(err, "created key %u of %zu", response->created[c], n);
        resolved->created[resolved->n_created++] = response->created[c];
    }
    if (resolved->meta->n + response->n_missing != n)
        return tq_fail_answer(err, "%zu samples and %zu missing for %zu keys", resolved->meta->n, response->n_missing,
                              n);
    return TQ_OK;
}

static tq_status resolve(struct tq_client *client, const char *partition, const char *const *keys, size_t n,
                         bool create, int64_t deadline_ns, struct resolved *resolved, struct tq_error *err)
{
    tq_status status = check_keys(partition, keys, n, err);
    if (status != TQ_OK)
        return status;
    Tq__V1__ResolveKeysRequest request = TQ__V1__RESOLVE_KEYS_REQUEST__INIT;
    request.partition = (char *)(uintptr_t)partition;
    request.key = (char **)(uintptr_t)keys;
    request.n_key = n;
    request.create = create;
    request.want_tags = true;
    struct tq_call_opts opts = { .deadline_ns = deadline_ns };
    struct tq_reply reply = { 0 };
    tq_client_count_calls(client, 1);
    if (tq_v1_controller_resolve_keys(client->controller, &request, &opts, &reply) != TQ_OK)
        return tq_reply_fail(&reply, err);
    const Tq__V1__ResolveKeysResponse *response = tq_v1_controller_resolve_keys_response(&reply);
    status = tq_meta_from_wire(response->batch, &resolved->meta, err);
    if (resolved->meta != NULL)
        status = take_positions(response, n, resolved, err);
    tq_reply_drop(&reply);
    return status;
}

/* ---- put ---- */

static tq_status set_tags(struct tq_client *client, const struct tq_meta *meta, const struct tq_tag *tags,
                          size_t n_tags, int64_t deadline_ns, struct tq_error *err)
{
    struct tq_arena *arena = tq_arena_open(NULL, SIZE_MAX);
    Tq__V1__SetTagsRequest request = TQ__V1__SET_TAGS_REQUEST__INIT;
    if (arena != NULL) {
        request.samples = tq_samples_to_wire(arena, meta, NULL, meta->n);
        request.tags = tq_tags_to_wire(arena, tags, n_tags, meta->n);
    }
    tq_status status;
    if (request.samples == NULL || request.tags == NULL) {
        status = tq_fail_no_memory(err);
    } else {
        struct tq_call_opts opts = { .deadline_ns = deadline_ns };
        struct tq_reply reply = { 0 };
        tq_client_count_calls(client, 1);
        tq_v1_controller_set_tags(client->controller, &request, &opts, &reply);
        status = tq_reply_fail(&reply, err);
    }
    tq_arena_close(arena);
    return status;
}

/* Keys that this put made must not stay behind as empty samples. */
static void undo_created(struct tq_client *client, const struct resolved *resolved)
{
    struct tq_meta *created = NULL;
    if (resolved->n_created == 0 || resolved->n_missing != 0)
        return;
    if (tq_meta_select(resolved->meta, resolved->created, resolved->n_created, &created, NULL) == TQ_OK)
        tq_undo_start(client, created);
    tq_meta_drop(created);
}

static tq_status check_put(const struct tq_batch *batch, const struct tq_tag *tags, size_t n_tags, struct tq_error *err)
{
    if (batch == NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "batch is NULL");
    if (n_tags > 0 && tags == NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "tags is NULL, n_tags %zu", n_tags);
    if (batch->n_columns == 0 && n_tags == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "neither columns nor tags: nothing to put");
    for (size_t t = 0; t < n_tags; t++)
        if (tags[t].key == NULL || tags[t].key[0] == '\0')
            return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "tags[%zu] has no key", t);
    return batch->n_columns == 0 ? TQ_OK : tq_batch_check(batch, err);
}

tq_status tq_kv_put(struct tq_client *client, const char *partition, const char *const *keys,
                    const struct tq_batch *batch, const struct tq_tag *tags, size_t n_tags,
                    const struct tq_op_opts *opts, struct tq_error *err)
{
    int64_t deadline_ns = tq_op_deadline_ns(client, opts);
    struct resolved resolved = { 0 };
    tq_status status = check_put(batch, tags, n_tags, err);
    if (status == TQ_OK)
        status = resolve(client, partition, keys, batch->n_samples, true, deadline_ns, &resolved, err);
    if (status == TQ_OK && resolved.n_missing > 0)
        status = tq_fail_answer(err, "key %s was not made", keys[resolved.first_missing]);
    if (status == TQ_OK && resolved.meta != NULL)
        status = batch->n_columns > 0 ? tq_put_columns_to(client, resolved.meta, batch, tags, n_tags, deadline_ns, err)
                                      : set_tags(client, resolved.meta, tags, n_tags, deadline_ns, err);
    if (status != TQ_OK && resolved.meta != NULL)
        undo_created(client, &resolved);
    resolved_fini(&resolved);
    return status;
}

/* ---- get ---- */

/* What must hold before the names are looked at. */
static tq_status check_named(const char *const *fields, size_t n_fields, struct tq_error *err)
{
    for (size_t f = 0; fields != NULL && f < n_fields; f++)
        if (fields[f] == NULL)
            return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "fields[%zu] is NULL", f);
    return TQ_OK;
}

static tq_status check_fields(const struct tq_meta *meta, const char *const *fields, size_t n_fields,
                              struct tq_error *err)
{
    if (fields == NULL && meta->n_fields == 0)
        return tq_fail(err, TQ_NOT_FOUND, "FIELD", "the keys of partition %s have no field in common", meta->partition);
    for (size_t f = 0; fields != NULL && f < n_fields; f++)
        if (tq_meta_find_field(meta, fields[f]) == NULL)
            return tq_fail(err, TQ_NOT_FOUND, "FIELD", "field %s is not ready in all of the keys", fields[f]);
    return TQ_OK;
}

tq_status tq_kv_get(struct tq_client *client, const char *partition, const char *const *keys, size_t n_keys,
                    const char *const *fields, size_t n_fields, const struct tq_op_opts *opts,
                    struct tq_data **out_data, struct tq_meta **out_meta, struct tq_error *err)
{
    struct tq_op_opts op = { .deadline_ns = tq_op_deadline_ns(client, opts) };
    struct resolved resolved = { 0 };
    tq_status status = check_named(fields, n_fields, err);
    if (status == TQ_OK)
        status = resolve(client, partition, keys, n_keys, false, op.deadline_ns, &resolved, err);
    if (status == TQ_OK && resolved.n_missing > 0)
        status = tq_fail(err, TQ_NOT_FOUND, "KEY", "key %.128s is not in partition %s", keys[resolved.first_missing],
                         partition);
    if (status == TQ_OK && resolved.meta != NULL)
        status = check_fields(resolved.meta, fields, n_fields, err);
    if (status == TQ_OK)
        status = tq_client_get(client, resolved.meta, fields, n_fields, &op, out_data, err);
    if (status == TQ_OK && out_meta != NULL) {
        *out_meta = resolved.meta;
        resolved.meta = NULL;
    }
    resolved_fini(&resolved);
    return status;
}

/* ---- list and clear ---- */

typedef void each_key_fn(void *user, const char *partition, const char *key, const struct tq_tag *tags, size_t n_tags);

static tq_status check_list(const Tq__V1__ListKeysResponse *response, struct tq_error *err)
{
    const Tq__V1__Tags *tags = response->tags;
    if (response->n_partition != response->n_key)
        return tq_fail_answer(err, "%zu keys, %zu partitions", response->n_key, response->n_partition);
    if (tags != NULL && (tags->n_key != tags->n_sample || tags->n_value != tags->n_sample))
        return tq_fail_answer(err, "tags: %zu samples, %zu keys, %zu values", tags->n_sample, tags->n_key,
                              tags->n_value);
    for (size_t t = 0; tags != NULL && t < tags->n_sample; t++)
        if (tags->sample[t] >= response->n_key)
            return tq_fail_answer(err, "tag %zu is of key %u of %zu", t, tags->sample[t], response->n_key);
    return TQ_OK;
}

/* Views of the answer's tags, in the order of the keys. `starts` has n_key + 1 entries. */
static void sort_tags(const Tq__V1__ListKeysResponse *response, size_t *starts, size_t *next, struct tq_tag *tags)
{
    const Tq__V1__Tags *wire = response->tags;
    size_t n = wire == NULL ? 0 : wire->n_sample;
    for (size_t t = 0; t < n; t++)
        starts[wire->sample[t] + 1]++;
    for (size_t k = 0; k < response->n_key; k++) {
        starts[k + 1] += starts[k];
        next[k] = starts[k];
    }
    for (size_t t = 0; t < n; t++)
        tags[next[wire->sample[t]]++] = (struct tq_tag){ wire->key[t], { wire->value[t].data, wire->value[t].len } };
}

static tq_status show_keys(const Tq__V1__ListKeysResponse *response, each_key_fn *each, void *user,
                           struct tq_error *err)
{
    tq_status status = check_list(response, err);
    if (status != TQ_OK)
        return status;
    size_t n_tags = response->tags == NULL ? 0 : response->tags->n_sample;
    struct tq_arena *arena = tq_arena_open(NULL, SIZE_MAX);
    size_t *starts = arena == NULL ? NULL : tq_arena_array(arena, response->n_key + 1, 2 * sizeof(*starts));
    struct tq_tag *tags = starts == NULL ? NULL : tq_arena_array(arena, n_tags, sizeof(*tags));
    if (tags == NULL) {
        tq_arena_close(arena);
        return tq_fail_no_memory(err);
    }
    sort_tags(response, starts, starts + response->n_key + 1, tags);
    for (size_t k = 0; k < response->n_key; k++)
        each(user, response->partition[k], response->key[k], tags + starts[k], starts[k + 1] - starts[k]);
    tq_arena_close(arena);
    return TQ_OK;
}

tq_status tq_kv_list(struct tq_client *client, const char *partition, const char *prefix, each_key_fn *each, void *user,
                     const struct tq_op_opts *opts, struct tq_error *err)
{
    Tq__V1__ListKeysRequest request = TQ__V1__LIST_KEYS_REQUEST__INIT;
    if (partition != NULL)
        request.partition = (char *)(uintptr_t)partition;
    if (prefix != NULL)
        request.prefix = (char *)(uintptr_t)prefix;
    request.want_tags = true;
    struct tq_call_opts call_opts = { .deadline_ns = tq_op_deadline_ns(client, opts) };
    struct tq_reply reply = { 0 };
    tq_client_count_calls(client, 1);
    if (tq_v1_controller_list_keys(client->controller, &request, &call_opts, &reply) != TQ_OK)
        return tq_reply_fail(&reply, err);
    tq_status status = show_keys(tq_v1_controller_list_keys_response(&reply), each, user, err);
    tq_reply_drop(&reply);
    return status;
}

tq_status tq_kv_clear(struct tq_client *client, const char *partition, const char *const *keys, size_t n_keys,
                      const struct tq_op_opts *opts, struct tq_error *err)
{
    int64_t deadline_ns = tq_op_deadline_ns(client, opts);
    struct resolved resolved = { 0 };
    struct tq_error error = { 0 };
    tq_status status = resolve(client, partition, keys, n_keys, false, deadline_ns, &resolved, &error);
    if (status == TQ_OK)
        status = tq_clear_samples(client, resolved.meta, deadline_ns, &error);
    else if (status == TQ_NOT_FOUND)
        status = TQ_OK; /* no such partition: its keys are as cleared as can be */
    resolved_fini(&resolved);
    if (status != TQ_OK && err != NULL)
        *err = error;
    return status;
}

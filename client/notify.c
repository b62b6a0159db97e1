#include "client/notify.h"

#include <string.h>

#include "client/column.h"
#include "client/field_wire.h"
#include "client/samples_wire.h"
#include "tq/v1/controller.tq.h"

/* Shapes help the controller to balance; more than so many entries are left out. */
enum { SIZES_MAX = 1 << 20 };

static uint64_t sizes_of(const struct tq_batch *batch)
{
    uint64_t sizes = 0;
    for (size_t c = 0; c < batch->n_columns; c++)
        sizes += batch->columns[c].layout == TQ_JAGGED ? (uint64_t)batch->columns[c].rank * batch->n_samples : 0;
    return sizes;
}

static bool all_dense(const struct tq_batch *batch)
{
    for (size_t c = 0; c < batch->n_columns; c++)
        if (batch->columns[c].layout != TQ_DENSE)
            return false;
    return true;
}

/* Stored bytes of every sample; one entry where they are equal. */
static tq_status fill_bytes(struct tq_arena *arena, const struct tq_batch *batch,
                            Tq__V1__NotifyProducedRequest *request, struct tq_error *err)
{
    size_t n = all_dense(batch) ? 1 : batch->n_samples;
    request->bytes = tq_arena_array(arena, n, sizeof(*request->bytes));
    if (request->bytes == NULL)
        return tq_fail_no_memory(err);
    request->n_bytes = n;
    for (size_t c = 0; c < batch->n_columns; c++) {
        struct tq_cells cells;
        tq_status status = tq_cells_init(&cells, &batch->columns[c], batch->n_samples, err);
        if (status != TQ_OK)
            return status;
        for (size_t i = 0; i < n; i++)
            request->bytes[i] += tq_cells_at(&cells, i).len;
        tq_cells_fini(&cells);
    }
    return TQ_OK;
}

static tq_status fill(struct tq_arena *arena, const struct tq_meta *meta, const struct tq_batch *batch,
                      const struct tq_tag *tags, size_t n_tags, Tq__V1__NotifyProducedRequest *request,
                      struct tq_error *err)
{
    request->samples = tq_samples_to_wire(arena, meta, NULL, meta->n);
    request->fields = tq_fields_to_wire(arena, batch);
    request->n_fields = batch->n_columns;
    if (request->samples == NULL || request->fields == NULL)
        return tq_fail_no_memory(err);
    uint64_t sizes = sizes_of(batch);
    if (sizes > 0 && sizes <= SIZES_MAX) {
        request->shapes = tq_shapes_to_wire(arena, batch, NULL, meta->n);
        request->n_shapes = batch->n_columns;
        if (request->shapes == NULL)
            return tq_fail_no_memory(err);
    }
    if (n_tags > 0 && (request->tags = tq_tags_to_wire(arena, tags, n_tags, meta->n)) == NULL)
        return tq_fail_no_memory(err);
    return fill_bytes(arena, batch, request, err);
}

tq_status tq_notify_produced(struct tq_client *client, const struct tq_meta *meta, const struct tq_batch *batch,
                             const struct tq_tag *tags, size_t n_tags, int64_t deadline_ns, struct tq_error *err)
{
    struct tq_arena *arena = tq_arena_open(NULL, SIZE_MAX);
    if (arena == NULL)
        return tq_fail_no_memory(err);
    Tq__V1__NotifyProducedRequest request = TQ__V1__NOTIFY_PRODUCED_REQUEST__INIT;
    tq_status status = fill(arena, meta, batch, tags, n_tags, &request, err);
    if (status == TQ_OK) {
        struct tq_call_opts opts = { .deadline_ns = deadline_ns };
        struct tq_reply reply = { 0 };
        tq_client_count_calls(client, 1);
        tq_v1_controller_notify_produced(client->controller, &request, &opts, &reply);
        status = tq_reply_fail(&reply, err);
    }
    tq_arena_close(arena);
    return status;
}

/* ---- the meta afterwards ---- */

static bool is_column(const struct tq_batch *batch, const char *name)
{
    for (size_t c = 0; c < batch->n_columns; c++)
        if (strcmp(batch->columns[c].name, name) == 0)
            return true;
    return false;
}

static bool add_column(struct tq_meta *meta, const struct tq_column *column, struct tq_field *fields, size_t *n)
{
    struct tq_field field;
    return tq_field_from_column(meta->arena, column, &field, NULL) == TQ_OK &&
           tq_field_copy(meta->arena, &field, &fields[(*n)++]);
}

tq_status tq_meta_add_columns(struct tq_meta *meta, const struct tq_batch *batch, struct tq_error *err)
{
    struct tq_field *fields = tq_arena_array(meta->arena, meta->n_fields + batch->n_columns, sizeof(*fields));
    if (fields == NULL)
        return tq_fail_no_memory(err);
    size_t n = 0;
    for (size_t f = 0; f < meta->n_fields; f++)
        if (!is_column(batch, meta->fields[f].name))
            fields[n++] = meta->fields[f];
    bool others = n > 0;
    for (size_t c = 0; c < batch->n_columns; c++)
        if (!add_column(meta, &batch->columns[c], fields, &n))
            return tq_fail_no_memory(err);
    meta->fields = fields;
    meta->n_fields = n;
    for (size_t i = 0; i < meta->n; i++)
        meta->ready[i] = !others || meta->ready[i];
    return TQ_OK;
}

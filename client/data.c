#include "client/data.h"

#include <string.h>

#include "client/field_wire.h"
#include "transport/base/assert.h"

/* What all units together say about one column. */
struct plan {
    struct tq_field field; /* of the first answer, with the layout of all */
    size_t rank;           /* dense: dimensions of a sample */
};

/* ---- one layout for all ---- */

static size_t rank_of(const struct tq_answer *answer, size_t f)
{
    return answer->fields[f].layout == TQ_DENSE ? answer->fields[f].n_dims : answer->ranks[f];
}

static bool same_shape(const struct tq_field *a, const struct tq_field *b)
{
    return a->n_dims == b->n_dims && (a->n_dims == 0 || memcmp(a->shape, b->shape, a->n_dims * sizeof(*a->shape)) == 0);
}

static tq_status merge(struct plan *plan, const struct tq_answer *answer, size_t f, struct tq_error *err)
{
    const struct tq_field *field = &answer->fields[f];
    if (field->layout == TQ_OPAQUE && plan->field.layout == TQ_OPAQUE) {
        if (strcmp(field->content_type, plan->field.content_type) != 0)
            plan->field.content_type = "application/octet-stream";
        return TQ_OK;
    }
    bool dense = field->layout == TQ_DENSE && plan->field.layout == TQ_DENSE;
    if (field->dtype == plan->field.dtype && dense && same_shape(field, &plan->field))
        return TQ_OK;
    bool mixable = field->layout != TQ_OPAQUE && plan->field.layout != TQ_OPAQUE && plan->rank > 0;
    if (field->dtype != plan->field.dtype || !mixable || rank_of(answer, f) != plan->rank)
        return tq_fail(err, TQ_FAILED_PRECONDITION, "MIXED_COLUMN",
                       "field %s: units hold it with different layouts, types or ranks", field->name);
    plan->field.layout = TQ_JAGGED;
    return TQ_OK;
}

static tq_status make_plan(struct plan *plan, const struct tq_answer *answers, size_t n_answers, size_t f,
                           struct tq_error *err)
{
    *plan = (struct plan){ .field = answers[0].fields[f], .rank = rank_of(&answers[0], f) };
    for (size_t a = 1; a < n_answers; a++) {
        tq_status status = merge(plan, &answers[a], f, err);
        if (status != TQ_OK)
            return status;
    }
    if (plan->field.layout == TQ_OPAQUE)
        plan->rank = 1;
    return TQ_OK;
}

/* ---- memory ---- */

static void size_of_cell(const struct tq_answer *answer, const struct plan *plan, size_t f, size_t k, int64_t *sizes)
{
    if (plan->field.layout == TQ_OPAQUE) {
        sizes[0] = (int64_t)answer->message->cells->length[f * answer->n + k];
        return;
    }
    const struct tq_field *field = &answer->fields[f];
    const uint64_t *from = field->layout == TQ_DENSE ? field->shape : answer->message->shapes[f]->size + k * plan->rank;
    for (size_t d = 0; d < plan->rank; d++)
        sizes[d] = (int64_t)from[d];
}

/* Sizes and starts of every sample. False when there is no memory for them; *out_bytes is UINT64_MAX when the column
 * does not fit an address space. */
static bool measure(struct tq_data *data, const struct plan *plan, const struct tq_answer *answers, size_t n_answers,
                    size_t f, int64_t *sizes, uint64_t *out_bytes)
{
    size_t n = data->batch.n_samples;
    uint64_t *starts = data->starts[f] = tq_arena_array(data->arena, n + 1, sizeof(*starts));
    if (starts == NULL)
        return false;
    for (size_t a = 0; a < n_answers; a++)
        for (size_t k = 0; k < answers[a].n; k++) {
            size_t position = answers[a].share->positions[answers[a].first + k];
            starts[position + 1] = answers[a].message->cells->length[f * answers[a].n + k];
            if (sizes != NULL)
                size_of_cell(&answers[a], plan, f, k, sizes + position * plan->rank);
        }
    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(starts[i], starts[i + 1], &starts[i + 1]) || starts[i + 1] > INT64_MAX)
            return *out_bytes = UINT64_MAX, true;
    *out_bytes = starts[n];
    return true;
}

static bool make_tensor(struct tq_data *data, const struct plan *plan, size_t f, uint64_t bytes, const uint8_t *values)
{
    struct tq_column *column = &data->columns[f];
    size_t n_dims = plan->field.layout == TQ_DENSE ? plan->rank : 0;
    int64_t *shape = tq_arena_array(data->arena, n_dims + 1, sizeof(*shape));
    if (shape == NULL)
        return false;
    enum tq_dtype dtype = plan->field.layout == TQ_OPAQUE ? TQ_DTYPE_UINT8 : plan->field.dtype;
    shape[0] =
        plan->field.layout == TQ_DENSE ? (int64_t)data->batch.n_samples : (int64_t)(bytes / tq_dtype_size(dtype));
    for (size_t d = 0; d < n_dims; d++)
        shape[d + 1] = (int64_t)plan->field.shape[d];
    column->values = (DLTensor){ .data = (void *)(uintptr_t)values,
                                 .device = { kDLCPU, 0 },
                                 .ndim = (int32_t)n_dims + 1,
                                 .dtype = tq_dtype_to_dlpack(dtype),
                                 .shape = shape };
    return true;
}

static tq_status make_column(struct tq_data *data, const struct plan *plan, const struct tq_answer *answers,
                             size_t n_answers, size_t f, struct tq_error *err)
{
    struct tq_column *column = &data->columns[f];
    bool dense = plan->field.layout == TQ_DENSE;
    int64_t *sizes = NULL;
    if (!dense && (sizes = tq_arena_array(data->arena, data->batch.n_samples * plan->rank, sizeof(*sizes))) == NULL)
        return tq_fail_no_memory(err);
    uint64_t bytes = 0;
    if (!measure(data, plan, answers, n_answers, f, sizes, &bytes))
        return tq_fail_no_memory(err);
    if (bytes == UINT64_MAX || !tq_buffers_take(data->home, bytes, &data->buffers[f]))
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "field %s: no memory for its values", plan->field.name);
    column->name = tq_arena_text(data->arena, plan->field.name);
    column->layout = plan->field.layout;
    column->rank = dense ? 0 : (uint32_t)plan->rank;
    column->sizes = sizes;
    if (plan->field.layout == TQ_OPAQUE &&
        (column->content_type = tq_arena_text(data->arena, plan->field.content_type)) == NULL)
        return tq_fail_no_memory(err);
    bool made = column->name != NULL && make_tensor(data, plan, f, bytes, data->buffers[f].ptr);
    return made ? TQ_OK : tq_fail_no_memory(err);
}

static struct tq_data *make_empty(struct tq_buffers *home, size_t n_samples, size_t n_fields)
{
    struct tq_arena *arena = tq_arena_open(NULL, SIZE_MAX);
    struct tq_data *data = arena == NULL ? NULL : tq_arena_alloc(arena, sizeof(*data));
    if (data == NULL) {
        tq_arena_close(arena);
        return NULL;
    }
    data->arena = arena;
    data->home = home;
    data->columns = tq_arena_array(arena, n_fields, sizeof(*data->columns));
    data->buffers = tq_arena_array(arena, n_fields, sizeof(*data->buffers));
    data->starts = tq_arena_array(arena, n_fields, sizeof(uint64_t *));
    data->batch = (struct tq_batch){ .n_samples = n_samples, .columns = data->columns };
    if (data->columns == NULL || data->buffers == NULL || data->starts == NULL) {
        tq_data_drop(data);
        return NULL;
    }
    data->batch.n_columns = n_fields;
    return data;
}

tq_status tq_data_make(struct tq_buffers *home, const struct tq_answer *answers, size_t n_answers, size_t n_samples,
                       size_t n_fields, struct tq_data **out_data, struct tq_error *err)
{
    TQ_ASSERT(n_answers > 0);
    struct tq_data *data = make_empty(home, n_samples, n_fields);
    if (data == NULL)
        return tq_fail_no_memory(err);
    for (size_t f = 0; f < n_fields; f++) {
        struct plan plan;
        tq_status status = make_plan(&plan, answers, n_answers, f, err);
        if (status == TQ_OK)
            status = make_column(data, &plan, answers, n_answers, f, err);
        if (status != TQ_OK) {
            tq_data_drop(data);
            return status;
        }
    }
    *out_data = data;
    return TQ_OK;
}

uint8_t *tq_data_cell(const struct tq_data *data, size_t f, size_t position)
{
    return data->buffers[f].ptr + data->starts[f][position];
}

/* ---- the public view ---- */

void tq_data_drop(struct tq_data *data)
{
    if (data == NULL)
        return;
    for (size_t f = 0; f < data->batch.n_columns; f++)
        tq_buffers_give(data->home, &data->buffers[f]);
    tq_arena_close(data->arena); /* the data lies in it */
}

const struct tq_batch *tq_data_batch(const struct tq_data *data)
{
    return &data->batch;
}

const struct tq_column *tq_data_column(const struct tq_data *data, const char *name)
{
    for (size_t f = 0; f < data->batch.n_columns; f++)
        if (strcmp(data->columns[f].name, name) == 0)
            return &data->columns[f];
    return NULL;
}

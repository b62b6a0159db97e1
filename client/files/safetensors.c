#include "client/files/safetensors.h"

#include <string.h>

#include "client/column.h"
#include "client/files/st_header.h"
#include "client/meta.h"

struct reader {
    struct tq_arena *arena;
    const struct tq_st_header *header;
    struct tq_error *err;
};

static DLTensor view(const struct tq_st_tensor *tensor, const int64_t *shape)
{
    return (DLTensor){ .data = (void *)(uintptr_t)tensor->bytes.ptr,
                       .device = { kDLCPU, 0 },
                       .ndim = (int32_t)tensor->n_dims,
                       .dtype = tq_dtype_to_dlpack(tensor->dtype),
                       .shape = (int64_t *)(uintptr_t)shape };
}

static bool is_layout(const struct tq_st_tensor *tensor, const char *layout)
{
    return tensor->layout != NULL && strcmp(tensor->layout, layout) == 0;
}

/* ---- pairs of values and sizes ---- */

static const char SIZES_SUFFIX[] = ".sizes";

static const struct tq_st_tensor *find_sizes(const struct tq_st_header *header, const struct tq_st_tensor *values)
{
    size_t len = strlen(values->name);
    for (size_t t = 0; t < header->n; t++) {
        const struct tq_st_tensor *tensor = &header->tensors[t];
        if (strncmp(tensor->name, values->name, len) == 0 && strcmp(tensor->name + len, SIZES_SUFFIX) == 0)
            return tensor;
    }
    return NULL;
}

static bool is_sizes(const struct tq_st_tensor *sizes)
{
    return sizes != NULL && sizes->dtype == TQ_DTYPE_INT64 && (sizes->n_dims == 1 || sizes->n_dims == 2);
}

static tq_status make_packed(struct reader *reader, const struct tq_st_tensor *values, const struct tq_st_tensor *sizes,
                             struct tq_column *column)
{
    /* The file may lie at any address: numbers are copied, values stay bytes. */
    int64_t *copy = tq_arena_copy(reader->arena, sizes->bytes.ptr, sizes->bytes.len);
    if (copy == NULL)
        return tq_fail_no_memory(reader->err);
    bool opaque = is_layout(values, "opaque");
    int64_t rank = sizes->n_dims == 1 ? 1 : sizes->shape[1];
    *column = (struct tq_column){ .name = values->name,
                                  .layout = opaque ? TQ_OPAQUE : TQ_JAGGED,
                                  .values = view(values, values->shape),
                                  .rank = rank > TQ_SAMPLE_DIMS_MAX ? UINT32_MAX : (uint32_t)rank,
                                  .sizes = copy,
                                  .content_type = opaque ? values->content_type : NULL };
    return tq_column_check(column, (size_t)sizes->shape[0], reader->err);
}

/* Whether `values` and `sizes` are one column: they say so, or they fit. Sets *column when they are. */
static tq_status try_packed(struct reader *reader, const struct tq_st_tensor *values, const struct tq_st_tensor *sizes,
                            struct tq_column *column, bool *out_is)
{
    bool said = is_layout(values, "jagged") || is_layout(values, "opaque");
    *out_is = false;
    if (!is_sizes(sizes)) {
        return said ? tq_fail(reader->err, TQ_INVALID_ARGUMENT, NULL, "tensor %.128s is %s, but %.128s%s is missing",
                              values->name, values->layout, values->name, SIZES_SUFFIX)
                    : TQ_OK;
    }
    tq_status status = make_packed(reader, values, sizes, column);
    *out_is = status == TQ_OK;
    return said || status == TQ_RESOURCE_EXHAUSTED ? status : TQ_OK;
}

static tq_status make_dense(struct reader *reader, const struct tq_st_tensor *tensor, struct tq_column *column)
{
    if (tensor->n_dims == 0)
        return tq_fail(reader->err, TQ_INVALID_ARGUMENT, NULL,
                       "tensor %.128s is a scalar; expected a leading dimension, the samples", tensor->name);
    *column = (struct tq_column){ .name = tensor->name, .layout = TQ_DENSE, .values = view(tensor, tensor->shape) };
    return tq_column_check(column, (size_t)tensor->shape[0], reader->err);
}

static tq_status add_column(struct reader *reader, size_t t, struct tq_column *column, bool *is_part_of_pair,
                            uint64_t *out_n)
{
    const struct tq_st_tensor *values = &reader->header->tensors[t];
    const struct tq_st_tensor *sizes = find_sizes(reader->header, values);
    bool packed = false;
    tq_status status = try_packed(reader, values, sizes, column, &packed);
    if (status != TQ_OK)
        return status;
    if (packed) {
        is_part_of_pair[sizes - reader->header->tensors] = true;
        *out_n = (uint64_t)sizes->shape[0];
        return TQ_OK;
    }
    status = make_dense(reader, values, column);
    *out_n = status == TQ_OK ? (uint64_t)values->shape[0] : 0;
    return status;
}

/* Values before sizes: the first pass finds the pairs, whatever the order in the file. */
static tq_status make_columns(struct reader *reader, struct tq_batch *batch)
{
    size_t n_tensors = reader->header->n;
    struct tq_column *columns = tq_arena_array(reader->arena, n_tensors, sizeof(*columns));
    uint64_t *rows = tq_arena_array(reader->arena, n_tensors, sizeof(*rows));
    bool *is_sizes_of = tq_arena_array(reader->arena, n_tensors, sizeof(*is_sizes_of));
    if (columns == NULL || rows == NULL || is_sizes_of == NULL)
        return tq_fail_no_memory(reader->err);
    for (size_t t = 0; t < n_tensors; t++) {
        tq_status status = add_column(reader, t, &columns[t], is_sizes_of, &rows[t]);
        if (status != TQ_OK)
            return status;
    }
    size_t n = 0;
    for (size_t t = 0; t < n_tensors; t++) {
        if (is_sizes_of[t])
            continue;
        if (n > 0 && rows[t] != batch->n_samples)
            return tq_fail(reader->err, TQ_INVALID_ARGUMENT, NULL,
                           "tensor %s has %llu samples; %s has %zu: the leading dimensions must be equal",
                           columns[t].name, (unsigned long long)rows[t], columns[0].name, batch->n_samples);
        batch->n_samples = (size_t)rows[t];
        columns[n++] = columns[t];
    }
    batch->columns = columns;
    batch->n_columns = n;
    return TQ_OK;
}

tq_status tq_safetensors_parse(struct tq_bytes file, struct tq_arena *arena, struct tq_batch *out_batch,
                               struct tq_error *err)
{
    struct tq_st_header header;
    struct reader reader = { .arena = arena, .header = &header, .err = err };
    *out_batch = (struct tq_batch){ 0 };
    tq_status status = tq_st_header_parse(file, arena, &header, err);
    if (status == TQ_OK)
        status = make_columns(&reader, out_batch);
    return status == TQ_OK ? tq_batch_check(out_batch, err) : status;
}

#include <string.h>

#include "client/column.h"
#include "transport/base/seam.h"

/* The largest batch that one InsertSamples takes. */
enum { SAMPLES_MAX = 1048576, COLUMNS_MAX = 1024 };

bool tq_product(uint64_t *product, uint64_t factor)
{
    return !__builtin_mul_overflow(*product, factor, product);
}

tq_status tq_label_check(const char *label, const char *what, struct tq_error *err)
{
    if (label == NULL || label[0] == '\0')
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "%s is empty; expected 1..%d bytes", what, TQ_NAME_BYTES_MAX);
    size_t len = strnlen(label, TQ_NAME_BYTES_MAX + 1);
    if (len > TQ_NAME_BYTES_MAX)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "%s %.40s... is longer than %d bytes", what, label,
                       TQ_NAME_BYTES_MAX);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)label[i] < 0x20 || label[i] == 0x7f)
            return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "%s: byte %zu is 0x%02x; control characters are not allowed",
                           what, i, (unsigned char)label[i]);
    return TQ_OK;
}

tq_status tq_name_check(const char *name, const char *what, struct tq_error *err)
{
    tq_status status = tq_label_check(name, what, err);
    if (status == TQ_OK && strchr(name, '/') != NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "%s %s contains '/'", what, name);
    return status;
}

static tq_status check_tensor(const struct tq_column *column, struct tq_error *err)
{
    const DLTensor *values = &column->values;
    if (values->device.device_type != kDLCPU)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: device type %d; expected memory of the CPU (%d)",
                       column->name, (int)values->device.device_type, (int)kDLCPU);
    if (tq_dtype_from_dlpack(values->dtype) == TQ_DTYPE_NONE)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: type (code %u, bits %u, lanes %u) is not carried",
                       column->name, values->dtype.code, values->dtype.bits, values->dtype.lanes);
    if (values->ndim < 1 || values->ndim > TQ_SAMPLE_DIMS_MAX + 1 || values->shape == NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: %d dimensions; expected 1..%d", column->name,
                       (int)values->ndim, TQ_SAMPLE_DIMS_MAX + 1);
    uint64_t bytes = tq_dtype_bytes(values->dtype);
    for (int d = 0; d < values->ndim; d++) {
        if (values->shape[d] < 0)
            return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: shape[%d] is %lld; expected 0 or more",
                           column->name, d, (long long)values->shape[d]);
        if (!tq_product(&bytes, (uint64_t)values->shape[d]) || bytes > INT64_MAX)
            return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: the shape has more bytes than 2^63",
                           column->name);
    }
    if (bytes > 0 && values->data == NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: data is NULL; expected %llu bytes", column->name,
                       (unsigned long long)bytes);
    return TQ_OK;
}

/* Compact behind the first dimension, and samples in ascending order. */
static tq_status check_strides(const struct tq_column *column, struct tq_error *err)
{
    const DLTensor *values = &column->values;
    if (values->strides == NULL)
        return TQ_OK;
    int64_t expected = 1;
    for (int d = values->ndim - 1; d > 0; d--) {
        if (values->shape[d] > 1 && values->strides[d] != expected)
            return tq_fail(err, TQ_INVALID_ARGUMENT, NULL,
                           "column %s: strides[%d] is %lld; expected %lld (only the first dimension may be strided)",
                           column->name, d, (long long)values->strides[d], (long long)expected);
        expected *= values->shape[d];
    }
    uint64_t span = tq_dtype_bytes(values->dtype);
    if (values->shape[0] > 1 && (values->strides[0] < 0 || !tq_product(&span, (uint64_t)values->strides[0]) ||
                                 !tq_product(&span, (uint64_t)values->shape[0]) || span > INT64_MAX))
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: strides[0] is %lld; expected 0 or more, in memory",
                       column->name, (long long)values->strides[0]);
    return TQ_OK;
}

static tq_status check_dense(const struct tq_column *column, size_t n, struct tq_error *err)
{
    if (column->rank != 0 || column->sizes != NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: dense columns have no rank and no sizes",
                       column->name);
    if ((uint64_t)column->values.shape[0] != n)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: %lld rows; expected %zu, the samples of the batch",
                       column->name, (long long)column->values.shape[0], n);
    return check_strides(column, err);
}

static tq_status check_sizes(const struct tq_column *column, size_t n, struct tq_error *err)
{
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t elements = 1;
        bool fits = true, empty = false;
        for (uint32_t d = 0; d < column->rank; d++) {
            int64_t size = column->sizes[i * column->rank + d];
            if (size < 0)
                return tq_fail(err, TQ_INVALID_ARGUMENT, NULL,
                               "column %s: sizes[%zu] of sample %zu is %lld; expected 0 or more", column->name,
                               (size_t)d, i, (long long)size);
            empty = empty || size == 0;
            fits = fits && tq_product(&elements, (uint64_t)size);
        }
        /* A zero anywhere is an empty sample, whatever the others multiply to. */
        if ((!fits && !empty) || __builtin_add_overflow(total, empty ? 0 : elements, &total))
            return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: the sizes up to sample %zu do not fit 64 bits",
                           column->name, i);
    }
    if (total != (uint64_t)column->values.shape[0])
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: the sizes add up to %llu elements; values has %lld",
                       column->name, (unsigned long long)total, (long long)column->values.shape[0]);
    return TQ_OK;
}

static tq_status check_packed(const struct tq_column *column, size_t n, struct tq_error *err)
{
    const DLTensor *values = &column->values;
    if (values->ndim != 1 || (values->strides != NULL && values->shape[0] > 1 && values->strides[0] != 1))
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL,
                       "column %s: values of a jagged or opaque column are packed in "
                       "one dimension",
                       column->name);
    uint32_t max_rank = column->layout == TQ_OPAQUE ? 1 : TQ_SAMPLE_DIMS_MAX;
    if (column->rank < 1 || column->rank > max_rank)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: rank is %u; expected 1..%u", column->name,
                       column->rank, max_rank);
    if (column->sizes == NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: sizes is NULL; expected %zu numbers", column->name,
                       n * column->rank);
    return check_sizes(column, n, err);
}

static tq_status check_opaque(const struct tq_column *column, size_t n, struct tq_error *err)
{
    if (tq_dtype_from_dlpack(column->values.dtype) != TQ_DTYPE_UINT8)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: opaque values are uint8", column->name);
    if (column->content_type != NULL &&
        strnlen(column->content_type, TQ_CONTENT_TYPE_BYTES_MAX + 1) > TQ_CONTENT_TYPE_BYTES_MAX)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: content_type is longer than %d bytes", column->name,
                       TQ_CONTENT_TYPE_BYTES_MAX);
    return check_packed(column, n, err);
}

tq_status tq_column_check(const struct tq_column *column, size_t n, struct tq_error *err)
{
    tq_status status = tq_name_check(column->name, "column name", err);
    if (status == TQ_OK)
        status = check_tensor(column, err);
    if (status != TQ_OK)
        return status;
    switch (column->layout) {
    case TQ_DENSE:
        return check_dense(column, n, err);
    case TQ_JAGGED:
        return check_packed(column, n, err);
    case TQ_OPAQUE:
        return check_opaque(column, n, err);
    }
    return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: layout is %d; expected dense, jagged or opaque",
                   column->name, (int)column->layout);
}

tq_status tq_batch_check(const struct tq_batch *batch, struct tq_error *err)
{
    if (batch == NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "batch is NULL");
    if (batch->n_samples < 1 || batch->n_samples > SAMPLES_MAX)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "n_samples is %zu; expected 1..%d", batch->n_samples,
                       SAMPLES_MAX);
    if (batch->n_columns < 1 || batch->n_columns > COLUMNS_MAX || batch->columns == NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "n_columns is %zu; expected 1..%d", batch->n_columns,
                       COLUMNS_MAX);
    for (size_t c = 0; c < batch->n_columns; c++) {
        tq_status status = tq_column_check(&batch->columns[c], batch->n_samples, err);
        if (status != TQ_OK)
            return status;
        for (size_t other = 0; other < c; other++)
            if (strcmp(batch->columns[c].name, batch->columns[other].name) == 0)
                return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "columns %zu and %zu are both named %s", other, c,
                               batch->columns[c].name);
    }
    return TQ_OK;
}

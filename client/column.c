#include "client/column.h"

#include <string.h>

#include "transport/base/assert.h"
#include "transport/base/seam.h"

static const uint8_t *values_ptr(const struct tq_column *column)
{
    const uint8_t *data = column->values.data;
    return data == NULL ? NULL : data + column->values.byte_offset;
}

/* Elements of sample i of a jagged or opaque column. The sizes have been checked. */
static uint64_t sample_elements(const struct tq_column *column, size_t i)
{
    uint64_t elements = 1;
    for (uint32_t d = 0; d < column->rank; d++)
        elements *= (uint64_t)column->sizes[i * column->rank + d];
    return elements;
}

static size_t dense_cell_bytes(const struct tq_column *column)
{
    size_t bytes = tq_dtype_bytes(column->values.dtype);
    for (int d = 1; d < column->values.ndim; d++)
        bytes *= (size_t)column->values.shape[d];
    return bytes;
}

static size_t dense_stride_bytes(const struct tq_column *column, size_t cell_bytes)
{
    if (column->values.strides == NULL || column->values.shape[0] <= 1)
        return cell_bytes;
    return (size_t)column->values.strides[0] * tq_dtype_bytes(column->values.dtype);
}

struct tq_bytes tq_column_cell(const struct tq_column *column, size_t i)
{
    const uint8_t *base = values_ptr(column);
    if (column->layout == TQ_DENSE) {
        size_t bytes = dense_cell_bytes(column);
        return (struct tq_bytes){ bytes == 0 ? base : base + i * dense_stride_bytes(column, bytes), bytes };
    }
    size_t element = tq_dtype_bytes(column->values.dtype);
    uint64_t before = 0;
    for (size_t s = 0; s < i; s++)
        before += sample_elements(column, s);
    size_t bytes = (size_t)sample_elements(column, i) * element;
    return (struct tq_bytes){ base == NULL ? NULL : base + before * element, bytes };
}

tq_status tq_cells_init(struct tq_cells *cells, const struct tq_column *column, size_t n, struct tq_error *err)
{
    *cells = (struct tq_cells){ .base = values_ptr(column), .n = n };
    if (column->layout == TQ_DENSE) {
        cells->bytes = dense_cell_bytes(column);
        cells->stride = dense_stride_bytes(column, cells->bytes);
        return TQ_OK;
    }
    cells->starts = tq_seam_alloc_array(NULL, n + 1, sizeof(*cells->starts));
    if (cells->starts == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "column %s: no memory for %zu offsets", column->name,
                       n);
    size_t element = tq_dtype_bytes(column->values.dtype);
    for (size_t i = 0; i < n; i++)
        cells->starts[i + 1] = cells->starts[i] + sample_elements(column, i) * element;
    return TQ_OK;
}

void tq_cells_fini(struct tq_cells *cells)
{
    tq_seam_free(NULL, cells->starts);
    *cells = (struct tq_cells){ 0 };
}

struct tq_bytes tq_cells_at(const struct tq_cells *cells, size_t i)
{
    TQ_ASSERT(i < cells->n);
    uint64_t start = cells->starts == NULL ? i * cells->stride : cells->starts[i];
    size_t bytes = cells->starts == NULL ? cells->bytes : (size_t)(cells->starts[i + 1] - start);
    return (struct tq_bytes){ cells->base == NULL ? NULL : cells->base + start, bytes };
}

uint64_t tq_cells_span_bytes(const struct tq_cells *cells)
{
    if (cells->n == 0)
        return 0;
    return cells->starts == NULL ? (cells->n - 1) * cells->stride + cells->bytes : cells->starts[cells->n];
}

uint64_t tq_cells_total_bytes(const struct tq_cells *cells)
{
    return cells->starts == NULL ? cells->n * cells->bytes : cells->starts[cells->n];
}

#include "server/storage/columns.h"

#include <string.h>

#include "server/storage/fields.h"

/* The first cell whose schema is another; n when there is none. */
static size_t find_other(struct tq_frame *const *frames, size_t n)
{
    size_t i = 1;
    while (i < n && frames[i]->schema == frames[0]->schema)
        i++;
    return i;
}

static tq_status refuse(const struct tq_schema *a, const struct tq_schema *b, size_t at, struct tq_error *err)
{
    return tq_fail(err, TQ_FAILED_PRECONDITION, "MIXED_FIELD",
                   "field '%s': sample 0 of the request has layout %d, type %u, rank %u, sample %zu has %d, %u, %u; "
                   "they make no column",
                   a->name->text, (int)a->layout, a->dtype, a->rank, at, (int)b->layout, b->dtype, b->rank);
}

static const uint64_t *sizes_of(const struct tq_frame *frame)
{
    return frame->schema->layout == TQ_CELLS_DENSE ? frame->schema->shape : frame->sizes;
}

static tq_status write_sizes(const struct tq_store *store, struct tq_frame *const *frames, size_t n,
                             struct tq_column_out *column, struct tq_error *err)
{
    uint32_t rank = frames[0]->schema->rank;
    column->shapes.size = tq_seam_alloc_array(store->seam, n * rank, sizeof(uint64_t));
    if (column->shapes.size == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for the shapes of %zu samples", n);
    for (size_t i = 0; i < n; i++)
        memcpy(column->shapes.size + i * rank, sizes_of(frames[i]), rank * sizeof(uint64_t));
    column->shapes.rank = rank;
    column->shapes.n_size = n * rank;
    return TQ_OK;
}

/* Makes the field wide enough for cells of several declarations. */
static tq_status widen(struct tq_frame *const *frames, size_t n, struct tq_column_out *column, struct tq_error *err)
{
    const struct tq_schema *first = frames[0]->schema;
    for (size_t i = 1; i < n; i++) {
        const struct tq_schema *other = frames[i]->schema;
        bool both_opaque = first->layout == TQ_CELLS_OPAQUE && other->layout == TQ_CELLS_OPAQUE;
        bool both_tensors = first->layout != TQ_CELLS_OPAQUE && other->layout != TQ_CELLS_OPAQUE &&
                            first->dtype == other->dtype && first->rank == other->rank;
        if (!both_opaque && !both_tensors)
            return refuse(first, other, i, err);
    }
    if (first->layout == TQ_CELLS_OPAQUE) {
        column->field.content_type = (char *)"application/octet-stream";
    } else {
        column->field.layout = TQ__V1__LAYOUT__LAYOUT_JAGGED;
        column->field.n_shape = 0;
    }
    return TQ_OK;
}

tq_status tq_column_open(const struct tq_store *store, struct tq_frame *const *frames, size_t n,
                         struct tq_column_out *out_column, struct tq_error *err)
{
    tq_field_write(frames[0]->schema, &out_column->field);
    tq__v1__shapes__init(&out_column->shapes);
    tq_status status = find_other(frames, n) == n ? TQ_OK : widen(frames, n, out_column, err);
    if (status == TQ_OK && out_column->field.layout == TQ__V1__LAYOUT__LAYOUT_JAGGED)
        status = write_sizes(store, frames, n, out_column, err);
    return status;
}

void tq_column_close(const struct tq_store *store, struct tq_column_out *column)
{
    tq_seam_free(store->seam, column->shapes.size);
    *column = (struct tq_column_out){ 0 };
}

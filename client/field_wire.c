#include "client/field_wire.h"

#include <string.h>

#include "client/column.h"

/* A mutable view of text that protobuf-c only reads. */
static char *borrow(const char *text)
{
    return (char *)(uintptr_t)text;
}

bool tq_field_cell_bytes(const struct tq_field *field, uint64_t *out_bytes)
{
    uint64_t bytes = tq_dtype_size(field->dtype);
    for (size_t d = 0; d < field->n_dims; d++)
        if (field->shape[d] == 0)
            return *out_bytes = 0, true;
    for (size_t d = 0; d < field->n_dims; d++)
        if (!tq_product(&bytes, field->shape[d]) || bytes > INT64_MAX)
            return false;
    *out_bytes = bytes;
    return true;
}

static tq_status check_layout(const struct tq_field *field, struct tq_error *err)
{
    uint64_t bytes;
    switch (field->layout) {
    case TQ_DENSE:
        if (field->dtype == TQ_DTYPE_NONE || field->n_dims > TQ_SAMPLE_DIMS_MAX || !tq_field_cell_bytes(field, &bytes))
            break;
        return TQ_OK;
    case TQ_JAGGED:
        if (field->dtype == TQ_DTYPE_NONE)
            break;
        return TQ_OK;
    case TQ_OPAQUE:
        return TQ_OK;
    }
    return tq_fail_answer(err, "field %s: layout %d, type %d, %zu dimensions", field->name, (int)field->layout,
                          (int)field->dtype, field->n_dims);
}

tq_status tq_field_from_wire(const Tq__V1__Field *wire, struct tq_field *out_field, struct tq_error *err)
{
    if (wire->dtype != TQ__V1__DATA_TYPE__DATA_TYPE_UNSPECIFIED && !tq_dtype_is_known((uint32_t)wire->dtype))
        return tq_fail_answer(err, "field %s: data type %d", wire->name, (int)wire->dtype);
    struct tq_error ignored;
    if (tq_name_check(wire->name, "field", &ignored) != TQ_OK)
        return tq_fail_answer(err, "%s", ignored.message);
    struct tq_field field = { .name = wire->name,
                              .layout = (enum tq_layout)wire->layout,
                              .dtype = (enum tq_dtype)wire->dtype,
                              .n_dims = wire->layout == TQ__V1__LAYOUT__LAYOUT_DENSE ? wire->n_shape : 0,
                              .shape = wire->shape,
                              .content_type = wire->content_type };
    *out_field = field;
    return check_layout(&field, err);
}

tq_status tq_field_from_column(struct tq_arena *arena, const struct tq_column *column, struct tq_field *out_field,
                               struct tq_error *err)
{
    *out_field = (struct tq_field){ .name = column->name, .layout = column->layout, .content_type = "" };
    if (column->layout == TQ_OPAQUE) {
        out_field->content_type = column->content_type != NULL ? column->content_type : "application/octet-stream";
        return TQ_OK;
    }
    out_field->dtype = tq_dtype_from_dlpack(column->values.dtype);
    if (column->layout == TQ_JAGGED)
        return TQ_OK;
    out_field->n_dims = (size_t)column->values.ndim - 1;
    uint64_t *shape = tq_arena_array(arena, out_field->n_dims, sizeof(*shape));
    if (shape == NULL)
        return tq_fail_no_memory(err);
    for (size_t d = 0; d < out_field->n_dims; d++)
        shape[d] = (uint64_t)column->values.shape[d + 1];
    out_field->shape = shape;
    return TQ_OK;
}

static Tq__V1__Field *field_to_wire(struct tq_arena *arena, const struct tq_column *column)
{
    struct tq_field field;
    Tq__V1__Field *wire = tq_arena_alloc(arena, sizeof(*wire));
    if (wire == NULL || tq_field_from_column(arena, column, &field, NULL) != TQ_OK)
        return NULL;
    tq__v1__field__init(wire);
    wire->name = borrow(field.name);
    wire->layout = (Tq__V1__Layout)field.layout;
    wire->dtype = (Tq__V1__DataType)field.dtype;
    wire->n_shape = field.n_dims;
    wire->shape = (uint64_t *)(uintptr_t)field.shape;
    wire->content_type = borrow(field.content_type);
    return wire;
}

Tq__V1__Field **tq_fields_to_wire(struct tq_arena *arena, const struct tq_batch *batch)
{
    Tq__V1__Field **fields = tq_arena_array(arena, batch->n_columns, sizeof(Tq__V1__Field *));
    for (size_t c = 0; fields != NULL && c < batch->n_columns; c++) {
        fields[c] = field_to_wire(arena, &batch->columns[c]);
        if (fields[c] == NULL)
            return NULL;
    }
    return fields;
}

static bool fill_sizes(struct tq_arena *arena, const struct tq_column *column, const size_t *positions, size_t n,
                       Tq__V1__Shapes *shapes)
{
    uint32_t rank = column->rank;
    shapes->rank = rank;
    shapes->n_size = n * rank;
    shapes->size = tq_arena_array(arena, shapes->n_size, sizeof(*shapes->size));
    if (shapes->size == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t position = positions == NULL ? i : positions[i];
        for (uint32_t d = 0; d < rank; d++)
            shapes->size[i * rank + d] = (uint64_t)column->sizes[position * rank + d];
    }
    return true;
}

Tq__V1__Shapes **tq_shapes_to_wire(struct tq_arena *arena, const struct tq_batch *batch, const size_t *positions,
                                   size_t n)
{
    Tq__V1__Shapes **all = tq_arena_array(arena, batch->n_columns, sizeof(Tq__V1__Shapes *));
    for (size_t c = 0; all != NULL && c < batch->n_columns; c++) {
        all[c] = tq_arena_alloc(arena, sizeof(*all[c]));
        if (all[c] == NULL)
            return NULL;
        tq__v1__shapes__init(all[c]);
        const struct tq_column *column = &batch->columns[c];
        if (column->layout == TQ_JAGGED && !fill_sizes(arena, column, positions, n, all[c]))
            return NULL;
    }
    return all;
}

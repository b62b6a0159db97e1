#include "server/storage/fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/storage/samples.h"
#include "transport/base/assert.h"

bool tq_cell_bytes(const uint64_t *shape, uint32_t rank, uint32_t dtype, uint64_t *out_bytes)
{
    bool is_empty = false;
    bool overflows = false;
    uint64_t bytes = tq_dtype_size(dtype);
    for (uint32_t d = 0; d < rank; d++) {
        is_empty = is_empty || shape[d] == 0;
        overflows = overflows || __builtin_mul_overflow(bytes, shape[d], &bytes);
    }
    *out_bytes = is_empty ? 0 : bytes;
    return is_empty || !overflows;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

tq_status tq_field_names_check(const struct tq_store *store, char *const *names, size_t n, struct tq_error *err)
{
    if (n > store->limits.request_fields)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "TOO_MANY_FIELDS", "fields: %zu of them; expected at most %llu", n,
                       (unsigned long long)store->limits.request_fields);
    char what[40];
    for (size_t i = 0; i < n; i++) {
        snprintf(what, sizeof(what), "fields[%zu]", i);
        if (tq_name_check(what, names[i], store->limits.name_bytes, err) != TQ_OK)
            return TQ_INVALID_ARGUMENT;
        if (strchr(names[i], '/') != NULL)
            return tq_fail(err, TQ_INVALID_ARGUMENT, "NAME", "fields[%zu]: '%s': a field's name has no '/'", i,
                           names[i]);
    }
    const char **sorted = tq_seam_alloc_array(store->seam, n, sizeof(*sorted));
    if (sorted == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory to check %zu fields", n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = names[i];
    qsort(sorted, n, sizeof(*sorted), compare_texts);
    tq_status status = TQ_OK;
    for (size_t i = 1; i < n && status == TQ_OK; i++)
        if (strcmp(sorted[i], sorted[i - 1]) == 0)
            status = tq_fail(err, TQ_INVALID_ARGUMENT, "DUPLICATE", "fields: '%s' occurs twice", sorted[i]);
    tq_seam_free(store->seam, sorted);
    return status;
}

static tq_status refuse(const Tq__V1__Field *field, const char *what, unsigned long long value, const char *expected,
                        struct tq_error *err)
{
    return tq_fail(err, TQ_INVALID_ARGUMENT, "FIELD", "fields['%s'].%s: %llu; expected %s", field->name, what, value,
                   expected);
}

static tq_status check_opaque(const struct tq_store *store, const Tq__V1__Field *field, struct tq_error *err)
{
    if (field->dtype != TQ__V1__DATA_TYPE__DATA_TYPE_UNSPECIFIED)
        return refuse(field, "dtype", field->dtype, "none: the column is opaque", err);
    if (field->n_shape != 0)
        return refuse(field, "shape", field->n_shape, "none: the column is opaque", err);
    if (field->content_type[0] == '\0')
        return TQ_OK;
    char what[200];
    snprintf(what, sizeof(what), "fields['%s'].content_type", field->name);
    return tq_name_check(what, field->content_type, store->limits.content_type_bytes, err);
}

static tq_status check_tensor(const struct tq_store *store, const Tq__V1__Field *field, struct tq_error *err)
{
    uint64_t bytes;
    if (tq_dtype_size((uint32_t)field->dtype) == 0)
        return refuse(field, "dtype", (unsigned)field->dtype, "an element type, 1 to 17", err);
    if (field->content_type[0] != '\0')
        return tq_fail(err, TQ_INVALID_ARGUMENT, "FIELD",
                       "fields['%s'].content_type: '%.64s'; expected none: the column holds tensors", field->name,
                       field->content_type);
    if (field->layout == TQ__V1__LAYOUT__LAYOUT_JAGGED && field->n_shape != 0)
        return refuse(field, "shape", field->n_shape, "none: a jagged column has shapes", err);
    if (field->n_shape > store->limits.rank)
        return refuse(field, "shape", field->n_shape, "no more dimensions than GetLimits' rank", err);
    if (!tq_cell_bytes(field->shape, (uint32_t)field->n_shape, (uint32_t)field->dtype, &bytes))
        return refuse(field, "shape", field->n_shape, "a product below 2^64", err);
    return TQ_OK;
}

static tq_status check_declaration(const struct tq_store *store, const Tq__V1__Field *field, struct tq_error *err)
{
    switch (field->layout) {
    case TQ__V1__LAYOUT__LAYOUT_OPAQUE:
        return check_opaque(store, field, err);
    case TQ__V1__LAYOUT__LAYOUT_DENSE:
    case TQ__V1__LAYOUT__LAYOUT_JAGGED:
        return check_tensor(store, field, err);
    default:
        return refuse(field, "layout", (unsigned)field->layout, "1 dense, 2 jagged or 3 opaque", err);
    }
}

/* `shapes` NULL: the message names none at all. */
static tq_status check_shapes(const struct tq_store *store, const Tq__V1__Field *field, const Tq__V1__Shapes *shapes,
                              size_t n_samples, struct tq_error *err)
{
    if (field->layout != TQ__V1__LAYOUT__LAYOUT_JAGGED) {
        if (shapes != NULL && (shapes->rank != 0 || shapes->n_size != 0))
            return tq_fail(err, TQ_INVALID_ARGUMENT, "SHAPES",
                           "shapes of '%s': %zu sizes; expected none: the column is not jagged", field->name,
                           shapes->n_size);
        return TQ_OK;
    }
    if (shapes == NULL || shapes->rank == 0 || shapes->rank > store->limits.rank)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "SHAPES", "shapes of '%s': rank %u; expected 1 to %llu", field->name,
                       shapes != NULL ? shapes->rank : 0, (unsigned long long)store->limits.rank);
    if (shapes->n_size != n_samples * shapes->rank)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "SHAPES",
                       "shapes of '%s': %zu sizes; expected %zu: %zu samples of rank %u", field->name, shapes->n_size,
                       n_samples * shapes->rank, n_samples, shapes->rank);
    return TQ_OK;
}

static tq_status check_names(const struct tq_store *store, const struct tq_fields_in *in, struct tq_error *err)
{
    if (in->n_fields == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "MISSING", "fields: empty; expected at least one");
    if (in->n_shapes != in->n_fields && in->n_shapes != 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "COLUMNS", "shapes: %zu of them; expected %zu, one a field",
                       in->n_shapes, in->n_fields);
    char **names = tq_seam_alloc_array(store->seam, in->n_fields, sizeof(*names));
    if (names == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for %zu fields", in->n_fields);
    for (size_t f = 0; f < in->n_fields; f++)
        names[f] = in->fields[f]->name;
    tq_status status = tq_field_names_check(store, names, in->n_fields, err);
    tq_seam_free(store->seam, names);
    return status;
}

tq_status tq_put_fields_check(const struct tq_store *store, const struct tq_fields_in *in,
                              struct tq_declaration *out_declarations, const uint64_t **out_sizes, struct tq_error *err)
{
    tq_status status = check_names(store, in, err);
    for (size_t f = 0; f < in->n_fields && status == TQ_OK; f++) {
        const Tq__V1__Field *field = in->fields[f];
        const Tq__V1__Shapes *shapes = in->n_shapes > 0 ? in->shapes[f] : NULL;
        status = check_declaration(store, field, err);
        if (status == TQ_OK)
            status = check_shapes(store, field, shapes, in->n_samples, err);
        if (status != TQ_OK)
            break;
        bool is_jagged = field->layout == TQ__V1__LAYOUT__LAYOUT_JAGGED;
        TQ_ASSERT(!is_jagged || shapes != NULL);
        out_sizes[f] = is_jagged ? shapes->size : NULL;
        out_declarations[f] = (struct tq_declaration){ .name = field->name,
                                                       .layout = (enum tq_cell_layout)field->layout,
                                                       .dtype = (uint32_t)field->dtype,
                                                       .rank = is_jagged ? shapes->rank : (uint32_t)field->n_shape,
                                                       .shape = is_jagged ? NULL : field->shape,
                                                       .content_type = field->content_type };
    }
    return status;
}

void tq_field_write(const struct tq_schema *schema, Tq__V1__Field *out_field)
{
    tq__v1__field__init(out_field);
    out_field->name = schema->name->text;
    out_field->layout = (Tq__V1__Layout)schema->layout;
    out_field->dtype = (Tq__V1__DataType)schema->dtype;
    if (schema->layout == TQ_CELLS_DENSE) {
        out_field->n_shape = schema->rank;
        out_field->shape = (uint64_t *)schema->shape;
    }
    out_field->content_type = schema->content_type;
}

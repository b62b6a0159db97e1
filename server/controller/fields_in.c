/* Fields of requests as claims; declared in samples_in.h. */
#include <inttypes.h>
#include <string.h>

#include "server/controller/samples_in.h"
#include "server/controller/text_in.h"

_Static_assert((int)TQ_CELLS_DENSE == (int)TQ__V1__LAYOUT__LAYOUT_DENSE, "numbers of tq.v1.Layout");
_Static_assert((int)TQ_CELLS_JAGGED == (int)TQ__V1__LAYOUT__LAYOUT_JAGGED, "numbers of tq.v1.Layout");
_Static_assert((int)TQ_CELLS_OPAQUE == (int)TQ__V1__LAYOUT__LAYOUT_OPAQUE, "numbers of tq.v1.Layout");

enum { LAST_DATA_TYPE = TQ__V1__DATA_TYPE__DATA_TYPE_FLOAT8_E5M2 };

static tq_status check_numbers(const struct tq_intake *intake, const Tq__V1__Field *field)
{
    if ((int)field->layout < 0 || (int)field->layout > (int)TQ_CELLS_OPAQUE)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "FIELD",
                       "field %s: layout %d, expected DENSE (1), JAGGED (2) or OPAQUE (3)", field->name,
                       (int)field->layout);
    if ((int)field->dtype < 0 || (int)field->dtype > (int)LAST_DATA_TYPE)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "FIELD", "field %s: dtype %d, expected 0..%d", field->name,
                       (int)field->dtype, (int)LAST_DATA_TYPE);
    if (field->n_shape > intake->limits->rank)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "FIELD", "field %s: %zu dimensions, expected at most %" PRIu64,
                       field->name, field->n_shape, intake->limits->rank);
    return TQ_OK;
}

static tq_status check_shape(const struct tq_intake *intake, const Tq__V1__Field *field)
{
    uint64_t elements = 1;
    if (field->n_shape > 0 && field->layout != TQ__V1__LAYOUT__LAYOUT_DENSE)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "FIELD",
                       "field %s: a shape of %zu dimensions, expected none for a layout that is not dense", field->name,
                       field->n_shape);
    for (size_t i = 0; i < field->n_shape; i++)
        if (__builtin_mul_overflow(elements, field->shape[i], &elements) || elements > UINT64_MAX / 16)
            return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "FIELD",
                           "field %s: shape[%zu] %" PRIu64 " makes a sample of more than 64 bits can count",
                           field->name, i, field->shape[i]);
    return TQ_OK;
}

static tq_status check_content_type(const struct tq_intake *intake, const Tq__V1__Field *field)
{
    if (field->content_type == NULL || field->content_type[0] == '\0')
        return TQ_OK;
    if (field->layout != TQ__V1__LAYOUT__LAYOUT_OPAQUE)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "FIELD",
                       "field %s: content type %.64s, expected none for a layout that is not opaque", field->name,
                       field->content_type);
    return tq_text_check("fields.content_type", field->content_type, intake->limits->content_type_bytes, intake->err);
}

static tq_status claim_in(const struct tq_intake *intake, const Tq__V1__Field *field, struct tq_field_claim *claim)
{
    tq_status status = tq_field_name_check("fields.name", field->name, intake->limits->name_bytes, intake->err);
    if (status == TQ_OK)
        status = check_numbers(intake, field);
    if (status == TQ_OK)
        status = check_shape(intake, field);
    if (status == TQ_OK)
        status = check_content_type(intake, field);
    if (status != TQ_OK)
        return status;
    if (field->layout == TQ__V1__LAYOUT__LAYOUT_OPAQUE && field->dtype != TQ__V1__DATA_TYPE__DATA_TYPE_UNSPECIFIED)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "FIELD", "field %s: dtype %d, expected 0 for an opaque field",
                       field->name, (int)field->dtype);
    claim->name = field->name;
    claim->schema = (struct tq_cell_schema){ .layout = (enum tq_cell_layout)field->layout,
                                             .dtype = (uint32_t)field->dtype,
                                             .rank = (uint32_t)field->n_shape };
    if (field->n_shape > 0)
        memcpy(claim->schema.shape, field->shape, field->n_shape * sizeof(field->shape[0]));
    if (field->content_type != NULL)
        memcpy(claim->schema.content_type, field->content_type, strlen(field->content_type));
    return TQ_OK;
}

tq_status tq_announced_in(const struct tq_intake *intake, Tq__V1__Field *const *fields, size_t n_fields,
                          const struct tq_field_claim **out)
{
    *out = NULL;
    if (n_fields == 0)
        return TQ_OK;
    if (n_fields > intake->limits->fields)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "FIELD", "fields: %zu, expected at most %" PRIu64, n_fields,
                       intake->limits->fields);
    struct tq_field_claim *claims = tq_arena_alloc(intake->arena, n_fields * sizeof(*claims));
    char **names = tq_arena_alloc(intake->arena, n_fields * sizeof(*names));
    if (claims == NULL || names == NULL)
        return tq_fail(intake->err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "no memory for the request");
    for (size_t i = 0; i < n_fields; i++) {
        tq_status status = claim_in(intake, fields[i], &claims[i]);
        if (status != TQ_OK)
            return status;
        names[i] = fields[i]->name;
    }
    *out = claims;
    return tq_distinct_in(intake, "fields.name", names, n_fields);
}

/* What a producer says is complete. */
static tq_status check_produced(const struct tq_intake *intake, const struct tq_field_claim *claim)
{
    const struct tq_cell_schema *schema = &claim->schema;
    if (schema->layout == TQ_CELLS_UNKNOWN)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "FIELD",
                       "field %s: layout 0, expected DENSE (1), JAGGED (2) or OPAQUE (3)", claim->name);
    if (schema->layout != TQ_CELLS_OPAQUE && schema->dtype == 0)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "FIELD",
                       "field %s: dtype 0, expected an element type for a field that is not opaque", claim->name);
    return TQ_OK;
}

static tq_status check_shapes(const struct tq_intake *intake, const Tq__V1__Shapes *shapes, uint32_t n,
                              struct tq_field_claim *claim)
{
    bool jagged = claim->schema.layout == TQ_CELLS_JAGGED;
    uint64_t most = jagged ? intake->limits->rank : 0;
    if (shapes->rank > most || (jagged && shapes->rank == 0))
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "SHAPES", "shapes of field %s: rank %u, expected %s%" PRIu64,
                       claim->name, shapes->rank, jagged ? "1.." : "", most);
    if (shapes->n_size != (uint64_t)n * shapes->rank)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "SHAPES",
                       "shapes of field %s: %zu sizes, expected %u samples of rank %u", claim->name, shapes->n_size, n,
                       shapes->rank);
    if (jagged)
        claim->schema.rank = shapes->rank;
    return TQ_OK;
}

tq_status tq_produced_in(const struct tq_intake *intake, Tq__V1__Field *const *fields, size_t n_fields,
                         Tq__V1__Shapes *const *shapes, size_t n_shapes, uint32_t n, const struct tq_field_claim **out)
{
    if (n_fields == 0)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "FIELD", "fields: none, expected 1 or more");
    if (n_shapes != 0 && n_shapes != n_fields)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "COLUMNS", "shapes: %zu entries, expected none or %zu",
                       n_shapes, n_fields);
    tq_status status = tq_announced_in(intake, fields, n_fields, out);
    struct tq_field_claim *claims = (struct tq_field_claim *)(uintptr_t)*out;
    for (size_t i = 0; status == TQ_OK && claims != NULL && i < n_fields; i++) {
        status = check_produced(intake, &claims[i]);
        if (status == TQ_OK && n_shapes > 0)
            status = check_shapes(intake, shapes[i], n, &claims[i]);
    }
    return status;
}

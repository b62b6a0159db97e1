#include "server/controller/schema.h"

#include <stdbool.h>
#include <string.h>

static const char *layout_name(enum tq_cell_layout layout)
{
    static const char *const names[] = { "unknown", "dense", "jagged", "opaque" };
    return names[layout];
}

static tq_status merge_dtype(const struct tq_cell_schema *have, const struct tq_cell_schema *claim, const char *name,
                             struct tq_cell_schema *merged, struct tq_error *err)
{
    if (claim->dtype == 0)
        return TQ_OK;
    if (have->dtype != 0 && have->dtype != claim->dtype)
        return tq_fail(err, TQ_FAILED_PRECONDITION, "SCHEMA_CONFLICT", "field %s: dtype %u, expected %u as before",
                       name, claim->dtype, have->dtype);
    merged->dtype = claim->dtype;
    return TQ_OK;
}

static tq_status merge_opaque(const struct tq_cell_schema *have, const struct tq_cell_schema *claim, const char *name,
                              struct tq_cell_schema *merged, struct tq_error *err)
{
    if (claim->content_type[0] == '\0')
        return TQ_OK;
    if (have->content_type[0] != '\0' && strcmp(have->content_type, claim->content_type) != 0)
        return tq_fail(err, TQ_FAILED_PRECONDITION, "SCHEMA_CONFLICT",
                       "field %s: content type %.100s, expected %.100s as before", name, claim->content_type,
                       have->content_type);
    memcpy(merged->content_type, claim->content_type, sizeof(merged->content_type));
    return TQ_OK;
}

static tq_status merge_tensor(const struct tq_cell_schema *have, const struct tq_cell_schema *claim, const char *name,
                              struct tq_cell_schema *merged, struct tq_error *err)
{
    bool have_rank = have->layout == TQ_CELLS_DENSE || have->rank != 0;
    bool claim_rank = claim->layout == TQ_CELLS_DENSE || claim->rank != 0;
    if (have_rank && claim_rank && have->rank != claim->rank)
        return tq_fail(err, TQ_FAILED_PRECONDITION, "SCHEMA_CONFLICT",
                       "field %s: samples of %u dimensions, expected %u as before", name, claim->rank, have->rank);
    bool same = have->layout == TQ_CELLS_DENSE && claim->layout == TQ_CELLS_DENSE &&
                memcmp(have->shape, claim->shape, have->rank * sizeof(have->shape[0])) == 0;
    if (same)
        return TQ_OK;
    merged->layout = TQ_CELLS_JAGGED;
    merged->rank = have_rank ? have->rank : claim->rank;
    memset(merged->shape, 0, sizeof(merged->shape));
    return TQ_OK;
}

tq_status tq_cell_schema_merge(const struct tq_cell_schema *have, const struct tq_cell_schema *claim, const char *name,
                               struct tq_cell_schema *out, struct tq_error *err)
{
    struct tq_cell_schema merged = have->layout == TQ_CELLS_UNKNOWN ? *claim : *have;
    if (have->layout == TQ_CELLS_UNKNOWN && claim->dtype == 0)
        merged.dtype = have->dtype;
    tq_status status = merge_dtype(have, claim, name, &merged, err);
    if (status != TQ_OK)
        return status;
    if (have->layout != TQ_CELLS_UNKNOWN && claim->layout != TQ_CELLS_UNKNOWN) {
        if ((have->layout == TQ_CELLS_OPAQUE) != (claim->layout == TQ_CELLS_OPAQUE))
            return tq_fail(err, TQ_FAILED_PRECONDITION, "SCHEMA_CONFLICT", "field %s: layout %s, expected %s as before",
                           name, layout_name(claim->layout), layout_name(have->layout));
        status = have->layout == TQ_CELLS_OPAQUE ? merge_opaque(have, claim, name, &merged, err)
                                                 : merge_tensor(have, claim, name, &merged, err);
    }
    if (status == TQ_OK)
        *out = merged;
    return status;
}

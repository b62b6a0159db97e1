#include <string.h>

#include "client/meta.h"

static bool copy_fields(const struct tq_meta *from, struct tq_meta *to)
{
    to->fields = tq_arena_array(to->arena, from->n_fields, sizeof(*to->fields));
    if (to->fields == NULL)
        return false;
    for (size_t f = 0; f < from->n_fields; f++)
        if (!tq_field_copy(to->arena, &from->fields[f], &to->fields[f]))
            return false;
    to->n_fields = from->n_fields;
    return true;
}

/* Adds the units of `from` that `to` does not know. `to` has room for them. */
static bool add_units(const struct tq_meta *from, struct tq_meta *to)
{
    for (size_t u = 0; u < from->n_unit_infos; u++) {
        if (tq_meta_find_unit(to, from->unit_infos[u].number) != NULL)
            continue;
        if (!tq_unit_info_copy(to->arena, &from->unit_infos[u], &to->unit_infos[to->n_unit_infos]))
            return false;
        to->n_unit_infos++;
    }
    return true;
}

static size_t tag_count(const struct tq_meta *meta, size_t i)
{
    return meta->tag_starts == NULL ? 0 : meta->tag_starts[i + 1] - meta->tag_starts[i];
}

static bool make_tags(struct tq_meta *to, size_t n_tags)
{
    if (n_tags == 0)
        return true;
    to->tag_starts = tq_arena_array(to->arena, to->n + 1, sizeof(*to->tag_starts));
    to->tags = tq_arena_array(to->arena, n_tags, sizeof(*to->tags));
    return to->tag_starts != NULL && to->tags != NULL;
}

/* The tags of row `i` of `from` become those of row `row` of `to`, whose rows are filled in ascending order. */
static bool copy_row_tags(const struct tq_meta *from, size_t i, struct tq_meta *to, size_t row)
{
    if (to->tag_starts == NULL)
        return true;
    size_t next = to->tag_starts[row];
    for (size_t t = 0; t < tag_count(from, i); t++) {
        const struct tq_tag *tag = &from->tags[from->tag_starts[i] + t];
        struct tq_tag *copy = &to->tags[next++];
        copy->key = tq_arena_text(to->arena, tag->key);
        copy->value.ptr = tq_arena_copy(to->arena, tag->value.ptr, tag->value.len);
        copy->value.len = tag->value.len;
        if (copy->key == NULL || copy->value.ptr == NULL)
            return false;
    }
    to->tag_starts[row + 1] = next;
    return true;
}

static bool copy_row(const struct tq_meta *from, size_t i, struct tq_meta *to, size_t row)
{
    to->indexes[row] = from->indexes[i];
    to->generations[row] = from->generations[i];
    to->units[row] = from->units[i];
    to->ready[row] = from->ready[i];
    if (to->groups != NULL)
        to->groups[row] = from->groups == NULL ? 0 : from->groups[i];
    if (to->keys != NULL && from->keys != NULL && from->keys[i] != NULL &&
        (to->keys[row] = tq_arena_text(to->arena, from->keys[i])) == NULL)
        return false;
    return copy_row_tags(from, i, to, row);
}

/* Makes the optional columns that any of the sources has. */
static bool make_columns(struct tq_meta *to, bool groups, bool keys, size_t n_units, size_t n_tags)
{
    if (groups && (to->groups = tq_arena_array(to->arena, to->n, sizeof(*to->groups))) == NULL)
        return false;
    if (keys && (to->keys = tq_arena_array(to->arena, to->n, sizeof(*to->keys))) == NULL)
        return false;
    to->unit_infos = tq_arena_array(to->arena, n_units, sizeof(*to->unit_infos));
    return to->unit_infos != NULL && make_tags(to, n_tags);
}

static bool select_rows(const struct tq_meta *meta, const size_t *positions, struct tq_meta *to)
{
    size_t n_tags = 0;
    for (size_t i = 0; i < to->n; i++)
        n_tags += tag_count(meta, positions[i]);
    if (!make_columns(to, meta->groups != NULL, meta->keys != NULL, meta->n_unit_infos, n_tags) ||
        !copy_fields(meta, to) || !add_units(meta, to))
        return false;
    for (size_t i = 0; i < to->n; i++)
        if (!copy_row(meta, positions[i], to, i))
            return false;
    return true;
}

tq_status tq_meta_select(const struct tq_meta *meta, const size_t *positions, size_t n, struct tq_meta **out_meta,
                         struct tq_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (positions[i] >= meta->n)
            return tq_fail(err, TQ_OUT_OF_RANGE, NULL, "positions[%zu] is %zu; the meta has %zu samples", i,
                           positions[i], meta->n);
    struct tq_meta *to = NULL;
    tq_status status = tq_meta_make(meta->partition, n, &to, err);
    if (status != TQ_OK)
        return status;
    if (!select_rows(meta, positions, to)) {
        tq_meta_drop(to);
        return tq_fail_no_memory(err);
    }
    *out_meta = to;
    return TQ_OK;
}

/* ---- concat ---- */

static bool same_field(const struct tq_field *a, const struct tq_field *b)
{
    return a->layout == b->layout && a->dtype == b->dtype;
}

static tq_status check_same(const struct tq_meta *first, const struct tq_meta *other, size_t number,
                            struct tq_error *err)
{
    if (strcmp(first->partition, other->partition) != 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "metas[%zu] is of partition %s; expected %s", number,
                       other->partition, first->partition);
    if (first->n_fields != other->n_fields)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "metas[%zu] has %zu fields; expected %zu", number,
                       other->n_fields, first->n_fields);
    for (size_t f = 0; f < first->n_fields; f++) {
        const struct tq_field *field = tq_meta_find_field(other, first->fields[f].name);
        if (field == NULL)
            return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "metas[%zu] has no field %s", number, first->fields[f].name);
        if (!same_field(field, &first->fields[f]))
            return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "metas[%zu]: field %s has another layout or type", number,
                           field->name);
    }
    return TQ_OK;
}

static bool concat_rows(const struct tq_meta *const *metas, size_t n, struct tq_meta *to)
{
    bool groups = false, keys = false;
    size_t n_units = 0, n_tags = 0;
    for (size_t m = 0; m < n; m++) {
        groups = groups || metas[m]->groups != NULL;
        keys = keys || metas[m]->keys != NULL;
        n_units += metas[m]->n_unit_infos;
        n_tags += metas[m]->tag_starts == NULL ? 0 : metas[m]->tag_starts[metas[m]->n];
    }
    if (!make_columns(to, groups, keys, n_units, n_tags) || !copy_fields(metas[0], to))
        return false;
    size_t row = 0;
    for (size_t m = 0; m < n; m++) {
        if (!add_units(metas[m], to))
            return false;
        for (size_t i = 0; i < metas[m]->n; i++)
            if (!copy_row(metas[m], i, to, row++))
                return false;
    }
    return true;
}

tq_status tq_meta_concat(const struct tq_meta *const *metas, size_t n, struct tq_meta **out_meta, struct tq_error *err)
{
    size_t total = 0;
    if (n == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "no metas: there is no partition to name");
    for (size_t m = 0; m < n; m++) {
        tq_status status = check_same(metas[0], metas[m], m, err);
        if (status != TQ_OK)
            return status;
        total += metas[m]->n;
    }
    struct tq_meta *to = NULL;
    tq_status status = tq_meta_make(metas[0]->partition, total, &to, err);
    if (status != TQ_OK)
        return status;
    if (!concat_rows(metas, n, to)) {
        tq_meta_drop(to);
        return tq_fail_no_memory(err);
    }
    *out_meta = to;
    return TQ_OK;
}

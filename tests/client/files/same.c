#include "tests/client/files/same.h"

#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return (a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0);
}

static bool same_declaration(const struct tq_column *a, const struct tq_column *b)
{
    if (strcmp(a->name, b->name) != 0 || a->layout != b->layout || a->rank != b->rank ||
        a->values.dtype.code != b->values.dtype.code || a->values.dtype.bits != b->values.dtype.bits ||
        a->values.ndim != b->values.ndim || !same_text(a->content_type, b->content_type))
        return false;
    for (int d = 1; d < a->values.ndim; d++)
        if (a->values.shape[d] != b->values.shape[d])
            return false;
    return true;
}

static bool same_column(const struct tq_column *a, const struct tq_column *b, size_t n)
{
    if (!same_declaration(a, b))
        return false;
    for (size_t i = 0; i < n * a->rank; i++)
        if (a->sizes[i] != b->sizes[i])
            return false;
    for (size_t i = 0; i < n; i++) {
        struct tq_bytes left = tq_column_cell(a, i), right = tq_column_cell(b, i);
        if (left.len != right.len || (left.len > 0 && memcmp(left.ptr, right.ptr, left.len) != 0))
            return false;
    }
    return true;
}

bool tq_same_batch(const struct tq_batch *a, const struct tq_batch *b)
{
    if (a->n_samples != b->n_samples || a->n_columns != b->n_columns)
        return false;
    for (size_t c = 0; c < a->n_columns; c++)
        if (!same_column(&a->columns[c], &b->columns[c], a->n_samples))
            return false;
    return true;
}

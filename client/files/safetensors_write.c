#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "client/column.h"
#include "client/files/safetensors.h"
#include "client/files/st_dtype.h"
#include "client/meta.h"

enum { LENGTH_BYTES = 8, ALIGNMENT = 8 };

/* ---- header ---- */

static json_t *describe(enum tq_dtype dtype, const int64_t *shape, size_t n_dims, uint64_t *offset)
{
    json_t *list = json_array();
    uint64_t bytes = tq_dtype_size(dtype);
    for (size_t d = 0; d < n_dims; d++) {
        bytes *= (uint64_t)shape[d];
        json_array_append_new(list, json_integer(shape[d]));
    }
    json_int_t begin = (json_int_t)*offset, end = begin + (json_int_t)bytes;
    json_t *entry =
        json_pack("{s:s, s:o, s:[I, I]}", "dtype", tq_st_dtype_name(dtype), "shape", list, "data_offsets", begin, end);
    *offset += bytes;
    return entry;
}

static void add_metadata(json_t *metadata, const char *kind, const char *name, const char *value)
{
    char key[TQ_NAME_BYTES_MAX + 32];
    snprintf(key, sizeof(key), "tq.%s.%s", kind, name);
    json_object_set_new(metadata, key, json_string(value));
}

static tq_status add_column(json_t *root, json_t *metadata, const struct tq_column *column, size_t n, uint64_t *offset,
                            struct tq_error *err)
{
    enum tq_dtype dtype = tq_dtype_from_dlpack(column->values.dtype);
    if (tq_st_dtype_name(dtype) == NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: safetensors has no type %s", column->name,
                       tq_dtype_name(dtype));
    json_object_set_new(root, column->name, describe(dtype, column->values.shape, (size_t)column->values.ndim, offset));
    if (column->layout == TQ_DENSE)
        return TQ_OK;
    char name[TQ_NAME_BYTES_MAX + 16];
    snprintf(name, sizeof(name), "%s.sizes", column->name);
    if (json_object_get(root, name) != NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: its sizes would be written as %s, which exists",
                       column->name, name);
    const int64_t shape[2] = { (int64_t)n, column->rank };
    json_object_set_new(root, name, describe(TQ_DTYPE_INT64, shape, 2, offset));
    add_metadata(metadata, "layout", column->name, column->layout == TQ_OPAQUE ? "opaque" : "jagged");
    if (column->layout == TQ_OPAQUE && column->content_type != NULL)
        add_metadata(metadata, "content_type", column->name, column->content_type);
    return TQ_OK;
}

/* The text of the header, or NULL with *err set. jansson frees what it got, and gives NULL when anything failed. */
static char *make_header(const struct tq_batch *batch, struct tq_error *err)
{
    json_t *root = json_object(), *metadata = json_object();
    json_object_set_new(root, "__metadata__", json_incref(metadata));
    uint64_t offset = 0;
    tq_status status = TQ_OK;
    for (size_t c = 0; c < batch->n_columns && status == TQ_OK; c++)
        status = add_column(root, metadata, &batch->columns[c], batch->n_samples, &offset, err);
    if (status == TQ_OK && json_object_size(metadata) == 0)
        json_object_del(root, "__metadata__");
    char *text = status == TQ_OK ? json_dumps(root, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
    if (status == TQ_OK && text == NULL)
        tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "the names of the columns are no UTF-8");
    json_decref(metadata);
    json_decref(root);
    return text;
}

/* ---- file ---- */

static bool write_header(FILE *file, const char *text)
{
    size_t len = strlen(text);
    uint64_t padded = (len + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    uint8_t length[LENGTH_BYTES];
    for (size_t i = 0; i < LENGTH_BYTES; i++)
        length[i] = (uint8_t)(padded >> (8 * i));
    return fwrite(length, 1, sizeof(length), file) == sizeof(length) && fwrite(text, 1, len, file) == len &&
           fprintf(file, "%*s", (int)(padded - len), "") >= 0;
}

static bool write_values(FILE *file, const struct tq_column *column, size_t n)
{
    struct tq_cells cells;
    if (tq_cells_init(&cells, column, n, NULL) != TQ_OK)
        return false;
    bool written = true;
    for (size_t i = 0; i < n && written; i++) {
        struct tq_bytes cell = tq_cells_at(&cells, i);
        written = cell.len == 0 || fwrite(cell.ptr, 1, cell.len, file) == cell.len;
    }
    tq_cells_fini(&cells);
    return written;
}

static bool write_column(FILE *file, const struct tq_column *column, size_t n)
{
    size_t n_sizes = n * column->rank;
    return write_values(file, column, n) &&
           (n_sizes == 0 || fwrite(column->sizes, sizeof(*column->sizes), n_sizes, file) == n_sizes);
}

tq_status tq_safetensors_write(FILE *file, const struct tq_batch *batch, struct tq_error *err)
{
    char *text = make_header(batch, err);
    if (text == NULL)
        return TQ_INVALID_ARGUMENT;
    bool written = write_header(file, text);
    free(text);
    for (size_t c = 0; c < batch->n_columns && written; c++)
        written = write_column(file, &batch->columns[c], batch->n_samples);
    return written ? TQ_OK : tq_fail(err, TQ_DATA_LOSS, "FILE_WRITE", "the file cannot be written");
}

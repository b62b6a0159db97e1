#include "client/files/npy.h"

#include <inttypes.h>
#include <string.h>

#include "client/column.h"
#include "client/files/npy_header.h"
#include "client/meta.h"

enum { ALIGNMENT = 64, PREFIX_BYTES = 10 };

static tq_status check_length(const struct tq_npy_header *header, size_t data_bytes, struct tq_error *err)
{
    uint64_t bytes = tq_dtype_size(header->dtype);
    bool fits = true;
    for (size_t d = 0; d < header->n_dims; d++)
        fits = fits && tq_product(&bytes, (uint64_t)header->shape[d]);
    if (header->n_dims == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "the array is a scalar; expected a leading dimension");
    if (!fits || bytes != data_bytes)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "%zu bytes of data, which is not what type %s and the shape say",
                       data_bytes, tq_dtype_name(header->dtype));
    return TQ_OK;
}

tq_status tq_npy_parse(struct tq_bytes file, const char *name, struct tq_arena *arena, struct tq_batch *out_batch,
                       struct tq_error *err)
{
    struct tq_npy_header header;
    tq_status status = tq_npy_header_parse(file, &header, err);
    if (status == TQ_OK)
        status = check_length(&header, file.len - header.bytes, err);
    if (status != TQ_OK)
        return status;
    struct tq_column *column = tq_arena_array(arena, 1, sizeof(*column));
    int64_t *shape = tq_arena_copy(arena, header.shape, sizeof(header.shape));
    char *copied_name = tq_arena_text(arena, name);
    if (column == NULL || shape == NULL || copied_name == NULL)
        return tq_fail_no_memory(err);
    column->name = copied_name;
    column->layout = TQ_DENSE;
    column->values = (DLTensor){ .data = (void *)(uintptr_t)(file.ptr + header.bytes),
                                 .device = { kDLCPU, 0 },
                                 .ndim = (int32_t)header.n_dims,
                                 .dtype = tq_dtype_to_dlpack(header.dtype),
                                 .shape = shape };
    *out_batch = (struct tq_batch){ .n_samples = (size_t)shape[0], .columns = column, .n_columns = 1 };
    return tq_batch_check(out_batch, err);
}

/* ---- writing ---- */

/* Byte for byte what NumPy writes, a Python tuple of one element included: "(4,)". */
static bool write_header(FILE *file, const DLTensor *values, const char *descr)
{
    char text[512];
    int len = snprintf(text, sizeof(text), "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int d = 0; d < values->ndim; d++)
        len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%" PRId64, d > 0 ? ", " : "", values->shape[d]);
    len += snprintf(text + len, sizeof(text) - (size_t)len, "%s), }", values->ndim == 1 ? "," : "");
    size_t padded = (PREFIX_BYTES + (size_t)len + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT - PREFIX_BYTES;
    const uint8_t prefix[PREFIX_BYTES] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)padded, (uint8_t)(padded >> 8)
    };
    return fwrite(prefix, 1, sizeof(prefix), file) == sizeof(prefix) &&
           fprintf(file, "%s%*s\n", text, (int)(padded - (size_t)len - 1), "") >= 0;
}

tq_status tq_npy_write(FILE *file, const struct tq_batch *batch, struct tq_error *err)
{
    if (batch->n_columns != 1 || batch->columns[0].layout != TQ_DENSE)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "a .npy file holds one dense column; these are %zu%s",
                       batch->n_columns, batch->n_columns == 1 ? ", not dense" : "");
    const struct tq_column *column = &batch->columns[0];
    enum tq_dtype dtype = tq_dtype_from_dlpack(column->values.dtype);
    if (tq_npy_descr(dtype) == NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "column %s: .npy has no type %s", column->name,
                       tq_dtype_name(dtype));
    bool written = write_header(file, &column->values, tq_npy_descr(dtype));
    for (size_t i = 0; i < batch->n_samples && written; i++) {
        struct tq_bytes cell = tq_column_cell(column, i);
        written = cell.len == 0 || fwrite(cell.ptr, 1, cell.len, file) == cell.len;
    }
    return written ? TQ_OK : tq_fail(err, TQ_DATA_LOSS, "FILE_WRITE", "the file cannot be written");
}

#include "client/files/st_header.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "client/column.h"
#include "client/files/st_dtype.h"
#include "client/meta.h"

enum { LENGTH_BYTES = 8 };

struct parser {
    struct tq_arena *arena;
    struct tq_bytes data; /* behind the header */
    struct tq_error *err;
};

static tq_status read_shape(struct parser *parser, const char *name, const json_t *shape, struct tq_st_tensor *tensor)
{
    if (!json_is_array(shape) || json_array_size(shape) > TQ_ST_DIMS_MAX)
        return tq_fail(parser->err, TQ_INVALID_ARGUMENT, NULL, "tensor %.128s: shape is no list of at most %d numbers",
                       name, TQ_ST_DIMS_MAX);
    tensor->n_dims = json_array_size(shape);
    for (size_t d = 0; d < tensor->n_dims; d++) {
        const json_t *size = json_array_get(shape, d);
        if (!json_is_integer(size) || json_integer_value(size) < 0)
            return tq_fail(parser->err, TQ_INVALID_ARGUMENT, NULL,
                           "tensor %.128s: shape[%zu] is no number of 0 or more", name, d);
        tensor->shape[d] = json_integer_value(size);
    }
    return TQ_OK;
}

static bool byte_count(const struct tq_st_tensor *tensor, uint64_t *out_bytes)
{
    uint64_t bytes = tq_dtype_size(tensor->dtype);
    for (size_t d = 0; d < tensor->n_dims; d++)
        if (tensor->shape[d] == 0)
            return *out_bytes = 0, true;
    for (size_t d = 0; d < tensor->n_dims; d++)
        if (!tq_product(&bytes, (uint64_t)tensor->shape[d]))
            return false;
    *out_bytes = bytes;
    return true;
}

static tq_status read_offsets(struct parser *parser, const char *name, const json_t *offsets,
                              struct tq_st_tensor *tensor)
{
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end))
        return tq_fail(parser->err, TQ_INVALID_ARGUMENT, NULL, "tensor %.128s: data_offsets is no pair of numbers",
                       name);
    long long from = json_integer_value(begin), to = json_integer_value(end);
    if (from < 0 || to < from || (unsigned long long)to > parser->data.len)
        return tq_fail(parser->err, TQ_INVALID_ARGUMENT, NULL,
                       "tensor %.128s: data_offsets [%lld, %lld] are not inside the %zu bytes of data", name, from, to,
                       parser->data.len);
    uint64_t bytes;
    if (!byte_count(tensor, &bytes) || bytes != (uint64_t)(to - from))
        return tq_fail(parser->err, TQ_INVALID_ARGUMENT, NULL,
                       "tensor %.128s: data_offsets hold %lld bytes, which is not what type and shape say", name,
                       to - from);
    tensor->bytes = (struct tq_bytes){ parser->data.ptr + from, (size_t)bytes };
    return TQ_OK;
}

static tq_status read_tensor(struct parser *parser, const char *name, const json_t *entry, struct tq_st_tensor *tensor)
{
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (dtype == NULL)
        return tq_fail(parser->err, TQ_INVALID_ARGUMENT, NULL, "tensor %.128s: no dtype", name);
    tensor->dtype = tq_st_dtype_parse(dtype);
    if (tensor->dtype == TQ_DTYPE_NONE)
        return tq_fail(parser->err, TQ_INVALID_ARGUMENT, NULL, "tensor %.128s: dtype %.32s is not carried", name,
                       dtype);
    tensor->name = tq_arena_text(parser->arena, name);
    if (tensor->name == NULL)
        return tq_fail_no_memory(parser->err);
    tq_status status = read_shape(parser, name, json_object_get(entry, "shape"), tensor);
    return status == TQ_OK ? read_offsets(parser, name, json_object_get(entry, "data_offsets"), tensor) : status;
}

/* ---- no holes, no overlaps ---- */

static int by_place(const void *a, const void *b)
{
    const struct tq_bytes *left = a, *right = b;
    if (left->ptr != right->ptr)
        return left->ptr < right->ptr ? -1 : 1;
    return left->len == right->len ? 0 : left->len < right->len ? -1 : 1; /* empty ones first */
}

static tq_status check_cover(struct parser *parser, const struct tq_st_header *header)
{
    struct tq_bytes *places = tq_arena_array(parser->arena, header->n, sizeof(*places));
    if (places == NULL)
        return tq_fail_no_memory(parser->err);
    for (size_t t = 0; t < header->n; t++)
        places[t] = header->tensors[t].bytes;
    qsort(places, header->n, sizeof(*places), by_place);
    const uint8_t *next = parser->data.ptr;
    for (size_t t = 0; t < header->n; t++) {
        if (places[t].ptr != next)
            return tq_fail(parser->err, TQ_INVALID_ARGUMENT, NULL, "the tensors %s at byte %zu of the data",
                           places[t].ptr < next ? "overlap" : "leave a hole", (size_t)(next - parser->data.ptr));
        next += places[t].len;
    }
    if (next != parser->data.ptr + parser->data.len)
        return tq_fail(parser->err, TQ_INVALID_ARGUMENT, NULL, "%zu bytes behind the last tensor",
                       parser->data.len - (size_t)(next - parser->data.ptr));
    return TQ_OK;
}

/* ---- metadata ---- */

static tq_status find_text(struct parser *parser, const json_t *metadata, const char *kind, const char *name,
                           const char **out_text)
{
    char key[TQ_NAME_BYTES_MAX + 32];
    int len = snprintf(key, sizeof(key), "tq.%s.%s", kind, name);
    const char *text = len < 0 || (size_t)len >= sizeof(key) ? NULL : json_string_value(json_object_get(metadata, key));
    if (text != NULL && (*out_text = tq_arena_text(parser->arena, text)) == NULL)
        return tq_fail_no_memory(parser->err);
    return TQ_OK;
}

static tq_status read_metadata(struct parser *parser, const json_t *metadata, struct tq_st_header *header)
{
    if (metadata != NULL && !json_is_object(metadata))
        return tq_fail(parser->err, TQ_INVALID_ARGUMENT, NULL, "__metadata__ is no object");
    tq_status status = TQ_OK;
    for (size_t t = 0; t < header->n && status == TQ_OK; t++) {
        struct tq_st_tensor *tensor = &header->tensors[t];
        status = find_text(parser, metadata, "layout", tensor->name, &tensor->layout);
        if (status == TQ_OK)
            status = find_text(parser, metadata, "content_type", tensor->name, &tensor->content_type);
    }
    return status;
}

static tq_status read_all(struct parser *parser, json_t *root, struct tq_st_header *header)
{
    if (!json_is_object(root) || json_object_size(root) > TQ_ST_TENSORS_MAX)
        return tq_fail(parser->err, TQ_INVALID_ARGUMENT, NULL, "the header is no object of at most %d entries",
                       TQ_ST_TENSORS_MAX);
    header->tensors = tq_arena_array(parser->arena, json_object_size(root), sizeof(*header->tensors));
    if (header->tensors == NULL)
        return tq_fail_no_memory(parser->err);
    const char *name;
    json_t *entry;
    json_object_foreach(root, name, entry)
    {
        if (strcmp(name, "__metadata__") == 0)
            continue;
        tq_status status = read_tensor(parser, name, entry, &header->tensors[header->n]);
        if (status != TQ_OK)
            return status;
        header->n++;
    }
    tq_status status = check_cover(parser, header);
    return status == TQ_OK ? read_metadata(parser, json_object_get(root, "__metadata__"), header) : status;
}

static uint64_t read_u64le(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

tq_status tq_st_header_parse(struct tq_bytes file, struct tq_arena *arena, struct tq_st_header *out_header,
                             struct tq_error *err)
{
    if (file.len < LENGTH_BYTES)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "%zu bytes are too few for a safetensors file", file.len);
    uint64_t len = read_u64le(file.ptr);
    if (len > TQ_ST_HEADER_BYTES_MAX || len > file.len - LENGTH_BYTES)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "the header is said to have %llu bytes; the file has %zu",
                       (unsigned long long)len, file.len);
    struct parser parser = { .arena = arena, .err = err };
    parser.data.ptr = file.ptr + LENGTH_BYTES + len;
    parser.data.len = file.len - LENGTH_BYTES - (size_t)len;
    json_error_t where;
    json_t *root = json_loadb((const char *)file.ptr + LENGTH_BYTES, (size_t)len, JSON_REJECT_DUPLICATES, &where);
    if (root == NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "the header is no JSON: byte %d: %.200s", where.position,
                       where.text);
    *out_header = (struct tq_st_header){ 0 };
    tq_status status = read_all(&parser, root, out_header);
    json_decref(root);
    return status;
}

#include "client/files/npy_header.h"

#include <string.h>

static const char MAGIC[] = "\x93NUMPY";

enum { MAGIC_BYTES = 6, HEADER_BYTES_MAX = 1 << 16 };

static const char *const descrs[TQ_DTYPE_COUNT] = {
    [TQ_DTYPE_BOOL] = "|b1",      [TQ_DTYPE_UINT8] = "|u1",      [TQ_DTYPE_INT8] = "|i1",    [TQ_DTYPE_UINT16] = "<u2",
    [TQ_DTYPE_INT16] = "<i2",     [TQ_DTYPE_UINT32] = "<u4",     [TQ_DTYPE_INT32] = "<i4",   [TQ_DTYPE_UINT64] = "<u8",
    [TQ_DTYPE_INT64] = "<i8",     [TQ_DTYPE_FLOAT16] = "<f2",    [TQ_DTYPE_FLOAT32] = "<f4", [TQ_DTYPE_FLOAT64] = "<f8",
    [TQ_DTYPE_COMPLEX64] = "<c8", [TQ_DTYPE_COMPLEX128] = "<c16"
};

const char *tq_npy_descr(enum tq_dtype dtype)
{
    return descrs[dtype];
}

/* What is left of the dictionary's text. */
struct cursor {
    const char *at, *end;
};

static void skip_spaces(struct cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\n' || *cursor->at == '\t'))
        cursor->at++;
}

static bool take(struct cursor *cursor, char c)
{
    skip_spaces(cursor);
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

static bool take_word(struct cursor *cursor, const char *word)
{
    skip_spaces(cursor);
    size_t len = strlen(word);
    if ((size_t)(cursor->end - cursor->at) < len || memcmp(cursor->at, word, len) != 0)
        return false;
    cursor->at += len;
    return true;
}

/* A string in either quote, without escapes. */
static bool take_text(struct cursor *cursor, char *text, size_t room)
{
    skip_spaces(cursor);
    if (cursor->at == cursor->end || (*cursor->at != '\'' && *cursor->at != '"'))
        return false;
    char quote = *cursor->at++;
    const char *begin = cursor->at;
    while (cursor->at < cursor->end && *cursor->at != quote && *cursor->at != '\\')
        cursor->at++;
    size_t len = (size_t)(cursor->at - begin);
    if (cursor->at == cursor->end || *cursor->at != quote || len >= room)
        return false;
    cursor->at++;
    memcpy(text, begin, len);
    text[len] = '\0';
    return true;
}

static bool take_number(struct cursor *cursor, int64_t *number)
{
    skip_spaces(cursor);
    const char *begin = cursor->at;
    int64_t value = 0;
    for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *cursor->at - '0', &value))
            return false;
    *number = value;
    return cursor->at > begin;
}

static bool take_shape(struct cursor *cursor, struct tq_npy_header *header)
{
    header->n_dims = 0;
    if (!take(cursor, '('))
        return false;
    while (!take(cursor, ')')) {
        if (header->n_dims == TQ_NPY_DIMS_MAX || !take_number(cursor, &header->shape[header->n_dims]))
            return false;
        header->n_dims++;
        bool comma = take(cursor, ',');
        if (!comma && header->n_dims == 1)
            return false; /* (3) is a number, (3,) a tuple */
        if (!comma)
            return take(cursor, ')');
    }
    return true;
}

static enum tq_dtype parse_descr(const char *text)
{
    for (int d = TQ_DTYPE_NONE + 1; d < TQ_DTYPE_COUNT; d++)
        if (descrs[d] != NULL && strcmp(text + 1, descrs[d] + 1) == 0 &&
            (text[0] == descrs[d][0] || (tq_dtype_size((enum tq_dtype)d) == 1 && strchr("<=>|", text[0]) != NULL)))
            return (enum tq_dtype)d;
    return TQ_DTYPE_NONE;
}

static tq_status parse_entry(struct cursor *cursor, struct tq_npy_header *header, unsigned *seen, struct tq_error *err)
{
    char key[16], descr[16];
    if (!take_text(cursor, key, sizeof(key)) || !take(cursor, ':'))
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "npy header: expected a key and ':'");
    unsigned bit = 0;
    if (strcmp(key, "descr") == 0) {
        bit = 1;
        if (!take_text(cursor, descr, sizeof(descr)) || descr[0] == '\0')
            return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "npy header: descr is no plain type");
        header->dtype = parse_descr(descr);
        if (header->dtype == TQ_DTYPE_NONE)
            return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "npy header: type %s is not carried", descr);
    } else if (strcmp(key, "fortran_order") == 0) {
        bit = 2;
        if (!take_word(cursor, "False"))
            return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "npy header: fortran_order; expected C order (False)");
    } else if (strcmp(key, "shape") == 0) {
        bit = 4;
        if (!take_shape(cursor, header))
            return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "npy header: shape is no tuple of at most %d numbers",
                           TQ_NPY_DIMS_MAX);
    }
    if (bit == 0 || (*seen & bit) != 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "npy header: key %s is unknown or comes twice", key);
    *seen |= bit;
    return TQ_OK;
}

static tq_status parse_dictionary(struct cursor cursor, struct tq_npy_header *header, struct tq_error *err)
{
    unsigned seen = 0;
    if (!take(&cursor, '{'))
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "npy header: expected '{'");
    while (!take(&cursor, '}')) {
        tq_status status = parse_entry(&cursor, header, &seen, err);
        if (status != TQ_OK)
            return status;
        if (take(&cursor, ','))
            continue;
        if (take(&cursor, '}'))
            break;
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "npy header: expected ',' or '}'");
    }
    skip_spaces(&cursor);
    if (seen != 7 || cursor.at != cursor.end)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL,
                       "npy header: expected descr, fortran_order, shape and nothing behind them");
    return TQ_OK;
}

tq_status tq_npy_header_parse(struct tq_bytes file, struct tq_npy_header *out_header, struct tq_error *err)
{
    const uint8_t *bytes = file.ptr;
    if (file.len < MAGIC_BYTES + 4 || memcmp(bytes, MAGIC, MAGIC_BYTES) != 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "no .npy file: the magic string is missing");
    unsigned major = bytes[MAGIC_BYTES];
    if (major < 1 || major > 3)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "npy version %u; expected 1..3", major);
    size_t prefix = MAGIC_BYTES + 2u + (major == 1 ? 2u : 4u);
    if (file.len < prefix)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "the npy header is cut");
    size_t len = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (major > 1)
        len |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (len > HEADER_BYTES_MAX || len > file.len - prefix)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "the npy header is said to have %zu bytes; the file has %zu",
                       len, file.len);
    *out_header = (struct tq_npy_header){ .bytes = prefix + len };
    const char *text = (const char *)bytes + prefix;
    return parse_dictionary((struct cursor){ text, text + len }, out_header, err);
}

#include "tests/client/columns.h"

#include <stdlib.h>
#include <string.h>

#include "tests/client/files/same.h"

/* A small generator of our own: rand() is shared by all threads. */
static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static uint8_t *fill(size_t len, uint32_t *state)
{
    uint8_t *bytes = malloc(len + 8);
    for (size_t i = 0; i < len; i += 4) {
        uint32_t word = next(state) * 2654435761u;
        memcpy(bytes + i, &word, sizeof(word));
    }
    return bytes;
}

static struct tq_column *add(struct test_columns *columns, size_t c, const char *name, enum tq_layout layout,
                             DLDataType dtype, int64_t rows)
{
    struct tq_column *column = &columns->columns[c];
    columns->shapes[c][0] = rows;
    *column = (struct tq_column){
        .name = name,
        .layout = layout,
        .values = { .device = { kDLCPU, 0 }, .ndim = 1, .dtype = dtype, .shape = columns->shapes[c] }
    };
    return column;
}

static void add_packed(struct test_columns *columns, size_t c, const char *name, DLDataType dtype, uint32_t rank,
                       size_t longest, uint32_t *state)
{
    size_t n = columns->batch.n_samples;
    int64_t *sizes = columns->sizes[c] = calloc(n * rank + 1, sizeof(*sizes)), total = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t elements = 1;
        for (uint32_t d = 0; d < rank; d++) {
            sizes[i * rank + d] = d + 1 < rank ? 1 + next(state) % 3 : (int64_t)(next(state) % (longest + 1));
            elements *= sizes[i * rank + d];
        }
        total += elements;
    }
    struct tq_column *column = add(columns, c, name, TQ_JAGGED, dtype, total);
    column->rank = rank;
    column->sizes = sizes;
    column->values.data = columns->values[c] = fill((size_t)total * tq_dtype_bytes(dtype), state);
}

void test_columns_open(struct test_columns *columns, size_t n, size_t dims, size_t longest, unsigned seed)
{
    uint32_t state = seed + 1;
    memset(columns, 0, sizeof(*columns));
    columns->batch = (struct tq_batch){ n, columns->columns, TEST_COLUMNS };
    struct tq_column *vector = add(columns, 0, "vector", TQ_DENSE, (DLDataType){ kDLFloat, 32, 1 }, (int64_t)n);
    size_t gap = 3; /* elements between samples that belong to nobody */
    columns->shapes[0][1] = (int64_t)dims;
    columns->strides[0] = (int64_t)(dims + gap);
    columns->strides[1] = 1;
    vector->values.ndim = 2;
    vector->values.strides = columns->strides;
    vector->values.data = columns->values[0] = fill(n * (dims + gap) * 4, &state);
    struct tq_column *scalar = add(columns, 1, "scalar", TQ_DENSE, (DLDataType){ kDLInt, 64, 1 }, (int64_t)n);
    scalar->values.data = columns->values[1] = fill(n * 8, &state);
    add_packed(columns, 2, "tokens", (DLDataType){ kDLInt, 32, 1 }, 1, longest, &state);
    add_packed(columns, 3, "matrix", (DLDataType){ kDLFloat, 32, 1 }, 2, longest / 2 + 1, &state);
    add_packed(columns, 4, "text", (DLDataType){ kDLUInt, 8, 1 }, 1, longest, &state);
    columns->columns[4].layout = TQ_OPAQUE;
    columns->columns[4].content_type = "text/plain; charset=utf-8";
}

void test_columns_close(struct test_columns *columns)
{
    for (size_t c = 0; c < TEST_COLUMNS; c++) {
        free(columns->sizes[c]);
        free(columns->values[c]);
    }
}

bool test_columns_same(const struct test_columns *columns, const struct tq_data *data)
{
    size_t seen = 0;
    for (size_t c = 0; c < TEST_COLUMNS; c++) {
        const struct tq_column *back = tq_data_column(data, columns->columns[c].name);
        if (back == NULL)
            continue;
        struct tq_batch mine = { columns->batch.n_samples, &columns->columns[c], 1 };
        struct tq_batch theirs = { tq_data_batch(data)->n_samples, back, 1 };
        if (!tq_same_batch(&mine, &theirs))
            return false;
        seen++;
    }
    return seen > 0;
}

/* tests/client/columns.h: columns of every layout, made from a seed, and whether they came back.
 * Owns: its memory. Threads: one at a time. */
#ifndef TQ_TESTS_CLIENT_COLUMNS_H
#define TQ_TESTS_CLIENT_COLUMNS_H

#include <stdbool.h>

#include "tq/client.h"

enum { TEST_COLUMNS = 5 };

struct test_columns {
    struct tq_batch batch;
    struct tq_column columns[TEST_COLUMNS]; /* "vector" dense f32 [n, dims], strided; "scalar" dense i64 [n]; "tokens"
                                               jagged i32 rank 1; "matrix" jagged f32 rank 2; "text" opaque */
    int64_t shapes[TEST_COLUMNS][2], strides[2];
    int64_t *sizes[TEST_COLUMNS];
    uint8_t *values[TEST_COLUMNS];
};

/* `dims` elements in a sample of "vector", at most `longest` elements in a jagged sample (some are empty). */
void test_columns_open(struct test_columns *columns, size_t n, size_t dims, size_t longest, unsigned seed);
void test_columns_close(struct test_columns *columns);
/* Every column of `data` that has a name of ours has our bytes, sizes, type and layout. */
bool test_columns_same(const struct test_columns *columns, const struct tq_data *data);

#endif

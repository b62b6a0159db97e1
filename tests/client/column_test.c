/* The rules of columns: what is refused and in which words, and where the cells of each layout lie. */
#include "client/column.h"

#include "tests/support/cmocka_all.h"

#include <stddef.h>
#include <string.h>

static const DLDataType f32 = { kDLFloat, 32, 1 };

static struct tq_column dense(void *data, int64_t *shape, int ndim)
{
    return (struct tq_column){
        .name = "x",
        .layout = TQ_DENSE,
        .values = { .data = data, .device = { kDLCPU, 0 }, .ndim = ndim, .dtype = f32, .shape = shape },
    };
}

static void element_types_are_known_by_code_and_bits(void **state)
{
    (void)state;
    assert_int_equal(tq_dtype_bytes((DLDataType){ kDLFloat, 32, 1 }), 4);
    assert_int_equal(tq_dtype_bytes((DLDataType){ kDLBfloat, 16, 1 }), 2);
    assert_int_equal(tq_dtype_bytes((DLDataType){ kDLComplex, 128, 1 }), 16);
    assert_int_equal(tq_dtype_bytes((DLDataType){ 6, 8, 1 }), 1);
    assert_int_equal(tq_dtype_bytes((DLDataType){ kDLInt, 4, 1 }), 0);
    assert_int_equal(tq_dtype_bytes((DLDataType){ kDLFloat, 32, 4 }), 0);
    assert_int_equal(tq_dtype_bytes((DLDataType){ kDLOpaqueHandle, 64, 1 }), 0);
    for (int d = TQ_DTYPE_NONE + 1; d < TQ_DTYPE_COUNT; d++)
        assert_int_equal(tq_dtype_from_dlpack(tq_dtype_to_dlpack((enum tq_dtype)d)), d);
    assert_false(tq_dtype_is_known(TQ_DTYPE_NONE));
    assert_false(tq_dtype_is_known(TQ_DTYPE_COUNT));
}

static void cells_of_a_strided_dense_column_skip_the_gap(void **state)
{
    (void)state;
    float values[12] = { 0 };
    int64_t shape[2] = { 3, 2 }, strides[2] = { 4, 1 };
    struct tq_column column = dense(values, shape, 2);
    column.values.strides = strides;
    assert_int_equal(tq_column_check(&column, 3, NULL), TQ_OK);
    struct tq_cells cells;
    assert_int_equal(tq_cells_init(&cells, &column, 3, NULL), TQ_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_ptr_equal(tq_cells_at(&cells, i).ptr, &values[4 * i]);
        assert_ptr_equal(tq_column_cell(&column, i).ptr, &values[4 * i]);
        assert_int_equal(tq_cells_at(&cells, i).len, 8);
    }
    assert_int_equal(tq_cells_span_bytes(&cells), 40);
    assert_int_equal(tq_cells_total_bytes(&cells), 24);
    tq_cells_fini(&cells);
}

static void cells_of_a_jagged_column_follow_their_sizes(void **state)
{
    (void)state;
    float values[7] = { 0 };
    int64_t shape[1] = { 7 }, sizes[8] = { 2, 2, 0, 9, 1, 3, 5, 0 };
    struct tq_column column = dense(values, shape, 1);
    column.layout = TQ_JAGGED;
    column.rank = 2;
    column.sizes = sizes;
    assert_int_equal(tq_column_check(&column, 4, NULL), TQ_OK);
    const size_t starts[4] = { 0, 4, 4, 7 }, lengths[4] = { 16, 0, 12, 0 };
    struct tq_cells cells;
    assert_int_equal(tq_cells_init(&cells, &column, 4, NULL), TQ_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_ptr_equal(tq_cells_at(&cells, i).ptr, &values[starts[i]]);
        assert_int_equal(tq_cells_at(&cells, i).len, lengths[i]);
        assert_ptr_equal(tq_column_cell(&column, i).ptr, &values[starts[i]]);
        assert_int_equal(tq_column_cell(&column, i).len, lengths[i]);
    }
    tq_cells_fini(&cells);
}

/* ---- refusals ---- */

static float room[64];
static int64_t shape_of_3[2] = { 3, 2 }, one_dim[1] = { 6 }, negative[2] = { 3, -1 };
static int64_t huge[3] = { 3, INT64_MAX, 4 }, sizes_bad_sum[3] = { 1, 2, 4 }, sizes_negative[3] = { 1, -1, 6 };
static int64_t sizes_wrap[6] = { INT64_MAX, 4, 1, 1, 1, 1 }, inner_stride[2] = { 2, 2 }, back_stride[2] = { -2, 1 };
static int64_t scalar_shape[1] = { 3 };

static struct tq_column jagged(const int64_t *sizes, uint32_t rank)
{
    struct tq_column column = dense(room, one_dim, 1);
    column.layout = TQ_JAGGED;
    column.rank = rank;
    column.sizes = sizes;
    return column;
}

static void refuses(struct tq_column column, const char *fragment)
{
    struct tq_error err = { 0 };
    struct tq_batch batch = { 3, &column, 1 };
    assert_int_equal(tq_batch_check(&batch, &err), TQ_INVALID_ARGUMENT);
    if (strstr(err.message, fragment) == NULL)
        fail_msg("message \"%s\" does not say \"%s\"", err.message, fragment);
}

static void bad_columns_are_refused_by_name_and_value(void **state)
{
    (void)state;
    struct tq_column good = dense(room, shape_of_3, 2), bad;
    struct tq_batch batch = { 3, &good, 1 };
    assert_int_equal(tq_batch_check(&batch, NULL), TQ_OK);
    bad = good, bad.name = "";
    refuses(bad, "empty");
    bad = good, bad.name = "a/b";
    refuses(bad, "'/'");
    bad = good, bad.name = "a\nb";
    refuses(bad, "0x0a");
    bad = good, bad.values.device.device_type = kDLCUDA;
    refuses(bad, "device type 2");
    bad = good, bad.values.dtype.lanes = 2;
    refuses(bad, "lanes 2");
    bad = good, bad.values.ndim = 0;
    refuses(bad, "0 dimensions");
    bad = good, bad.values.ndim = 10;
    refuses(bad, "10 dimensions");
    bad = good, bad.values.shape = negative;
    refuses(bad, "shape[1] is -1");
    bad = good, bad.values.shape = huge, bad.values.ndim = 3;
    refuses(bad, "2^63");
    bad = good, bad.values.data = NULL;
    refuses(bad, "data is NULL");
    bad = good, bad.rank = 1;
    refuses(bad, "no rank");
    bad = good, bad.values.strides = inner_stride;
    refuses(bad, "strides[1] is 2");
    bad = good, bad.values.strides = back_stride;
    refuses(bad, "strides[0] is -2");
    bad = good, bad.layout = (enum tq_layout)9;
    refuses(bad, "layout is 9");
    refuses(dense(room, one_dim, 1), "6 rows; expected 3");
    refuses(jagged(sizes_bad_sum, 1), "add up to 7");
    refuses(jagged(sizes_negative, 1), "is -1");
    refuses(jagged(sizes_wrap, 2), "do not fit");
    refuses(jagged(NULL, 1), "sizes is NULL");
    refuses(jagged(sizes_bad_sum, 0), "rank is 0");
    refuses(jagged(sizes_bad_sum, 9), "rank is 9");
    bad = jagged(sizes_bad_sum, 1), bad.layout = TQ_OPAQUE;
    refuses(bad, "uint8");
}

static void bad_batches_are_refused(void **state)
{
    (void)state;
    struct tq_column twice[2] = { dense(room, scalar_shape, 1), dense(room, scalar_shape, 1) };
    struct tq_error err = { 0 };
    assert_int_equal(tq_batch_check(&(struct tq_batch){ 3, twice, 2 }, &err), TQ_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "both named x"));
    assert_int_equal(tq_batch_check(&(struct tq_batch){ 0, twice, 1 }, &err), TQ_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "n_samples is 0"));
    assert_int_equal(tq_batch_check(&(struct tq_batch){ 3, NULL, 1 }, &err), TQ_INVALID_ARGUMENT);
    assert_int_equal(tq_batch_check(&(struct tq_batch){ 3, twice, 0 }, &err), TQ_INVALID_ARGUMENT);
    assert_int_equal(tq_batch_check(NULL, &err), TQ_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(element_types_are_known_by_code_and_bits),
        cmocka_unit_test(cells_of_a_strided_dense_column_skip_the_gap),
        cmocka_unit_test(cells_of_a_jagged_column_follow_their_sizes),
        cmocka_unit_test(bad_columns_are_refused_by_name_and_value),
        cmocka_unit_test(bad_batches_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

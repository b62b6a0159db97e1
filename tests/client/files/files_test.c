/* Files of columns: what is written comes back, files of other programs are read, and a bad file is refused by name. */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/files/npy.h"
#include "client/files/safetensors.h"
#include "client/files/table_file.h"
#include "tests/client/files/same.h"
#include "tests/support/cmocka_all.h"

enum { N = 3 };

static float dense_values[N * 4] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
static int32_t jagged_values[5] = { 1, 2, 3, 4, 5 };
static uint8_t opaque_values[6] = "word!\n";
static int64_t dense_shape[2] = { N, 2 }, dense_strides[2] = { 4, 1 }, jagged_shape[1] = { 5 }, opaque_shape[1] = { 6 };
static const int64_t jagged_sizes[2 * N] = { 1, 4, 0, 3, 1, 1 }, opaque_sizes[N] = { 4, 0, 2 };

static struct tq_column columns[3] = {
    { .name = "weights",
      .layout = TQ_DENSE,
      .values = { .data = dense_values,
                  .device = { kDLCPU, 0 },
                  .ndim = 2,
                  .dtype = { kDLFloat, 32, 1 },
                  .shape = dense_shape,
                  .strides = dense_strides } },
    { .name = "tokens",
      .layout = TQ_JAGGED,
      .values = { .data = jagged_values,
                  .device = { kDLCPU, 0 },
                  .ndim = 1,
                  .dtype = { kDLInt, 32, 1 },
                  .shape = jagged_shape },
      .rank = 2,
      .sizes = jagged_sizes },
    { .name = "prompt \"quoted\"",
      .layout = TQ_OPAQUE,
      .values = { .data = opaque_values,
                  .device = { kDLCPU, 0 },
                  .ndim = 1,
                  .dtype = { kDLUInt, 8, 1 },
                  .shape = opaque_shape },
      .rank = 1,
      .sizes = opaque_sizes,
      .content_type = "text/plain" },
};

struct folder {
    char path[64];
};

static int make_folder(void **state)
{
    static struct folder folder;
    snprintf(folder.path, sizeof(folder.path), "/tmp/tq_files_XXXXXX");
    *state = &folder;
    return mkdtemp(folder.path) == NULL;
}

static int drop_folder(void **state)
{
    struct folder *folder = *state;
    return rmdir(folder->path); /* every test removes its file: a temporary one left behind fails here */
}

static void name_in(const struct folder *folder, const char *name, char *path, size_t room)
{
    snprintf(path, room, "%s/%s", folder->path, name);
}

static void all_layouts_come_back_from_safetensors(void **state)
{
    char path[128];
    struct tq_batch batch = { N, columns, 3 };
    struct tq_table_file file;
    struct tq_error err = { 0 };
    name_in(*state, "all.safetensors", path, sizeof(path));
    assert_int_equal(tq_batch_check(&batch, &err), TQ_OK);
    for (int i = 0; i < 2; i++) /* the second replaces the first */
        assert_int_equal(tq_table_file_write(path, &batch, &err), TQ_OK);
    tq_status status = tq_table_file_read(path, &file, &err);
    if (status != TQ_OK)
        fail_msg("%s", err.message);
    assert_true(tq_same_batch(&batch, &file.batch));
    tq_table_file_drop(&file);
    assert_int_equal(unlink(path), 0);
}

static void a_dense_column_comes_back_from_npy(void **state)
{
    char path[128];
    struct tq_batch batch = { N, columns, 1 };
    struct tq_table_file file;
    struct tq_error err = { 0 };
    name_in(*state, "weights.npy", path, sizeof(path));
    assert_int_equal(tq_table_file_write(path, &batch, &err), TQ_OK);
    assert_int_equal(tq_table_file_read(path, &file, &err), TQ_OK);
    assert_true(tq_same_batch(&batch, &file.batch));
    tq_table_file_drop(&file);
    assert_int_equal(unlink(path), 0);
    batch.n_columns = 2;
    assert_int_equal(tq_table_file_write(path, &batch, &err), TQ_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "one dense column"));
}

static void names_that_are_no_file_of_ours_are_refused(void **state)
{
    struct tq_batch batch = { N, columns, 1 };
    struct tq_table_file file;
    struct tq_error err = { 0 };
    char path[128];
    assert_int_equal(tq_table_file_read("x.csv", &file, &err), TQ_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, ".safetensors or .npy"));
    name_in(*state, "missing.npy", path, sizeof(path));
    assert_int_equal(tq_table_file_read(path, &file, &err), TQ_NOT_FOUND);
    name_in(*state, "no/such/folder.npy", path, sizeof(path));
    assert_int_equal(tq_table_file_write(path, &batch, &err), TQ_NOT_FOUND);
}

/* ---- foreign bytes ---- */

static tq_status parse_safetensors(const char *header, size_t data_bytes, struct tq_batch *batch,
                                   struct tq_arena *arena, struct tq_error *err)
{
    static uint8_t file[4096];
    size_t len = strlen(header);
    memset(file, 0, sizeof(file));
    file[0] = (uint8_t)len, file[1] = (uint8_t)(len >> 8);
    memcpy(file + 8, header, len);
    return tq_safetensors_parse((struct tq_bytes){ file, 8 + len + data_bytes }, arena, batch, err);
}

#define TENSOR(name, dtype, shape, from, to)                                                                           \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" from "," to "]}"

static const struct bad {
    const char *header;
    size_t data_bytes;
    const char *fragment;
} bad_headers[] = {
    { "", 0, "no JSON" },
    { "[]", 0, "no object" },
    { "{}", 0, "n_samples is 0" },
    { "{\"a\":1}", 0, "no dtype" },
    { "{" TENSOR("a", "F32", "[2]", "0", "8") "," TENSOR("a", "F32", "[2]", "0", "8") "}", 8, "duplicate" },
    { "{" TENSOR("a", "Q7", "[2]", "0", "8") "}", 8, "dtype Q7" },
    { "{" TENSOR("a", "F32", "[-2]", "0", "8") "}", 8, "shape[0]" },
    { "{" TENSOR("a", "F32", "[2.0]", "0", "8") "}", 8, "shape[0]" },
    { "{" TENSOR("a", "F32", "7", "0", "8") "}", 8, "no list" },
    { "{" TENSOR("a", "F32", "[1,1,1,1,1,1,1,1,1,2]", "0", "8") "}", 8, "at most 9" },
    { "{" TENSOR("a", "F32", "[2]", "0", "9") "}", 9, "9 bytes" },
    { "{" TENSOR("a", "F32", "[2]", "0", "8") "}", 4, "not inside the 4 bytes" },
    { "{" TENSOR("a", "F32", "[2]", "8", "0") "}", 8, "not inside" },
    { "{" TENSOR("a", "F32", "[4611686018427387904,4]", "0", "0") "}", 0, "type and shape" },
    { "{" TENSOR("a", "F32", "[99999999999999999999]", "0", "8") "}", 8, "no JSON" },
    { "{" TENSOR("a", "F32", "[2]", "0", "8") "}", 12, "4 bytes behind" },
    { "{" TENSOR("a", "F32", "[2]", "4", "12") "}", 12, "hole" },
    { "{" TENSOR("a", "F32", "[2]", "0", "8") "," TENSOR("b", "F32", "[2]", "4", "12") "}", 12, "overlap" },
    { "{" TENSOR("a", "F32", "[]", "0", "4") "}", 4, "scalar" },
    { "{" TENSOR("a/b", "F32", "[2]", "0", "8") "}", 8, "'/'" },
    { "{" TENSOR("a", "F32", "[2]", "0", "8") "," TENSOR("b", "U8", "[3]", "8", "11") "}", 11, "must be equal" },
    { "{\"__metadata__\":3," TENSOR("a", "F32", "[2]", "0", "8") "}", 8, "__metadata__" },
    { "{\"__metadata__\":{\"tq.layout.a\":\"jagged\"}," TENSOR("a", "F32", "[2]", "0", "8") "}", 8, "a.sizes" },
};

static void bad_safetensors_headers_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_headers) / sizeof(bad_headers[0]); i++) {
        struct tq_batch batch;
        struct tq_error err = { 0 };
        struct tq_arena *arena = tq_arena_open(NULL, SIZE_MAX);
        tq_status status = parse_safetensors(bad_headers[i].header, bad_headers[i].data_bytes, &batch, arena, &err);
        if (status != TQ_INVALID_ARGUMENT || strstr(err.message, bad_headers[i].fragment) == NULL)
            fail_msg("%s: %s: \"%s\" does not say \"%s\"", bad_headers[i].header, tq_status_name(status), err.message,
                     bad_headers[i].fragment);
        tq_arena_close(arena);
    }
}

static void a_pair_without_metadata_is_jagged_when_its_sizes_add_up(void **state)
{
    (void)state;
    struct tq_batch batch;
    struct tq_error err = { 0 };
    struct tq_arena *arena = tq_arena_open(NULL, SIZE_MAX);
    /* two samples, both empty: the sizes are zeros, as the data of this test is */
    assert_int_equal(
        parse_safetensors("{" TENSOR("a.sizes", "I64", "[2]", "0", "16") "," TENSOR("a", "F32", "[0]", "16", "16") "}",
                          16, &batch, arena, &err),
        TQ_OK);
    assert_int_equal(batch.n_columns, 1);
    assert_int_equal(batch.columns[0].layout, TQ_JAGGED);
    assert_int_equal(batch.n_samples, 2);
    /* sizes that do not add up: two dense columns */
    assert_int_equal(
        parse_safetensors("{" TENSOR("a.sizes", "I64", "[2]", "0", "16") "," TENSOR("a", "F32", "[2]", "16", "24") "}",
                          24, &batch, arena, &err),
        TQ_OK);
    assert_int_equal(batch.n_columns, 2);
    tq_arena_close(arena);
}

static tq_status parse_npy(const char *dictionary, size_t data_bytes, struct tq_error *err)
{
    static uint8_t file[1024];
    struct tq_batch batch;
    size_t len = strlen(dictionary);
    memset(file, 0, sizeof(file));
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (uint8_t)len;
    memcpy(file + 10, dictionary, len);
    struct tq_arena *arena = tq_arena_open(NULL, SIZE_MAX);
    tq_status status = tq_npy_parse((struct tq_bytes){ file, 10 + len + data_bytes }, "x", arena, &batch, err);
    tq_arena_close(arena);
    return status;
}

static const struct bad bad_dictionaries[] = {
    { "", 0, "expected '{'" },
    { "{}", 0, "expected descr" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", 8, "expected ',' or '}'" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", 8, "nothing behind" },
    { "{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", 8, "type >f4" },
    { "{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", 8, "type |O" },
    { "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", 8, "no plain type" },
    { "{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}", 8, "C order" },
    { "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8, "twice" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", 8, "tuple" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", 8, "tuple" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 8, "tuple" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", 0, "type float32" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 7, "7 bytes" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4, "scalar" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}", 0, "n_samples is 0" },
    { "{'what': '<f4'}", 0, "unknown" },
};

static void bad_npy_headers_are_refused(void **state)
{
    (void)state;
    struct tq_error err = { 0 };
    assert_int_equal(parse_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }  \n", 8, &err), TQ_OK);
    assert_int_equal(parse_npy("{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"|u1\"}", 6, &err), TQ_OK);
    for (size_t i = 0; i < sizeof(bad_dictionaries) / sizeof(bad_dictionaries[0]); i++) {
        const struct bad *bad = &bad_dictionaries[i];
        tq_status status = parse_npy(bad->header, bad->data_bytes, &err);
        if (status != TQ_INVALID_ARGUMENT || strstr(err.message, bad->fragment) == NULL)
            fail_msg("%s: %s: \"%s\" does not say \"%s\"", bad->header, tq_status_name(status), err.message,
                     bad->fragment);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_layouts_come_back_from_safetensors),
        cmocka_unit_test(a_dense_column_comes_back_from_npy),
        cmocka_unit_test(names_that_are_no_file_of_ours_are_refused),
        cmocka_unit_test(bad_safetensors_headers_are_refused),
        cmocka_unit_test(a_pair_without_metadata_is_jagged_when_its_sizes_add_up),
        cmocka_unit_test(bad_npy_headers_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}

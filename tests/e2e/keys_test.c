/* Samples by key, in real processes. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/client/columns.h"
#include "tests/e2e/cluster.h"
#include "tests/support/cmocka_all.h"
#include "tq/init.h"

enum { N = 6 };

static struct cluster cluster;
static struct tq_client *client;
static const char *const keys[N] = { "a", "b", "c", "d", "e", "f" };

#define ok(call)                                                                                                       \
    do {                                                                                                               \
        struct tq_error err = { 0 };                                                                                   \
        if ((call) != TQ_OK)                                                                                           \
            fail_msg("%s: %s: %s", #call, tq_status_name(err.status), err.message);                                    \
    } while (0)

static int start(void **state)
{
    (void)state;
    ok(tq_init(&err));
    ok(cluster_open(&cluster, &err));
    for (int u = 0; u < 2; u++)
        ok(cluster_add_unit(&cluster, NULL, &err));
    ok(tq_client_open(&(struct tq_client_opts){ .controller = cluster.controller.address }, &client, &err));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    tq_client_close(client);
    return cluster_close(&cluster) ? 0 : 1;
}

static struct tq_bytes text(const char *value)
{
    return (struct tq_bytes){ (const uint8_t *)value, strlen(value) };
}

static void columns_of_keys_come_back_in_the_order_of_the_request(void **state)
{
    (void)state;
    struct test_columns columns;
    struct tq_data *data = NULL;
    struct tq_meta *meta = NULL;
    struct tq_tag tag = { "stage", text("rollout") };
    struct tq_bytes value;
    test_columns_open(&columns, N, 3000, 50, 3);
    ok(tq_kv_put(client, "order", keys, &columns.batch, &tag, 1, NULL, &err));
    ok(tq_kv_get(client, "order", keys, N, NULL, 0, NULL, &data, &meta, &err));
    assert_true(test_columns_same(&columns, data));
    assert_string_equal(tq_meta_key(meta, 2), "c");
    assert_true(tq_meta_tag(meta, 5, "stage", &value));
    assert_memory_equal(value.ptr, "rollout", value.len);
    tq_data_drop(data);
    tq_meta_drop(meta);
    const char *const two[2] = { "e", "b" }, *const field[1] = { "scalar" };
    ok(tq_kv_get(client, "order", two, 2, field, 1, NULL, &data, NULL, &err));
    const int64_t *wanted = columns.columns[1].values.data, *got = tq_data_column(data, "scalar")->values.data;
    assert_int_equal(got[0], wanted[4]);
    assert_int_equal(got[1], wanted[1]);
    tq_data_drop(data);
    test_columns_close(&columns);
}

static void an_existing_key_gets_newer_and_further_columns(void **state)
{
    (void)state;
    struct test_columns old, new;
    struct tq_data *data = NULL;
    test_columns_open(&old, N, 40000, 9, 1);
    test_columns_open(&new, N, 40000, 9, 2);
    struct tq_batch first = { N, &old.columns[0], 2 }, second = { N, &new.columns[0], 1 };
    struct tq_batch third = { N, &new.columns[2], 1 };
    ok(tq_kv_put(client, "newer", keys, &first, NULL, 0, NULL, &err));
    ok(tq_kv_put(client, "newer", keys, &second, NULL, 0, NULL, &err)); /* replaces "vector" */
    ok(tq_kv_put(client, "newer", keys, &third, NULL, 0, NULL, &err));  /* adds "tokens" */
    ok(tq_kv_get(client, "newer", keys, N, NULL, 0, NULL, &data, NULL, &err));
    assert_int_equal(tq_data_batch(data)->n_columns, 3);
    tq_data_drop(data);
    const char *const replaced[2] = { "vector", "tokens" }, *const kept[1] = { "scalar" };
    ok(tq_kv_get(client, "newer", keys, N, replaced, 2, NULL, &data, NULL, &err));
    assert_true(test_columns_same(&new, data));
    tq_data_drop(data);
    ok(tq_kv_get(client, "newer", keys, N, kept, 1, NULL, &data, NULL, &err));
    assert_true(test_columns_same(&old, data));
    tq_data_drop(data);
    test_columns_close(&old);
    test_columns_close(&new);
}

static void missing_keys_and_fields_are_named(void **state)
{
    (void)state;
    struct test_columns columns;
    struct tq_data *data = NULL;
    struct tq_error err = { 0 };
    test_columns_open(&columns, N, 2, 2, 3);
    struct tq_batch batch = { 3, columns.columns, 0 }; /* one scalar column of three samples */
    columns.shapes[1][0] = 3;
    batch.columns = &columns.columns[1];
    batch.n_columns = 1;
    if (tq_kv_put(client, "names", keys, &batch, NULL, 0, NULL, &err) != TQ_OK)
        fail_msg("%s", err.message);
    const char *const some[3] = { "a", "nobody", "b" }, *const field[1] = { "vector" }, *const twice[2] = { "a", "a" };
    assert_int_equal(tq_kv_get(client, "names", some, 3, NULL, 0, NULL, &data, NULL, &err), TQ_NOT_FOUND);
    assert_non_null(strstr(err.message, "nobody"));
    assert_int_equal(tq_kv_get(client, "names", keys, 2, field, 1, NULL, &data, NULL, &err), TQ_NOT_FOUND);
    assert_non_null(strstr(err.message, "vector"));
    assert_int_equal(tq_kv_get(client, "nowhere", keys, 2, NULL, 0, NULL, &data, NULL, &err), TQ_NOT_FOUND);
    assert_int_equal(tq_kv_get(client, "names", keys, 0, NULL, 0, NULL, &data, NULL, &err), TQ_INVALID_ARGUMENT);
    assert_int_equal(tq_kv_get(client, "names", twice, 2, NULL, 0, NULL, &data, NULL, &err), TQ_INVALID_ARGUMENT);
    struct tq_batch nothing = { 3, NULL, 0 };
    assert_int_equal(tq_kv_put(client, "names", keys, &nothing, NULL, 0, NULL, &err), TQ_INVALID_ARGUMENT);
    assert_null(data);
    test_columns_close(&columns);
}

struct seen {
    size_t n;
    char text[256];
};

static void see(void *user, const char *partition, const char *key, const struct tq_tag *tags, size_t n_tags)
{
    struct seen *seen = user;
    size_t len = strlen(seen->text);
    snprintf(seen->text + len, sizeof(seen->text) - len, "%s/%s:%zu%s ", partition, key, n_tags,
             n_tags > 0 ? tags[0].key : "");
    seen->n++;
}

static void tags_alone_and_lists_and_clearing(void **state)
{
    (void)state;
    struct tq_batch only_tags = { 2, NULL, 0 };
    struct tq_tag tag = { "score", text("0.5") };
    struct seen seen = { 0 };
    const char *const ab[2] = { "run/a", "run/b" }, *const again[3] = { "run/a", "unknown", "run/b" };
    ok(tq_kv_put(client, "tags", ab, &only_tags, &tag, 1, NULL, &err));
    ok(tq_kv_list(client, "tags", "run/", see, &seen, NULL, &err));
    assert_int_equal(seen.n, 2);
    assert_non_null(strstr(seen.text, "tags/run/a:1score"));
    ok(tq_kv_list(client, "tags", "walk/", see, &seen, NULL, &err));
    assert_int_equal(seen.n, 2);
    ok(tq_kv_clear(client, "tags", again, 3, NULL, &err));
    ok(tq_kv_clear(client, "tags", again, 3, NULL, &err)); /* idempotent */
    ok(tq_kv_clear(client, "no such partition", again, 3, NULL, &err));
    ok(tq_kv_list(client, "tags", NULL, see, &seen, NULL, &err));
    assert_int_equal(seen.n, 2);
}

/* ---- overwriting under a reader ---- */

enum { WRITES = 60, CELL = 256 << 10 };

struct writer {
    atomic_bool ended;
    char message[300];
};

/* Every write fills all cells with one byte, so that a torn or mixed cell shows. */
static tq_status write_filled(uint8_t *values, uint8_t fill, struct tq_error *err)
{
    int64_t shape[2] = { N, CELL };
    struct tq_column column = {
        .name = "x",
        .layout = TQ_DENSE,
        .values = { .data = values, .device = { kDLCPU, 0 }, .ndim = 2, .dtype = { kDLUInt, 8, 1 }, .shape = shape }
    };
    struct tq_batch batch = { N, &column, 1 };
    memset(values, fill, (size_t)N * CELL);
    return tq_kv_put(client, "overwritten", keys, &batch, NULL, 0, NULL, err);
}

static void *write_many(void *user)
{
    struct writer *writer = user;
    struct tq_error err = { 0 };
    uint8_t *values = malloc((size_t)N * CELL);
    for (int i = 1; i <= WRITES && writer->message[0] == '\0'; i++)
        if (write_filled(values, (uint8_t)i, &err) != TQ_OK)
            snprintf(writer->message, sizeof(writer->message), "%.250s", err.message);
    free(values);
    atomic_store(&writer->ended, true);
    return NULL;
}

static void check_uniform(const struct tq_data *data)
{
    const struct tq_column *column = tq_data_column(data, "x");
    for (size_t i = 0; i < N; i++) {
        struct tq_bytes cell = tq_column_cell(column, i);
        assert_int_equal(cell.len, CELL);
        assert_memory_equal(cell.ptr, cell.ptr + 1, CELL - 1); /* all bytes are the first one */
    }
}

static void a_reader_never_sees_a_torn_cell(void **state)
{
    (void)state;
    static struct writer writer;
    pthread_t thread;
    uint8_t *values = malloc((size_t)N * CELL);
    ok(write_filled(values, 0, &err));
    free(values);
    assert_int_equal(pthread_create(&thread, NULL, write_many, &writer), 0);
    size_t reads = 0;
    while (!atomic_load(&writer.ended)) {
        struct tq_data *data = NULL;
        struct tq_error err = { 0 };
        tq_status status = tq_kv_get(client, "overwritten", keys, N, NULL, 0, NULL, &data, NULL, &err);
        if (status != TQ_OK && status != TQ_ABORTED)
            fail_msg("%s: %s", tq_status_name(status), err.message);
        if (status == TQ_OK) {
            check_uniform(data);
            reads++;
        }
        tq_data_drop(data);
    }
    pthread_join(thread, NULL);
    assert_string_equal(writer.message, "");
    assert_true(reads > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_keys_come_back_in_the_order_of_the_request),
        cmocka_unit_test(an_existing_key_gets_newer_and_further_columns),
        cmocka_unit_test(missing_keys_and_fields_are_named),
        cmocka_unit_test(tags_alone_and_lists_and_clearing),
        cmocka_unit_test(a_reader_never_sees_a_torn_cell),
    };
    return cmocka_run_group_tests(tests, start, stop);
}

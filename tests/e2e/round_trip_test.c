/* Everything together, in real processes: what a client puts is what another gets, over every path that bytes can take.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/client/columns.h"
#include "tests/e2e/cluster.h"
#include "tests/support/cmocka_all.h"
#include "tq/init.h"

static struct cluster cluster; /* a unit with shared memory, one over TCP only, one without bulk */

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
    ok(cluster_add_unit(&cluster, NULL, &err));
    ok(cluster_add_unit(&cluster, &(struct cluster_unit_opts){ .tcp_only = true }, &err));
    ok(cluster_add_unit(&cluster, &(struct cluster_unit_opts){ .bulk = "off" }, &err));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    return cluster_close(&cluster) ? 0 : 1;
}

static struct tq_client *open_client(enum tq_bulk_mode bulk)
{
    struct tq_client *client = NULL;
    struct tq_client_opts opts = { .controller = cluster.controller.address, .bulk = bulk, .name = "test" };
    ok(tq_client_open(&opts, &client, &err));
    return client;
}

static struct tq_meta *fetch(struct tq_client *client, const char *partition, const char *task, uint32_t n)
{
    static const char *const fields[] = { "vector", "scalar", "tokens", "matrix", "text" };
    struct tq_meta *meta = NULL;
    struct tq_fetch fetch = { .partition = partition,
                              .task = task,
                              .fields = fields,
                              .n_fields = TEST_COLUMNS,
                              .batch_size = n,
                              .max_wait_ms = 5000 };
    ok(tq_client_fetch(client, &fetch, NULL, &meta, &err));
    assert_int_equal(tq_meta_count(meta), n);
    return meta;
}

/* Put by one client, fetched and read by another. */
static void moves(const char *partition, enum tq_bulk_mode bulk, size_t n, size_t dims, size_t longest,
                  struct tq_client_stats *put_stats, struct tq_client_stats *get_stats)
{
    struct tq_client *producer = open_client(bulk), *consumer = open_client(bulk);
    struct test_columns columns;
    struct tq_meta *meta = NULL;
    struct tq_data *data = NULL;
    test_columns_open(&columns, n, dims, longest, 5);
    ok(tq_client_put(producer, partition, &columns.batch, NULL, NULL, &meta, &err));
    assert_true(tq_meta_ready(meta, 0));
    tq_meta_drop(meta);
    meta = fetch(consumer, partition, "train", (uint32_t)n);
    ok(tq_client_get(consumer, meta, NULL, 0, NULL, &data, &err));
    assert_true(test_columns_same(&columns, data));
    assert_int_equal(tq_data_batch(data)->n_columns, TEST_COLUMNS);
    tq_data_drop(data);
    tq_client_read_stats(producer, put_stats);
    tq_client_read_stats(consumer, get_stats);
    ok(tq_client_clear(producer, meta, NULL, &err));
    ok(tq_client_clear(producer, meta, NULL, &err)); /* idempotent */
    tq_meta_drop(meta);
    test_columns_close(&columns);
    tq_client_close(producer);
    tq_client_close(consumer);
}

static void tiny_batches_come_back(void **state)
{
    (void)state;
    struct tq_client_stats put, get;
    for (size_t n = 1; n <= 4; n++)
        moves("tiny", TQ_BULK_AUTO, n, 1, 3, &put, &get);
}

static void large_columns_move_over_both_engines(void **state)
{
    (void)state;
    struct tq_client_stats put, get;
    moves("large", TQ_BULK_AUTO, 96, 40000, 30000, &put, &get);
    assert_true(put.put_bytes[TQ_ENGINE_REMOTE_READ] > 1 << 20);
    assert_true(put.put_bytes[TQ_ENGINE_RENDEZVOUS] > 1 << 20);
    assert_true(put.put_bytes[TQ_ENGINE_INLINE] > 1 << 20); /* the unit without bulk */
    assert_true(get.get_bytes[TQ_ENGINE_REMOTE_READ] > 1 << 20);
    assert_true(get.get_bytes[TQ_ENGINE_RENDEZVOUS] > 1 << 20);
    assert_true(get.get_bytes[TQ_ENGINE_INLINE] > 1 << 20);
    assert_int_equal(get.digest_failures, 0);
}

static void without_bulk_everything_comes_back_too(void **state)
{
    (void)state;
    struct tq_client_stats put, get;
    moves("inline", TQ_BULK_OFF, 64, 900000, 5000, &put, &get); /* 230 MB: more than a unit answers at once */
    assert_int_equal(put.put_bytes[TQ_ENGINE_RENDEZVOUS] + put.put_bytes[TQ_ENGINE_REMOTE_READ], 0);
    assert_int_equal(get.get_bytes[TQ_ENGINE_RENDEZVOUS] + get.get_bytes[TQ_ENGINE_REMOTE_READ], 0);
    assert_true(get.get_bytes[TQ_ENGINE_INLINE] > 200 << 20);
    assert_true(get.retries > 0);
}

/* ---- columns one after the other ---- */

static void a_sample_is_ready_when_all_its_columns_are(void **state)
{
    (void)state;
    struct tq_client *client = open_client(TQ_BULK_AUTO);
    struct test_columns columns;
    struct tq_meta *meta = NULL, *none = NULL;
    struct tq_data *data = NULL;
    static const char *const fields[2] = { "scalar", "vector" };
    struct tq_insert insert = { .partition = "rounds", .n_samples = 8 };
    struct tq_fetch poll = {
        .partition = "rounds", .task = "t", .fields = fields, .n_fields = 2, .batch_size = 8, .polling = true
    };
    test_columns_open(&columns, 8, 4, 5, 9);
    ok(tq_client_insert(client, &insert, NULL, &meta, &err));
    assert_false(tq_meta_ready(meta, 0));
    struct tq_batch first = { 8, &columns.columns[0], 1 }, second = { 8, &columns.columns[1], 1 };
    ok(tq_client_put_to(client, meta, &first, NULL, &err));
    ok(tq_client_fetch(client, &poll, NULL, &none, &err));
    assert_int_equal(tq_meta_count(none), 0);
    tq_meta_drop(none);
    ok(tq_client_put_to(client, meta, &second, NULL, &err));
    assert_int_equal(tq_meta_n_fields(meta), 2);
    ok(tq_client_fetch(client, &poll, NULL, &none, &err));
    assert_int_equal(tq_meta_count(none), 8);
    ok(tq_client_get(client, none, NULL, 0, NULL, &data, &err));
    assert_true(test_columns_same(&columns, data));
    assert_string_equal(tq_data_batch(data)->columns[0].name, "scalar"); /* in the order of the request */
    tq_data_drop(data);
    struct tq_error refused = { 0 };
    static const char *const missing[1] = { "tokens" };
    assert_int_equal(tq_client_get(client, none, missing, 1, NULL, &data, &refused), TQ_NOT_FOUND);
    assert_non_null(strstr(refused.message, "tokens"));
    tq_meta_drop(none);
    ok(tq_client_clear_partition(client, "rounds", NULL, &err));
    ok(tq_client_clear_partition(client, "rounds", NULL, &err));
    assert_int_equal(tq_client_get(client, meta, fields, 1, NULL, &data, &refused), TQ_NOT_FOUND);
    tq_meta_drop(meta);
    test_columns_close(&columns);
    tq_client_close(client);
}

static void consumption_seal_and_reset_follow_the_task(void **state)
{
    (void)state;
    struct tq_client *client = open_client(TQ_BULK_AUTO);
    struct test_columns columns;
    struct tq_meta *meta = NULL;
    uint64_t consumed = 0, total = 0;
    test_columns_open(&columns, 10, 2, 3, 2);
    ok(tq_client_put(client, "tasks", &columns.batch, NULL, NULL, &meta, &err));
    tq_meta_drop(meta);
    tq_meta_drop(fetch(client, "tasks", "a", 6));
    ok(tq_client_consumption(client, "tasks", "a", NULL, &consumed, &total, &err));
    assert_int_equal(consumed, 6);
    assert_int_equal(total, 10);
    ok(tq_client_consumption(client, "tasks", "b", NULL, &consumed, &total, &err));
    assert_int_equal(consumed, 0);
    ok(tq_client_seal(client, "tasks", NULL, &err));
    static const char *const fields[1] = { "scalar" };
    struct tq_fetch more = { .partition = "tasks", .task = "a", .fields = fields, .n_fields = 1, .batch_size = 6 };
    ok(tq_client_fetch(client, &more, NULL, &meta, &err));
    assert_int_equal(tq_meta_count(meta), 4); /* the remainder */
    tq_meta_drop(meta);
    struct tq_error refused = { 0 };
    assert_int_equal(tq_client_fetch(client, &more, NULL, &meta, &refused), TQ_OUT_OF_RANGE);
    ok(tq_client_reset_consumption(client, "tasks", "a", NULL, &err));
    ok(tq_client_fetch(client, &more, NULL, &meta, &err));
    assert_int_equal(tq_meta_count(meta), 6);
    tq_meta_drop(meta);
    assert_int_equal(tq_client_consumption(client, "nowhere", "a", NULL, &consumed, &total, &refused), TQ_NOT_FOUND);
    assert_int_equal(tq_client_force_fetch(client, "nowhere", NULL, 0, NULL, &meta, &refused), TQ_NOT_FOUND);
    ok(tq_client_clear_partition(client, "tasks", NULL, &err));
    test_columns_close(&columns);
    tq_client_close(client);
}

static void groups_come_out_complete(void **state)
{
    (void)state;
    struct tq_client *client = open_client(TQ_BULK_AUTO);
    struct test_columns columns;
    struct tq_meta *meta = NULL;
    struct tq_insert insert = { .group_size = 4 };
    static const char *const fields[1] = { "scalar" };
    struct tq_fetch groups = { .partition = "groups",
                               .task = "a",
                               .fields = fields,
                               .n_fields = 1,
                               .batch_size = 8,
                               .sampler = "group_n",
                               .group_size = 4 };
    test_columns_open(&columns, 16, 2, 3, 2);
    ok(tq_client_put(client, "groups", &columns.batch, &insert, NULL, &meta, &err));
    tq_meta_drop(meta);
    ok(tq_client_fetch(client, &groups, NULL, &meta, &err));
    assert_int_equal(tq_meta_count(meta), 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(tq_meta_group(meta, i), tq_meta_group(meta, i / 4 * 4));
    assert_int_not_equal(tq_meta_group(meta, 0), tq_meta_group(meta, 4));
    tq_meta_drop(meta);
    ok(tq_client_clear_partition(client, "groups", NULL, &err));
    test_columns_close(&columns);
    tq_client_close(client);
}

/* ---- columns that do not match ---- */

static tq_status put_vector(struct tq_client *client, struct test_columns *columns, struct tq_meta **out_meta,
                            struct tq_error *err)
{
    struct tq_batch batch = { columns->batch.n_samples, &columns->columns[0], 1 };
    return tq_client_put(client, "unlike", &batch, NULL, NULL, out_meta, err);
}

static void dense_columns_of_two_shapes_come_back_jagged(void **state)
{
    (void)state;
    struct tq_client *client = open_client(TQ_BULK_AUTO);
    struct test_columns columns[2];
    struct tq_meta *metas[2] = { 0 }, *all = NULL;
    struct tq_data *data = NULL;
    test_columns_open(&columns[0], 4, 4, 3, 1);
    test_columns_open(&columns[1], 3, 5, 3, 2);
    for (size_t c = 0; c < 2; c++)
        ok(put_vector(client, &columns[c], &metas[c], &err));
    ok(tq_meta_concat((const struct tq_meta *const *)metas, 2, &all, &err));
    ok(tq_client_get(client, all, NULL, 0, NULL, &data, &err));
    const struct tq_column *back = tq_data_column(data, "vector");
    assert_int_equal(back->layout, TQ_JAGGED);
    assert_int_equal(back->rank, 1);
    for (size_t i = 0; i < 7; i++) {
        struct tq_bytes mine = tq_column_cell(&columns[i / 4].columns[0], i % 4), theirs = tq_column_cell(back, i);
        assert_int_equal(back->sizes[i], i < 4 ? 4 : 5);
        assert_int_equal(theirs.len, mine.len);
        assert_memory_equal(theirs.ptr, mine.ptr, mine.len);
    }
    tq_data_drop(data);
    ok(tq_client_clear_partition(client, "unlike", NULL, &err));
    tq_meta_drop(all);
    for (size_t c = 0; c < 2; c++) {
        tq_meta_drop(metas[c]);
        test_columns_close(&columns[c]);
    }
    tq_client_close(client);
}

static void another_type_is_refused_before_a_byte_moves(void **state)
{
    (void)state;
    struct tq_client *client = open_client(TQ_BULK_AUTO);
    struct test_columns columns;
    struct tq_meta *meta = NULL;
    struct tq_error refused = { 0 };
    struct tq_client_stats before, after;
    test_columns_open(&columns, 4, 4, 3, 1);
    ok(put_vector(client, &columns, &meta, &err));
    tq_meta_drop(meta);
    meta = NULL;
    columns.columns[0].values.dtype = (DLDataType){ kDLInt, 32, 1 };
    tq_client_read_stats(client, &before);
    assert_int_not_equal(put_vector(client, &columns, &meta, &refused), TQ_OK);
    assert_non_null(strstr(refused.message, "vector"));
    assert_null(meta);
    tq_client_read_stats(client, &after);
    assert_int_equal(after.samples_put, before.samples_put);
    ok(tq_client_clear_partition(client, "unlike", NULL, &err));
    test_columns_close(&columns);
    tq_client_close(client);
}

/* ---- many at once ---- */

enum { THREADS = 16, ROUNDS = 6 };

struct worker {
    struct tq_client *client;
    unsigned number;
    char message[300];
};

static tq_status work_once(struct worker *worker, const char *partition, unsigned round, struct tq_error *err)
{
    struct test_columns columns;
    struct tq_meta *meta = NULL;
    struct tq_data *data = NULL;
    test_columns_open(&columns, 5 + worker->number, 1500, 900, worker->number * 100 + round);
    tq_status status = tq_client_put(worker->client, partition, &columns.batch, NULL, NULL, &meta, err);
    if (status == TQ_OK)
        status = tq_client_get(worker->client, meta, NULL, 0, NULL, &data, err);
    if (status == TQ_OK && !test_columns_same(&columns, data))
        status = tq_fail(err, TQ_DATA_LOSS, NULL, "other bytes came back");
    if (status == TQ_OK)
        status = tq_client_clear(worker->client, meta, NULL, err);
    tq_data_drop(data);
    tq_meta_drop(meta);
    test_columns_close(&columns);
    return status;
}

static void *work(void *user)
{
    struct worker *worker = user;
    char partition[32];
    snprintf(partition, sizeof(partition), "worker_%u", worker->number % 4);
    for (unsigned round = 0; round < ROUNDS && worker->message[0] == '\0'; round++) {
        struct tq_error err = { 0 };
        if (work_once(worker, partition, round, &err) != TQ_OK)
            snprintf(worker->message, sizeof(worker->message), "%s: %.250s", tq_status_name(err.status), err.message);
    }
    return NULL;
}

static void many_threads_get_their_own_bytes(void **state)
{
    (void)state;
    struct tq_client *clients[2] = { open_client(TQ_BULK_AUTO), open_client(TQ_BULK_AUTO) };
    static struct worker workers[THREADS];
    pthread_t threads[THREADS];
    memset(workers, 0, sizeof(workers));
    for (unsigned t = 0; t < THREADS; t++) {
        workers[t].client = clients[t % 2];
        workers[t].number = t;
        assert_int_equal(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
    }
    for (unsigned t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (unsigned t = 0; t < THREADS; t++)
        assert_string_equal(workers[t].message, "");
    tq_client_close(clients[0]);
    tq_client_close(clients[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_batches_come_back),
        cmocka_unit_test(large_columns_move_over_both_engines),
        cmocka_unit_test(without_bulk_everything_comes_back_too),
        cmocka_unit_test(a_sample_is_ready_when_all_its_columns_are),
        cmocka_unit_test(consumption_seal_and_reset_follow_the_task),
        cmocka_unit_test(groups_come_out_complete),
        cmocka_unit_test(dense_columns_of_two_shapes_come_back_jagged),
        cmocka_unit_test(another_type_is_refused_before_a_byte_moves),
        cmocka_unit_test(many_threads_get_their_own_bytes),
    };
    return cmocka_run_group_tests(tests, start, stop);
}

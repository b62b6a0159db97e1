/* A unit that is killed or stopped while bytes move: an error by the deadline, nothing ready, and the client goes on.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "tests/client/columns.h"
#include "tests/e2e/cluster.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/stop.h"
#include "tq/init.h"

enum { N = 128, DIMS = 131072, GRACE_MS = 500 }; /* 64 MiB in one column */

#define ok(call)                                                                                                       \
    do {                                                                                                               \
        struct tq_error err = { 0 };                                                                                   \
        if ((call) != TQ_OK)                                                                                           \
            fail_msg("%s: %s: %s", #call, tq_status_name(err.status), err.message);                                    \
    } while (0)

struct fixture {
    struct cluster cluster;
    struct tq_client *client;
    struct test_columns columns;
    struct tq_batch batch; /* the large column alone */
};

static int start(void **state)
{
    static struct fixture f;
    ok(tq_init(&err));
    ok(cluster_open(&f.cluster, &err));
    ok(cluster_add_unit(&f.cluster, NULL, &err));
    ok(cluster_add_unit(&f.cluster, &(struct cluster_unit_opts){ .tcp_only = true }, &err));
    ok(tq_client_open(&(struct tq_client_opts){ .controller = f.cluster.controller.address }, &f.client, &err));
    test_columns_open(&f.columns, N, DIMS, 4, 1);
    f.batch = (struct tq_batch){ N, f.columns.columns, 1 };
    *state = &f;
    return 0;
}

static int stop(void **state)
{
    struct fixture *f = *state;
    test_columns_close(&f->columns);
    tq_client_close(f->client);
    for (size_t u = 0; u < f->cluster.n_units; u++) /* the test has killed them */
        cluster_kill(&f->cluster.units[u]);
    return cluster_close(&f->cluster) ? 0 : 1;
}

/* Sends a signal to a process a little later, while the test is inside a call. */
struct later {
    pid_t pid;
    int signal;
    int64_t due_ns;
    pthread_t thread;
};

static void *send_later(void *user)
{
    struct later *later = user;
    const struct itimerspec due = { .it_value = { later->due_ns / 1000000000, later->due_ns % 1000000000 } };
    uint64_t fired = 0;
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC); /* the delay is the test: "in the middle" */
    if (timer >= 0 && timerfd_settime(timer, TFD_TIMER_ABSTIME, &due, NULL) == 0)
        (void)!read(timer, &fired, sizeof(fired));
    if (timer >= 0)
        close(timer);
    kill(later->pid, later->signal);
    return NULL;
}

static void later_start(struct later *later, pid_t pid, int signal, int64_t after_us)
{
    *later = (struct later){ .pid = pid, .signal = signal, .due_ns = tq_now_ns() + after_us * 1000 };
    assert_int_equal(pthread_create(&later->thread, NULL, send_later, later), 0);
}

/* ---- stopped ---- */

static tq_status put_once(struct fixture *f, const char *partition, int64_t timeout_ms, struct tq_error *err)
{
    struct tq_meta *meta = NULL;
    struct tq_op_opts opts = { .deadline_ns = tq_deadline_after_ms(timeout_ms) };
    tq_status status = tq_client_put(f->client, partition, &f->batch, NULL, &opts, &meta, err);
    tq_meta_drop(meta);
    return status;
}

static void nothing_is_ready_in(struct fixture *f, const char *partition)
{
    static const char *const fields[1] = { "vector" };
    struct tq_fetch poll = {
        .partition = partition, .task = "t", .fields = fields, .n_fields = 1, .batch_size = 1, .polling = true
    };
    struct tq_meta *meta = NULL;
    struct tq_error err = { 0 };
    tq_status status = tq_client_fetch(f->client, &poll, NULL, &meta, &err);
    assert_true(status == TQ_NOT_FOUND || status == TQ_OK);
    if (status == TQ_OK)
        assert_int_equal(tq_meta_count(meta), 0);
    tq_meta_drop(meta);
}

/* Stops the unit `after_us` into the put; 0: before it. */
static tq_status put_to_stopped(struct fixture *f, pid_t unit, int64_t after_us)
{
    struct later later;
    struct tq_error refused = { 0 };
    ok(put_once(f, "warm", 20000, &err));
    if (after_us == 0)
        test_stop(unit);
    later_start(&later, unit, SIGSTOP, after_us);
    int64_t deadline_ns = tq_deadline_after_ms(1500 + GRACE_MS);
    tq_status status = put_once(f, "stopped", 1500, &refused);
    assert_true(tq_now_ns() <= deadline_ns);
    pthread_join(later.thread, NULL);
    kill(unit, SIGCONT);
    if (status != TQ_OK)
        nothing_is_ready_in(f, "stopped");
    ok(tq_client_clear_partition(f->client, "warm", NULL, &err));
    ok(tq_client_clear_partition(f->client, "stopped", NULL, &err));
    return status;
}

static void a_stopped_unit_ends_the_put_by_the_deadline(void **state)
{
    struct fixture *f = *state;
    for (size_t u = 0; u < 2; u++) {
        assert_int_not_equal(put_to_stopped(f, f->cluster.units[u].pid, 0), TQ_OK);
        (void)put_to_stopped(f, f->cluster.units[u].pid, 5000); /* in the middle; over already on a fast machine */
    }
}

static void a_stopped_unit_ends_the_get_by_the_deadline(void **state)
{
    struct fixture *f = *state;
    for (size_t u = 0; u < 2; u++) {
        struct tq_meta *meta = NULL;
        struct tq_data *data = NULL;
        struct tq_error refused = { 0 };
        ok(tq_client_put(f->client, "get", &f->batch, NULL, NULL, &meta, &err));
        test_stop(f->cluster.units[u].pid);
        struct tq_op_opts opts = { .deadline_ns = tq_deadline_after_ms(800) };
        tq_status status = tq_client_get(f->client, meta, NULL, 0, &opts, &data, &refused);
        assert_true(tq_now_ns() <= opts.deadline_ns + GRACE_MS * 1000000);
        kill(f->cluster.units[u].pid, SIGCONT);
        assert_int_not_equal(status, TQ_OK);
        assert_null(data);
        ok(tq_client_get(f->client, meta, NULL, 0, NULL, &data, &err)); /* and it works again */
        assert_true(test_columns_same(&f->columns, data));
        tq_data_drop(data);
        ok(tq_client_clear(f->client, meta, NULL, &err));
        tq_meta_drop(meta);
    }
}

/* ---- killed ---- */

static void a_killed_unit_ends_put_and_get_and_the_others_go_on(void **state)
{
    struct fixture *f = *state;
    struct tq_meta *meta = NULL;
    struct tq_data *data = NULL;
    struct tq_error refused = { 0 };
    struct later later;
    ok(tq_client_put(f->client, "killed", &f->batch, NULL, NULL, &meta, &err));
    later_start(&later, f->cluster.units[1].pid, SIGKILL, 2000);
    struct tq_op_opts opts = { .deadline_ns = tq_deadline_after_ms(5000) };
    tq_status status = TQ_OK;
    while (status == TQ_OK && tq_now_ns() < opts.deadline_ns) {
        tq_data_drop(data);
        data = NULL;
        status = tq_client_get(f->client, meta, NULL, 0, &opts, &data, &refused);
    }
    assert_int_not_equal(status, TQ_OK);
    assert_null(data);
    assert_true(tq_now_ns() <= opts.deadline_ns + GRACE_MS * 1000000);
    pthread_join(later.thread, NULL);
    cluster_kill(&f->cluster.units[1]);
    tq_meta_drop(meta);
    /* Until the controller has noticed, a put may still be sent there: it fails by its deadline, then all go to the
     * other unit. */
    int64_t until_ns = tq_deadline_after_ms(20000);
    do {
        int64_t put_deadline_ns = tq_deadline_after_ms(2000 + GRACE_MS);
        status = put_once(f, "after", 2000, &refused);
        assert_true(tq_now_ns() <= put_deadline_ns);
        if (status != TQ_OK)
            nothing_is_ready_in(f, "after");
    } while (status != TQ_OK && tq_now_ns() < until_ns);
    assert_int_equal(status, TQ_OK);
    ok(tq_client_clear_partition(f->client, "killed", NULL, &err)); /* although its unit is gone */
    ok(tq_client_clear_partition(f->client, "after", NULL, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stopped_unit_ends_the_put_by_the_deadline),
        cmocka_unit_test(a_stopped_unit_ends_the_get_by_the_deadline),
        cmocka_unit_test(a_killed_unit_ends_put_and_get_and_the_others_go_on),
    };
    return cmocka_run_group_tests(tests, start, stop);
}

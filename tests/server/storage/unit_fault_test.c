/* What becomes of a put when somebody stops, dies or gives up in the middle of it: nothing is stored, nothing is lost,
 * nothing waits longer than its deadline. */
#include <signal.h>
#include <stdlib.h>

#include "tests/server/storage/owner.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/stop.h"
#include "tq/init.h"

enum { MIB = 1 << 20, UNIT_MIB = 64, OWNER_MIB = 48, SLACK_MS = 1500 };

static struct {
    const char *transport;
    struct child unit;
    struct owner owner;
    struct writer writer;
} the;

static int open_with(const char *transport)
{
    const char *const args[] = { "--memory",         "64MiB",   "--bulk",      "required",
                                 "--bulk-transport", transport, "--log-level", "off",
                                 "--drain-ms",       "500",     NULL };
    the.transport = transport;
    child_start(&the.unit, "tq-storage", args);
    child_wait_ready(&the.unit);
    owner_start(&the.owner, transport, (uint64_t)OWNER_MIB * MIB);
    writer_open(&the.writer, the.unit.address, TQ_BULK_REQUIRED, strcmp(transport, "tcp") == 0);
    return 0;
}

static int open_shared_memory(void **state)
{
    (void)state;
    return open_with("auto");
}

static int open_tcp(void **state)
{
    (void)state;
    return open_with("tcp");
}

static int close_all(void **state)
{
    (void)state;
    if (the.writer.channel != NULL)
        writer_close(&the.writer);
    child_kill(&the.owner.child);
    child_kill(&the.unit);
    return 0;
}

/* All of the unit's budget but a little can be put again: nothing of the failed put is left. */
static void check_nothing_is_left(void)
{
    const uint64_t len = (uint64_t)(UNIT_MIB - 1) * MIB;
    const struct rows rows = { "after", 1000, 1, 1 };
    struct tq_reply reply;
    writer_await_metric(&the.writer, "storage_reserved_bytes", 0);
    assert_true(writer_metric(&the.writer, "storage_used_bytes") == 0);
    assert_true(writer_metric(&the.writer, "storage_samples") == 0);
    uint8_t *bytes = calloc(1, len);
    const struct packed column = {
        .name = "x", .layout = TQ__V1__LAYOUT__LAYOUT_OPAQUE, .bytes = bytes, .lengths = &len
    };
    assert_int_equal(writer_put(&the.writer, &rows, &column, BY_BULK, &reply), TQ_OK);
    tq_reply_drop(&reply);
    free(bytes);
    assert_int_equal(writer_clear(&the.writer, &rows), TQ_OK);
}

/* The unit waits for bytes that do not come. Small cells and large ones are not the same kind of memory. */
static struct tq_future *start_stuck_put(uint64_t len, int64_t deadline_ns)
{
    const struct rows rows = { "p", 1, (size_t)((uint64_t)OWNER_MIB * MIB / len / 2), 1 };
    assert_int_equal(test_stop(the.owner.child.pid), 0);
    struct tq_future *future = owner_put_start(&the.writer, &the.owner, &rows, len, deadline_ns);
    writer_await_metric(&the.writer, "storage_reserved_bytes", (double)(rows.n * len));
    return future;
}

static void killed(uint64_t len)
{
    struct tq_reply reply;
    struct tq_future *future = start_stuck_put(len, tq_deadline_after_ms(12000));
    assert_int_equal(child_end(&the.owner.child, SIGKILL), -SIGKILL);
    int64_t start_ns = tq_now_ns();
    assert_int_not_equal(tq_future_wait(future, &reply), TQ_OK);
    assert_true(tq_now_ns() - start_ns < INT64_C(3000000000)); /* two seconds, and a loaded machine */
    tq_reply_drop(&reply);
    tq_future_drop(future);
    check_nothing_is_left();
}

static void a_writer_killed_in_mid_put_leaves_nothing(void **state)
{
    (void)state;
    killed(8 * MIB);
}

static void a_writer_killed_while_small_cells_are_read_leaves_nothing(void **state)
{
    (void)state;
    killed(2048);
}

static void a_stopped_writer_ends_the_put_at_its_deadline(void **state)
{
    struct tq_reply reply;
    (void)state;
    int64_t deadline_ns = tq_deadline_after_ms(1500);
    struct tq_future *future = start_stuck_put(8 * MIB, deadline_ns);
    assert_int_equal(tq_future_wait(future, &reply), TQ_DEADLINE_EXCEEDED);
    assert_true(tq_now_ns() < deadline_ns + (int64_t)SLACK_MS * 1000000);
    tq_reply_drop(&reply);
    tq_future_drop(future);
    check_nothing_is_left();
    /* It is not held against the writer: continued, it can put. */
    assert_int_equal(kill(the.owner.child.pid, SIGCONT), 0);
    const struct rows rows = { "again", 50, 4, 1 };
    future = owner_put_start(&the.writer, &the.owner, &rows, MIB, tq_deadline_after_ms(10000));
    assert_int_equal(tq_future_wait(future, &reply), TQ_OK);
    tq_reply_drop(&reply);
    tq_future_drop(future);
    assert_true(writer_metric(&the.writer, "storage_used_bytes") == 4 * MIB);
}

static void a_caller_that_leaves_takes_its_put_along(void **state)
{
    (void)state;
    struct writer other = the.writer;
    writer_open(&the.writer, the.unit.address, TQ_BULK_REQUIRED, strcmp(the.transport, "tcp") == 0);
    struct writer observer = the.writer;
    the.writer = other;
    struct tq_future *future = start_stuck_put(8 * MIB, tq_deadline_after_ms(3000));
    tq_future_drop(future);
    writer_close(&the.writer);
    the.writer = observer;
    writer_await_metric(&the.writer, "rpc_running", 1); /* ours; the put has ended at once */
    check_nothing_is_left();
}

static void the_unit_drains_in_bounded_time_whatever_its_puts_do(void **state)
{
    struct tq_reply reply;
    (void)state;
    struct tq_future *large = start_stuck_put(8 * MIB, tq_deadline_after_ms(5000));
    const struct rows rows = { "small", 5000, 100, 1 };
    struct tq_future *small = owner_put_start(&the.writer, &the.owner, &rows, 512, tq_deadline_after_ms(5000));
    int64_t start_ns = tq_now_ns();
    assert_int_equal(child_end(&the.unit, SIGTERM), 0);
    assert_true(tq_now_ns() - start_ns < INT64_C(3000000000));
    assert_int_not_equal(tq_future_wait(large, &reply), TQ_OK);
    tq_reply_drop(&reply);
    assert_int_not_equal(tq_future_wait(small, &reply), TQ_OK);
    tq_reply_drop(&reply);
    tq_future_drop(large);
    tq_future_drop(small);
}

static void a_killed_unit_ends_the_call_with_an_error(void **state)
{
    struct tq_reply reply;
    (void)state;
    int64_t deadline_ns = tq_deadline_after_ms(3000);
    struct tq_future *future = start_stuck_put(8 * MIB, deadline_ns);
    assert_int_equal(child_end(&the.unit, SIGKILL), -SIGKILL);
    tq_status status = tq_future_wait(future, &reply);
    assert_true(status == TQ_UNAVAILABLE || status == TQ_DEADLINE_EXCEEDED);
    assert_true(tq_now_ns() < deadline_ns + (int64_t)SLACK_MS * 1000000);
    tq_reply_drop(&reply);
    tq_future_drop(future);
}

#define IN(name, open)                                                                                                 \
    {                                                                                                                  \
#name " [" #open "]", name, open, close_all, NULL                                                              \
    }

int main(int argc, char **argv)
{
    struct tq_error err;
    if (argc == 4 && strcmp(argv[1], "owner") == 0)
        return owner_main(argv[2], argv[3]);
    if (tq_init(&err) != TQ_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        IN(a_writer_killed_in_mid_put_leaves_nothing, open_shared_memory),
        IN(a_writer_killed_in_mid_put_leaves_nothing, open_tcp),
        IN(a_writer_killed_while_small_cells_are_read_leaves_nothing, open_shared_memory),
        IN(a_stopped_writer_ends_the_put_at_its_deadline, open_shared_memory),
        IN(a_stopped_writer_ends_the_put_at_its_deadline, open_tcp),
        IN(a_caller_that_leaves_takes_its_put_along, open_shared_memory),
        IN(the_unit_drains_in_bounded_time_whatever_its_puts_do, open_shared_memory),
        IN(the_unit_drains_in_bounded_time_whatever_its_puts_do, open_tcp),
        IN(a_killed_unit_ends_the_call_with_an_error, open_shared_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

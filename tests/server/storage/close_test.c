/* A unit that closes while the bytes of a put are on their way: nothing is written where memory has gone, and the end
 * comes soon. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tests/server/storage/writer.h"
#include "tests/support/cmocka_all.h"
#include "tq/init.h"
#include "tq/server.h"

enum { ROUNDS = 4, BYTES = 96 << 20 };

struct putting {
    struct writer writer;
    uint8_t *bytes;
    atomic_bool ended;
};

static void *put_large(void *user)
{
    struct putting *putting = user;
    const struct rows rows = { "p", 1, 1, 1 };
    const uint64_t length = BYTES;
    const struct packed x = {
        .name = "x", .layout = TQ__V1__LAYOUT__LAYOUT_OPAQUE, .bytes = putting->bytes, .lengths = &length
    };
    struct tq_reply reply;
    (void)writer_put(&putting->writer, &rows, &x, BY_BULK, &reply); /* it may have been in time */
    tq_reply_drop(&reply);
    atomic_store(&putting->ended, true);
    return NULL;
}

static void close_under_a_put(struct putting *putting, bool tcp_only)
{
    const struct tq_storage_opts opts = { .memory_bytes = 2 * BYTES, .bulk = TQ_BULK_REQUIRED, .tcp_only = tcp_only };
    struct tq_storage *unit;
    struct tq_error err;
    pthread_t thread;
    assert_int_equal(tq_storage_open(&opts, &unit, &err), TQ_OK);
    writer_open(&putting->writer, tq_storage_address(unit), TQ_BULK_REQUIRED, tcp_only);
    putting->writer.put_deadline_ns = tq_deadline_after_ms(1000);
    atomic_store(&putting->ended, false);
    assert_int_equal(pthread_create(&thread, NULL, put_large, putting), 0);
    while (writer_metric(&putting->writer, "bulk_reads_in_flight") == 0 && !atomic_load(&putting->ended))
        ;
    int64_t start_ns = tq_now_ns();
    tq_storage_close(unit);
    assert_true(tq_now_ns() - start_ns < INT64_C(10000000000));
    pthread_join(thread, NULL);
    writer_close(&putting->writer);
}

static void a_unit_may_close_while_it_reads(void **state)
{
    static struct putting putting;
    (void)state;
    putting.bytes = malloc(BYTES);
    memset(putting.bytes, 3, BYTES);
    for (int round = 0; round < ROUNDS; round++)
        close_under_a_put(&putting, round % 2 == 0);
    free(putting.bytes);
}

int main(void)
{
    struct tq_error err;
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_unit_may_close_while_it_reads) };
    if (tq_init(&err) != TQ_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

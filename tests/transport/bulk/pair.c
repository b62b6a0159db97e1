#include "tests/transport/bulk/pair.h"

#include <stdlib.h>
#include <string.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"
#include "transport/base/crc32c.h"

void pair_start(struct pair *pair, const char *mine, const char *theirs)
{
    const struct tq_bulk_opts opts = { .mode = TQ_BULK_REQUIRED, .tcp_only = strcmp(mine, "tcp") == 0 };
    struct tq_error err;
    peer_start(&pair->peer, theirs);
    tq_status status = tq_bulk_open(&opts, &pair->bulk, &err);
    if (status != TQ_OK)
        print_message("%s\n", err.message);
    assert_int_equal(status, TQ_OK);
}

void pair_stop(struct pair *pair)
{
    peer_stop(&pair->peer);
    tq_bulk_close(pair->bulk);
}

void pair_stop_alone(struct pair *pair)
{
    tq_bulk_close(pair->bulk);
}

void pair_make(struct pair *pair, enum peer_op op, size_t len, uint64_t version, uint64_t seed,
               struct peer_answer *out_answer)
{
    peer_order(&pair->peer, &(struct peer_order){ .op = op, .len = len, .version = version, .seed = seed }, out_answer);
    assert_int_equal(out_answer->status, TQ_OK);
}

tq_status pair_read(struct pair *pair, const struct peer_region *from, uint64_t version, size_t len,
                    enum tq_bulk_engine engine, uint8_t *into, struct tq_bulk_result *out_result, uint32_t *out_crc)
{
    const struct tq_region region = peer_region(from);
    struct tq_bulk_range range = { .frame = from->frame, .len = len, .version = version, .into = into };
    const struct tq_bulk_read_opts opts = { .deadline_ns = tq_deadline_after_ms(10000), .engine = engine };
    tq_status status = tq_bulk_read_wait(pair->bulk, pair->peer.address, &region, 1, &range, 1, &opts, out_result);
    *out_crc = range.crc32c;
    return status;
}

void pair_check_next(struct pair *pair)
{
    enum { LEN = 1 << 20 };
    struct peer_answer made, gone;
    struct tq_bulk_result result;
    uint32_t crc = 0;
    uint8_t *into = calloc(1, LEN);
    assert_non_null(into);
    pair_make(pair, PEER_EXPOSE, LEN, 1, 99, &made);
    tq_status status = pair_read(pair, &made.region, 1, LEN, TQ_ENGINE_RENDEZVOUS, into, &result, &crc);
    if (status != TQ_OK)
        print_message("next read: %s: %s\n", tq_status_name(status), result.error.message);
    assert_int_equal(status, TQ_OK);
    assert_true(peer_is_filled(into, LEN, 99));
    assert_int_equal(crc, tq_crc32c(into, LEN));
    peer_order(&pair->peer, &(struct peer_order){ .op = PEER_UNEXPOSE, .handle = made.handle, .ms = 1000 }, &gone);
    free(into);
}

static void on_done(void *user, const struct tq_bulk_result *result)
{
    struct later *later = user;
    const uint64_t one = 1;
    later->result = *result;
    later->ended_ns = tq_now_ns();
    assert_int_equal(write(later->done_fd, &one, sizeof(one)), sizeof(one));
}

void later_start(struct later *later, struct pair *pair, const struct peer_region *from, uint64_t version, size_t len,
                 enum tq_bulk_engine engine, uint8_t *into, int64_t timeout_ms)
{
    struct tq_error err;
    *later = (struct later){ .pair = pair, .packed = *from, .done_fd = eventfd(0, EFD_CLOEXEC) };
    later->region = peer_region(&later->packed);
    later->range = (struct tq_bulk_range){ .frame = from->frame, .len = len, .version = version, .into = into };
    later->begun_ns = tq_now_ns();
    const struct tq_bulk_read_opts opts = { .deadline_ns = tq_deadline_after_ms(timeout_ms), .engine = engine };
    assert_int_equal(
        tq_bulk_read(pair->bulk, pair->peer.address, &later->region, 1, &later->range, 1, &opts, on_done, later, &err),
        TQ_OK);
}

tq_status later_wait(struct later *later, int ms)
{
    struct pollfd done = { .fd = later->done_fd, .events = POLLIN };
    assert_int_equal(poll(&done, 1, ms), 1);
    uint64_t count = 0;
    assert_int_equal(read(later->done_fd, &count, sizeof(count)), sizeof(count));
    assert_int_equal(count, 1);
    close(later->done_fd);
    return later->result.error.status;
}

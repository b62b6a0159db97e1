#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "transport/base/assert.h"
#include "transport/base/log.h"
#include "transport/bulk/runtime.h"

enum { PROGRESS_IN_A_TURN = 16 };

static const int64_t spin_ns = INT64_C(50000);          /* a wake-up costs about as much; no longer, cores are few */
static const int64_t heartbeat_ns = INT64_C(500000000); /* the longest sleep */
static const int64_t look_ns = INT64_C(5000000);        /* a busy loop looks for deaths this often */
static const int64_t listen_every_ns = INT64_C(100000000);
static const int64_t closing_ns = INT64_C(5000000000);

/* ---- one turn ---- */

static bool run_letters(struct tq_bulk *bulk)
{
    struct tq_list letters;
    tq_mailbox_take_all(&bulk->mailbox, &letters);
    bool any = !tq_list_empty(&letters);
    for (struct tq_list *node; (node = tq_list_take_head(&letters)) != NULL;) {
        struct tq_letter *letter = tq_container_of(node, struct tq_letter, node);
        letter->run(bulk, letter);
    }
    return any;
}

static bool progress(struct tq_bulk *bulk)
{
    unsigned done = 0;
    for (int i = 0; i < PROGRESS_IN_A_TURN; i++) {
        unsigned now = tq_ucx_progress(bulk->ucx);
        done += now;
        if (now == 0)
            break;
    }
    return done > 0;
}

static bool see_deaths(struct tq_bulk *bulk)
{
    struct epoll_event event;
    if (epoll_wait(bulk->loop.deaths_fd, &event, 1, 0) != 1)
        return false;
    tq_party_died(event.data.ptr);
    return true;
}

/* Returns when the next timer is due. */
static int64_t run_timers(struct tq_bulk *bulk, int64_t now_ns)
{
    for (struct tq_heap_node *due; (due = tq_heap_take_due(&bulk->loop.timers, now_ns)) != NULL;)
        tq_transfer_due(bulk, tq_container_of(due, struct tq_transfer, timer));
    int64_t next_ns = tq_heap_next_ns(&bulk->loop.timers);
    int64_t owner_ns = tq_owner_tick(&bulk->loop.owner, now_ns);
    if (bulk->loop.trim_ns <= now_ns) {
        int64_t again_ns = tq_memory_trim(&bulk->memory, now_ns);
        bulk->loop.trim_ns = again_ns == INT64_MAX ? now_ns + heartbeat_ns : again_ns;
        tq_peers_sweep(bulk, false);
        if (tq_memory_quarantine_is_full(&bulk->memory))
            tq_owner_relieve(&bulk->loop.owner);
    }
    if (bulk->loop.listen_ns <= now_ns) {
        bulk->loop.listen_ns = now_ns + listen_every_ns;
        tq_peers_listen(bulk, now_ns);
    }
    bool reads = next_ns != INT64_MAX;
    if (reads && bulk->loop.listen_ns < next_ns)
        next_ns = bulk->loop.listen_ns;
    return owner_ns < next_ns ? owner_ns : next_ns;
}

static void sleep_until(struct tq_bulk *bulk, int64_t until_ns)
{
    struct pollfd fds[] = {
        { .fd = bulk->mailbox.wake_fd, .events = POLLIN },
        { .fd = bulk->loop.deaths_fd, .events = POLLIN },
        { .fd = tq_ucx_fd(bulk->ucx), .events = POLLIN },
    };
    if (!tq_ucx_arm(bulk->ucx))
        return;
    int64_t left_ns = until_ns - tq_seam_now_ns(bulk->seam);
    if (left_ns <= 0)
        return;
    if (left_ns > heartbeat_ns)
        left_ns = heartbeat_ns;
    if (tq_ucx_is_closing(bulk->ucx))
        left_ns = 0; /* a moment */
    (void)poll(fds, sizeof(fds) / sizeof(fds[0]), (int)(left_ns / 1000000 + 1));
}

static bool turn(struct tq_bulk *bulk, int64_t *next_ns)
{
    atomic_fetch_add_explicit(&bulk->counters.heartbeat, 1, memory_order_relaxed);
    bool busy = run_letters(bulk);
    busy |= progress(bulk);
    busy |= tq_transfers_copy(bulk);
    *next_ns = run_timers(bulk, tq_seam_now_ns(bulk->seam));
    return busy;
}

static void cancel_all(struct tq_bulk *bulk)
{
    size_t cursor = 0;
    tq_transfers_cancel(bulk);
    for (struct tq_peer *peer; (peer = tq_map_next(&bulk->loop.peers, &cursor)) != NULL;)
        tq_reader_cancel(&bulk->loop.reader, &peer->link);
    tq_owner_close_all(&bulk->loop.owner);
}

static bool is_quiet(struct tq_bulk *bulk)
{
    tq_peers_sweep(bulk, true);
    tq_ucx_close_strangers(bulk->ucx);
    return tq_map_count(&bulk->loop.peers) == 0 && tq_list_empty(&bulk->loop.owner.callers) &&
           tq_ucx_endpoints(bulk->ucx) == 0;
}

static void wind_up(struct tq_bulk *bulk)
{
    int64_t next_ns;
    int64_t until_ns = tq_seam_now_ns(bulk->seam) + closing_ns;
    (void)run_letters(bulk);
    tq_ucx_turn_away(bulk->ucx);
    cancel_all(bulk);
    while (!is_quiet(bulk)) {
        if (!turn(bulk, &next_ns))
            sleep_until(bulk, tq_seam_now_ns(bulk->seam) + 10000000);
        TQ_ASSERT(tq_seam_now_ns(bulk->seam) < until_ns); /* a force close always ends */
    }
}

static void *run(void *arg)
{
    struct tq_bulk *bulk = arg;
    int64_t next_ns = INT64_MAX;
    int64_t active_ns = tq_seam_now_ns(bulk->seam);
    int64_t looked_ns = 0;
    while (!bulk->loop.closing) {
        bool busy = turn(bulk, &next_ns);
        int64_t now_ns = tq_seam_now_ns(bulk->seam);
        if (busy)
            active_ns = now_ns;
        bool idle = now_ns - active_ns >= spin_ns;
        if (idle || now_ns - looked_ns >= look_ns) {
            looked_ns = now_ns;
            idle &= !see_deaths(bulk);
        }
        if (idle)
            sleep_until(bulk, next_ns);
    }
    wind_up(bulk);
    return NULL;
}

/* ---- open and close ---- */

tq_status tq_loop_open(struct tq_bulk *bulk, struct tq_error *err)
{
    struct tq_reader_port reader_port;
    struct tq_owner_port owner_port;
    tq_ports_of_reader(bulk, &reader_port);
    tq_ports_of_owner(bulk, &owner_port);
    tq_heap_init(&bulk->loop.timers, bulk->seam);
    tq_map_init(&bulk->loop.peers, bulk->seam);
    tq_list_init(&bulk->loop.copying);
    tq_reader_init(&bulk->loop.reader, bulk->seam, &reader_port, &bulk->loop.timers);
    tq_owner_init(&bulk->loop.owner, bulk->seam, &owner_port);
    bulk->loop.reader.process = bulk->self.process;
    bulk->loop.deaths_fd = epoll_create1(EPOLL_CLOEXEC);
    if (bulk->loop.deaths_fd < 0)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "DESCRIPTORS", "epoll_create1: %s", strerror(errno));
    int code =
        tq_seam_fault(bulk->seam, TQ_FAULT_THREAD_START) ? EAGAIN : pthread_create(&bulk->thread, NULL, run, bulk);
    if (code != 0)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "THREADS", "pthread_create: %s", strerror(code));
    bulk->has_thread = true;
    (void)pthread_setname_np(bulk->thread, "tq-bulk");
    return TQ_OK;
}

static void begin_to_close(struct tq_bulk *bulk, struct tq_letter *letter)
{
    (void)letter;
    bulk->loop.closing = true;
}

void tq_loop_close(struct tq_bulk *bulk)
{
    struct tq_letter letter = { .run = begin_to_close };
    if (bulk->has_thread) {
        TQ_ASSERT(tq_mailbox_post(&bulk->mailbox, &letter.node));
        tq_mailbox_shut(&bulk->mailbox);
        pthread_join(bulk->thread, NULL);
    }
    bulk->has_thread = false;
    if (bulk->loop.timers.seam == NULL) /* never opened */
        return;
    tq_owner_fini(&bulk->loop.owner);
    tq_reader_fini(&bulk->loop.reader);
    tq_map_fini(&bulk->loop.peers);
    tq_heap_fini(&bulk->loop.timers);
    if (bulk->loop.deaths_fd >= 0)
        close(bulk->loop.deaths_fd);
}

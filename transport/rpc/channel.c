#include "transport/rpc/channel.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tq/init.h"
#include "transport/base/assert.h"
#include "transport/base/pooling.h"
#include "transport/rpc/listen.h"

enum { NS_PER_MS = 1000000, BATCH = 256, SPARE_MAX = 4096, GOODBYE_MS = 100 };

/* ---- what the core wants done ---- */

static tq_status io_dial(void *self, unsigned link, struct tq_error *err)
{
    struct tq_channel *channel = self;
    const struct tq_carrier_opts opts = { .max_frame_bytes = TQ_PEER_INLINE_MAX };
    TQ_ASSERT(channel->sockets[link] == NULL);
    channel->up[link] = false;
    channel->sockets_version++;
    return channel->carrier->dial(channel->runtime->zmq, channel->address, &opts, channel->runtime->seam,
                                  &channel->sockets[link], err);
}

static enum tq_sent io_send(void *self, unsigned link, const struct tq_outbound *message)
{
    struct tq_channel *channel = self;
    return channel->carrier->send(channel->sockets[link], message);
}

static void io_hang_up(void *self, unsigned link)
{
    struct tq_channel *channel = self;
    channel->carrier->hang_up(channel->sockets[link], channel->core.closed ? GOODBYE_MS : 0);
    channel->sockets[link] = NULL;
    channel->sockets_version++;
}

/* ---- life ---- */

static tq_status check_opts(const char *address, const struct tq_channel_opts *opts, struct tq_error *err)
{
    if (!tq_address_is_valid(address))
        return tq_fail(err, TQ_INVALID_ARGUMENT, "ADDRESS", "address '%s': expected tcp://HOST:PORT or ipc://PATH",
                       address != NULL ? address : "");
    if (opts->sockets > TQ_POOL_MAX)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "SOCKETS", "sockets %u: expected 1 to %d", opts->sockets, TQ_POOL_MAX);
    return TQ_OK;
}

static void channel_free(struct tq_channel *channel)
{
    struct tq_list *node;
    while ((node = tq_list_take_head(&channel->spare)) != NULL) {
        struct tq_call *call = tq_container_of(node, struct tq_call, node);
        tq_call_fini(call);
        tq_seam_free(channel->seam, call);
    }
    if (channel->wake_fd >= 0)
        close(channel->wake_fd);
    pthread_cond_destroy(&channel->quiet);
    pthread_mutex_destroy(&channel->lock);
    tq_seam_free(channel->seam, channel->address);
    tq_seam_free(channel->seam, channel);
}

void tq_channel_hold(struct tq_channel *channel)
{
    atomic_fetch_add_explicit(&channel->holds, 1, memory_order_relaxed);
}

void tq_channel_drop(struct tq_channel *channel)
{
    if (atomic_fetch_sub_explicit(&channel->holds, 1, memory_order_acq_rel) == 1)
        channel_free(channel);
}

tq_status tq_channel_open(struct tq_runtime *runtime, const char *address, const struct tq_channel_opts *opts,
                          struct tq_channel **out_channel, struct tq_error *err)
{
    static const struct tq_channel_opts defaults;
    opts = opts != NULL ? opts : &defaults;
    tq_status status = tq_runtime_check(err);
    if (status != TQ_OK || (status = check_opts(address, opts, err)) != TQ_OK)
        return status;
    struct tq_channel *channel = tq_seam_alloc(runtime->seam, sizeof(*channel));
    if (channel == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a channel");
    channel->runtime = runtime;
    channel->seam = runtime->seam;
    channel->carrier = &tq_carrier_zmq;
    atomic_init(&channel->holds, 1);
    pthread_mutex_init(&channel->lock, NULL);
    pthread_cond_init(&channel->quiet, NULL);
    tq_list_init(&channel->waiters);
    tq_list_init(&channel->spare);
    channel->address = tq_seam_strdup(runtime->seam, address);
    channel->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (channel->address == NULL || channel->wake_fd < 0) {
        channel_free(channel);
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "DESCRIPTORS", "no memory or descriptor for a channel");
    }
    struct tq_client_io io = { channel, io_dial, io_send, io_hang_up };
    tq_client_init(&channel->core, opts, channel->address, &runtime->self, io, runtime->seam);
    tq_driver_add(&runtime->driver, channel);
    atomic_fetch_add(&runtime->users, 1);
    *out_channel = channel;
    return TQ_OK;
}

static void wake_poller_locked(struct tq_channel *channel)
{
    const uint64_t one = 1;
    if (channel->poller == TQ_POLLER_DRIVER) {
        tq_driver_wake(&channel->runtime->driver);
    } else if (channel->poller == TQ_POLLER_CALLER) {
        ssize_t wrote = write(channel->wake_fd, &one, sizeof(one));
        TQ_ASSERT(wrote == sizeof(one) || errno == EAGAIN);
    }
}

void tq_channel_close(struct tq_channel *channel)
{
    if (channel == NULL)
        return;
    struct tq_runtime *runtime = channel->runtime;
    struct tq_list finished;
    tq_list_init(&finished);
    if (tq_forked())
        return; /* the sockets belong to the parent */
    bool on_driver = tq_driver_is_me(&runtime->driver);
    pthread_mutex_lock(&channel->lock);
    TQ_ASSERT(!channel->core.closed);
    channel->keep = false;
    tq_client_shut(&channel->core, tq_seam_now_ns(runtime->seam));
    tq_channel_settle_locked(channel, &finished);
    wake_poller_locked(channel);
    pthread_mutex_unlock(&channel->lock);
    tq_driver_finish(&runtime->driver, &finished);
    pthread_mutex_lock(&channel->lock);
    while (channel->n_users > 0 || (channel->n_async > 0 && !on_driver))
        pthread_cond_wait(&channel->quiet, &channel->lock);
    tq_client_fini(&channel->core);
    channel->poller = TQ_POLLER_NOBODY;
    pthread_mutex_unlock(&channel->lock);
    tq_driver_remove(&runtime->driver, channel);
    tq_driver_wake(&runtime->driver); /* it may sleep on our descriptors and hold us */
    atomic_fetch_sub(&runtime->users, 1);
    tq_channel_drop(channel);
}

const char *tq_channel_address(const struct tq_channel *channel)
{
    return channel->address;
}

struct tq_runtime *tq_channel_runtime(struct tq_channel *channel)
{
    return channel->runtime;
}

void tq_channel_keep(struct tq_channel *channel)
{
    if (tq_driver_start(&channel->runtime->driver, NULL) != TQ_OK)
        return; /* without a driver the session lives by its calls */
    pthread_mutex_lock(&channel->lock);
    channel->keep = true;
    pthread_mutex_unlock(&channel->lock);
    tq_driver_wake(&channel->runtime->driver);
}

void tq_channel_read_stats(struct tq_channel *channel, struct tq_channel_stats *out_stats)
{
    pthread_mutex_lock(&channel->lock);
    *out_stats = channel->core.stats;
    out_stats->in_flight = channel->core.n_sent;
    out_stats->waiting = channel->core.n_waiting;
    for (unsigned i = 0; i < TQ_LINKS_MAX; i++)
        out_stats->sockets_open += channel->sockets[i] != NULL;
    pthread_mutex_unlock(&channel->lock);
}

/* ---- calls for reuse ---- */

struct tq_call *tq_channel_take_call_locked(struct tq_channel *channel)
{
    struct tq_list *node = tq_list_take_head(&channel->spare);
    if (node != NULL) {
        channel->n_spare--;
        return tq_container_of(node, struct tq_call, node);
    }
    struct tq_call *call = tq_seam_alloc(channel->seam, sizeof(*call));
    if (call == NULL)
        return NULL;
    call->request.seam = channel->seam;
    tq_list_init(&call->node);
    return call;
}

void tq_channel_return_call_locked(struct tq_channel *channel, struct tq_call *call)
{
    tq_call_recycle(call);
    if (channel->n_spare != TQ_POOL_KEEPS(SPARE_MAX)) {
        channel->n_spare++;
        tq_list_add_head(&channel->spare, &call->node);
    } else {
        tq_call_fini(call);
        tq_seam_free(channel->seam, call);
    }
}

/* ---- progress ---- */

void tq_channel_settle_locked(struct tq_channel *channel, struct tq_list *out_async)
{
    for (struct tq_list *node; (node = tq_list_take_head(&channel->core.finished)) != NULL;) {
        struct tq_call *call = tq_container_of(node, struct tq_call, node);
        if (call->waiter == NULL) {
            tq_list_add_tail(out_async, node);
        } else {
            call->waiter->done = true;
            if (!call->waiter->polls)
                pthread_cond_signal(&call->waiter->wake);
            else if (channel->sleeping)
                wake_poller_locked(channel); /* we are another thread, and took what its poll() waits for */
        }
    }
}

/* Bounded, so that one busy socket does not starve the rest. */
static bool receive_locked(struct tq_channel *channel, unsigned link, int64_t now_ns)
{
    struct tq_inbound message = { .ops = NULL };
    unsigned n = 0;
    while (n < BATCH && channel->sockets[link] != NULL) {
        enum tq_received got = channel->carrier->receive(channel->sockets[link], &message);
        if (got == TQ_RECEIVED_NOTHING)
            break;
        n++;
        if (got == TQ_RECEIVED)
            tq_client_receive(&channel->core, link, &message, now_ns);
        tq_inbound_release(&message);
    }
    return n > 0;
}

static bool tend_socket_locked(struct tq_channel *channel, unsigned link, int64_t now_ns)
{
    unsigned events = channel->carrier->events(channel->sockets[link]);
    bool received = false;
    if (!channel->up[link] && (events & TQ_CARRIER_UP) != 0) {
        channel->up[link] = true;
        tq_client_up(&channel->core, link, now_ns);
    }
    if ((events & TQ_CARRIER_READABLE) != 0)
        received = receive_locked(channel, link, now_ns);
    else if (channel->up[link] && (events & TQ_CARRIER_UP) == 0)
        tq_client_down(&channel->core, link, now_ns); /* only when nothing is left to read */
    return received;
}

bool tq_channel_progress_locked(struct tq_channel *channel, struct tq_list *out_async)
{
    int64_t now_ns = tq_seam_now_ns(channel->runtime->seam);
    bool received = false;
    if (channel->core.closed)
        return false;
    for (unsigned i = 0; i < TQ_LINKS_MAX; i++)
        if (channel->sockets[i] != NULL)
            received |= tend_socket_locked(channel, i, now_ns);
    tq_client_tick(&channel->core, now_ns);
    tq_channel_settle_locked(channel, out_async);
    return received;
}

bool tq_channel_ready_locked(struct tq_channel *channel)
{
    if (channel->core.closed)
        return false;
    for (unsigned i = 0; i < TQ_LINKS_MAX; i++) {
        if (channel->sockets[i] == NULL)
            continue;
        unsigned events = channel->carrier->events(channel->sockets[i]);
        if ((events & TQ_CARRIER_READABLE) != 0 || ((events & TQ_CARRIER_UP) != 0) != channel->up[i])
            return true;
    }
    return false;
}

unsigned tq_channel_fds_locked(struct tq_channel *channel, struct pollfd *fds)
{
    unsigned n = 0;
    for (unsigned i = 0; i < TQ_LINKS_MAX; i++)
        if (channel->sockets[i] != NULL)
            fds[n++] = (struct pollfd){ .fd = channel->carrier->wait_fd(channel->sockets[i]), .events = POLLIN };
    channel->seen_version = channel->sockets_version;
    return n;
}

void tq_channel_nudge_locked(struct tq_channel *channel, struct tq_list *out_async)
{
    if (tq_channel_ready_locked(channel))
        tq_channel_progress_locked(channel, out_async);
    else
        tq_channel_settle_locked(channel, out_async);
    if (channel->sleeping && (channel->seen_version != channel->sockets_version ||
                              tq_client_next_ns(&channel->core) < channel->sleeps_until_ns))
        wake_poller_locked(channel);
}

void tq_channel_hand_over_locked(struct tq_channel *channel)
{
    channel->poller = TQ_POLLER_NOBODY;
    channel->sleeping = false;
    if (channel->core.closed)
        return;
    if (channel->n_async > 0) {
        channel->poller = TQ_POLLER_DRIVER;
        tq_driver_wake(&channel->runtime->driver);
        return;
    }
    struct tq_list *node = tq_list_take_head(&channel->waiters);
    if (node == NULL) {
        if (channel->keep && channel->kept_version != channel->sockets_version)
            tq_driver_wake(&channel->runtime->driver); /* there is something to keep that it has not seen */
        return;
    }
    struct tq_waiter *waiter = tq_container_of(node, struct tq_waiter, node);
    channel->poller = TQ_POLLER_CALLER;
    waiter->polls = true;
    pthread_cond_signal(&waiter->wake);
}

/* Sleeps at once. Polling first was measured and lost everywhere: libzmq's own threads need the CPU that it burns. */
static int poll_until(struct pollfd *fds, unsigned n, int64_t until_ns, int64_t now_ns)
{
    int64_t left = until_ns == INT64_MAX ? INT64_MAX : until_ns - now_ns;
    int64_t left_ms = left <= 0 ? 0 : left / NS_PER_MS + (left % NS_PER_MS != 0);
    return poll(fds, n, left_ms >= INT_MAX ? -1 : (int)left_ms);
}

void tq_channel_sleep_locked(struct tq_channel *channel)
{
    struct pollfd fds[TQ_CHANNEL_FDS];
    unsigned n = tq_channel_fds_locked(channel, fds);
    uint64_t count;
    fds[n] = (struct pollfd){ .fd = channel->wake_fd, .events = POLLIN };
    channel->sleeps_until_ns = tq_client_next_ns(&channel->core);
    channel->sleeping = true;
    if (tq_channel_ready_locked(channel)) {
        channel->sleeping = false;
        return;
    }
    int64_t until = channel->sleeps_until_ns;
    pthread_mutex_unlock(&channel->lock);
    int ready = poll_until(fds, n + 1, until, tq_seam_now_ns(channel->seam));
    TQ_ASSERT(ready >= 0 || errno == EINTR || errno == ENOMEM);
    if (ready > 0 && (fds[n].revents & POLLIN) != 0) {
        ssize_t got = read(channel->wake_fd, &count, sizeof(count));
        TQ_ASSERT(got == sizeof(count) || errno == EAGAIN);
    }
    pthread_mutex_lock(&channel->lock);
    channel->sleeping = false;
}

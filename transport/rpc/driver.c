#include "transport/rpc/driver.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "transport/base/assert.h"
#include "transport/rpc/channel.h"
#include "transport/rpc/reply.h"

enum { NS_PER_MS = 1000000, FIRST_ROOM = 16 };

static __thread const struct tq_driver *mine; /* the driver that this thread is */

/* What one turn looks at; grown as channels are opened, driver thread only. */
struct turn {
    struct tq_channel **channels;
    struct pollfd *fds;
    size_t room, n_channels, n_fds;
    struct tq_list finished; /* calls to complete before anything else */
    int64_t next_ns;
};

tq_status tq_driver_init(struct tq_driver *driver, const struct tq_seam *seam, struct tq_error *err)
{
    *driver = (struct tq_driver){ .seam = seam, .wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) };
    tq_list_init(&driver->channels);
    tq_list_init(&driver->finished);
    if (driver->wake_fd < 0) {
        tq_status status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, "DESCRIPTORS", "eventfd: %s", strerror(errno));
        *driver = (struct tq_driver){ 0 };
        return status;
    }
    pthread_mutex_init(&driver->lock, NULL);
    return TQ_OK;
}

static void signal_fd(int fd)
{
    const uint64_t one = 1;
    ssize_t wrote = write(fd, &one, sizeof(one));
    TQ_ASSERT(wrote == sizeof(one) || errno == EAGAIN);
}

static void poke_locked(struct tq_driver *driver)
{
    driver->poked = true;
    if (driver->asleep)
        signal_fd(driver->wake_fd);
    driver->asleep = false; /* one signal is enough */
}

void tq_driver_wake(struct tq_driver *driver)
{
    pthread_mutex_lock(&driver->lock);
    poke_locked(driver);
    pthread_mutex_unlock(&driver->lock);
}

void tq_driver_finish(struct tq_driver *driver, struct tq_list *calls)
{
    if (tq_list_empty(calls))
        return;
    pthread_mutex_lock(&driver->lock);
    for (struct tq_list *node; (node = tq_list_take_head(calls)) != NULL;)
        tq_list_add_tail(&driver->finished, node);
    poke_locked(driver);
    pthread_mutex_unlock(&driver->lock);
}

bool tq_driver_is_me(const struct tq_driver *driver)
{
    return mine == driver;
}

void tq_driver_add(struct tq_driver *driver, struct tq_channel *channel)
{
    pthread_mutex_lock(&driver->lock);
    tq_list_add_tail(&driver->channels, &channel->node);
    pthread_mutex_unlock(&driver->lock);
}

void tq_driver_remove(struct tq_driver *driver, struct tq_channel *channel)
{
    pthread_mutex_lock(&driver->lock);
    tq_list_remove(&channel->node);
    pthread_mutex_unlock(&driver->lock);
}

/* ---- driver thread ---- */

/* Takes the channels under holds, so that they can be visited without the lock. */
static bool collect_channels(struct tq_driver *driver, struct turn *turn)
{
    pthread_mutex_lock(&driver->lock);
    turn->n_channels = 0;
    driver->poked = false;
    tq_list_each (node, &driver->channels) {
        if (turn->n_channels == turn->room)
            break;
        struct tq_channel *channel = tq_container_of(node, struct tq_channel, node);
        tq_channel_hold(channel);
        turn->channels[turn->n_channels++] = channel;
    }
    bool more = turn->n_channels == turn->room;
    bool stopping = driver->stopping;
    pthread_mutex_unlock(&driver->lock);
    if (more) { /* without memory the channels beyond wait for a better day */
        size_t room = turn->room == 0 ? FIRST_ROOM : turn->room * 2;
        struct tq_channel **channels = tq_seam_alloc_array(driver->seam, room, sizeof(struct tq_channel *));
        struct pollfd *fds = tq_seam_alloc_array(driver->seam, room * TQ_CHANNEL_FDS + 1, sizeof(*fds));
        if (channels != NULL && fds != NULL) {
            if (turn->n_channels > 0)
                memcpy(channels, turn->channels, turn->n_channels * sizeof(struct tq_channel *));
            tq_seam_free(driver->seam, turn->channels);
            tq_seam_free(driver->seam, turn->fds);
            turn->channels = channels;
            turn->fds = fds;
            turn->room = room;
            turn->next_ns = 0; /* look again at once */
        } else {
            tq_seam_free(driver->seam, channels);
            tq_seam_free(driver->seam, fds);
        }
    }
    return !stopping;
}

/* When the driver must look at this channel again; fills the descriptors to sleep on. */
static void plan_sleep_locked(struct turn *turn, struct tq_channel *channel)
{
    int64_t next = tq_client_next_ns(&channel->core);
    if (channel->poller == TQ_POLLER_DRIVER) {
        turn->n_fds += tq_channel_fds_locked(channel, turn->fds + turn->n_fds);
        channel->sleeps_until_ns = next;
        channel->sleeping = true;
        if (tq_channel_ready_locked(channel))
            next = 0;
    }
    turn->next_ns = next < turn->next_ns ? next : turn->next_ns;
}

/* Makes progress where the driver is the poller, and keeps sessions alive where nobody is. */
static void visit(struct turn *turn, struct tq_channel *channel)
{
    pthread_mutex_lock(&channel->lock);
    if (channel->poller == TQ_POLLER_DRIVER || (channel->keep && channel->poller == TQ_POLLER_NOBODY)) {
        tq_channel_progress_locked(channel, &turn->finished);
        if (channel->poller == TQ_POLLER_DRIVER && channel->n_async == 0)
            tq_channel_hand_over_locked(channel);
        if (channel->poller != TQ_POLLER_CALLER && !channel->core.closed)
            plan_sleep_locked(turn, channel);
    }
    if (channel->keep) { /* a blocking caller may take and leave the poller's role without telling us */
        int64_t next = tq_seam_now_ns(channel->seam) + channel->core.keepalive_ns / 2;
        turn->next_ns = next < turn->next_ns ? next : turn->next_ns;
        if (channel->poller != TQ_POLLER_CALLER)
            channel->kept_version = channel->sockets_version;
    }
    pthread_mutex_unlock(&channel->lock);
}

static void wake_up(const struct turn *turn)
{
    for (size_t i = 0; i < turn->n_channels; i++) {
        pthread_mutex_lock(&turn->channels[i]->lock);
        if (turn->channels[i]->poller == TQ_POLLER_DRIVER)
            turn->channels[i]->sleeping = false;
        pthread_mutex_unlock(&turn->channels[i]->lock);
        tq_channel_drop(turn->channels[i]);
    }
}

static void complete_all(struct tq_driver *driver, struct turn *turn)
{
    pthread_mutex_lock(&driver->lock);
    for (struct tq_list *node; (node = tq_list_take_head(&driver->finished)) != NULL;)
        tq_list_add_tail(&turn->finished, node);
    pthread_mutex_unlock(&driver->lock);
    for (struct tq_list *node; (node = tq_list_take_head(&turn->finished)) != NULL;)
        tq_call_complete(tq_container_of(node, struct tq_call, node));
}

/* Going to sleep: whoever changes something from here on signals wake_fd. False: something is finished already. */
static bool may_sleep(struct tq_driver *driver)
{
    pthread_mutex_lock(&driver->lock);
    bool idle = tq_list_empty(&driver->finished) && !driver->stopping && !driver->poked;
    driver->asleep = idle;
    pthread_mutex_unlock(&driver->lock);
    return idle;
}

static int timeout_ms(const struct tq_driver *driver, int64_t next_ns)
{
    int64_t left = next_ns == INT64_MAX ? INT64_MAX : next_ns - tq_seam_now_ns(driver->seam);
    if (left <= 0)
        return 0;
    return left / NS_PER_MS >= INT_MAX ? -1 : (int)((left + NS_PER_MS - 1) / NS_PER_MS);
}

static void sleep_on(struct tq_driver *driver, struct turn *turn)
{
    uint64_t count;
    turn->fds[turn->n_fds] = (struct pollfd){ .fd = driver->wake_fd, .events = POLLIN };
    int ready = poll(turn->fds, turn->n_fds + 1, timeout_ms(driver, turn->next_ns));
    TQ_ASSERT(ready >= 0 || errno == EINTR || errno == ENOMEM);
    pthread_mutex_lock(&driver->lock);
    driver->asleep = false;
    pthread_mutex_unlock(&driver->lock);
    ssize_t got = read(driver->wake_fd, &count, sizeof(count));
    TQ_ASSERT(got == sizeof(count) || errno == EAGAIN);
}

static void *run(void *arg)
{
    struct tq_driver *driver = arg;
    struct turn turn = { .room = 0 };
    tq_list_init(&turn.finished);
    mine = driver;
    tq_thread_forbid_blocking("a callback on the driver thread");
    for (bool going = true; going;) {
        complete_all(driver, &turn);
        turn.n_fds = 0;
        turn.next_ns = INT64_MAX;
        going = collect_channels(driver, &turn);
        for (size_t i = 0; i < turn.n_channels; i++)
            visit(&turn, turn.channels[i]);
        if (going && turn.room > 0 && tq_list_empty(&turn.finished) && may_sleep(driver))
            sleep_on(driver, &turn);
        wake_up(&turn);
    }
    complete_all(driver, &turn);
    tq_seam_free(driver->seam, turn.channels);
    tq_seam_free(driver->seam, turn.fds);
    return NULL;
}

tq_status tq_driver_start(struct tq_driver *driver, struct tq_error *err)
{
    tq_status status = TQ_OK;
    pthread_mutex_lock(&driver->lock);
    if (!driver->running) {
        int failed = tq_seam_fault(driver->seam, TQ_FAULT_THREAD_START)
                         ? EAGAIN
                         : pthread_create(&driver->thread, NULL, run, driver);
        if (failed != 0)
            status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, "THREAD", "no driver thread: %s", strerror(failed));
        else
            driver->running = true;
    }
    pthread_mutex_unlock(&driver->lock);
    return status;
}

void tq_driver_fini(struct tq_driver *driver)
{
    if (driver->channels.next == NULL)
        return;
    pthread_mutex_lock(&driver->lock);
    driver->stopping = true;
    bool running = driver->running;
    pthread_mutex_unlock(&driver->lock);
    if (running) {
        signal_fd(driver->wake_fd);
        pthread_join(driver->thread, NULL);
    }
    TQ_ASSERT(tq_list_empty(&driver->channels) && tq_list_empty(&driver->finished));
    close(driver->wake_fd);
    pthread_mutex_destroy(&driver->lock);
    *driver = (struct tq_driver){ 0 };
}

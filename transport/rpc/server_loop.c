/* The loop of a server: messages in batches, letters, timers; then a sleep. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <zmq.h>

#include "transport/base/assert.h"
#include "transport/base/log.h"
#include "transport/rpc/server.h"

enum { BATCH = 256, NS_PER_MS = 1000000 };
#define GRACE_NS INT64_C(1000000000)

static __thread struct tq_server *here;

struct tq_server *tq_server_here(void)
{
    return here;
}

/* Reads and drops what is left of a message from a stranger. */
static void drop_message(struct tq_server *server)
{
    struct tq_inbound message = { .ops = NULL };
    (void)tq_zmq_receive(server->router, &message);
    tq_inbound_release(&message);
    server->core.stats.foreign_ids++;
}

/* The routing id in front of every message. False when nothing waits. */
static bool receive_peer(struct tq_server *server, struct tq_peer *out, bool *out_ours)
{
    zmq_msg_t id;
    zmq_msg_init(&id);
    bool got = zmq_msg_recv(&id, server->router, ZMQ_DONTWAIT) >= 0;
    *out_ours = got && zmq_msg_size(&id) == TQ_PEER_ID_BYTES &&
                memcmp(zmq_msg_data(&id), tq_peer_id_prefix, TQ_PEER_ID_PREFIX) == 0;
    if (*out_ours)
        memcpy(out->id, zmq_msg_data(&id), TQ_PEER_ID_BYTES);
    zmq_msg_close(&id);
    return got;
}

static bool receive_batch(struct tq_server *server, int64_t now_ns)
{
    struct tq_inbound message = { .ops = NULL };
    struct tq_peer peer;
    bool ours;
    unsigned n = 0;
    server->outbox.open = true;
    for (; n < BATCH && receive_peer(server, &peer, &ours); n++) {
        if (!ours) {
            drop_message(server);
            continue;
        }
        enum tq_received got = tq_zmq_receive(server->router, &message);
        if (got == TQ_RECEIVED)
            tq_server_core_receive(&server->core, &peer, &message, now_ns);
        else
            server->core.stats.garbage++;
        tq_inbound_release(&message);
    }
    tq_outbox_flush(&server->outbox, &server->core, now_ns);
    return n > 0;
}

static bool read_letters(struct tq_server *server)
{
    struct tq_list letters;
    struct tq_list *node;
    tq_mailbox_take_all(&server->mailbox, &letters);
    bool any = !tq_list_empty(&letters);
    while ((node = tq_list_take_head(&letters)) != NULL) {
        struct tq_letter *letter = tq_container_of(node, struct tq_letter, node);
        letter->read(server, letter);
    }
    return any;
}

static bool router_ready(const struct tq_server *server)
{
    int events = 0;
    size_t size = sizeof(events);
    return zmq_getsockopt(server->router, ZMQ_EVENTS, &events, &size) == 0 && (events & ZMQ_POLLIN) != 0;
}

static int64_t next_ns(const struct tq_server *server)
{
    int64_t core = tq_server_core_next_ns(&server->core), timers = tq_server_timers_next_ns(&server->timers);
    return core < timers ? core : timers;
}

/* Returns whether the mailbox has something. */
static bool sleep_until(struct tq_server *server, int64_t until_ns)
{
    struct pollfd fds[] = { { .fd = server->router_fd, .events = POLLIN },
                            { .fd = server->mailbox.wake_fd, .events = POLLIN } };
    int64_t left = until_ns == INT64_MAX ? INT64_MAX : until_ns - tq_seam_now_ns(server->seam);
    int64_t left_ms = left <= 0 ? 0 : left / NS_PER_MS + (left % NS_PER_MS != 0);
    int ready = poll(fds, 2, left_ms >= INT_MAX ? -1 : (int)left_ms);
    TQ_ASSERT(ready >= 0 || errno == EINTR || errno == ENOMEM);
    return ready > 0 && fds[1].revents != 0;
}

static void tell_drained(struct tq_server *server)
{
    if (!server->core.draining || server->core.stats.running > 0 || server->core.reply_bytes > 0)
        return;
    pthread_mutex_lock(&server->lock);
    if (!server->drained) {
        server->drained = true;
        pthread_cond_broadcast(&server->changed);
    }
    pthread_mutex_unlock(&server->lock);
}

/* What is still running after the grace belongs to its handler's thread from here on. */
static void abandon_calls(struct tq_server *server)
{
    tq_mailbox_shut(&server->mailbox);
    (void)read_letters(server);
    pthread_mutex_lock(&server->lock);
    tq_list_each_safe (node, &server->core.running) {
        struct tq_server_call *call = tq_container_of(node, struct tq_server_call, node);
        tq_server_core_forget(&server->core, call);
        if (call->answered) {
            tq_server_call_free(call);
        } else {
            call->orphan = true;
            atomic_fetch_add(&server->holds, 1);
        }
    }
    pthread_mutex_unlock(&server->lock);
}

static void end_calls(struct tq_server *server)
{
    int64_t until = tq_now_ns() + GRACE_NS;
    tq_server_core_shut(&server->core);
    while (server->core.stats.running > 0 && tq_now_ns() < until) {
        (void)read_letters(server);
        if (server->core.stats.running > 0) {
            struct pollfd fd = { .fd = server->mailbox.wake_fd, .events = POLLIN };
            (void)poll(&fd, 1, (int)((until - tq_now_ns()) / NS_PER_MS) + 1);
        }
    }
    if (server->core.stats.running > 0)
        tq_warn("server-close", "address=%s unanswered=%u", server->address, server->core.stats.running);
    abandon_calls(server);
}

void *tq_server_run(void *arg)
{
    struct tq_server *server = arg;
    bool mail = true;
    here = server;
    tq_thread_forbid_blocking("a handler on the loop thread");
    while (!atomic_load(&server->stopping)) {
        int64_t now_ns = tq_seam_now_ns(server->seam);
        bool busy = receive_batch(server, now_ns);
        if (mail || busy)
            mail = read_letters(server);
        busy |= mail;
        now_ns = tq_seam_now_ns(server->seam);
        tq_server_timers_fire(&server->timers, now_ns);
        tq_server_core_tick(&server->core, now_ns);
        tell_drained(server);
        /* The wake of tq_server_close may be among what read_letters has just taken. */
        if (router_ready(server) || atomic_load(&server->stopping))
            continue;
        mail = sleep_until(server, next_ns(server));
    }
    end_calls(server);
    return NULL;
}

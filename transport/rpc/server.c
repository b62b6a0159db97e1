#include "transport/rpc/server.h"

#include <errno.h>
#include <string.h>
#include <zmq.h>

#include "tq/init.h"
#include "transport/base/assert.h"
#include "transport/rpc/body.h"

/* ---- what the core wants done ---- */

static enum tq_sent io_send(void *self, const struct tq_peer *to, const struct tq_outbound *message)
{
    struct tq_server *server = self;
    if (tq_outbox_put(&server->outbox, to, message))
        return TQ_SENT;
    if (tq_seam_fault(server->seam, TQ_FAULT_SOCKET_SEND))
        return TQ_SENT_GONE;
    if (zmq_send(server->router, to->id, sizeof(to->id), ZMQ_DONTWAIT | ZMQ_SNDMORE) < 0)
        return errno == EAGAIN ? TQ_SENT_FULL : TQ_SENT_GONE;
    return tq_zmq_send(server->router, message);
}

static void io_dispatch(void *self, struct tq_server_call *call)
{
    struct tq_server *server = self;
    const struct tq_service_entry *entry = call->entry;
    struct tq_body_limits limits = { entry->method->request_bytes, entry->method->request_elements };
    const ProtobufCMessage *request = NULL;
    call->server = server;
    tq_status status = tq_body_decode(call->arena, entry->method->request, call->body, limits, &request, &call->error);
    if (status == TQ_OK) {
        tq_error_clear(&call->error);
        if (entry->method->invoke != NULL && entry->method->invoke(entry->ops, entry->state, request, call))
            return;
        (void)tq_fail(&call->error, TQ_UNIMPLEMENTED, "METHOD", "%s is not implemented here", entry->method->name);
    }
    call->error.outcome = TQ_OUTCOME_NOT_STARTED;
    tq_server_core_finish(&server->core, call, tq_seam_now_ns(server->seam));
}

static void io_session_ended(void *self, uint64_t session)
{
    struct tq_server *server = self;
    if (server->session_ended != NULL)
        server->session_ended(server->session_ended_user, session);
}

/* ---- life ---- */

void tq_server_drop(struct tq_server *server)
{
    if (atomic_fetch_sub(&server->holds, 1) != 1)
        return;
    tq_mailbox_close(&server->mailbox); /* orphans ask it to the last */
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    tq_seam_free(server->seam, server);
}

static tq_status open_router(struct tq_server *server, const struct tq_server_opts *opts, struct tq_error *err)
{
    size_t size = sizeof(server->router_fd);
    uint64_t max_frame = server->core.opts.max_inline_bytes;
    if (max_frame < server->core.opts.max_body_bytes)
        max_frame = server->core.opts.max_body_bytes;
    tq_status status = tq_listen(server->runtime->zmq, opts->listen, opts->insecure, max_frame + TQ_HEADROOM,
                                 &server->router, server->address, err);
    if (status != TQ_OK)
        return status;
    if (zmq_getsockopt(server->router, ZMQ_FD, &server->router_fd, &size) != 0)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "SOCKET", "listen '%s': %s", opts->listen, zmq_strerror(errno));
    server->advertised = tq_seam_strdup(server->seam, opts->advertise != NULL ? opts->advertise : server->address);
    if (server->advertised == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a server");
    return TQ_OK;
}

tq_status tq_server_open(struct tq_runtime *runtime, const struct tq_server_opts *opts, struct tq_server **out_server,
                         struct tq_error *err)
{
    tq_status status = tq_runtime_check(err);
    if (status != TQ_OK)
        return status;
    struct tq_server *server = tq_seam_alloc(runtime->seam, sizeof(*server));
    if (server == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a server");
    server->runtime = runtime;
    server->seam = server->timers.seam = runtime->seam;
    atomic_fetch_add(&runtime->users, 1);
    atomic_init(&server->holds, 1);
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->changed, NULL);
    struct tq_server_io io = { server, io_send, io_dispatch, io_session_ended };
    tq_server_core_init(&server->core, opts, &runtime->self, io, runtime->seam);
    server->core.opts.listen = server->core.opts.advertise = NULL; /* the caller's strings */
    status = tq_mailbox_open(&server->mailbox, err);
    if (status == TQ_OK)
        status = open_router(server, opts, err);
    if (status != TQ_OK) {
        tq_server_close(server);
        return status;
    }
    *out_server = server;
    return TQ_OK;
}

tq_status tq_server_add(struct tq_server *server, const struct tq_service *service, const void *ops, void *state,
                        struct tq_error *err)
{
    TQ_ASSERT(!server->started);
    return tq_server_core_add(&server->core, service, ops, state, err);
}

tq_status tq_server_start(struct tq_server *server, struct tq_error *err)
{
    TQ_ASSERT(!server->started);
    server->started = true; /* before the loop, which reads it */
    int failed = tq_seam_fault(server->seam, TQ_FAULT_THREAD_START)
                     ? EAGAIN
                     : pthread_create(&server->thread, NULL, tq_server_run, server);
    if (failed == 0)
        return TQ_OK;
    server->started = false;
    return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "THREAD", "no loop thread: %s", strerror(failed));
}

static void start_drain(void *user)
{
    struct tq_server *server = user;
    tq_server_core_drain(&server->core);
}

void tq_server_drain(struct tq_server *server, int64_t deadline_ns)
{
    int64_t until_ns = deadline_ns > 0 ? deadline_ns : 0; /* a negative time is no time to wait until */
    struct timespec until = { .tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000 };
    if (!server->started || tq_server_here() == server) {
        tq_server_core_drain(&server->core);
        return;
    }
    if (!tq_server_post(server, start_drain, server))
        return;
    pthread_mutex_lock(&server->lock);
    while (!server->drained &&
           pthread_cond_clockwait(&server->changed, &server->lock, CLOCK_MONOTONIC, &until) != ETIMEDOUT)
        continue;
    pthread_mutex_unlock(&server->lock);
}

void tq_server_close(struct tq_server *server)
{
    if (server == NULL)
        return;
    if (tq_forked())
        return; /* threads and sockets are the parent's */
    TQ_ASSERT(tq_server_here() != server);
    if (server->started) {
        atomic_store(&server->stopping, true);
        tq_mailbox_wake(&server->mailbox);
        pthread_join(server->thread, NULL);
    }
    tq_server_core_fini(&server->core);
    tq_server_timers_fini(&server->timers);
    if (server->router != NULL)
        zmq_close(server->router);
    tq_seam_free(server->seam, server->advertised);
    atomic_fetch_sub(&server->runtime->users, 1);
    tq_server_drop(server);
}

const char *tq_server_address(const struct tq_server *server)
{
    return server->address;
}

const char *tq_server_advertised(const struct tq_server *server)
{
    return server->advertised;
}

void tq_server_on_session_end(struct tq_server *server, void (*ended)(void *user, uint64_t session), void *user)
{
    TQ_ASSERT(!server->started);
    server->session_ended = ended;
    server->session_ended_user = user;
}

/* ---- the loop's services ---- */

struct post {
    struct tq_letter letter;
    void (*fn)(void *user);
    void *user;
};

static void read_post(void *arg, struct tq_letter *letter)
{
    struct tq_server *server = arg;
    struct post *post = tq_container_of(letter, struct post, letter);
    struct post copy = *post;
    tq_seam_free(server->seam, post);
    copy.fn(copy.user);
}

bool tq_server_post(struct tq_server *server, void (*fn)(void *user), void *user)
{
    struct post *post = tq_seam_alloc(server->seam, sizeof(*post));
    if (post == NULL)
        return false;
    *post = (struct post){ .letter = { .read = read_post }, .fn = fn, .user = user };
    if (tq_mailbox_post(&server->mailbox, &post->letter.node))
        return true;
    tq_seam_free(server->seam, post);
    return false;
}

bool tq_server_timer_arm(struct tq_server *server, struct tq_server_timer *timer, int64_t due_ns)
{
    TQ_ASSERT(tq_server_here() == server || !server->started);
    return tq_server_timers_set(&server->timers, timer, due_ns);
}

void tq_server_timer_disarm(struct tq_server *server, struct tq_server_timer *timer)
{
    TQ_ASSERT(tq_server_here() == server || !server->started);
    tq_server_timers_remove(&server->timers, timer);
}

/* Asks the loop, so that what it has just answered is counted. */
struct stats_question {
    struct tq_server *server;
    struct tq_server_stats *out;
    bool answered; /* under server->lock */
};

static void copy_stats(const struct tq_server *server, struct tq_server_stats *out)
{
    *out = server->core.stats;
    out->reply_queue_bytes = server->core.reply_bytes;
}

static void answer_question(void *user)
{
    struct stats_question *question = user;
    copy_stats(question->server, question->out);
    pthread_mutex_lock(&question->server->lock);
    question->answered = true;
    pthread_cond_broadcast(&question->server->changed);
    pthread_mutex_unlock(&question->server->lock);
}

void tq_server_read_stats(struct tq_server *server, struct tq_server_stats *out_stats)
{
    struct stats_question question = { server, out_stats, false };
    *out_stats = (struct tq_server_stats){ 0 };
    if (!server->started || tq_server_here() == server) {
        copy_stats(server, out_stats);
        return;
    }
    if (!tq_server_post(server, answer_question, &question))
        return;
    pthread_mutex_lock(&server->lock);
    while (!question.answered)
        pthread_cond_wait(&server->changed, &server->lock);
    pthread_mutex_unlock(&server->lock);
}

/* Calls as their handlers see them: answer now or later, from any thread. */
#include <stdarg.h>
#include <stdio.h>

#include "transport/base/assert.h"
#include "transport/rpc/server.h"

enum { DEFAULT_RESPONSE_BYTES = 65536 };

static void read_answer(void *arg, struct tq_letter *letter)
{
    struct tq_server *server = arg;
    struct tq_server_call *call = tq_container_of(letter, struct tq_server_call, letter);
    tq_server_core_finish(&server->core, call, tq_seam_now_ns(server->seam));
}

/* The server closed while the handler kept the call. */
static void end_outside(struct tq_server *server, struct tq_server_call *call)
{
    pthread_mutex_lock(&server->lock);
    bool orphan = call->orphan;
    call->answered = true; /* the loop, which is closing, frees it */
    pthread_mutex_unlock(&server->lock);
    if (!orphan)
        return;
    tq_server_call_free(call);
    tq_server_drop(server);
}

static void deliver(struct tq_server_call *call)
{
    struct tq_server *server = call->server;
    if (tq_server_here() == server) {
        tq_server_core_finish(&server->core, call, tq_seam_now_ns(server->seam));
        return;
    }
    call->letter.read = read_answer;
    if (!tq_mailbox_post(&server->mailbox, &call->letter.node))
        end_outside(server, call);
}

static void pack_answer(struct tq_server_call *call, const ProtobufCMessage *response)
{
    const struct tq_method *method = call->method;
    size_t most = method->response_bytes > 0 ? method->response_bytes : DEFAULT_RESPONSE_BYTES;
    TQ_ASSERT(response->descriptor == method->response);
    tq_error_clear(&call->error);
    if (!tq_packet_pack(&call->answer, response))
        (void)tq_fail(&call->error, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "%s: no memory for the answer", method->name);
    else if (call->answer.len > most)
        (void)tq_fail(&call->error, TQ_RESOURCE_EXHAUSTED, "RESPONSE_BYTES", "%s: answer of %zu bytes: at most %zu",
                      method->name, call->answer.len, most);
}

void tq_server_answer(struct tq_server_call *call, const ProtobufCMessage *response)
{
    pack_answer(call, response);
    deliver(call);
}

void tq_server_answer_frames(struct tq_server_call *call, const ProtobufCMessage *response,
                             const struct tq_bytes *frames, size_t n_frames, void (*release)(void *user), void *user)
{
    const struct tq_seam *seam = call->answer.seam;
    pack_answer(call, response);
    if (n_frames >= TQ_INLINE_FRAMES_MAX) {
        (void)tq_fail(&call->error, TQ_RESOURCE_EXHAUSTED, "INLINE_FRAMES", "%zu frames in the answer: at most %d",
                      n_frames, TQ_INLINE_FRAMES_MAX - 1);
    } else if (n_frames > 0) {
        call->payload = release != NULL ? tq_payload_open(seam, frames, n_frames, release, user)
                                        : tq_payload_copy(seam, frames, n_frames);
        if (call->payload == NULL)
            (void)tq_fail(&call->error, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for %zu frames", n_frames);
    }
    bool owned = call->payload != NULL;
    deliver(call);
    if (!owned && release != NULL)
        release(user);
}

void tq_server_fail_error(struct tq_server_call *call, const struct tq_error *err)
{
    TQ_ASSERT(err->status != TQ_OK);
    call->error = *err;
    deliver(call);
}

void tq_server_fail(struct tq_server_call *call, tq_status status, const char *reason, const char *format, ...)
{
    struct tq_error error;
    char message[TQ_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    (void)tq_fail(&error, status, reason, "%s", message);
    tq_server_fail_error(call, &error);
}

int64_t tq_server_call_deadline_ns(const struct tq_server_call *call)
{
    return call->deadline_ns;
}

uint64_t tq_server_call_session(const struct tq_server_call *call)
{
    return call->session_id;
}

const char *tq_server_call_peer(const struct tq_server_call *call)
{
    return call->session != NULL ? call->session->name : "";
}

struct tq_bytes tq_server_call_key(const struct tq_server_call *call)
{
    return (struct tq_bytes){ call->key, call->key_len };
}

const struct tq_bytes *tq_server_call_frames(const struct tq_server_call *call, size_t *out_n)
{
    *out_n = call->request.n_frames;
    return call->request.frames;
}

struct tq_server *tq_server_call_server(const struct tq_server_call *call)
{
    return call->server;
}

void tq_server_call_on_gone(struct tq_server_call *call, void (*gone)(void *user, tq_status why), void *user)
{
    TQ_ASSERT(tq_server_here() == call->server);
    call->on_gone = gone;
    call->on_gone_user = user;
    if (gone != NULL && call->told)
        gone(user, call->gone_why);
}

#include "tests/transport/rpc/echo_service.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"

/* A call that is answered later. */
struct kept {
    struct echo_service *service;
    struct tq_server_call *call;
    uint64_t number;
    struct tq_server_timer timer;
};

static void answer(struct echo_service *service, struct tq_server_call *call, uint64_t number, ProtobufCBinaryData data)
{
    Tqtest__EchoResponse response = TQTEST__ECHO_RESPONSE__INIT;
    response.number = number;
    response.executions = atomic_load(&service->executions);
    response.payload = data;
    tq_server_answer(call, &response.base);
}

static void answer_kept(void *user)
{
    struct kept *kept = user;
    answer(kept->service, kept->call, kept->number, (ProtobufCBinaryData){ 0, NULL });
    free(kept);
}

static void *answer_elsewhere(void *user)
{
    answer_kept(user);
    return NULL;
}

static void gone(void *user, tq_status why)
{
    struct kept *kept = user;
    atomic_fetch_add(&kept->service->gone, 1);
    tq_server_fail(kept->call, why, "GONE", "nobody waits");
    free(kept);
}

static struct kept *keep(struct echo_service *service, struct tq_server_call *call, uint64_t number)
{
    struct kept *kept = calloc(1, sizeof(*kept));
    assert_non_null(kept);
    *kept = (struct kept){ .service = service, .call = call, .number = number };
    return kept;
}

static void count_release(void *user)
{
    atomic_fetch_add(&((struct echo_service *)user)->released, 1);
}

/* Constant, so that they outlive the call: nothing is copied. */
static void answer_frames(struct echo_service *service, struct tq_server_call *call, uint64_t number)
{
    static const uint8_t bytes[100000] = { 1, 2, 3 };
    struct tq_bytes frames[] = { { bytes, 3 }, { bytes, 0 }, { bytes, sizeof(bytes) } };
    Tqtest__EchoResponse response = TQTEST__ECHO_RESPONSE__INIT;
    size_t n;
    const struct tq_bytes *got = tq_server_call_frames(call, &n);
    for (size_t i = 0; i < n; i++)
        response.executions += got[i].len;
    response.number = number;
    tq_server_answer_frames(call, &response.base, frames, 3, count_release, service);
}

static bool invoke(const void *ops, void *state, const ProtobufCMessage *message, struct tq_server_call *call)
{
    struct echo_service *service = state;
    const Tqtest__EchoRequest *request = (const Tqtest__EchoRequest *)message;
    pthread_t thread;
    (void)ops;
    atomic_fetch_add(&service->executions, 1);
    switch ((enum echo_action)request->action) {
    case ECHO_FAIL:
        tq_server_fail(call, TQ_ABORTED, "ECHO_FAIL", "number %llu", (unsigned long long)request->number);
        return true;
    case ECHO_PARK:
        tq_server_call_on_gone(call, gone, keep(service, call, request->number));
        return true;
    case ECHO_LATER: {
        struct kept *kept = keep(service, call, request->number);
        kept->timer = (struct tq_server_timer){ .fire = answer_kept, .user = kept };
        assert_true(tq_server_timer_arm(service->server, &kept->timer, tq_deadline_after_ms(request->delay_ms)));
        return true;
    }
    case ECHO_THREAD:
        assert_int_equal(pthread_create(&thread, NULL, answer_elsewhere, keep(service, call, request->number)), 0);
        pthread_detach(thread);
        return true;
    case ECHO_FRAMES:
        answer_frames(service, call, request->number);
        return true;
    case ECHO_HOLD:
        atomic_store(&service->held, call);
        return true;
    default:
        answer(service, call, request->number, request->payload);
        return true;
    }
}

static bool no_handler(const void *ops, void *state, const ProtobufCMessage *message, struct tq_server_call *call)
{
    (void)ops;
    (void)state;
    (void)message;
    (void)call;
    return false;
}

#define METHOD(number, called, how, bits, function)                                                                    \
    {                                                                                                                  \
        .id = 0x7f00 + (number), .name = "tqtest.Echo/" called, .request = &tqtest__echo_request__descriptor,          \
        .response = &tqtest__echo_response__descriptor, .idempotency = (how), .timeout_ms = 10000,                     \
        .request_bytes = 65536, .response_bytes = 65536, .request_elements = 4096, .response_elements = 4096,          \
        .flags = (bits), .invoke = (function)                                                                          \
    }

const struct tq_method echo_methods[] = {
    METHOD(ECHO_IDEMPOTENT, "Idempotent", TQ_IDEMPOTENT, 0, invoke),
    METHOD(ECHO_KEYED, "Keyed", TQ_KEYED, 0, invoke),
    METHOD(ECHO_ONCE, "Once", TQ_ONCE, 0, invoke),
    METHOD(ECHO_WAITS, "Waits", TQ_KEYED, TQ_METHOD_WAITS, invoke),
    METHOD(ECHO_BULK, "Bulk", TQ_IDEMPOTENT, TQ_METHOD_BULK, invoke),
    METHOD(ECHO_MISSING, "Missing", TQ_IDEMPOTENT, 0, no_handler),
};
const struct tq_service echo_table = { "tqtest.Echo", echo_methods, 6, { NULL, 0 } };

const struct tq_method *echo_method(uint32_t id)
{
    return &echo_methods[id - 1];
}

static void note_session_end(void *user, uint64_t session)
{
    const struct echo_service *service = user;
    const uint64_t one = 1;
    assert_int_not_equal(session, 0);
    assert_int_equal(write(service->ended_fd, &one, sizeof(one)), sizeof(one));
}

bool echo_wait_session_end(struct echo_service *service, int timeout_ms)
{
    struct pollfd ended = { .fd = service->ended_fd, .events = POLLIN };
    return poll(&ended, 1, timeout_ms) == 1;
}

void echo_close(struct echo_service *service)
{
    if (service->server == NULL)
        return;
    tq_server_close(service->server);
    service->server = NULL;
    close(service->ended_fd);
}

void echo_open(struct echo_service *service, struct tq_runtime *runtime, const struct tq_server_opts *opts)
{
    struct tq_error err;
    *service = (struct echo_service){ .ended_fd = eventfd(0, EFD_CLOEXEC) };
    assert_true(service->ended_fd >= 0);
    if (tq_server_open(runtime, opts, &service->server, &err) != TQ_OK)
        fail_msg("server: %s", err.message);
    if (tq_server_add(service->server, &echo_table, NULL, service, &err) != TQ_OK)
        fail_msg("service: %s", err.message);
    tq_server_on_session_end(service->server, note_session_end, service);
    assert_int_equal(tq_server_start(service->server, &err), TQ_OK);
}

bool echo_release(struct echo_service *service)
{
    struct tq_server_call *call = atomic_exchange(&service->held, NULL);
    if (call == NULL)
        return false;
    answer(service, call, 0, (ProtobufCBinaryData){ 0, NULL });
    return true;
}

tq_status echo_call(struct tq_channel *channel, uint32_t method, enum echo_action action, uint64_t number,
                    int64_t timeout_ms, struct tq_error *out_error)
{
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    struct tq_call_opts opts = { .deadline_ns = timeout_ms > 0 ? tq_deadline_after_ms(timeout_ms) : 0 };
    struct tq_reply reply;
    request.number = number;
    request.action = action;
    tq_status status = tq_call(channel, echo_method(method), &request.base, &opts, &reply);
    if (status == TQ_OK)
        assert_int_equal(((const Tqtest__EchoResponse *)reply.message)->number, number);
    if (out_error != NULL)
        *out_error = reply.error;
    tq_reply_drop(&reply);
    return status;
}

/* The stubs, vtables and tables of a case, over a runtime that only remembers what it was asked. */
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include "google/protobuf/descriptor.pb-c.h"
#include "option_forms.tq.h"
#include "rpc_words.tq.h"
#include "tests/support/cmocka_all.h"

typedef Case__OptionForms__Request Request;
typedef Case__OptionForms__Response Response;

/* ---- the runtime ---- */

static struct {
    const struct tq_method *method;
    const ProtobufCMessage *message;
    const struct tq_call_opts *opts;
    const struct tq_service *service;
    const void *ops;
    void *state;
    struct tq_server_call *call;
    size_t n_frames;
} asked;

static struct tq_channel *const channel = (struct tq_channel *)(uintptr_t)0x10;
static struct tq_server *const server = (struct tq_server *)(uintptr_t)0x20;
static struct tq_server_call *const call = (struct tq_server_call *)(uintptr_t)0x30;
static struct tq_future *const future = (struct tq_future *)(uintptr_t)0x40;

static void remember(struct tq_channel *on, const struct tq_method *method, const ProtobufCMessage *request,
                     const struct tq_call_opts *opts)
{
    assert_ptr_equal(on, channel);
    asked.method = method;
    asked.message = request;
    asked.opts = opts;
}

tq_status tq_call(struct tq_channel *on, const struct tq_method *method, const ProtobufCMessage *request,
                  const struct tq_call_opts *opts, struct tq_reply *reply)
{
    remember(on, method, request, opts);
    return reply->error.status;
}

tq_status tq_call_cb(struct tq_channel *on, const struct tq_method *method, const ProtobufCMessage *request,
                     const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,
                     struct tq_error *err)
{
    (void)err;
    remember(on, method, request, opts);
    *out_call_id = 77;
    struct tq_reply reply = { 0 };
    done(user, &reply);
    return TQ_OK;
}

struct tq_future *tq_call_start(struct tq_channel *on, const struct tq_method *method, const ProtobufCMessage *request,
                                const struct tq_call_opts *opts)
{
    remember(on, method, request, opts);
    return future;
}

tq_status tq_server_add(struct tq_server *on, const struct tq_service *service, const void *ops, void *state,
                        struct tq_error *err)
{
    assert_ptr_equal(on, server);
    asked.service = service;
    asked.ops = ops;
    asked.state = state;
    return tq_fail(err, TQ_ALREADY_EXISTS, NULL, "taken");
}

void tq_server_answer(struct tq_server_call *on, const ProtobufCMessage *response)
{
    asked.call = on;
    asked.message = response;
}

void tq_server_answer_frames(struct tq_server_call *on, const ProtobufCMessage *response, const struct tq_bytes *frames,
                             size_t n_frames, void (*release)(void *user), void *user)
{
    (void)frames;
    (void)release;
    (void)user;
    asked.call = on;
    asked.message = response;
    asked.n_frames = n_frames;
}

tq_status tq_fail(struct tq_error *err, tq_status status, const char *reason, const char *format, ...)
{
    (void)reason;
    (void)format;
    err->status = status;
    return status;
}

/* ---- the tests ---- */

static void ids_limits_and_flags_are_those_of_the_option(void **state)
{
    (void)state;
    const struct tq_service *service = &case_option_forms_form_service;
    assert_string_equal(service->name, "case.option_forms.FormService");
    assert_int_equal(service->n_methods, 3);
    const struct tq_method *whole = CASE_OPTION_FORMS_FORM_WHOLE_METHOD;
    assert_int_equal(CASE_OPTION_FORMS_FORM_WHOLE_ID, 0x201);
    assert_int_equal(whole->id, 0x201);
    assert_string_equal(whole->name, "case.option_forms.FormService/Whole");
    assert_ptr_equal(whole->request, &case__option_forms__request__descriptor);
    assert_ptr_equal(whole->response, &case__option_forms__response__descriptor);
    assert_int_equal(whole->idempotency, TQ_KEYED);
    assert_int_equal(whole->timeout_ms, 1);
    assert_int_equal(whole->request_bytes, 1);
    assert_int_equal(whole->response_bytes, 1 << 30);
    assert_int_equal(whole->request_elements, 1);
    assert_int_equal(whole->response_elements, 1 << 24);
    assert_int_equal(whole->flags, TQ_METHOD_BULK | TQ_METHOD_WAITS);
}

static void an_option_in_pieces_is_joined(void **state)
{
    (void)state;
    const struct tq_method *pieces = CASE_OPTION_FORMS_FORM_PIECES_METHOD;
    assert_true(pieces->id == UINT32_MAX);
    assert_int_equal(pieces->timeout_ms, 3600000);
    assert_int_equal(pieces->idempotency, TQ_IDEMPOTENT);
    assert_int_equal(pieces->flags, 0);
}

static void what_is_not_stated_has_its_default(void **state)
{
    (void)state;
    const struct tq_method *defaults = CASE_OPTION_FORMS_FORM_DEFAULTS_METHOD;
    assert_int_equal(defaults->idempotency, TQ_ONCE);
    assert_int_equal(defaults->timeout_ms, 30000);
    assert_int_equal(defaults->request_bytes, 65536);
    assert_int_equal(defaults->response_bytes, 65536);
    assert_int_equal(defaults->request_elements, 4096);
    assert_int_equal(defaults->response_elements, 4096);
}

static void note_done(void *user, struct tq_reply *reply)
{
    (void)reply;
    *(bool *)user = true;
}

static void stubs_hand_on_what_they_get(void **state)
{
    (void)state;
    Request request = CASE__OPTION_FORMS__REQUEST__INIT;
    struct tq_call_opts opts = { .max_attempts = 1 };
    struct tq_reply reply = { .error = { .status = TQ_UNAVAILABLE } };
    struct tq_error err = { 0 };
    bool is_done = false;
    uint64_t id = 0;
    assert_int_equal(case_option_forms_form_pieces(channel, &request, &opts, &reply), TQ_UNAVAILABLE);
    assert_ptr_equal(asked.method, CASE_OPTION_FORMS_FORM_PIECES_METHOD);
    assert_ptr_equal(asked.message, &request);
    assert_ptr_equal(asked.opts, &opts);
    assert_int_equal(case_option_forms_form_whole_cb(channel, &request, NULL, note_done, &is_done, &id, &err), TQ_OK);
    assert_ptr_equal(asked.method, CASE_OPTION_FORMS_FORM_WHOLE_METHOD);
    assert_true(is_done);
    assert_int_equal(id, 77);
    assert_ptr_equal(case_option_forms_form_defaults_start(channel, &request, &opts), future);
    assert_ptr_equal(asked.method, CASE_OPTION_FORMS_FORM_DEFAULTS_METHOD);
}

static void the_accessor_gives_only_its_own_message(void **state)
{
    (void)state;
    Response response = CASE__OPTION_FORMS__RESPONSE__INIT;
    Request request = CASE__OPTION_FORMS__REQUEST__INIT;
    struct tq_reply reply = { 0 };
    assert_null(case_option_forms_form_whole_response(&reply));
    reply.message = &response.base;
    assert_ptr_equal(case_option_forms_form_whole_response(&reply), &response);
    reply.message = &request.base;
    assert_null(case_option_forms_form_whole_response(&reply));
}

static void on_pieces(void *state, const Request *request, struct tq_server_call *on)
{
    Response response = CASE__OPTION_FORMS__RESPONSE__INIT;
    assert_int_equal(request->max_wait_ms, 5);
    ++*(int *)state;
    case_option_forms_form_pieces_answer(on, &response);
}

static void dispatch_reaches_the_handler_or_says_that_there_is_none(void **state)
{
    (void)state;
    const struct case_option_forms_form_ops ops = { .pieces = on_pieces };
    Request request = CASE__OPTION_FORMS__REQUEST__INIT;
    int times = 0;
    request.max_wait_ms = 5;
    const struct tq_method *pieces = CASE_OPTION_FORMS_FORM_PIECES_METHOD, *whole = CASE_OPTION_FORMS_FORM_WHOLE_METHOD;
    assert_true(pieces->invoke(&ops, &times, &request.base, call));
    assert_int_equal(times, 1);
    assert_ptr_equal(asked.call, call);
    assert_false(whole->invoke(&ops, &times, &request.base, call));
    assert_int_equal(times, 1);
}

static void registration_and_frames_pass_through(void **state)
{
    (void)state;
    const struct case_option_forms_form_ops ops = { 0 };
    struct tq_error err = { 0 };
    Response response = CASE__OPTION_FORMS__RESPONSE__INIT;
    const struct tq_bytes frames[2] = { 0 };
    int mine = 0;
    assert_int_equal(case_option_forms_form_add(server, &ops, &mine, &err), TQ_ALREADY_EXISTS);
    assert_ptr_equal(asked.service, &case_option_forms_form_service);
    assert_ptr_equal(asked.ops, &ops);
    assert_ptr_equal(asked.state, &mine);
    case_option_forms_form_whole_answer_frames(call, &response, frames, 2, NULL, NULL);
    assert_int_equal(asked.n_frames, 2);
    assert_ptr_equal(asked.message, &response);
}

static void handlers_named_like_keywords_have_an_underscore(void **state)
{
    (void)state;
    const struct case_rpc_words_word_ops ops = { .delete_ = NULL, .errno_ = NULL, .register_ = NULL };
    (void)ops;
    assert_string_equal(CASE_RPC_WORDS_WORD_DELETE_METHOD->name, "case.rpc_words.WordService/Delete");
}

static void the_descriptor_describes_the_file(void **state)
{
    (void)state;
    struct tq_bytes bytes = case_option_forms_form_service.file_descriptor;
    Google__Protobuf__FileDescriptorProto *file =
        google__protobuf__file_descriptor_proto__unpack(NULL, bytes.len, bytes.ptr);
    assert_non_null(file);
    assert_string_equal(file->name, "option_forms.proto");
    assert_string_equal(file->package, "case.option_forms");
    assert_int_equal(file->n_service, 1);
    assert_int_equal(file->service[0]->n_method, 3);
    assert_int_equal(file->n_dependency, 1); /* for reflection our options are part of the file */
    assert_null(file->source_code_info);
    google__protobuf__file_descriptor_proto__free_unpacked(file, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_limits_and_flags_are_those_of_the_option),
        cmocka_unit_test(an_option_in_pieces_is_joined),
        cmocka_unit_test(what_is_not_stated_has_its_default),
        cmocka_unit_test(stubs_hand_on_what_they_get),
        cmocka_unit_test(the_accessor_gives_only_its_own_message),
        cmocka_unit_test(dispatch_reaches_the_handler_or_says_that_there_is_none),
        cmocka_unit_test(registration_and_frames_pass_through),
        cmocka_unit_test(handlers_named_like_keywords_have_an_underscore),
        cmocka_unit_test(the_descriptor_describes_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tools/protoc-gen-tq/cname.h"
#include "tools/protoc-gen-tq/comment.h"
#include "tools/protoc-gen-tq/emit.h"

static void add_ops(struct text *text, const struct planned_service *service)
{
    text_add(text,
             "\n/* The handlers of %s, on the server's loop thread. `request` lives until the call is answered. A\n"
             " * method without a handler answers UNIMPLEMENTED. */\n"
             "struct %s_ops {\n",
             service->full_name, service->c_name);
    for (size_t i = 0; i < service->n_methods; i++) {
        const struct planned_method *method = &service->methods[i];
        text_add(text, "    void (*%s)(void *state, const %s *request, struct tq_server_call *call);\n", method->member,
                 cname_type(text->pool, method->request->name));
    }
    text_add(text, "};\n");
}

static void add_registration(struct text *text, const struct planned_service *service, const char *before,
                             const char *end)
{
    text_add(text,
             "%stq_status %s_add(struct tq_server *server, const struct %s_ops *ops, void *state,\n"
             "    struct tq_error *err)%s",
             before, service->c_name, service->c_name, end);
}

static void add_answer(struct text *text, const struct planned_method *method, const char *end)
{
    text_add(text, "void %s_answer(struct tq_server_call *call, const %s *response)%s", method->c_name,
             cname_type(text->pool, method->response->name), end);
}

static void add_answer_frames(struct text *text, const struct planned_method *method, const char *end)
{
    text_add(text,
             "void %s_answer_frames(struct tq_server_call *call, const %s *response,\n"
             "    const struct tq_bytes *frames, size_t n_frames, void (*release)(void *user), void *user)%s",
             method->c_name, cname_type(text->pool, method->response->name), end);
}

void emit_server_declarations(struct text *text, const struct planned_service *service)
{
    add_ops(text, service);
    text_add(text, "/* Before the server starts; see tq_server_add(). */\n");
    add_registration(text, service, "TQ_MUST_CHECK ", ";\n");
    text_add(text, "/* Each ends its call; see tq_server_answer(). */\n");
    for (size_t i = 0; i < service->n_methods; i++) {
        add_answer(text, &service->methods[i], ";\n");
        if (service->methods[i].option.is_bulk)
            add_answer_frames(text, &service->methods[i], ";\n");
    }
}

static void add_invoke(struct text *text, const struct planned_service *service, const struct planned_method *method)
{
    text_add(text,
             "\nstatic bool invoke_%s(const void *ops, void *state, const ProtobufCMessage *request,\n"
             "    struct tq_server_call *call)\n{\n",
             method->c_name);
    text_add(text, "    const struct %s_ops *handlers = (const struct %s_ops *)ops;\n", service->c_name,
             service->c_name);
    text_add(text, "    if (handlers->%s == NULL)\n        return false;\n", method->member);
    /* In parentheses: the member may have the name of a macro with arguments, such as assert. */
    text_add(text, "    (handlers->%s)(state, (const %s *)request, call);\n    return true;\n}\n", method->member,
             cname_type(text->pool, method->request->name));
}

static void add_answers(struct text *text, const struct planned_method *method)
{
    text_add(text, "\n");
    add_answer(text, method, "\n{\n");
    text_add(text, "    tq_server_answer(call, (const ProtobufCMessage *)response);\n}\n");
    if (!method->option.is_bulk)
        return;
    text_add(text, "\n");
    add_answer_frames(text, method, "\n{\n");
    text_add(text, "    tq_server_answer_frames(call, (const ProtobufCMessage *)response, frames, n_frames, release, "
                   "user);\n}\n");
}

void emit_server_definitions(struct text *text, const struct planned_service *service)
{
    for (size_t i = 0; i < service->n_methods; i++)
        add_invoke(text, service, &service->methods[i]);
    text_add(text, "\n");
    add_registration(text, service, "", "\n{\n");
    text_add(text, "    return tq_server_add(server, &%s_service, ops, state, err);\n}\n", service->c_name);
    for (size_t i = 0; i < service->n_methods; i++)
        add_answers(text, &service->methods[i]);
}

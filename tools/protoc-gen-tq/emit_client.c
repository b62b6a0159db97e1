#include "tools/protoc-gen-tq/cname.h"
#include "tools/protoc-gen-tq/emit.h"

static void add_blocking(struct text *text, const struct planned_method *method, const char *end)
{
    text_add(text,
             "tq_status %s(struct tq_channel *channel, const %s *request,\n"
             "    const struct tq_call_opts *opts, struct tq_reply *reply)%s",
             method->c_name, cname_type(text->pool, method->request->name), end);
}

static void add_cb(struct text *text, const struct planned_method *method, const char *before, const char *end)
{
    text_add(text,
             "%stq_status %s_cb(struct tq_channel *channel, const %s *request,\n"
             "    const struct tq_call_opts *opts, tq_done_fn *done, void *user, uint64_t *out_call_id,\n"
             "    struct tq_error *err)%s",
             before, method->c_name, cname_type(text->pool, method->request->name), end);
}

static void add_start(struct text *text, const struct planned_method *method, const char *end)
{
    text_add(text,
             "struct tq_future *%s_start(struct tq_channel *channel, const %s *request,\n"
             "    const struct tq_call_opts *opts)%s",
             method->c_name, cname_type(text->pool, method->request->name), end);
}

void emit_client_declarations(struct text *text, const struct planned_service *service,
                              const struct planned_method *method)
{
    (void)service;
    const char *type = cname_type(text->pool, method->response->name);
    add_blocking(text, method, ";\n");
    add_cb(text, method, "TQ_MUST_CHECK ", ";\n");
    add_start(text, method, ";\n");
    text_add(text, "/* NULL when the call failed. Lives as long as the reply. */\n");
    text_add(text, "static inline const %s *%s_response(const struct tq_reply *reply)\n{\n", type, method->c_name);
    text_add(text,
             "    return reply->message != NULL && reply->message->descriptor == &%s__descriptor\n"
             "               ? (const %s *)reply->message\n               : NULL;\n}\n",
             cname_lower(text->pool, method->response->name), type);
}

void emit_client_definitions(struct text *text, const struct planned_service *service, size_t index)
{
    const struct planned_method *method = &service->methods[index];
    const char *table = pool_printf(text->pool, "&methods_of_%s[%zu]", service->c_name, index);
    text_add(text, "\n");
    add_blocking(text, method, "\n{\n");
    text_add(text, "    return tq_call(channel, %s, (const ProtobufCMessage *)request, opts, reply);\n}\n\n", table);
    add_cb(text, method, "", "\n{\n");
    text_add(text,
             "    return tq_call_cb(channel, %s, (const ProtobufCMessage *)request, opts, done, user,\n"
             "                      out_call_id, err);\n}\n\n",
             table);
    add_start(text, method, "\n{\n");
    text_add(text, "    return tq_call_start(channel, %s, (const ProtobufCMessage *)request, opts);\n}\n", table);
}

#include <string.h>

#include "tools/protoc-gen-tq/cname.h"
#include "tools/protoc-gen-tq/comment.h"
#include "tools/protoc-gen-tq/emit.h"

const char *emit_stem(struct pool *pool, const struct file *file)
{
    return pool_copy(pool, file->proto->name, strlen(file->proto->name) - strlen(".proto"));
}

static const char *idempotency_text(Tq__Idempotency idempotency)
{
    return idempotency == TQ__IDEMPOTENCY__IDEMPOTENCY_IDEMPOTENT ? "idempotent"
           : idempotency == TQ__IDEMPOTENCY__IDEMPOTENCY_KEYED    ? "repeated only with its key"
                                                                  : "sent once";
}

/* Fields whose absence shows: messages and members of oneofs. All others read as zero when they are not sent. */
static const char *presence_text(struct pool *pool, const struct message *message)
{
    const char *list = "";
    for (size_t i = 0; i < message->proto->n_field; i++) {
        const FieldProto *field = message->proto->field[i];
        bool is_message = field->type == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_MESSAGE;
        bool is_repeated = field->label == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__LABEL__LABEL_REPEATED;
        if (!is_repeated && (is_message || field->has_oneof_index))
            list = pool_printf(pool, "%s%s%s", list, list[0] == '\0' ? "" : ", ", field->name);
    }
    return list;
}

static void add_method_comment(struct text *text, const struct planned_service *service,
                               const struct planned_method *method)
{
    const struct method_option *option = &method->option;
    const char *presence = presence_text(text->pool, method->request);
    comment_add(
        text, schema_locate(service->file, method->path),
        pool_printf(
            text->pool,
            "%s: %s. Without a deadline: %u ms. Limits: %u bytes for the request, %u for the response.%s%s%s%s%s",
            method->full_name, idempotency_text(option->idempotency), option->timeout_ms, option->request_bytes,
            option->response_bytes, option->is_bulk ? " Inline frames may come along." : "",
            option->waits ? " The server may wait for max_wait_ms." : "",
            presence[0] == '\0' ? "" : "\nIn the request these show whether they were set: ", presence,
            presence[0] == '\0' ? "" : "."));
}

static void add_service(struct text *text, const struct planned_service *service)
{
    text_add(text, "\n");
    comment_add(text, schema_locate(service->file, service->path),
                pool_printf(text->pool, "Service %s.", service->full_name));
    text_add(text, "extern const struct tq_service %s_service;\n", service->c_name);
    for (size_t i = 0; i < service->n_methods; i++) {
        const struct planned_method *method = &service->methods[i];
        text_add(text, "\n");
        add_method_comment(text, service, method);
        text_add(text, "#define %s_ID 0x%04xu\n", method->c_macro, method->option.id);
        text_add(text, "#define %s_METHOD (&%s_service.methods[%zu])\n", method->c_macro, service->c_name, i);
        emit_client_declarations(text, service, method);
    }
    emit_server_declarations(text, service);
}

void emit_header(struct text *text, const struct file *file, const struct plan *plan)
{
    const char *guard = cname_guard(text->pool, file->proto->name);
    text_add(text, "/* Written by protoc-gen-tq from %s. Do not edit.\n", file->proto->name);
    text_add(text,
             " * X() blocks, X_cb() calls back, X_start() gives a future; owners, threads and errors: tq/rpc.h. */\n");
    text_add(text, "#ifndef TQ_GENERATED_%s_H\n#define TQ_GENERATED_%s_H\n\n", guard, guard);
    text_add(text, "#include \"tq/rpc.h\"\n\n#include \"%s.pb-c.h\"\n", emit_stem(text->pool, file));
    text_add(text, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    for (size_t i = 0; i < plan->n_services; i++)
        if (plan->services[i].file == file)
            add_service(text, &plan->services[i]);
    text_add(text, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

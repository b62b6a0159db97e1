#include "tools/protoc-gen-tq/cname.h"
#include "tools/protoc-gen-tq/emit.h"

/* Without comments and places: a change of a comment must not change the descriptor. */
void emit_file_descriptor(struct text *text, const struct file *file)
{
    FileProto bare = *file->proto;
    bare.source_code_info = NULL;
    size_t len = google__protobuf__file_descriptor_proto__get_packed_size(&bare);
    uint8_t *bytes = pool_zalloc(text->pool, len + 1);
    google__protobuf__file_descriptor_proto__pack(&bare, bytes);
    text_add(text,
             "\n/* FileDescriptorProto of %s, without comments. */\nstatic const uint8_t file_descriptor[%zu] = {",
             file->proto->name, len);
    for (size_t i = 0; i < len; i++)
        text_add(text, "%s0x%02x,", i % 16 == 0 ? "\n    " : " ", bytes[i]);
    text_add(text, "\n};\n");
}

static const char *idempotency_name(Tq__Idempotency idempotency)
{
    return idempotency == TQ__IDEMPOTENCY__IDEMPOTENCY_IDEMPOTENT ? "TQ_IDEMPOTENT"
           : idempotency == TQ__IDEMPOTENCY__IDEMPOTENCY_KEYED    ? "TQ_KEYED"
                                                                  : "TQ_ONCE";
}

static const char *flags(const struct method_option *option)
{
    return option->is_bulk && option->waits ? "TQ_METHOD_BULK | TQ_METHOD_WAITS"
           : option->is_bulk                ? "TQ_METHOD_BULK"
           : option->waits                  ? "TQ_METHOD_WAITS"
                                            : "0";
}

static void add_method(struct text *text, const struct planned_method *method)
{
    struct pool *pool = text->pool;
    const struct method_option *option = &method->option;
    text_add(text, "    {\n        .id = %s_ID,\n        .name = \"%s\",\n", method->c_macro, method->full_name);
    text_add(text, "        .request = &%s__descriptor,\n", cname_lower(pool, method->request->name));
    text_add(text, "        .response = &%s__descriptor,\n", cname_lower(pool, method->response->name));
    text_add(text, "        .idempotency = %s,\n", idempotency_name(option->idempotency));
    text_add(text, "        .timeout_ms = %u,\n", option->timeout_ms);
    text_add(text, "        .request_bytes = %u,\n", option->request_bytes);
    text_add(text, "        .response_bytes = %u,\n", option->response_bytes);
    text_add(text, "        .request_elements = %u,\n", option->request_elements);
    text_add(text, "        .response_elements = %u,\n", option->response_elements);
    text_add(text, "        .flags = %s,\n        .invoke = invoke_%s,\n    },\n", flags(option), method->c_name);
}

void emit_tables(struct text *text, const struct planned_service *service)
{
    text_add(text, "\nstatic const struct tq_method methods_of_%s[%zu] = {\n", service->c_name, service->n_methods);
    for (size_t i = 0; i < service->n_methods; i++)
        add_method(text, &service->methods[i]);
    text_add(text,
             "};\n\nconst struct tq_service %s_service = {\n"
             "    .name = \"%s\",\n    .methods = methods_of_%s,\n    .n_methods = %zu,\n"
             "    .file_descriptor = { file_descriptor, sizeof(file_descriptor) },\n};\n",
             service->c_name, service->full_name, service->c_name, service->n_methods);
}

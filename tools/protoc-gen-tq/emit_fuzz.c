#include "tools/protoc-gen-tq/emit_fuzz.h"

#include <string.h>

#include "tools/protoc-gen-tq/cname.h"
#include "tools/protoc-gen-tq/emit.h"

static const char *folder(struct pool *pool, const struct file *file)
{
    const char *slash = strrchr(file->proto->name, '/');
    return slash == NULL ? "" : pool_copy(pool, file->proto->name, (size_t)(slash + 1 - file->proto->name));
}

static void begin(struct text *text, const struct file *file, const char *what)
{
    text_add(text, "/* Written by protoc-gen-tq from %s. Do not edit. %s */\n", file->proto->name, what);
    text_add(text, "#include \"%s.tq.h\"\n#include \"tq/fuzz.h\"\n\n", emit_stem(text->pool, file));
    text_add(text, "int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);\n\n");
}

static const char *request_content(struct pool *pool, const struct planned_service *service,
                                   const struct planned_method *method)
{
    struct text text = { .pool = pool };
    begin(&text, service->file,
          pool_printf(pool, "What the decoder accepts as\n * %s, it reproduces.", method->request->name));
    text_add(&text, "int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)\n{\n");
    text_add(&text, "    return tq_fuzz_request(%s_METHOD, data, size);\n}\n", method->c_macro);
    return text_peek(&text);
}

static const char *dispatch_content(struct pool *pool, const struct planned_service *service)
{
    struct text text = { .pool = pool };
    begin(
        &text, service->file,
        pool_printf(pool, "Each method of\n * %s reaches its own handler, with its own message.", service->full_name));
    for (size_t i = 0; i < service->n_methods; i++) {
        const struct planned_method *method = &service->methods[i];
        text_add(&text, "static void on_%s(void *state, const %s *request, struct tq_server_call *call)\n{\n",
                 method->c_name, cname_type(pool, method->request->name));
        text_add(&text, "    tq_fuzz_saw(state, %s_METHOD, (const ProtobufCMessage *)request, call);\n}\n\n",
                 method->c_macro);
    }
    text_add(&text, "static const struct %s_ops handlers = {\n", service->c_name);
    for (size_t i = 0; i < service->n_methods; i++)
        text_add(&text, "    .%s = on_%s,\n", service->methods[i].member, service->methods[i].c_name);
    text_add(&text, "};\n\nint LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)\n{\n");
    text_add(&text, "    return tq_fuzz_dispatch(&%s_service, &handlers, sizeof(handlers), data, size);\n}\n",
             service->c_name);
    return text_peek(&text);
}

static bool add(struct fuzz_targets *targets, struct fuzz_target target, const struct planned_service *service,
                struct refusal *refusal)
{
    for (size_t i = 0; i < targets->n; i++)
        if (strcmp(targets->at[i].name, target.name) == 0)
            return schema_refuse(refusal, service->file, service->path, "two fuzz targets would be called %s",
                                 target.name);
    targets->at[targets->n++] = target;
    return true;
}

/* The target of a message that several methods take is written once, with the limits of the first. */
static bool is_first_with_request(const struct plan *plan, const struct planned_method *method)
{
    for (size_t s = 0; s < plan->n_services; s++)
        for (size_t m = 0; plan->services[s].file->is_wanted && m < plan->services[s].n_methods; m++)
            if (plan->services[s].methods[m].request == method->request)
                return &plan->services[s].methods[m] == method;
    return false;
}

static bool add_service(struct pool *pool, const struct plan *plan, const struct planned_service *service,
                        struct fuzz_targets *targets, struct refusal *refusal)
{
    const char *in = folder(pool, service->file);
    for (size_t i = 0; i < service->n_methods; i++) {
        const struct planned_method *method = &service->methods[i];
        const char *name = pool_printf(pool, "%s_fuzz", cname_snake(pool, method->request->name));
        struct fuzz_target target = { name, pool_printf(pool, "%s%s.c", in, name),
                                      request_content(pool, service, method) };
        if (is_first_with_request(plan, method) && !add(targets, target, service, refusal))
            return false;
    }
    const char *name = pool_printf(pool, "%s_dispatch_fuzz", service->c_name);
    struct fuzz_target target = { name, pool_printf(pool, "%s%s.c", in, name), dispatch_content(pool, service) };
    return add(targets, target, service, refusal);
}

bool emit_fuzz(const struct schema *schema, const struct plan *plan, struct fuzz_targets *out_targets,
               struct refusal *refusal)
{
    size_t most = plan->n_services;
    for (size_t i = 0; i < plan->n_services; i++)
        most += plan->services[i].n_methods;
    out_targets->at = pool_array(schema->pool, most, sizeof(out_targets->at[0]));
    out_targets->n = 0;
    for (size_t i = 0; i < plan->n_services; i++)
        if (plan->services[i].file->is_wanted &&
            !add_service(schema->pool, plan, &plan->services[i], out_targets, refusal))
            return false;
    return true;
}

const char *emit_fuzz_list(struct pool *pool, const struct fuzz_targets *targets)
{
    struct text text = { .pool = pool };
    text_add(&text, "# Written by protoc-gen-tq. Do not edit. Fuzz targets as NAME=SOURCE.\nset(TQ_FUZZ_SOURCES");
    for (size_t i = 0; i < targets->n; i++)
        text_add(&text, "\n    \"%s=%s\"", targets->at[i].name, targets->at[i].path);
    text_add(&text, ")\n");
    return text_peek(&text);
}

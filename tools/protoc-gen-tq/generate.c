#include "tools/protoc-gen-tq/generate.h"

#include "tools/protoc-gen-tq/chain.h"
#include "tools/protoc-gen-tq/emit.h"
#include "tools/protoc-gen-tq/intake.h"
#include "tools/protoc-gen-tq/names.h"
#include "tools/protoc-gen-tq/parameter.h"
#include "tools/protoc-gen-tq/shapes.h"
#include "tools/protoc-gen-tq/strip.h"

enum { FEATURE_PROTO3_OPTIONAL = 1 }; /* so that we refuse it, with a line, and not protoc without one */

struct run {
    struct pool *pool;
    const struct generate_opts *opts;
    RequestProto *request;
    struct parameter parameter;
    struct schema schema;
    struct plan plan;
    ResponseFileProto **files;
    size_t n_files;
    struct refusal refusal;
};

static void add_file(struct run *run, const char *name, const char *content)
{
    ResponseFileProto *file = pool_zalloc(run->pool, sizeof(*file));
    google__protobuf__compiler__code_generator_response__file__init(file);
    file->name = (char *)name; /* only packed: nobody writes to it */
    file->content = (char *)content;
    run->files[run->n_files++] = file;
}

static void emit_file(struct run *run, const struct file *file)
{
    const char *stem = emit_stem(run->pool, file);
    struct text header = { .pool = run->pool }, source = { .pool = run->pool };
    emit_header(&header, file, &run->plan);
    emit_source(&source, file, &run->plan);
    add_file(run, pool_printf(run->pool, "%s.tq.h", stem), text_peek(&header));
    add_file(run, pool_printf(run->pool, "%s.tq.c", stem), text_peek(&source));
}

static bool understand(struct run *run, struct tq_bytes bytes)
{
    run->request = intake_unpack(run->pool, bytes, &run->refusal);
    return run->request != NULL &&
           parameter_parse(run->pool, run->request->parameter, &run->parameter, &run->refusal) &&
           schema_build(run->pool, run->request, &run->schema, &run->refusal) &&
           shapes_check(&run->schema, &run->refusal) && plan_make(&run->schema, &run->plan, &run->refusal) &&
           names_check(&run->schema, &run->plan, &run->refusal);
}

/* Last, because it changes the request on which everything else looks. */
static ResponseProto *run_protoc_gen_c(struct run *run)
{
    strip_request(run->pool, run->request);
    return chain_run(run->pool, run->parameter.protoc_gen_c, run->request, &run->refusal);
}

static struct tq_bytes pack_response(struct run *run, const ResponseProto *messages)
{
    ResponseProto response = GOOGLE__PROTOBUF__COMPILER__CODE_GENERATOR_RESPONSE__INIT;
    response.has_supported_features = true;
    response.supported_features = FEATURE_PROTO3_OPTIONAL;
    if (run->refusal.text[0] != '\0') {
        response.error = run->refusal.text;
    } else {
        size_t n_messages = messages == NULL ? 0 : messages->n_file;
        ResponseFileProto **files = pool_array(run->pool, n_messages + run->n_files, sizeof(files[0]));
        for (size_t i = 0; i < n_messages; i++)
            files[response.n_file++] = messages->file[i];
        for (size_t i = 0; i < run->n_files; i++)
            files[response.n_file++] = run->files[i];
        response.file = files;
    }
    size_t len = google__protobuf__compiler__code_generator_response__get_packed_size(&response);
    uint8_t *bytes = pool_zalloc(run->pool, len + 1);
    google__protobuf__compiler__code_generator_response__pack(&response, bytes);
    return (struct tq_bytes){ .ptr = bytes, .len = len };
}

struct tq_bytes generate(struct pool *pool, struct tq_bytes request, const struct generate_opts *opts)
{
    struct run run = { .pool = pool, .opts = opts };
    ResponseProto *messages = NULL;
    if (understand(&run, request)) {
        run.files = pool_array(pool, 2 * run.schema.n_files, sizeof(run.files[0]));
        for (size_t i = 0; i < run.schema.n_files; i++)
            if (run.schema.files[i].is_wanted && !run.parameter.only_fuzz)
                emit_file(&run, &run.schema.files[i]);
        if (!opts->skip_messages && !run.parameter.only_fuzz)
            messages = run_protoc_gen_c(&run);
    }
    struct tq_bytes response = pack_response(&run, messages);
    if (messages != NULL)
        google__protobuf__compiler__code_generator_response__free_unpacked(messages, NULL);
    return response;
}

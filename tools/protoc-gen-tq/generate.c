#include "tools/protoc-gen-tq/generate.h"

#include <string.h>

#include "tools/protoc-gen-tq/chain.h"
#include "tools/protoc-gen-tq/emit.h"
#include "tools/protoc-gen-tq/emit_fuzz.h"
#include "tools/protoc-gen-tq/imports.h"
#include "tools/protoc-gen-tq/intake.h"
#include "tools/protoc-gen-tq/names.h"
#include "tools/protoc-gen-tq/parameter.h"
#include "tools/protoc-gen-tq/shapes.h"
#include "tools/protoc-gen-tq/strip.h"
#include "tools/protoc-gen-tq/unions.h"

enum { FEATURE_PROTO3_OPTIONAL = 1 }; /* so that we refuse it, with a line, and not protoc without one */

struct run {
    struct pool *pool;
    RequestProto *request;
    struct parameter parameter;
    struct schema schema;
    struct plan plan;
    ResponseFileProto **files;
    size_t n_files, room;
    struct refusal refusal;
};

static void add_file(struct run *run, const char *name, const char *content)
{
    ResponseFileProto *file = pool_zalloc(run->pool, sizeof(*file));
    if (run->n_files == run->room) {
        size_t room = run->room * 2 + 16;
        ResponseFileProto **files = pool_pointers(run->pool, room);
        for (size_t i = 0; i < run->n_files; i++)
            files[i] = run->files[i];
        run->files = files;
        run->room = room;
    }
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

static void emit_fuzz_files(struct run *run)
{
    struct fuzz_targets targets;
    if (!emit_fuzz(&run->schema, &run->plan, &targets, &run->refusal))
        return;
    for (size_t i = 0; i < targets.n; i++)
        add_file(run, targets.at[i].path, targets.at[i].content);
    add_file(run, "fuzz_targets.cmake", emit_fuzz_list(run->pool, &targets));
}

static bool understand(struct run *run, struct tq_bytes bytes)
{
    run->request = intake_unpack(run->pool, bytes, &run->refusal);
    return run->request != NULL &&
           parameter_parse(run->pool, run->request->parameter, &run->parameter, &run->refusal) &&
           schema_build(run->pool, run->request, &run->schema, &run->refusal) &&
           shapes_check(&run->schema, &run->refusal) && plan_make(&run->schema, &run->plan, &run->refusal) &&
           imports_check(&run->schema, &run->plan, &run->refusal) &&
           names_check(&run->schema, &run->plan, &run->refusal);
}

/* Last, because it changes the request on which everything else looks. */
static ResponseProto *run_protoc_gen_c(struct run *run)
{
    strip_request(run->pool, run->request);
    unions_arrange(run->pool, run->request);
    return chain_run(run->pool, run->parameter.protoc_gen_c, run->request, &run->refusal);
}

/* The text of a file of protoc-gen-c, mended when it is the header of a file to generate. */
static const char *mended(struct run *run, const ResponseFileProto *file)
{
    for (size_t i = 0; i < run->schema.n_files; i++) {
        const struct file *from = &run->schema.files[i];
        if (from->is_wanted && file->name != NULL && file->content != NULL &&
            strcmp(file->name, pool_printf(run->pool, "%s.pb-c.h", emit_stem(run->pool, from))) == 0)
            return unions_fix_header(run->pool, from->proto, file->content);
    }
    return file->content;
}

static void take_messages(struct run *run, const ResponseProto *messages)
{
    for (size_t i = 0; messages != NULL && i < messages->n_file; i++)
        add_file(run, messages->file[i]->name, mended(run, messages->file[i]));
}

static struct tq_bytes pack_response(struct run *run)
{
    ResponseProto response = GOOGLE__PROTOBUF__COMPILER__CODE_GENERATOR_RESPONSE__INIT;
    bool is_refused = run->refusal.text[0] != '\0';
    response.has_supported_features = true;
    response.supported_features = FEATURE_PROTO3_OPTIONAL;
    response.error = is_refused ? run->refusal.text : NULL;
    response.file = run->files;
    response.n_file = is_refused ? 0 : run->n_files;
    size_t len = google__protobuf__compiler__code_generator_response__get_packed_size(&response);
    uint8_t *bytes = pool_zalloc(run->pool, len + 1);
    google__protobuf__compiler__code_generator_response__pack(&response, bytes);
    return (struct tq_bytes){ .ptr = bytes, .len = len };
}

struct tq_bytes generate(struct pool *pool, struct tq_bytes request, const struct generate_opts *opts)
{
    struct run run = { .pool = pool };
    ResponseProto *messages = NULL;
    if (understand(&run, request)) {
        for (size_t i = 0; i < run.schema.n_files; i++)
            if (run.schema.files[i].is_wanted && !run.parameter.only_fuzz)
                emit_file(&run, &run.schema.files[i]);
        if (run.parameter.fuzz || run.parameter.only_fuzz)
            emit_fuzz_files(&run);
        if (!opts->skip_messages && !run.parameter.only_fuzz)
            messages = run_protoc_gen_c(&run);
    }
    take_messages(&run, messages);
    return pack_response(&run);
}

#include "tools/protoc-gen-tq/strip.h"

#include <string.h>

#include "tools/protoc-gen-tq/comment.h"
#include "tools/protoc-gen-tq/imports.h"
#include "tools/protoc-gen-tq/option.h"

static void strip_options(ProtobufCMessage *options)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < options->n_unknown_fields; i++)
        if (options->unknown_fields[i].tag != OPTION_TAG)
            options->unknown_fields[kept++] = options->unknown_fields[i];
    options->n_unknown_fields = kept;
}

static void strip_enum(EnumProto *proto)
{
    if (proto->options != NULL)
        strip_options(&proto->options->base);
    for (size_t i = 0; i < proto->n_value; i++)
        if (proto->value[i]->options != NULL)
            strip_options(&proto->value[i]->options->base);
}

static void strip_message(MessageProto *proto)
{
    if (proto->options != NULL)
        strip_options(&proto->options->base);
    for (size_t i = 0; i < proto->n_field; i++)
        if (proto->field[i]->options != NULL)
            strip_options(&proto->field[i]->options->base);
    for (size_t i = 0; i < proto->n_oneof_decl; i++)
        if (proto->oneof_decl[i]->options != NULL)
            strip_options(&proto->oneof_decl[i]->options->base);
    for (size_t i = 0; i < proto->n_enum_type; i++)
        strip_enum(proto->enum_type[i]);
    for (size_t i = 0; i < proto->n_nested_type; i++)
        strip_message(proto->nested_type[i]);
}

/* The lists of public and weak imports hold indexes of `dependency`. */
static size_t close_gap(int32_t *indexes, size_t n, size_t gap)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (indexes[i] >= 0 && (size_t)indexes[i] != gap)
            indexes[kept++] = indexes[i] - ((size_t)indexes[i] > gap);
    return kept;
}

static void strip_imports(const RequestProto *request, FileProto *proto)
{
    size_t kept = 0;
    for (size_t i = 0; i < proto->n_dependency; i++) {
        if (!imports_is_options_file(request, proto->dependency[i])) {
            proto->dependency[kept++] = proto->dependency[i];
            continue;
        }
        proto->n_public_dependency = close_gap(proto->public_dependency, proto->n_public_dependency, kept);
        proto->n_weak_dependency = close_gap(proto->weak_dependency, proto->n_weak_dependency, kept);
    }
    proto->n_dependency = kept;
}

static void defuse_comments(struct pool *pool, FileProto *proto)
{
    for (size_t i = 0; proto->source_code_info != NULL && i < proto->source_code_info->n_location; i++) {
        LocationProto *location = proto->source_code_info->location[i];
        location->leading_comments = comment_defuse(pool, location->leading_comments);
        location->trailing_comments = comment_defuse(pool, location->trailing_comments);
    }
}

/* Places that belong to services would be paths to nothing. */
static void strip_service_places(FileProto *proto)
{
    size_t kept = 0;
    if (proto->source_code_info == NULL)
        return;
    LocationProto **locations = proto->source_code_info->location;
    for (size_t i = 0; i < proto->source_code_info->n_location; i++)
        if (locations[i]->n_path == 0 || locations[i]->path[0] != IN_FILE_SERVICE)
            locations[kept++] = locations[i];
    proto->source_code_info->n_location = kept;
}

static void strip_file(struct pool *pool, FileProto *proto)
{
    if (proto->options != NULL)
        strip_options(&proto->options->base);
    for (size_t i = 0; i < proto->n_message_type; i++)
        strip_message(proto->message_type[i]);
    for (size_t i = 0; i < proto->n_enum_type; i++)
        strip_enum(proto->enum_type[i]);
    proto->n_service = 0;
    strip_service_places(proto);
    defuse_comments(pool, proto);
}

static bool is_wanted(const RequestProto *request, const char *name)
{
    for (size_t i = 0; i < request->n_file_to_generate; i++)
        if (strcmp(request->file_to_generate[i], name) == 0)
            return true;
    return false;
}

void strip_request(struct pool *pool, RequestProto *request)
{
    for (size_t i = 0; i < request->n_proto_file; i++)
        strip_file(pool, request->proto_file[i]);
    for (size_t i = 0; i < request->n_proto_file; i++)
        if (is_wanted(request, request->proto_file[i]->name))
            strip_imports(request, request->proto_file[i]);
    request->parameter = NULL; /* ours */
}

#include "tools/protoc-gen-tq/shapes.h"

#include <string.h>

#include "tools/protoc-gen-tq/cname.h"
#include "tools/protoc-gen-tq/option.h"
#include "tools/protoc-gen-tq/reserved.h"

struct walk {
    struct schema *schema;
    struct refusal *refusal;
    struct message *open[SHAPES_DEPTH_MAX]; /* from the outermost to the one that is looked at */
    unsigned depth;
};

static struct path field_path(struct walk *walk, const struct message *message, size_t index)
{
    return path_below(walk->schema->pool, message->path, IN_MESSAGE_FIELD, index);
}

/* "a.Tree > a.Leaf > a.Tree" */
static const char *cycle_text(struct walk *walk, const struct message *again)
{
    struct pool *pool = walk->schema->pool;
    const char *text = "";
    bool is_inside = false;
    for (unsigned i = 0; i < walk->depth; i++) {
        is_inside = is_inside || walk->open[i] == again;
        if (is_inside)
            text = pool_printf(pool, "%s%s > ", text, walk->open[i]->name);
    }
    return pool_printf(pool, "%s%s", text, again->name);
}

/* What protoc-gen-c does not write correctly as a default; NULL when it does. */
static const char *wrong_default(const FieldProto *field)
{
    const char *value = field->default_value;
    if (value == NULL)
        return NULL;
    if (field->type == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_STRING ||
        field->type == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_BYTES)
        return strstr(value, "??") == NULL ? NULL : "a default with ??, which may be a trigraph";
    if (strcmp(value, "inf") == 0 || strcmp(value, "-inf") == 0)
        return "the default inf, which protoc-gen-c writes as an unknown name";
    if (strcmp(value, "nan") == 0)
        return "the default nan, which protoc-gen-c writes as an unknown name";
    return strcmp(value, "-9223372036854775808") == 0
               ? "the default -9223372036854775808, which no constant in C can be"
               : NULL;
}

static bool check_field(struct walk *walk, const struct message *message, size_t index)
{
    const FieldProto *field = message->proto->field[index];
    struct path path = field_path(walk, message, index);
    if (field->has_proto3_optional && field->proto3_optional)
        return schema_refuse(walk->refusal, message->file, path,
                             "field %s.%s is proto3 optional: use a oneof of one member", message->name, field->name);
    if (field->type == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_GROUP)
        return schema_refuse(walk->refusal, message->file, path, "field %s.%s is a group: use a message", message->name,
                             field->name);
    if (wrong_default(field) != NULL)
        return schema_refuse(walk->refusal, message->file, path, "field %s.%s has %s", message->name, field->name,
                             wrong_default(field));
    if (option_has_extension(field->options == NULL ? NULL : &field->options->base, PROTOBUF_C_OPTION_TAG))
        return schema_refuse(walk->refusal, message->file, path,
                             "field %s.%s has options of protobuf-c: they change what is generated", message->name,
                             field->name);
    return true;
}

static bool walk_message(struct walk *walk, struct message *message);

/* Looks at the message of field `index`, if it has one, and below. */
static bool walk_field(struct walk *walk, struct message *message, size_t index)
{
    const FieldProto *field = message->proto->field[index];
    struct message *below = schema_find_message(walk->schema, field->type_name);
    if (!check_field(walk, message, index))
        return false;
    if (below == NULL)
        return true;
    if (below->mark == MARK_OPEN)
        return schema_refuse(walk->refusal, message->file, field_path(walk, message, index),
                             "field %s.%s makes a message contain itself: %s", message->name, field->name,
                             cycle_text(walk, below));
    if (walk->depth < SHAPES_DEPTH_MAX && below->mark == MARK_NEW && !walk_message(walk, below))
        return false;
    if (below->mark == MARK_NEW || below->height >= SHAPES_DEPTH_MAX)
        return schema_refuse(walk->refusal, message->file, field_path(walk, message, index),
                             "field %s.%s: messages lie more than %d deep in one another", message->name, field->name,
                             SHAPES_DEPTH_MAX);
    if (message->height < below->height + 1)
        message->height = below->height + 1;
    return true;
}

/* Depth first; to meet a message that is still open means that it contains itself. */
static bool walk_message(struct walk *walk, struct message *message)
{
    const Google__Protobuf__MessageOptions *options = message->proto->options;
    if (option_has_extension(options == NULL ? NULL : &options->base, PROTOBUF_C_OPTION_TAG))
        return schema_refuse(walk->refusal, message->file, message->path,
                             "message %s has options of protobuf-c: they change what is generated", message->name);
    message->mark = MARK_OPEN;
    message->height = 1;
    walk->open[walk->depth++] = message;
    for (size_t i = 0; i < message->proto->n_field; i++)
        if (!walk_field(walk, message, i))
            return false;
    message->mark = MARK_DONE;
    walk->depth--;
    return true;
}

static bool check_file(const struct schema *schema, const struct file *file, struct refusal *refusal)
{
    struct path syntax = path_to_field(schema->pool, (struct path){ 0 }, IN_FILE_SYNTAX);
    struct path package = path_to_field(schema->pool, (struct path){ 0 }, IN_FILE_PACKAGE);
    struct path options = path_to_field(schema->pool, (struct path){ 0 }, IN_FILE_OPTIONS);
    const FileProto *proto = file->proto;
    if (proto->syntax != NULL && strcmp(proto->syntax, "proto3") != 0 && strcmp(proto->syntax, "proto2") != 0)
        return schema_refuse(refusal, file, syntax, "syntax \"%s\": proto3 and proto2 are known", proto->syntax);
    if (file->package[0] == '\0')
        return schema_refuse(refusal, file, syntax, "the file has no package: its names in C would have no prefix");
    if (reserved_is_taken_package(cname_snake(schema->pool, file->package)))
        return schema_refuse(refusal, file, package, "package %s: names in C that begin so belong to another library",
                             file->package);
    if (option_has_extension(proto->options == NULL ? NULL : &proto->options->base, PROTOBUF_C_OPTION_TAG))
        return schema_refuse(refusal, file, options, "options of protobuf-c change what is generated");
    return true;
}

bool shapes_check(struct schema *schema, struct refusal *refusal)
{
    struct walk walk = { .schema = schema, .refusal = refusal };
    for (size_t i = 0; i < schema->n_files; i++)
        if (schema->files[i].is_wanted && !check_file(schema, &schema->files[i], refusal))
            return false;
    for (size_t i = 0; i < schema->n_messages; i++) {
        struct message *message = &schema->messages[i];
        if (message->file->is_wanted && message->mark == MARK_NEW && !walk_message(&walk, message))
            return false;
    }
    return true;
}

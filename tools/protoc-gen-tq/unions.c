#include "tools/protoc-gen-tq/unions.h"

#include <string.h>

#include "tools/protoc-gen-tq/cname.h"
#include "tools/protoc-gen-tq/text.h"

/* The size in bytes of a field's member, as far as it matters which is larger. */
static unsigned member_size(const FieldProto *field)
{
    switch (field->type) {
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_BYTES:
        return 16; /* ProtobufCBinaryData */
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_DOUBLE:
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_INT64:
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_UINT64:
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_SINT64:
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_FIXED64:
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_SFIXED64:
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_STRING:
    case GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_MESSAGE:
        return 8;
    default:
        return 4; /* bool is an int */
    }
}

static bool is_member(const FieldProto *field, size_t oneof)
{
    return field->has_oneof_index && (size_t)field->oneof_index == oneof;
}

/* The path of a comment goes through the index of its field, so two fields that change places take theirs along. */
static void swap_places(FileProto *file, const int32_t *path, size_t len, int32_t a, int32_t b)
{
    for (size_t i = 0; file->source_code_info != NULL && i < file->source_code_info->n_location; i++) {
        LocationProto *location = file->source_code_info->location[i];
        if (location->n_path < len + 2 || memcmp(location->path, path, len * sizeof(path[0])) != 0 ||
            location->path[len] != IN_MESSAGE_FIELD)
            continue;
        int32_t *index = &location->path[len + 1];
        *index = *index == a ? b : *index == b ? a : *index;
    }
}

static void arrange_oneof(FileProto *file, MessageProto *message, const int32_t *path, size_t len, size_t oneof)
{
    size_t first = message->n_field, largest = 0;
    for (size_t i = 0; i < message->n_field; i++) {
        if (!is_member(message->field[i], oneof))
            continue;
        if (first == message->n_field)
            first = largest = i;
        else if (member_size(message->field[i]) > member_size(message->field[largest]))
            largest = i;
    }
    if (first == message->n_field || first == largest)
        return;
    FieldProto *field = message->field[first];
    message->field[first] = message->field[largest];
    message->field[largest] = field;
    swap_places(file, path, len, (int32_t)first, (int32_t)largest);
}

static void arrange_message(struct pool *pool, FileProto *file, MessageProto *message, const int32_t *path, size_t len)
{
    for (size_t i = 0; i < message->n_oneof_decl; i++)
        arrange_oneof(file, message, path, len, i);
    for (size_t i = 0; i < message->n_nested_type; i++) {
        int32_t *below = pool_array(pool, len + 2, sizeof(below[0]));
        memcpy(below, path, len * sizeof(below[0]));
        below[len] = IN_MESSAGE_MESSAGE;
        below[len + 1] = (int32_t)i;
        arrange_message(pool, file, message->nested_type[i], below, len + 2);
    }
}

void unions_arrange(struct pool *pool, RequestProto *request)
{
    for (size_t f = 0; f < request->n_proto_file; f++) {
        FileProto *file = request->proto_file[f];
        for (size_t i = 0; i < file->n_message_type; i++) {
            const int32_t path[] = { IN_FILE_MESSAGE, (int32_t)i };
            arrange_message(pool, file, file->message_type[i], path, 2);
        }
    }
}

static const FieldProto *first_member(const MessageProto *message, size_t oneof)
{
    for (size_t i = 0; i < message->n_field; i++)
        if (is_member(message->field[i], oneof))
            return message->field[i];
    return NULL;
}

static char *replace_once(struct pool *pool, char *text, const char *old, const char *new)
{
    char *at = strstr(text, old);
    return at == NULL ? text : pool_printf(pool, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
}

static char *fix_message(struct pool *pool, char *header, const MessageProto *message, const char *scope)
{
    const char *name = pool_printf(pool, "%s.%s", scope, message->name);
    for (size_t i = 0; i < message->n_oneof_decl; i++) {
        const FieldProto *first = first_member(message, i);
        if (first == NULL || first->type != GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_BYTES)
            continue;
        const char *before = pool_printf(pool, ", %s__%s__NOT_SET, ", cname_upper(pool, name),
                                         cname_upper(pool, message->oneof_decl[i]->name));
        header =
            replace_once(pool, header, pool_printf(pool, "%s{0}", before), pool_printf(pool, "%s{{0,NULL}}", before));
    }
    for (size_t i = 0; i < message->n_nested_type; i++)
        header = fix_message(pool, header, message->nested_type[i], name);
    return header;
}

char *unions_fix_header(struct pool *pool, const FileProto *file, const char *header)
{
    char *fixed = pool_copy(pool, header, strlen(header));
    for (size_t i = 0; i < file->n_message_type; i++)
        fixed = fix_message(pool, fixed, file->message_type[i], file->package);
    return fixed;
}

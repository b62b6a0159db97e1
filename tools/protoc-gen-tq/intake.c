#include "tools/protoc-gen-tq/intake.h"

#include <string.h>

#include "tools/protoc-gen-tq/cname.h"
#include "tools/protoc-gen-tq/nesting.h"

/* Names multiply on their way to C: longer ones are refused. C11 promises 63 significant characters, compilers all. */
enum { NAME_MAX_CHARS = 512, FULL_NAME_MAX_CHARS = 1024 };

static bool is_name(const char *name)
{
    return cname_is_identifier(name) && strlen(name) <= NAME_MAX_CHARS;
}

static bool is_full_name(const char *name)
{
    bool at_start = true;
    if (strlen(name) > FULL_NAME_MAX_CHARS)
        return false;
    for (; *name != '\0'; name++) {
        bool is_digit = *name >= '0' && *name <= '9';
        bool is_letter = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || *name == '_';
        if (*name == '.' ? at_start : !(is_letter || (is_digit && !at_start)))
            return false;
        at_start = *name == '.';
    }
    return !at_start;
}

/* A name that can stand in an #include, in a comment and before ":12: reason". */
static bool is_file_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+@,=~ ";
    size_t len = name == NULL ? 0 : strlen(name);
    return len > 6 && strspn(name, allowed) == len && strcmp(name + len - 6, ".proto") == 0 &&
           strstr(name, "//") == NULL;
}

static bool is_type_name(const char *name)
{
    return name == NULL || is_full_name(name[0] == '.' ? name + 1 : name);
}

static bool check_field(const FieldProto *field, const MessageProto *owner)
{
    if (!is_name(field->name) || !field->has_number || !field->has_type || !field->has_label)
        return false;
    if (field->has_oneof_index && (field->oneof_index < 0 || (size_t)field->oneof_index >= owner->n_oneof_decl))
        return false;
    return is_type_name(field->type_name);
}

static bool check_enum(const EnumProto *proto)
{
    if (!is_name(proto->name) || proto->n_value == 0)
        return false;
    for (size_t i = 0; i < proto->n_value; i++)
        if (!is_name(proto->value[i]->name) || !proto->value[i]->has_number)
            return false;
    return true;
}

static bool check_message(const MessageProto *proto)
{
    if (!is_name(proto->name))
        return false;
    for (size_t i = 0; i < proto->n_oneof_decl; i++)
        if (!is_name(proto->oneof_decl[i]->name))
            return false;
    for (size_t i = 0; i < proto->n_field; i++)
        if (!check_field(proto->field[i], proto))
            return false;
    for (size_t i = 0; i < proto->n_enum_type; i++)
        if (!check_enum(proto->enum_type[i]))
            return false;
    for (size_t i = 0; i < proto->n_nested_type; i++)
        if (!check_message(proto->nested_type[i]))
            return false;
    return true;
}

static bool check_service(const ServiceProto *proto)
{
    if (!is_name(proto->name))
        return false;
    for (size_t i = 0; i < proto->n_method; i++) {
        const MethodProto *method = proto->method[i];
        if (!is_name(method->name) || method->input_type == NULL || method->output_type == NULL ||
            !is_type_name(method->input_type) || !is_type_name(method->output_type))
            return false;
    }
    return true;
}

static bool check_declarations(const FileProto *proto)
{
    if (proto->package != NULL && proto->package[0] != '\0' && !is_full_name(proto->package))
        return false;
    for (size_t i = 0; i < proto->n_message_type; i++)
        if (!check_message(proto->message_type[i]))
            return false;
    for (size_t i = 0; i < proto->n_enum_type; i++)
        if (!check_enum(proto->enum_type[i]))
            return false;
    for (size_t i = 0; i < proto->n_service; i++)
        if (!check_service(proto->service[i]))
            return false;
    return true;
}

static bool check_request(const RequestProto *request, struct refusal *refusal)
{
    for (size_t i = 0; i < request->n_proto_file; i++) {
        const FileProto *file = request->proto_file[i];
        if (!is_file_name(file->name))
            return refuse(refusal,
                          "a file name is no path that ends with .proto and can stand in an #include: letters, "
                          "digits and _-./+@,=~ are allowed");
        for (size_t d = 0; d < file->n_dependency; d++)
            if (!is_file_name(file->dependency[d]))
                return refuse(refusal, "%s: imports a file whose name cannot stand in an #include", file->name);
        if (!check_declarations(file))
            return refuse(refusal, "%s: not a valid file descriptor", file->name);
    }
    return true;
}

RequestProto *intake_unpack(struct pool *pool, struct tq_bytes bytes, struct refusal *refusal)
{
    ProtobufCAllocator allocator = pool_allocator(pool);
    if (!nesting_is_within(&google__protobuf__compiler__code_generator_request__descriptor, bytes)) {
        refuse(refusal, "the request is not a well-formed message, or nested more than %d deep", NESTING_MAX);
        return NULL;
    }
    RequestProto *request =
        google__protobuf__compiler__code_generator_request__unpack(&allocator, bytes.len, bytes.ptr);
    if (request == NULL)
        refuse(refusal, "the request is not a CodeGeneratorRequest");
    return request != NULL && check_request(request, refusal) ? request : NULL;
}

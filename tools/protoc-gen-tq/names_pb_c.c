/* What protoc-gen-c 1.4 declares for messages and enums. The cases of the test compile what passes here. */
#include <string.h>

#include "tools/protoc-gen-tq/cname.h"
#include "tools/protoc-gen-tq/names.h"

static const char *const message_functions[] = { "init",   "get_packed_size", "pack",      "pack_to_buffer",
                                                 "unpack", "free_unpacked",   "descriptor" };
static const char *const message_statics[] = { "field_descriptors", "field_indices_by_name", "number_ranges" };
static const char *const enum_objects[] = { "descriptor", "enum_values_by_number", "value_ranges",
                                            "enum_values_by_name" };

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* The C name of the enum case is UPPER(message)__UPPER(oneof)_UPPER(field), so a field may meet its oneof's own names.
 */
static void claim_case(const struct claimant *field, const char *message_upper, const struct message *message,
                       const FieldProto *proto)
{
    struct pool *pool = field->names->pool;
    if (!proto->has_oneof_index)
        return;
    const char *oneof = message->proto->oneof_decl[proto->oneof_index]->name;
    names_claim(field, "%s__%s_%s", message_upper, cname_upper(pool, oneof), cname_upper(pool, proto->name));
}

static bool is_proto2(const struct file *file)
{
    return file->proto->syntax == NULL || strcmp(file->proto->syntax, "proto3") != 0;
}

/* Absent ones are NULL. */
static bool is_pointer(const FieldProto *field)
{
    return field->type == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_STRING ||
           field->type == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_MESSAGE;
}

static void claim_field(struct names *names, const struct message *message, size_t index)
{
    struct pool *pool = names->pool;
    const FieldProto *proto = message->proto->field[index];
    const char *type = cname_type(pool, message->name), *member = cname_field(pool, proto->name);
    struct claimant field = {
        .names = names,
        .scope = type,
        .what = pool_printf(pool, "field %s.%s", message->name, proto->name),
        .file = message->file,
        .path = path_below(pool, message->path, IN_MESSAGE_FIELD, index),
    };
    bool is_repeated = proto->label == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__LABEL__LABEL_REPEATED;
    bool is_optional = proto->label == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__LABEL__LABEL_OPTIONAL;
    names_claim(&field, "%s", member);
    if (is_repeated)
        names_claim(&field, "n_%s", member);
    if (is_optional && !proto->has_oneof_index && is_proto2(message->file) && !is_pointer(proto))
        names_claim(&field, "has_%s", member);
    field.scope = "";
    claim_case(&field, cname_upper(pool, message->name), message, proto);
    if (proto->default_value != NULL) {
        names_claim(&field, "%s__%s__default_value", cname_lower(pool, message->name), cname_lower(pool, proto->name));
        names_claim(&field, "%s__%s__default_value_data", cname_lower(pool, message->name),
                    cname_lower(pool, proto->name));
    }
}

static void claim_oneof(struct names *names, const struct message *message, size_t index)
{
    struct pool *pool = names->pool;
    const char *name = message->proto->oneof_decl[index]->name;
    const char *upper = pool_printf(pool, "%s__%s", cname_upper(pool, message->name), cname_upper(pool, name));
    struct claimant oneof = {
        .names = names,
        .scope = cname_type(pool, message->name),
        .what = pool_printf(pool, "oneof %s.%s", message->name, name),
        .file = message->file,
        .path = path_below(pool, message->path, IN_MESSAGE_ONEOF, index),
    };
    names_claim(&oneof, "%s_case", cname_lower(pool, name));
    oneof.scope = "";
    names_claim(&oneof, "%s__NOT_SET", upper);
    names_claim(&oneof, "_%s__CASE_IS_INT_SIZE", upper);
    names_claim(&oneof, "%sCase", cname_type(pool, pool_printf(pool, "%s.%s", message->name, name)));
}

static void claim_message(struct names *names, const struct message *message)
{
    struct pool *pool = names->pool;
    const char *type = cname_type(pool, message->name), *lower = cname_lower(pool, message->name);
    struct claimant own = {
        .names = names,
        .scope = "",
        .what = pool_printf(pool, "message %s", message->name),
        .file = message->file,
        .path = message->path,
    };
    names_claim(&own, "%s", type);
    names_claim(&own, "%s_Closure", type);
    names_claim(&own, "%s__INIT", cname_upper(pool, message->name));
    for (size_t i = 0; i < N(message_functions); i++)
        names_claim(&own, "%s__%s", lower, message_functions[i]);
    for (size_t i = 0; i < N(message_statics); i++)
        names_claim(&own, "%s__%s", lower, message_statics[i]);
    own.scope = type;
    own.what = "the header `base` that every message has";
    names_claim(&own, "base");
    for (size_t i = 0; i < message->proto->n_oneof_decl; i++)
        claim_oneof(names, message, i);
    for (size_t i = 0; i < message->proto->n_field; i++)
        claim_field(names, message, i);
}

void names_claim_messages(struct names *names, const struct schema *schema)
{
    for (size_t i = 0; i < schema->n_messages; i++)
        claim_message(names, &schema->messages[i]);
}

static void claim_enum(struct names *names, const struct enumeration *enumeration)
{
    struct pool *pool = names->pool;
    const char *type = cname_type(pool, enumeration->name), *upper = cname_upper(pool, enumeration->name);
    struct claimant own = {
        .names = names,
        .scope = "",
        .what = pool_printf(pool, "enum %s", enumeration->name),
        .file = enumeration->file,
        .path = enumeration->path,
    };
    names_claim(&own, "%s", type);
    names_claim(&own, "_%s", type);
    names_claim(&own, "_%s_IS_INT_SIZE", upper);
    for (size_t i = 0; i < N(enum_objects); i++)
        names_claim(&own, "%s__%s", cname_lower(pool, enumeration->name), enum_objects[i]);
    for (size_t i = 0; i < enumeration->proto->n_value; i++) {
        const char *value = enumeration->proto->value[i]->name;
        own.what = pool_printf(pool, "enum value %s.%s", enumeration->name, value);
        own.path = path_below(pool, enumeration->path, IN_ENUM_VALUE, i);
        names_claim(&own, "%s__%s", upper, value);
    }
}

void names_claim_enums(struct names *names, const struct schema *schema)
{
    for (size_t i = 0; i < schema->n_enums; i++)
        claim_enum(names, &schema->enums[i]);
}

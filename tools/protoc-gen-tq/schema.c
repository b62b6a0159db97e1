#include "tools/protoc-gen-tq/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

struct path path_below(struct pool *pool, struct path path, int32_t field, size_t index)
{
    int32_t *at = pool_array(pool, path.len + 2, sizeof(*at));
    if (path.len > 0)
        memcpy(at, path.at, path.len * sizeof(*at));
    at[path.len] = field;
    at[path.len + 1] = (int32_t)index;
    return (struct path){ .at = at, .len = path.len + 2 };
}

struct path path_of(struct pool *pool, int32_t field, size_t index)
{
    return path_below(pool, (struct path){ 0 }, field, index);
}

struct path path_to_field(struct pool *pool, struct path path, int32_t field)
{
    struct path longer = path_below(pool, path, field, 0);
    longer.len--;
    return longer;
}

static int compare_paths(const int32_t *a, size_t a_len, const int32_t *b, size_t b_len)
{
    for (size_t i = 0; i < a_len && i < b_len; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return a_len == b_len ? 0 : a_len < b_len ? -1 : 1;
}

static int compare_locations(const void *a, const void *b)
{
    const LocationProto *x = *(const LocationProto *const *)a, *y = *(const LocationProto *const *)b;
    int order = compare_paths(x->path, x->n_path, y->path, y->n_path);
    if (order == 0 && x->n_span > 0 && y->n_span > 0) /* qsort is not stable, and the output must be */
        order = (x->span[0] > y->span[0]) - (x->span[0] < y->span[0]);
    return order;
}

const LocationProto *schema_locate(const struct file *file, struct path path)
{
    for (size_t low = 0, high = file->n_locations; low < high;) {
        size_t middle = low + (high - low) / 2;
        const LocationProto *at = file->locations[middle];
        int order = compare_paths(path.at, path.len, at->path, at->n_path);
        if (order == 0)
            return at;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

int schema_line(const struct file *file, struct path path)
{
    const LocationProto *at = schema_locate(file, path);
    for (; at == NULL && path.len > 0; at = schema_locate(file, path))
        path.len--;
    return at == NULL || at->n_span == 0 || at->span[0] < 0 || at->span[0] == INT32_MAX ? 0 : at->span[0] + 1;
}

bool schema_refuse(struct refusal *refusal, const struct file *file, struct path path, const char *format, ...)
{
    char reason[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    return refuse(refusal, "%s:%d: %s", file->proto->name, schema_line(file, path), reason);
}

/* ---- building ---- */

static void sort_locations(struct pool *pool, struct file *file)
{
    const Google__Protobuf__SourceCodeInfo *info = file->proto->source_code_info;
    if (info == NULL || info->n_location == 0)
        return;
    file->n_locations = info->n_location;
    file->locations = pool_pointers(pool, info->n_location);
    for (size_t i = 0; i < info->n_location; i++)
        file->locations[i] = info->location[i];
    qsort(file->locations, file->n_locations, sizeof(void *), compare_locations);
}

static size_t count_messages(MessageProto *const *messages, size_t n)
{
    size_t count = n;
    for (size_t i = 0; i < n; i++)
        count += count_messages(messages[i]->nested_type, messages[i]->n_nested_type);
    return count;
}

static size_t count_enums(MessageProto *const *messages, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += messages[i]->n_enum_type + count_enums(messages[i]->nested_type, messages[i]->n_nested_type);
    return count;
}

static const char *full_name(struct schema *schema, const char *scope, const char *name)
{
    return scope[0] == '\0' ? name : pool_printf(schema->pool, "%s.%s", scope, name);
}

static void add_enum(struct schema *schema, const struct file *file, const char *scope, const EnumProto *proto,
                     struct path path)
{
    schema->enums[schema->n_enums++] = (struct enumeration){
        .name = full_name(schema, scope, proto->name),
        .proto = proto,
        .file = file,
        .path = path,
    };
}

static void add_message(struct schema *schema, const struct file *file, const char *scope, const MessageProto *proto,
                        struct path path)
{
    struct message *message = &schema->messages[schema->n_messages++];
    message->name = full_name(schema, scope, proto->name);
    message->proto = proto;
    message->file = file;
    message->path = path;
    for (size_t i = 0; i < proto->n_enum_type; i++)
        add_enum(schema, file, message->name, proto->enum_type[i], path_below(schema->pool, path, IN_MESSAGE_ENUM, i));
    for (size_t i = 0; i < proto->n_nested_type; i++)
        add_message(schema, file, message->name, proto->nested_type[i],
                    path_below(schema->pool, path, IN_MESSAGE_MESSAGE, i));
}

static void add_declarations(struct schema *schema, const struct file *file)
{
    for (size_t i = 0; i < file->proto->n_enum_type; i++)
        add_enum(schema, file, file->package, file->proto->enum_type[i], path_of(schema->pool, IN_FILE_ENUM, i));
    for (size_t i = 0; i < file->proto->n_message_type; i++)
        add_message(schema, file, file->package, file->proto->message_type[i],
                    path_of(schema->pool, IN_FILE_MESSAGE, i));
}

static int compare_message_names(const void *a, const void *b)
{
    return strcmp((*(struct message *const *)a)->name, (*(struct message *const *)b)->name);
}

static void add_files(struct schema *schema)
{
    const RequestProto *request = schema->request;
    size_t n_messages = 0, n_enums = 0;
    for (size_t i = 0; i < request->n_proto_file; i++) {
        const FileProto *proto = request->proto_file[i];
        n_messages += count_messages(proto->message_type, proto->n_message_type);
        n_enums += proto->n_enum_type + count_enums(proto->message_type, proto->n_message_type);
    }
    schema->n_files = request->n_proto_file;
    schema->files = pool_array(schema->pool, schema->n_files, sizeof(schema->files[0]));
    schema->messages = pool_array(schema->pool, n_messages, sizeof(schema->messages[0]));
    schema->enums = pool_array(schema->pool, n_enums, sizeof(schema->enums[0]));
    for (size_t i = 0; i < schema->n_files; i++) {
        struct file *file = &schema->files[i];
        file->proto = request->proto_file[i];
        file->package = file->proto->package == NULL ? "" : file->proto->package;
        sort_locations(schema->pool, file);
        add_declarations(schema, file);
    }
}

struct file *schema_find_file(const struct schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->n_files; i++)
        if (strcmp(schema->files[i].proto->name, name) == 0)
            return &schema->files[i];
    return NULL;
}

bool schema_build(struct pool *pool, const RequestProto *request, struct schema *out_schema, struct refusal *refusal)
{
    struct schema *schema = out_schema;
    *schema = (struct schema){ .pool = pool, .request = request };
    add_files(schema);
    schema->by_name = pool_pointers(pool, schema->n_messages);
    for (size_t i = 0; i < schema->n_messages; i++)
        schema->by_name[i] = &schema->messages[i];
    if (schema->n_messages > 0)
        qsort(schema->by_name, schema->n_messages, sizeof(void *), compare_message_names);
    for (size_t i = 0; i < request->n_file_to_generate; i++) {
        struct file *file = schema_find_file(schema, request->file_to_generate[i]);
        if (file == NULL)
            return refuse(refusal, "%s: is to be generated but not part of the request", request->file_to_generate[i]);
        file->is_wanted = true;
    }
    return true;
}

struct message *schema_find_message(const struct schema *schema, const char *type_name)
{
    if (type_name == NULL || type_name[0] != '.')
        return NULL;
    struct message key = { .name = type_name + 1 }, *key_at = &key;
    struct message **found = NULL;
    if (schema->n_messages > 0)
        found = bsearch(&key_at, schema->by_name, schema->n_messages, sizeof(void *), compare_message_names);
    return found == NULL ? NULL : *found;
}

struct enumeration *schema_find_enum(const struct schema *schema, const char *type_name)
{
    for (size_t i = 0; type_name != NULL && type_name[0] == '.' && i < schema->n_enums; i++)
        if (strcmp(schema->enums[i].name, type_name + 1) == 0)
            return &schema->enums[i];
    return NULL;
}

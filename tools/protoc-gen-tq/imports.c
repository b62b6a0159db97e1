#include "tools/protoc-gen-tq/imports.h"

#include <string.h>

static const char descriptor_file[] = "google/protobuf/descriptor.proto";

static bool imports_descriptor(const FileProto *proto)
{
    for (size_t i = 0; i < proto->n_dependency; i++)
        if (strcmp(proto->dependency[i], descriptor_file) == 0)
            return true;
    return false;
}

bool imports_is_options_file(const RequestProto *request, const char *name)
{
    if (strcmp(name, descriptor_file) == 0)
        return true;
    for (size_t i = 0; i < request->n_proto_file; i++)
        if (strcmp(request->proto_file[i]->name, name) == 0)
            return imports_descriptor(request->proto_file[i]);
    return false;
}

/* The file that declares a type, when it is one of those. */
static const struct file *options_file_of_type(const struct schema *schema, const char *type_name)
{
    const struct message *message = schema_find_message(schema, type_name);
    const struct enumeration *enumeration = message == NULL ? schema_find_enum(schema, type_name) : NULL;
    const struct file *file = message != NULL ? message->file : enumeration != NULL ? enumeration->file : NULL;
    return file != NULL && imports_is_options_file(schema->request, file->proto->name) ? file : NULL;
}

/* Refuses at the import when the file imports it itself, else at its start. */
static bool refuse_import(const struct schema *schema, const struct file *file, const char *name,
                          struct refusal *refusal)
{
    struct path path = path_to_field(schema->pool, (struct path){ 0 }, IN_FILE_SYNTAX);
    for (size_t i = 0; i < file->proto->n_dependency; i++)
        if (strcmp(file->proto->dependency[i], name) == 0)
            path = path_of(schema->pool, IN_FILE_DEPENDENCY, i);
    if (strcmp(name, descriptor_file) == 0)
        return schema_refuse(refusal, file, path,
                             "import %s: there is no code for this recursive schema; a file that defines options need "
                             "not be generated",
                             name);
    return schema_refuse(refusal, file, path, "import %s: its types need %s, for which there is no code", name,
                         descriptor_file);
}

static bool check_types(const struct schema *schema, const struct message *message, struct refusal *refusal)
{
    for (size_t i = 0; i < message->proto->n_field; i++) {
        const struct file *from = options_file_of_type(schema, message->proto->field[i]->type_name);
        if (from != NULL)
            return refuse_import(schema, message->file, from->proto->name, refusal);
    }
    return true;
}

static bool check_methods(const struct schema *schema, const struct planned_service *service, struct refusal *refusal)
{
    for (size_t i = 0; i < service->n_methods; i++) {
        const struct file *request = service->methods[i].request->file, *response = service->methods[i].response->file;
        if (imports_is_options_file(schema->request, request->proto->name))
            return refuse_import(schema, service->file, request->proto->name, refusal);
        if (imports_is_options_file(schema->request, response->proto->name))
            return refuse_import(schema, service->file, response->proto->name, refusal);
    }
    return true;
}

bool imports_check(const struct schema *schema, const struct plan *plan, struct refusal *refusal)
{
    for (size_t i = 0; i < schema->n_files; i++)
        if (schema->files[i].is_wanted && imports_descriptor(schema->files[i].proto))
            return refuse_import(schema, &schema->files[i], descriptor_file, refusal);
    for (size_t i = 0; i < schema->n_messages; i++)
        if (schema->messages[i].file->is_wanted && !check_types(schema, &schema->messages[i], refusal))
            return false;
    for (size_t i = 0; i < plan->n_services; i++)
        if (plan->services[i].file->is_wanted && !check_methods(schema, &plan->services[i], refusal))
            return false;
    return true;
}

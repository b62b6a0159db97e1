#include "tools/protoc-gen-tq/emit.h"

void emit_source(struct text *text, const struct file *file, const struct plan *plan)
{
    bool has_service = false;
    text_add(text, "/* Written by protoc-gen-tq from %s. Do not edit. */\n", file->proto->name);
    text_add(text, "#include \"%s.tq.h\"\n\n#include <limits.h>\n\n", emit_stem(text->pool, file));
    text_add(text, "/* protobuf-c reads and writes cases and enums as int: -fshort-enums would corrupt memory. */\n"
                   "_Static_assert(sizeof(ProtobufCLabel) == sizeof(int), \"build without -fshort-enums\");\n");
    for (size_t i = 0; i < plan->n_services; i++) {
        const struct planned_service *service = &plan->services[i];
        if (service->file != file)
            continue;
        if (!has_service)
            emit_file_descriptor(text, file);
        has_service = true;
        emit_server_definitions(text, service);
        emit_tables(text, service);
        for (size_t m = 0; m < service->n_methods; m++)
            emit_client_definitions(text, service, m);
    }
}

/* emit.h: writes C. One function for each kind of file, one source file for each kind of thing in them.
 * Threads: one. Output depends on nothing but the plan: no clock, no locale, no addresses. */
#ifndef EMIT_H
#define EMIT_H

#include "tools/protoc-gen-tq/plan.h"
#include "tools/protoc-gen-tq/text.h"

/* foo.tq.h and foo.tq.c of one file. */
void emit_header(struct text *text, const struct file *file, const struct plan *plan);
void emit_source(struct text *text, const struct file *file, const struct plan *plan);

/* emit_client.c: stubs. */
void emit_client_declarations(struct text *text, const struct planned_service *service,
                              const struct planned_method *method);
void emit_client_definitions(struct text *text, const struct planned_service *service, size_t index);
/* emit_server.c: vtable, registration, answers, dispatch. */
void emit_server_declarations(struct text *text, const struct planned_service *service);
void emit_server_definitions(struct text *text, const struct planned_service *service);
/* emit_tables.c: what the runtime reads: methods, service, serialized descriptor. */
void emit_file_descriptor(struct text *text, const struct file *file);
void emit_tables(struct text *text, const struct planned_service *service);

/* "foo" of "foo.proto". */
const char *emit_stem(struct pool *pool, const struct file *file);

#endif

/* imports.h: imports that are there for options only. A file that defines options imports descriptor.proto, a recursive
 * schema for which there is no code; who only uses the options needs none.
 * Threads: one. */
#ifndef IMPORTS_H
#define IMPORTS_H

#include "tools/protoc-gen-tq/plan.h"
#include "tools/protoc-gen-tq/schema.h"

/* Refuses files to generate that need code for descriptor.proto: that define options, or use types of a file that does.
 */
bool imports_check(const struct schema *schema, const struct plan *plan, struct refusal *refusal);
/* True for an import that strip.c takes out: a file that defines options. */
bool imports_is_options_file(const RequestProto *request, const char *name);

#endif

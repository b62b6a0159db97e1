/* unions.h: makes the initialisers that protoc-gen-c writes for oneofs clear the whole union. It writes {0}, which
 * initialises the first member only: a compiler may leave the rest as it was, and warns when that member is a struct.
 * Threads: one. */
#ifndef UNIONS_H
#define UNIONS_H

#include "tools/protoc-gen-tq/descriptors.h"
#include "tools/protoc-gen-tq/pool.h"

/* Before protoc-gen-c: puts the largest member of each oneof first. Changes the request in place. */
void unions_arrange(struct pool *pool, RequestProto *request);
/* After it: the text of a header of `file`, with braces where the first member is a struct. */
char *unions_fix_header(struct pool *pool, const FileProto *file, const char *header);

#endif

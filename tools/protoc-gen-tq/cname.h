/* cname.h: from the names of a .proto file to names in C: those that protoc-gen-c makes, which we must know to use and
 * to refuse them, and our own. All results live in the pool; nothing depends on the locale. */
#ifndef CNAME_H
#define CNAME_H

#include <stdbool.h>

#include "tools/protoc-gen-tq/pool.h"

/* protoc-gen-c's: "tq.v1.PutRequest" is Tq__V1__PutRequest, tq__v1__put_request and TQ__V1__PUT_REQUEST. */
char *cname_type(struct pool *pool, const char *full_name);
char *cname_lower(struct pool *pool, const char *full_name);
char *cname_upper(struct pool *pool, const char *full_name);
/* The member for a field: in lower case, with '_' behind a word of C++98. */
char *cname_field(struct pool *pool, const char *field_name);

/* Ours: "GetData" is get_data, "KVPut" kv_put, "tq.v1" tq_v1. */
char *cname_snake(struct pool *pool, const char *name);
/* get_data as GET_DATA. */
char *cname_macro(struct pool *pool, const char *snake);
/* A part of an include guard: unlike file names stay unlike. */
char *cname_guard(struct pool *pool, const char *file_name);

/* [A-Za-z_][A-Za-z0-9_]* */
bool cname_is_identifier(const char *name);

#endif

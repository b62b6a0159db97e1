/* schema.h: the request of protoc as something to look things up in: files, messages and enums by name, declarations by
 * their place in the source.
 * Owns: nothing; it lies in the pool and points into the request. Threads: one. Constant once it is built, but for the
 * marks of the walk over messages. */
#ifndef SCHEMA_H
#define SCHEMA_H

#include <stdbool.h>

#include "tools/protoc-gen-tq/descriptors.h"
#include "tools/protoc-gen-tq/pool.h"
#include "tools/protoc-gen-tq/refusal.h"

/* Field numbers and indexes that lead from the file to a declaration, as in SourceCodeInfo. */
struct path {
    const int32_t *at;
    size_t len;
};

struct file {
    const FileProto *proto;
    const char *package;             /* "" when it has none */
    bool is_wanted;                  /* to be generated, not only imported */
    const LocationProto **locations; /* sorted by path */
    size_t n_locations;
};

enum mark { MARK_NEW, MARK_OPEN, MARK_DONE };

struct message {
    const char *name; /* "tq.v1.Outer.Inner" */
    const MessageProto *proto;
    const struct file *file;
    struct path path;
    enum mark mark;
    unsigned height; /* once it is done: messages below one another, itself included */
};

struct enumeration {
    const char *name;
    const EnumProto *proto;
    const struct file *file;
    struct path path;
};

struct schema {
    struct pool *pool;
    const RequestProto *request;
    struct file *files;
    size_t n_files;
    struct message *messages; /* in the order of their declarations */
    size_t n_messages;
    struct message **by_name;
    struct enumeration *enums;
    size_t n_enums;
};

/* The request must have passed intake_check(). Refuses a file to generate that is not in the request. */
bool schema_build(struct pool *pool, const RequestProto *request, struct schema *out_schema, struct refusal *refusal);
/* The file by the name under which it is imported; NULL when there is none. */
struct file *schema_find_file(const struct schema *schema, const char *name);
/* The message of a field or method, ".tq.v1.PutRequest"; NULL when there is none. */
struct message *schema_find_message(const struct schema *schema, const char *type_name);

/* The same for an enum. */
struct enumeration *schema_find_enum(const struct schema *schema, const char *type_name);

struct path path_of(struct pool *pool, int32_t field, size_t index);
struct path path_below(struct pool *pool, struct path path, int32_t field, size_t index);
struct path path_to_field(struct pool *pool, struct path path, int32_t field);

/* Where exactly this declaration stands, with its comments; NULL when the source does not say. */
const LocationProto *schema_locate(const struct file *file, struct path path);
/* The line of the declaration, from 1, or of the nearest one around it; 0 when nothing is known. */
int schema_line(const struct file *file, struct path path);
/* Refuses with "FILE:LINE: ". Always false. */
bool schema_refuse(struct refusal *refusal, const struct file *file, struct path path, const char *format, ...)
    TQ_PRINTF(4, 5);

#endif

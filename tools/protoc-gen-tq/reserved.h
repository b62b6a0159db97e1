/* reserved.h: names that are not free in C or C++, because the languages or headers of the system own them.
 * Threads: any; constant tables. */
#ifndef RESERVED_H
#define RESERVED_H

#include <stdbool.h>

/* Words behind which protoc-gen-c puts '_' when a field is called so. */
bool reserved_is_escaped_by_protoc_gen_c(const char *name);
/* Why `name` cannot be the name of a struct member: "a keyword of C or C++", "a macro in headers of the system"; NULL
 * when it can. */
const char *reserved_member(const char *name);
/* True when C names that begin with this package, written as cname_snake() does, would stand among those of another
 * library. */
bool reserved_is_taken_package(const char *package);

#endif

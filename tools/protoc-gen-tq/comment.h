/* comment.h: comments of a .proto file as comments in C that no compiler stumbles over.
 * Threads: one. */
#ifndef COMMENT_H
#define COMMENT_H

#include "tools/protoc-gen-tq/descriptors.h"
#include "tools/protoc-gen-tq/text.h"

/* A copy in which nothing ends or begins a comment, makes a trigraph, or is a control, bidirectional or broken
 * character. Lines stay lines. NULL gives NULL. */
char *comment_defuse(struct pool *pool, const char *comment);
/* One block comment: the comment of the source, if there is one, then ours, wrapped; "\n" in it begins a line. */
void comment_add(struct text *text, const LocationProto *location, const char *ours);

#endif

/* shapes.h: refuses schemas that protobuf-c turns into C that is wrong or dangerous: messages that contain themselves
 * (it has no depth limit), proto3 `optional`, groups, its own options, files without a package.
 * Threads: one. */
#ifndef SHAPES_H
#define SHAPES_H

#include "tools/protoc-gen-tq/schema.h"

/* Longer chains of messages are refused: protobuf-c follows them by recursion, and the decoder of bodies stops there.
 */
enum { SHAPES_DEPTH_MAX = 16 };

bool shapes_check(struct schema *schema, struct refusal *refusal);

#endif

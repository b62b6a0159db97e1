/* nesting.h: how deep are these bytes? protobuf-c unpacks by recursion without a limit, and descriptor.proto is a
 * recursive schema.
 * Owns: nothing. Threads: any. Reads each byte of structure once, does not recurse, allocates nothing. */
#ifndef NESTING_H
#define NESTING_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

#include "tq/bytes.h"

/* protoc itself nests declarations at most 32 deep; each is one level of DescriptorProto, options add a few. */
enum { NESTING_MAX = 64 };

/* False when submessages nest deeper than NESTING_MAX, or when a key, a length or a varint does not fit. */
bool nesting_is_within(const ProtobufCMessageDescriptor *type, struct tq_bytes bytes);

#endif

/* intake.h: from the bytes that protoc sends to a request whose every name is there and is a name, so that nothing
 * behind it has to look again. The bytes are foreign: whatever they are, they are refused or understood. Owns: the
 * request lives in the pool. Threads: one. */
#ifndef INTAKE_H
#define INTAKE_H

#include <stdbool.h>

#include "tools/protoc-gen-tq/descriptors.h"
#include "tools/protoc-gen-tq/pool.h"
#include "tools/protoc-gen-tq/refusal.h"
#include "tq/bytes.h"

/* Returns NULL and fills `refusal` when the bytes are no such request. */
RequestProto *intake_unpack(struct pool *pool, struct tq_bytes bytes, struct refusal *refusal);

#endif

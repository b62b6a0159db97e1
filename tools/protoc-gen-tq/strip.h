/* strip.h: takes out of a request what protoc-gen-c must not see: our options and imports that are there for options,
 * for which it would include descriptor.pb-c.h; services, for which we write better code; dangers in comments. Changes
 * the request in place. Threads: one. */
#ifndef STRIP_H
#define STRIP_H

#include "tools/protoc-gen-tq/descriptors.h"
#include "tools/protoc-gen-tq/pool.h"

void strip_request(struct pool *pool, RequestProto *request);

#endif

/* chain.h: runs protoc-gen-c on a request and takes its response.
 * Owns: the child process, ended and waited for before it returns. Threads: one. */
#ifndef CHAIN_H
#define CHAIN_H

#include "tools/protoc-gen-tq/descriptors.h"
#include "tools/protoc-gen-tq/pool.h"
#include "tools/protoc-gen-tq/refusal.h"

/* `program` is a path or a name to be found on PATH. The response lives in the pool. Returns NULL and says why when it
 * cannot be run or refuses. */
ResponseProto *chain_run(struct pool *pool, const char *program, const RequestProto *request, struct refusal *refusal);

#endif

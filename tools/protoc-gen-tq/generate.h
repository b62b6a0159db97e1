/* generate.h: the generator as a function of bytes: a CodeGeneratorRequest in, a CodeGeneratorResponse out.
 * Owns: nothing. Threads: one. Runs protoc-gen-c as a child process unless `skip_messages` is set. */
#ifndef GENERATE_H
#define GENERATE_H

#include <stdbool.h>

#include "tools/protoc-gen-tq/pool.h"
#include "tq/bytes.h"

struct generate_opts {
    bool skip_messages; /* do not run protoc-gen-c: no foo.pb-c.{h,c} */
};

/* The response, packed, in the pool. A refusal is a response too: it has a reason and no files. */
struct tq_bytes generate(struct pool *pool, struct tq_bytes request, const struct generate_opts *opts);

#endif

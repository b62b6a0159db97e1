/* emit_fuzz.h: fuzz targets: one for each request message, one for the dispatch of each service.
 * Threads: one. */
#ifndef EMIT_FUZZ_H
#define EMIT_FUZZ_H

#include "tools/protoc-gen-tq/plan.h"
#include "tools/protoc-gen-tq/refusal.h"
#include "tools/protoc-gen-tq/text.h"

struct fuzz_target {
    const char *name; /* "tq_v1_put_request_fuzz", unique in the run */
    const char *path; /* "tq/v1/tq_v1_put_request_fuzz.c" */
    const char *content;
};

struct fuzz_targets {
    struct fuzz_target *at;
    size_t n;
};

/* Of the services of the files to generate. Refuses targets that would have one name. */
bool emit_fuzz(const struct schema *schema, const struct plan *plan, struct fuzz_targets *out_targets,
               struct refusal *refusal);
/* A CMake list of "NAME=PATH". */
const char *emit_fuzz_list(struct pool *pool, const struct fuzz_targets *targets);

#endif

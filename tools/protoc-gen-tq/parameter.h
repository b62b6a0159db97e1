/* parameter.h: what stands before the ':' of --tq_out=a=1,b=2:DIR.
 * Threads: any. */
#ifndef PARAMETER_H
#define PARAMETER_H

#include <stdbool.h>

#include "tools/protoc-gen-tq/pool.h"
#include "tools/protoc-gen-tq/refusal.h"

struct parameter {
    bool fuzz;                /* fuzz=1: fuzz targets beside the stubs */
    bool only_fuzz;           /* only_fuzz=1: nothing but fuzz targets */
    const char *protoc_gen_c; /* protoc_gen_c=PATH */
};

/* `text` may be NULL. Refuses what it does not know. */
bool parameter_parse(struct pool *pool, const char *text, struct parameter *out_parameter, struct refusal *refusal);

#endif

/* names.h: a reservation table of names in C. Every declaration claims the names that protoc-gen-c and we make of it; a
 * name that is claimed twice, or that is not free in C or C++, is refused with both places.
 * Owns: nothing; it lies in the pool. Threads: one. */
#ifndef NAMES_H
#define NAMES_H

#include "tools/protoc-gen-tq/plan.h"
#include "tools/protoc-gen-tq/schema.h"

struct claim {
    const char *scope; /* "" for names of the whole program, else the struct whose member it is */
    const char *name;
    const char *what; /* "field a.Msg.size" */
    const struct file *file;
    struct path path;
    size_t order;
};

struct names {
    struct pool *pool;
    struct claim *claims;
    size_t n, size;
};

/* Whose names these are, while they are claimed one after the other. */
struct claimant {
    struct names *names;
    const char *scope;
    const char *what;
    const struct file *file;
    struct path path;
};

void names_claim(const struct claimant *claimant, const char *format, ...) TQ_PRINTF(2, 3);

/* What protoc-gen-c declares: names_pb_c.c. */
void names_claim_messages(struct names *names, const struct schema *schema);
void names_claim_enums(struct names *names, const struct schema *schema);
/* What we declare: names_tq.c. */
void names_claim_services(struct names *names, const struct plan *plan);

/* Claims all names and refuses the first clash, in the order of the declarations. */
bool names_check(const struct schema *schema, const struct plan *plan, struct refusal *refusal);

#endif

#include "tools/protoc-gen-tq/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/protoc-gen-tq/reserved.h"

static struct claim *add_claim(struct names *names)
{
    if (names->n == names->size) {
        size_t size = names->size * 2 + 64;
        struct claim *claims = pool_array(names->pool, size, sizeof(claims[0]));
        if (names->n > 0)
            memcpy(claims, names->claims, names->n * sizeof(claims[0]));
        names->claims = claims;
        names->size = size;
    }
    struct claim *claim = &names->claims[names->n];
    claim->order = names->n++;
    return claim;
}

void names_claim(const struct claimant *claimant, const char *format, ...)
{
    struct claim *claim = add_claim(claimant->names);
    char name[2048];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(name, sizeof(name), format, args);
    va_end(args);
    claim->scope = claimant->scope;
    claim->name = pool_copy(claimant->names->pool, name, len < 0 ? 0 : strlen(name));
    claim->what = claimant->what;
    claim->file = claimant->file;
    claim->path = claimant->path;
}

static int compare_claims(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order == 0)
        order = strcmp(x->scope, y->scope);
    return order != 0 ? order : x->order < y->order ? -1 : x->order > y->order;
}

static bool is_same_name(const struct claim *a, const struct claim *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->scope, b->scope) == 0;
}

static bool refuse_clash(const struct claim *first, const struct claim *second, struct refusal *refusal)
{
    return schema_refuse(refusal, second->file, second->path, "%s: its name in C, %s, is also that of %s at %s:%d",
                         second->what, second->name, first->what, first->file->proto->name,
                         schema_line(first->file, first->path));
}

/* Sorting puts the clash of the earliest declarations anywhere, so all are looked at. */
static bool check_unique(struct names *names, struct refusal *refusal)
{
    const struct claim *first = NULL, *second = NULL;
    if (names->n > 0)
        qsort(names->claims, names->n, sizeof(names->claims[0]), compare_claims);
    for (size_t i = 1; i < names->n; i++) {
        const struct claim *before = &names->claims[i - 1], *at = &names->claims[i];
        if (is_same_name(before, at) && (second == NULL || at->order < second->order)) {
            first = before;
            second = at;
        }
    }
    return second == NULL || refuse_clash(first, second, refusal);
}

static bool check_free(const struct names *names, struct refusal *refusal)
{
    for (size_t i = 0; i < names->n; i++) {
        const struct claim *claim = &names->claims[i];
        const char *taken = reserved_member(claim->name);
        if (taken != NULL && claim->file->is_wanted)
            return schema_refuse(refusal, claim->file, claim->path, "%s: its name in C, %s, is %s", claim->what,
                                 claim->name, taken);
    }
    return true;
}

bool names_check(const struct schema *schema, const struct plan *plan, struct refusal *refusal)
{
    struct names names = { .pool = schema->pool };
    names_claim_messages(&names, schema);
    names_claim_enums(&names, schema);
    names_claim_services(&names, plan);
    return check_free(&names, refusal) && check_unique(&names, refusal);
}

/* server/storage/schema.h: how a column was declared: name, layout, element type, shape, content type. Cells point to
 * their schema, each kept once and counted, so that a cell comes back as it went in and costs no more for it.
 * Owns: schemas and, through them, names of fields. Threads: the loop's. */
#ifndef TQ_STORAGE_SCHEMA_H
#define TQ_STORAGE_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include "server/storage/names.h"

/* As in tq.v1.Layout. */
enum tq_cell_layout { TQ_CELLS_DENSE = 1, TQ_CELLS_JAGGED = 2, TQ_CELLS_OPAQUE = 3 };

/* A declaration, as a view. */
struct tq_declaration {
    const char *name;
    enum tq_cell_layout layout;
    uint32_t dtype;        /* tq.v1.DataType; 0: opaque */
    uint32_t rank;         /* dense: of the shape; jagged: of every sample; opaque: 0 */
    const uint64_t *shape; /* dense: rank sizes; else NULL */
    const char *content_type;
};

struct tq_schema {
    struct tq_schema *next; /* another one with the same hash */
    uint64_t hash;
    struct tq_name *name; /* held */
    enum tq_cell_layout layout;
    uint32_t dtype;
    uint32_t rank;
    uint32_t holds;
    uint64_t mark;      /* of a walk that collects schemas */
    char *content_type; /* behind the shape, in the same memory */
    uint64_t shape[];   /* dense only */
};

struct tq_schemas {
    struct tq_map by_hash;
    struct tq_names *names;
};

void tq_schemas_init(struct tq_schemas *schemas, struct tq_names *names, const struct tq_seam *seam);
/* Every schema must have been dropped. */
void tq_schemas_fini(struct tq_schemas *schemas);
/* Finds or adds it. NULL without memory. */
struct tq_schema *tq_schemas_hold(struct tq_schemas *schemas, const struct tq_declaration *declaration);
struct tq_schema *tq_schema_hold(struct tq_schema *schema);
void tq_schema_drop(struct tq_schemas *schemas, struct tq_schema *schema); /* NULL is allowed */

/* How many sizes each cell carries: the rank of a jagged column, else 0. */
uint32_t tq_schema_sizes(const struct tq_schema *schema);
/* Bytes of one element; 0 for a number that is no element type. */
uint32_t tq_dtype_size(uint32_t dtype);

#endif

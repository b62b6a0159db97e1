/* server/controller/schema.h: what is known about the cells of a field, and how a new writer's claim is merged with it.
 *
 *              claim: dense                          jagged                 opaque
 *   unknown    the claim is adopted                  adopted                adopted
 *   dense      same shape: nothing; another shape    jagged (same rank)     refused
 *              of the same rank: jagged
 *   jagged     jagged (same rank)                    same rank              refused
 *   opaque     refused                               refused                same content type
 *
 * The element type never changes. A field without ready cells is unknown again.
 * Owns: nothing; plain data. Threads: any. */
#ifndef TQ_CONTROLLER_SCHEMA_H
#define TQ_CONTROLLER_SCHEMA_H

#include <stdint.h>

#include "tq/status.h"

/* The numbers of tq.v1.Layout. */
enum tq_cell_layout { TQ_CELLS_UNKNOWN = 0, TQ_CELLS_DENSE = 1, TQ_CELLS_JAGGED = 2, TQ_CELLS_OPAQUE = 3 };

enum { TQ_SCHEMA_RANK_MAX = 32, TQ_SCHEMA_TYPE_MAX = 256 };

struct tq_cell_schema {
    enum tq_cell_layout layout;
    uint32_t dtype; /* a number of tq.v1.DataType; 0: not known */
    uint32_t rank;  /* dense: of `shape`; jagged: of every sample, 0: not told */
    uint64_t shape[TQ_SCHEMA_RANK_MAX];
    char content_type[TQ_SCHEMA_TYPE_MAX];
};

/* Sets *out to what holds after a writer claimed `claim` for the field `name`; *have is left alone, `out` may be
 * `have`. Fails with FAILED_PRECONDITION, SCHEMA_CONFLICT; *out is then unchanged. */
TQ_MUST_CHECK tq_status tq_cell_schema_merge(const struct tq_cell_schema *have, const struct tq_cell_schema *claim,
                                             const char *name, struct tq_cell_schema *out, struct tq_error *err);

#endif

/* server/storage/store.h: the table of a unit: (sample, field) -> frame, under budgets of bytes, samples and cells. No
 * I/O, no clock.
 *
 * A put is all or nothing: tq_put_open reserves everything before a byte moves, tq_put_place finds memory, the caller
 * fills the frames, tq_put_commit makes them visible at once, tq_put_close without it gives everything back.
 * A sample has a generation; its index is used again with a higher one. What is older than what we hold, or was
 * cleared, is refused as stale; a put with a newer one ends the cells of the old sample.
 *
 * Owns: samples, frames, names. Threads: the loop's. */
#ifndef TQ_STORAGE_STORE_H
#define TQ_STORAGE_STORE_H

#include "server/storage/cleared.h"
#include "server/storage/engine.h"
#include "server/storage/frame.h"
#include "server/storage/limits.h"
#include "server/storage/names.h"
#include "server/storage/schema.h"
#include "transport/base/list.h"

/* All samples of one partition. */
struct tq_shelf {
    struct tq_name *name;   /* held */
    struct tq_list samples; /* tq_sample.in_partition */
    uint64_t count;         /* of them */
    uint32_t holds;         /* its samples and the puts on their way */
};

struct tq_cell {
    struct tq_name *name; /* the frame's schema holds it */
    struct tq_frame *frame;
};

struct tq_sample {
    struct tq_list in_partition;
    struct tq_shelf *partition; /* NULL: not born yet, a commit is under way */
    uint64_t index;
    uint32_t generation;
    uint32_t n_cells, capacity;
    struct tq_cell *cells; /* ascending by name->id */
};

struct tq_store {
    const struct tq_seam *seam;
    struct tq_engine engine;
    struct tq_storage_limits limits;
    struct tq_names names;
    struct tq_schemas schemas;
    struct tq_map samples;    /* index -> tq_sample */
    struct tq_map partitions; /* name id -> tq_partition */
    struct tq_cleared cleared;
    uint64_t last_version; /* of this life */
    uint64_t used_bytes;   /* of published frames, those that only pins hold included */
    uint64_t frames;       /* published */
    uint64_t cells;        /* in the table */
    uint64_t reserved_bytes, reserved_cells, reserved_samples; /* of puts on their way */
    uint64_t walk;                                             /* tq_schema.mark of the last walk */
};

void tq_store_init(struct tq_store *store, const struct tq_engine *engine, const struct tq_storage_limits *limits,
                   const struct tq_seam *seam);
/* Removes every sample. What pins and puts hold stays. */
void tq_store_empty(struct tq_store *store);
/* Puts must be closed and pins dropped. */
void tq_store_fini(struct tq_store *store);

/* Samples as a request names them. */
struct tq_named_samples {
    const char *partition;
    const uint64_t *index;
    const uint32_t *generation;
    size_t count;
};

/* ---- put ---- */

/* What a put wants to store, already checked in itself: lengths agree with types and shapes, nothing occurs twice. */
struct tq_put_plan {
    struct tq_named_samples samples;
    const struct tq_declaration *fields;
    size_t n_fields;
    const uint64_t *lengths;      /* fields * samples, field by field */
    const uint64_t *const *sizes; /* one a field; jagged: samples * rank, else NULL */
};

struct tq_put {
    struct tq_shelf *partition; /* held */
    uint64_t *index;
    uint32_t *generation;
    size_t n_samples, n_fields, n_cells;
    struct tq_frame **frames; /* n_cells, field by field; NULL once they are in the table */
    struct tq_sample **rows;  /* of the commit */
    uint64_t new_samples;     /* reserved */
    uint64_t bytes;
};

/* Reserves. *put is caller's memory. Fails with RESOURCE_EXHAUSTED (BUDGET_BYTES, BUDGET_SAMPLES,
 * BUDGET_CELLS, NO_MEMORY), FAILED_PRECONDITION (STALE_GENERATION, OTHER_PARTITION); nothing is kept then. */
TQ_MUST_CHECK tq_status tq_put_open(struct tq_store *store, const struct tq_put_plan *plan, struct tq_put *put,
                                    struct tq_error *err);
/* Finds a place for the bytes of every frame. Any thread, while nobody else uses the put. Fails with
 * RESOURCE_EXHAUSTED; the put is to be closed then. */
TQ_MUST_CHECK tq_status tq_put_place(const struct tq_store *store, struct tq_put *put, struct tq_error *err);
/* Makes all cells visible, or none: FAILED_PRECONDITION when a sample has been cleared or replaced meanwhile,
 * RESOURCE_EXHAUSTED without memory. To be closed afterwards in any case. */
TQ_MUST_CHECK tq_status tq_put_commit(struct tq_store *store, struct tq_put *put, struct tq_error *err);
/* Gives back what is not in the table. A zeroed or closed put is allowed. */
void tq_put_close(struct tq_store *store, struct tq_put *put);

/* ---- get, clear ---- */

/* The sample, when it is held in this partition and generation; else NOT_FOUND (reason STALE_GENERATION when a newer
 * one is there) naming it. */
TQ_MUST_CHECK tq_status tq_store_find(const struct tq_store *store, const char *partition, uint64_t index,
                                      uint32_t generation, struct tq_sample **out_sample, struct tq_error *err);
/* NULL when the sample lacks the field. Borrowed: hold it to keep it. */
struct tq_frame *tq_sample_cell(const struct tq_sample *sample, const struct tq_name *field);

struct tq_clear_counts {
    uint64_t removed, absent, stale, freed_bytes;
};

/* Removes the samples (n_fields 0), or their cells of the named fields. Adds to *counts. */
void tq_store_clear(struct tq_store *store, const struct tq_named_samples *samples, const char *const *fields,
                    size_t n_fields, struct tq_clear_counts *counts);

uint64_t tq_store_samples(const struct tq_store *store);

#endif

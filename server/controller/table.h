/* server/controller/table.h: all metadata of the controller, and every change of it. A request is checked whole before
 * anything changes: what is refused leaves no trace. Requests come here validated in form (lengths, counts, names);
 * what depends on the state is checked here.
 * Owns: partitions, indexes, units. Threads: the controller's. Reads no clock, does no I/O. */
#ifndef TQ_CONTROLLER_TABLE_H
#define TQ_CONTROLLER_TABLE_H

#include "server/controller/fetch.h"
#include "server/controller/index_space.h"
#include "server/controller/partition.h"
#include "server/controller/placement.h"
#include "server/controller/unit.h"

struct tq_table {
    const struct tq_seam *seam;
    struct tq_controller_limits limits;
    struct tq_text_map partitions;
    struct tq_index_space indexes;
    struct tq_units units;
    struct tq_heap due;  /* of parked fetches */
    struct tq_list done; /* ended fetches that nobody took yet */
    uint64_t n_parked, order;
    uint64_t text_bytes;  /* of keys and tags */
    uint64_t fresh_group; /* the last number that was made */
};

/* `limits` are filled (tq_controller_limits_fill). */
void tq_table_init(struct tq_table *table, const struct tq_seam *seam, const struct tq_controller_limits *limits,
                   int64_t heartbeat_ns, int64_t now_ns);
/* Nobody may wait. */
void tq_table_fini(struct tq_table *table);

/* A partition or a shell; NULL when there is none. */
struct tq_partition *tq_table_find(const struct tq_table *table, const char *name);
/* Finds it or makes a shell. Fails with RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_table_get(struct tq_table *table, const char *name, struct tq_partition **out_partition,
                                     struct tq_error *err);
/* Closes a shell for which nobody waits; no-op otherwise. */
void tq_table_drop_shell(struct tq_table *table, struct tq_partition *partition);
/* Finds a partition that exists. Fails with NOT_FOUND. */
TQ_MUST_CHECK tq_status tq_table_need(const struct tq_table *table, const char *name,
                                      struct tq_partition **out_partition, struct tq_error *err);

/* Tags of n samples, sorted by sample: those of sample i are entries[first[i]] .. entries[first[i + 1] - 1]. first is
 * NULL when there are none. */
struct tq_tag_changes {
    const uint32_t *first;
    const struct tq_tag *entries;
};

/* A field as a writer describes it. */
struct tq_field_claim {
    const char *name;
    struct tq_cell_schema schema;
};

/* ---- insert.c ---- */

struct tq_insertion {
    const char *partition;
    uint32_t n;
    const uint64_t *groups; /* n, or NULL; 0: none */
    uint32_t group_size;    /* instead: consecutive samples share a fresh number; divides n */
    char *const *keys;      /* n, or NULL; distinct */
    struct tq_tag_changes tags;
    const struct tq_field_claim *fields;
    uint32_t n_fields;
    enum tq_placement placement;
    uint32_t near;
    uint64_t sample_bytes;
    uint32_t reserve;
};

/* Makes the samples; out_slots has room for n. Fails with FAILED_PRECONDITION (SEALED, SCHEMA_CONFLICT),
 * ALREADY_EXISTS (a key), RESOURCE_EXHAUSTED, UNAVAILABLE (no unit), INVALID_ARGUMENT (near). */
TQ_MUST_CHECK tq_status tq_table_insert(struct tq_table *table, const struct tq_insertion *insertion,
                                        struct tq_partition **out_partition, uint32_t *out_slots, struct tq_error *err);

/* ---- produce.c ---- */

struct tq_production {
    const char *partition;
    const struct tq_sample_ref *samples;
    uint32_t n;
    const uint32_t *units; /* n, or NULL: not told */
    const struct tq_field_claim *fields;
    uint32_t n_fields;     /* at least 1; distinct */
    const uint64_t *bytes; /* n, or NULL: not told */
    struct tq_tag_changes tags;
};

/* Makes cells ready, all or none. *out_cells: how many were not ready before. Fails with NOT_FOUND (partition, sample),
 * FAILED_PRECONDITION (STALE_GENERATION, WRONG_UNIT, SCHEMA_CONFLICT), RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_table_produce(struct tq_table *table, const struct tq_production *production,
                                         uint64_t *out_cells, struct tq_error *err);

/* Merges tags into samples; with `replace` those not named are lost. Fails as tq_table_produce. */
TQ_MUST_CHECK tq_status tq_table_set_tags(struct tq_table *table, const char *partition,
                                          const struct tq_sample_ref *samples, uint32_t n,
                                          const struct tq_tag_changes *tags, bool replace, struct tq_error *err);

/* The slot of a live sample. Fails with NOT_FOUND, FAILED_PRECONDITION (STALE_GENERATION). */
TQ_MUST_CHECK tq_status tq_table_resolve(const struct tq_table *table, const struct tq_partition *partition,
                                         const struct tq_sample_ref *sample, uint32_t *out_slot, struct tq_error *err);

/* ---- clear.c ---- */

struct tq_cleared {
    uint64_t removed, absent, stale;
};

/* Removes samples; those that are not there or have another generation are counted and left alone. Fails only without
 * memory. */
TQ_MUST_CHECK tq_status tq_table_clear(struct tq_table *table, const char *partition,
                                       const struct tq_sample_ref *samples, uint32_t n, struct tq_cleared *out_cleared,
                                       struct tq_error *err);
/* Removes a partition with all that is in it. Those who wait in it go on waiting, unless it was sealed. Fails only
 * without memory. */
TQ_MUST_CHECK tq_status tq_table_clear_partition(struct tq_table *table, const char *name, bool *out_existed,
                                                 uint64_t *out_removed, struct tq_error *err);
/* Fails with NOT_FOUND. */
TQ_MUST_CHECK tq_status tq_table_seal(struct tq_table *table, const char *name, uint64_t *out_samples,
                                      struct tq_error *err);
/* task NULL: all. Fails with NOT_FOUND (partition). */
TQ_MUST_CHECK tq_status tq_table_reset(struct tq_table *table, const char *name, const char *task, uint64_t *out_reset,
                                       struct tq_error *err);

/* ---- membership.c: what becomes of samples when their unit goes and comes ---- */

/* A sample that a unit says it holds. */
struct tq_held {
    const char *partition;
    struct tq_sample_ref sample;
};

/* Registers the unit and settles what it holds. Samples that the table knows to be there stay; release[i] is set for
 * the others, and their indexes get higher generations. After a restart of the unit, samples that it has lost are not
 * ready any more. Fails as tq_unit_register. */
TQ_MUST_CHECK tq_status tq_table_join(struct tq_table *table, const struct tq_unit_claim *claim,
                                      const struct tq_held *held, uint32_t n_held, bool *release,
                                      struct tq_unit **out_unit, struct tq_error *err);
/* Moves the observed clock; samples of units that are lost by now are not handed out until they come back. */
void tq_table_tick(struct tq_table *table, int64_t now_ns);

#endif

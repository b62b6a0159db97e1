/* server/controller/partition.h: one (sample x field) table: rows, fields, tasks, keys and groups. Rows are numbered by
 * slots of the partition in the order of their insertion (rows.h), not by global index, so that the bitmaps follow the
 * partition's own size and age. What can be fetched is kept by view.h over it.
 *
 * A partition that fetches wait for before anything was inserted is a shell: `exists` is false, nobody else sees it.
 * Owns: all below it. Threads: the controller's. CRoaring allocates by itself and does not report a lack of memory. */
#ifndef TQ_CONTROLLER_PARTITION_H
#define TQ_CONTROLLER_PARTITION_H

#include <roaring/roaring.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/controller/group.h"
#include "server/controller/limits.h"
#include "server/controller/rows.h"
#include "server/controller/schema.h"
#include "server/controller/tag_set.h"
#include "server/controller/text_map.h"
#include "transport/base/list.h"

struct tq_field {
    char *name;
    uint32_t number; /* in the partition, by order of first sight */
    struct tq_cell_schema schema;
    roaring_bitmap_t *produced; /* slots */
};

struct tq_task {
    char *name;
    struct tq_list in_partition;
    roaring_bitmap_t *consumed; /* slots; a subset of live */
    struct tq_list feeds;
};

struct tq_partition {
    const struct tq_seam *seam;
    const struct tq_controller_limits *limits;
    char *name;
    bool exists, sealed;
    uint64_t reserved; /* samples expected, not inserted */

    struct tq_rows rows;
    roaring_bitmap_t *live;     /* slots with a sample */
    roaring_bitmap_t *withheld; /* slots whose unit is lost: not to be handed out */
    struct tq_text_map keys;    /* key -> slot + 1, as a pointer */
    struct tq_groups groups;

    struct tq_field **fields;
    uint32_t n_fields, field_capacity;
    struct tq_text_map field_names;

    struct tq_list tasks;
    uint32_t n_tasks;
    struct tq_text_map task_names;

    struct tq_list views;
    uint32_t n_feeds;
    uint64_t turn; /* counts uses of feeds, to find the least used */

    struct tq_list waiters; /* all parked fetches, first come first */
};

/* A shell. NULL without memory. `name` is copied. */
struct tq_partition *tq_partition_open(const struct tq_seam *seam, const struct tq_controller_limits *limits,
                                       const char *name);
/* Nobody may wait. The caller has released the rows' indexes. NULL is allowed. */
void tq_partition_close(struct tq_partition *partition);

static inline struct tq_row *tq_partition_row(const struct tq_partition *partition, uint32_t slot)
{
    return tq_row_at(&partition->rows, slot);
}
static inline uint64_t tq_partition_count(const struct tq_partition *partition)
{
    return roaring_bitmap_get_cardinality(partition->live);
}

/* Makes a row live, behind all others, and zeroes it. False without memory or slots. */
TQ_MUST_CHECK bool tq_partition_add_row(struct tq_partition *partition, uint32_t *out_slot);
/* Undoes it; the row has neither key nor tags nor group any more. */
void tq_partition_remove_row(struct tq_partition *partition, uint32_t slot);

/* The slot of a key. False when nobody has it. */
bool tq_partition_find_key(const struct tq_partition *partition, const char *key, uint32_t *out_slot);
/* Copies the key; nobody may have it. False without memory. */
TQ_MUST_CHECK bool tq_partition_set_key(struct tq_partition *partition, uint32_t slot, const char *key);
void tq_partition_drop_key(struct tq_partition *partition, uint32_t slot);

/* NULL when it is not registered. */
struct tq_field *tq_partition_find_field(const struct tq_partition *partition, const char *name);
/* Registers a field; the caller has checked the limit. NULL without memory. */
struct tq_field *tq_partition_add_field(struct tq_partition *partition, const char *name);
/* Undoes the latest tq_partition_add_field until n fields are left; nobody has used those that go. */
void tq_partition_drop_fields(struct tq_partition *partition, uint32_t n);

struct tq_task *tq_partition_find_task(const struct tq_partition *partition, const char *name);
/* Finds or makes it. Fails with RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_partition_get_task(struct tq_partition *partition, const char *name,
                                              struct tq_task **out_task, struct tq_error *err);

#endif

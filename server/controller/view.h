/* server/controller/view.h: ready sets, kept up to date when cells become ready, so that a fetch costs only its batch.
 * A view is a set of fields of a partition with the slots that have all of them and are not withheld; the tasks share
 * it, and each has a feed (feed.h) over it. Both are made by the first fetch that needs them. Feeds are capped in
 * number: the one that was used least lately and for which nobody waits makes room, and is computed anew when it is
 * needed again.
 * Owns: views, and their feeds. Threads: the controller's. */
#ifndef TQ_CONTROLLER_VIEW_H
#define TQ_CONTROLLER_VIEW_H

#include <roaring/roaring.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/controller/partition.h"

struct tq_feed;

struct tq_view {
    struct tq_list in_partition;
    struct tq_partition *partition;
    uint32_t *fields; /* numbers, ascending */
    uint32_t n_fields;
    roaring_bitmap_t *ready;
    struct tq_list feeds;
};

/* Finds or makes the feed. `fields` are numbers, ascending and distinct. Fails with RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_feed_get(struct tq_partition *partition, const uint32_t *fields, uint32_t n_fields,
                                    struct tq_task *task, uint32_t group_size, struct tq_feed **out_feed,
                                    struct tq_error *err);

/* `slots` have just been produced in `fields` (numbers, ascending). */
void tq_views_produced(struct tq_partition *partition, const roaring_bitmap_t *slots, const uint32_t *fields,
                       uint32_t n_fields);
/* `slots` may be handed out again: their unit is back. */
void tq_views_restored(struct tq_partition *partition, const roaring_bitmap_t *slots);
/* `slots` are not ready any more: cleared, lost, withheld. */
void tq_views_removed(struct tq_partition *partition, const roaring_bitmap_t *slots);
/* The partition was sealed, or lost samples while it is: every waiter is to be looked at, though nothing came. */
void tq_views_touch(struct tq_partition *partition);

/* Makes room for `capacity` group ordinals in every feed. False without memory. */
TQ_MUST_CHECK bool tq_views_reserve_groups(struct tq_partition *partition, uint32_t capacity);
/* Closes all views and feeds; nobody may wait. */
void tq_views_close(struct tq_partition *partition);

#endif

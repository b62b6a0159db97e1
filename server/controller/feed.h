/* server/controller/feed.h: what one task has not consumed of a view, and, with a group size, how many complete groups
 * that is. This is the set that samplers choose from.
 * Owns: its bitmaps, not its waiters. Threads: the controller's. */
#ifndef TQ_CONTROLLER_FEED_H
#define TQ_CONTROLLER_FEED_H

#include <roaring/roaring.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/controller/view.h"

/* The available members of one group. */
struct tq_tally {
    uint32_t count;
    uint32_t lead; /* the oldest: slot + 1; 0: none */
};

struct tq_feed {
    struct tq_list in_view, in_task;
    struct tq_view *view;
    struct tq_task *task;
    roaring_bitmap_t *available; /* view->ready without task->consumed */
    uint64_t n_available;

    uint32_t group_size;      /* 0: groups do not matter, the following is empty */
    struct tq_tally *tallies; /* by group ordinal */
    uint32_t tally_capacity;
    roaring_bitmap_t *complete; /* leads of groups with at least group_size available members, so oldest group first */
    uint64_t n_complete;        /* groups; one with twice group_size members counts twice */

    struct tq_list waiters; /* first come first */
    uint32_t least_need;    /* no waiter needs fewer samples than this */
    bool dirty;             /* has changed since its waiters were looked at */
    /* During a round of fetch.c: the next waiter to look at, and the least need of those that stay. */
    struct tq_list *next_try;
    uint32_t scan_need;
    uint64_t used;
};

/* For view.c, which counts feeds. NULL without memory. */
struct tq_feed *tq_feed_open(struct tq_view *view, struct tq_task *task, uint32_t group_size);
/* Nobody may wait. */
void tq_feed_close(struct tq_feed *feed);

/* `slots` have come into the view: those that the task has not consumed are available. */
void tq_feed_add(struct tq_feed *feed, const roaring_bitmap_t *slots);
/* `slots` have left the view, or the task has consumed them. */
void tq_feed_remove(struct tq_feed *feed, const roaring_bitmap_t *slots);
TQ_MUST_CHECK bool tq_feed_reserve_groups(struct tq_feed *feed, uint32_t capacity);

/* Live samples that the task has not consumed and that the view does not have: they may still come. */
uint64_t tq_feed_pending(const struct tq_feed *feed);

/* Marks slots as consumed in the task and takes them from all its feeds. */
void tq_task_consume(struct tq_task *task, const roaring_bitmap_t *slots);
/* The task has not consumed these slots after all. */
void tq_task_restore(struct tq_task *task, const roaring_bitmap_t *slots);
/* The task has consumed nothing any more. Returns how many samples it had. */
uint64_t tq_task_reset(struct tq_task *task);

#endif

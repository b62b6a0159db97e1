#include "server/controller/feed.h"

#include <string.h>

#include "transport/base/assert.h"

static uint64_t whole_groups(const struct tq_feed *feed, uint32_t ordinal)
{
    return feed->counts[ordinal] / feed->group_size;
}

/* Adds (by = 1) or subtracts one available member of the row's group. */
static bool count_member(uint32_t slot, struct tq_feed *feed, bool more)
{
    uint32_t group = tq_partition_row(feed->view->partition, slot)->group;
    if (group == 0)
        return true;
    uint32_t ordinal = group - 1;
    TQ_ASSERT(ordinal < feed->count_capacity && (more || feed->counts[ordinal] > 0));
    uint64_t before = whole_groups(feed, ordinal);
    feed->counts[ordinal] = more ? feed->counts[ordinal] + 1 : feed->counts[ordinal] - 1;
    uint64_t after = whole_groups(feed, ordinal);
    feed->n_complete = feed->n_complete + after - before;
    if (before == 0 && after > 0)
        roaring_bitmap_add(feed->complete, ordinal);
    else if (before > 0 && after == 0)
        roaring_bitmap_remove(feed->complete, ordinal);
    return true;
}

static bool count_in(uint32_t slot, void *feed)
{
    return count_member(slot, feed, true);
}

static bool count_out(uint32_t slot, void *feed)
{
    return count_member(slot, feed, false);
}

void tq_feed_add(struct tq_feed *feed, const roaring_bitmap_t *slots)
{
    roaring_bitmap_t *fresh = roaring_bitmap_andnot(slots, feed->task->consumed);
    if (fresh == NULL)
        return;
    roaring_bitmap_andnot_inplace(fresh, feed->available);
    uint64_t n = roaring_bitmap_get_cardinality(fresh);
    if (n > 0) {
        roaring_bitmap_or_inplace(feed->available, fresh);
        feed->n_available += n;
        if (feed->group_size > 0)
            roaring_iterate(fresh, count_in, feed);
        feed->dirty = true;
    }
    roaring_bitmap_free(fresh);
}

void tq_feed_remove(struct tq_feed *feed, const roaring_bitmap_t *slots)
{
    roaring_bitmap_t *gone = roaring_bitmap_and(slots, feed->available);
    if (gone == NULL)
        return;
    uint64_t n = roaring_bitmap_get_cardinality(gone);
    if (n > 0) {
        roaring_bitmap_andnot_inplace(feed->available, gone);
        feed->n_available -= n;
        if (feed->group_size > 0)
            roaring_iterate(gone, count_out, feed);
    }
    roaring_bitmap_free(gone);
}

bool tq_feed_reserve_groups(struct tq_feed *feed, uint32_t capacity)
{
    if (feed->group_size == 0 || feed->count_capacity >= capacity)
        return true;
    uint32_t *counts = tq_seam_alloc_array(feed->view->partition->seam, capacity, sizeof(*counts));
    if (counts == NULL)
        return false;
    if (feed->count_capacity > 0)
        memcpy(counts, feed->counts, feed->count_capacity * sizeof(*counts));
    tq_seam_free(feed->view->partition->seam, feed->counts);
    feed->counts = counts;
    feed->count_capacity = capacity;
    return true;
}

struct tq_feed *tq_feed_open(struct tq_view *view, struct tq_task *task, uint32_t group_size)
{
    struct tq_feed *feed = tq_seam_alloc(view->partition->seam, sizeof(*feed));
    if (feed == NULL)
        return NULL;
    feed->view = view;
    feed->task = task;
    feed->group_size = group_size;
    feed->least_need = UINT32_MAX;
    tq_list_init(&feed->waiters);
    tq_list_add_tail(&view->feeds, &feed->in_view);
    tq_list_add_tail(&task->feeds, &feed->in_task);
    feed->available = roaring_bitmap_create();
    feed->complete = roaring_bitmap_create();
    if (feed->available == NULL || feed->complete == NULL ||
        !tq_feed_reserve_groups(feed, view->partition->groups.capacity)) {
        tq_feed_close(feed);
        return NULL;
    }
    tq_feed_add(feed, view->ready);
    return feed;
}

void tq_feed_close(struct tq_feed *feed)
{
    const struct tq_seam *seam = feed->view->partition->seam;
    TQ_ASSERT(tq_list_empty(&feed->waiters));
    tq_list_remove(&feed->in_view);
    tq_list_remove(&feed->in_task);
    if (feed->available != NULL)
        roaring_bitmap_free(feed->available);
    if (feed->complete != NULL)
        roaring_bitmap_free(feed->complete);
    tq_seam_free(seam, feed->counts);
    tq_seam_free(seam, feed);
}

uint64_t tq_feed_pending(const struct tq_feed *feed)
{
    uint64_t left = tq_partition_count(feed->view->partition) - roaring_bitmap_get_cardinality(feed->task->consumed);
    TQ_ASSERT(left >= feed->n_available);
    return left - feed->n_available;
}

void tq_task_consume(struct tq_task *task, const roaring_bitmap_t *slots)
{
    roaring_bitmap_or_inplace(task->consumed, slots);
    tq_list_each (node, &task->feeds)
        tq_feed_remove(tq_container_of(node, struct tq_feed, in_task), slots);
}

void tq_task_restore(struct tq_task *task, const roaring_bitmap_t *slots)
{
    roaring_bitmap_andnot_inplace(task->consumed, slots);
    tq_list_each (node, &task->feeds) {
        struct tq_feed *feed = tq_container_of(node, struct tq_feed, in_task);
        roaring_bitmap_t *ready = roaring_bitmap_and(slots, feed->view->ready);
        tq_feed_add(feed, ready);
        roaring_bitmap_free(ready);
    }
}

uint64_t tq_task_reset(struct tq_task *task)
{
    uint64_t n = roaring_bitmap_get_cardinality(task->consumed);
    roaring_bitmap_clear(task->consumed);
    tq_list_each (node, &task->feeds) {
        struct tq_feed *feed = tq_container_of(node, struct tq_feed, in_task);
        tq_feed_add(feed, feed->view->ready);
    }
    return n;
}

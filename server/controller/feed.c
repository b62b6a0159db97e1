#include "server/controller/feed.h"

#include <string.h>

#include "transport/base/assert.h"

/* The oldest available member of the row's group behind it: slot + 1; 0: none. */
static uint32_t next_available(const struct tq_feed *feed, uint32_t slot)
{
    const struct tq_partition *partition = feed->view->partition;
    uint32_t at = tq_partition_row(partition, slot)->next;
    while (at != 0 && !roaring_bitmap_contains(feed->available, at - 1))
        at = tq_partition_row(partition, at - 1)->next;
    return at;
}

static void set_tally(struct tq_feed *feed, struct tq_tally *tally, struct tq_tally after)
{
    bool was = tally->count >= feed->group_size, is = after.count >= feed->group_size;
    feed->n_complete += after.count / feed->group_size;
    feed->n_complete -= tally->count / feed->group_size;
    if (was && tally->lead != 0 && (!is || tally->lead != after.lead))
        roaring_bitmap_remove(feed->complete, tally->lead - 1);
    if (is && after.lead != 0 && (!was || tally->lead != after.lead))
        roaring_bitmap_add(feed->complete, after.lead - 1);
    *tally = after;
}

/* Counts one available member of the row's group more or less. The bitmap has changed before, by all of them: between
 * its rows a lead may be missing. */
static bool count_member(uint32_t slot, struct tq_feed *feed, bool more)
{
    uint32_t group = tq_partition_row(feed->view->partition, slot)->group;
    if (group == 0)
        return true;
    TQ_ASSERT(group - 1 < feed->tally_capacity && (more || feed->tallies[group - 1].count > 0));
    struct tq_tally *tally = &feed->tallies[group - 1], after = *tally;
    after.count = more ? after.count + 1 : after.count - 1;
    if (more && (after.lead == 0 || slot + 1 < after.lead))
        after.lead = slot + 1;
    else if (!more && slot + 1 == after.lead)
        after.lead = next_available(feed, slot);
    set_tally(feed, tally, after);
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
    if (feed->group_size == 0 || feed->tally_capacity >= capacity)
        return true;
    struct tq_tally *tallies = tq_seam_alloc_array(feed->view->partition->seam, capacity, sizeof(*tallies));
    if (tallies == NULL)
        return false;
    if (feed->tally_capacity > 0)
        memcpy(tallies, feed->tallies, feed->tally_capacity * sizeof(*tallies));
    tq_seam_free(feed->view->partition->seam, feed->tallies);
    feed->tallies = tallies;
    feed->tally_capacity = capacity;
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
    tq_seam_free(seam, feed->tallies);
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

#include "server/controller/view.h"

#include <string.h>

#include "server/controller/feed.h"
#include "transport/base/assert.h"

static bool same_fields(const struct tq_view *view, const uint32_t *fields, uint32_t n_fields)
{
    return view->n_fields == n_fields && memcmp(view->fields, fields, n_fields * sizeof(*fields)) == 0;
}

static struct tq_view *find_view(const struct tq_partition *partition, const uint32_t *fields, uint32_t n_fields)
{
    tq_list_each (node, &partition->views) {
        struct tq_view *view = tq_container_of(node, struct tq_view, in_partition);
        if (same_fields(view, fields, n_fields))
            return view;
    }
    return NULL;
}

static void close_view(struct tq_view *view)
{
    const struct tq_seam *seam = view->partition->seam;
    TQ_ASSERT(tq_list_empty(&view->feeds));
    tq_list_remove(&view->in_partition);
    if (view->ready != NULL)
        roaring_bitmap_free(view->ready);
    tq_seam_free(seam, view->fields);
    tq_seam_free(seam, view);
}

/* Those of `slots` that have all fields of the view and may be handed out. NULL without memory. */
static roaring_bitmap_t *servable(const struct tq_view *view, const roaring_bitmap_t *slots)
{
    roaring_bitmap_t *found = roaring_bitmap_copy(slots);
    for (uint32_t i = 0; found != NULL && i < view->n_fields; i++)
        roaring_bitmap_and_inplace(found, view->partition->fields[view->fields[i]]->produced);
    if (found != NULL)
        roaring_bitmap_andnot_inplace(found, view->partition->withheld);
    return found;
}

static struct tq_view *open_view(struct tq_partition *partition, const uint32_t *fields, uint32_t n_fields)
{
    struct tq_view *view = tq_seam_alloc(partition->seam, sizeof(*view));
    if (view == NULL)
        return NULL;
    view->partition = partition;
    view->n_fields = n_fields;
    tq_list_init(&view->feeds);
    tq_list_add_tail(&partition->views, &view->in_partition);
    view->fields = tq_seam_alloc_array(partition->seam, n_fields, sizeof(*fields));
    if (view->fields != NULL) {
        memcpy(view->fields, fields, n_fields * sizeof(*fields));
        view->ready = servable(view, partition->live);
    }
    if (view->ready != NULL)
        return view;
    close_view(view);
    return NULL;
}

static struct tq_feed *least_used(const struct tq_partition *partition)
{
    struct tq_feed *least = NULL;
    tq_list_each (view_node, &partition->views) {
        struct tq_view *view = tq_container_of(view_node, struct tq_view, in_partition);
        tq_list_each (node, &view->feeds) {
            struct tq_feed *feed = tq_container_of(node, struct tq_feed, in_view);
            if (tq_list_empty(&feed->waiters) && (least == NULL || feed->used < least->used))
                least = feed;
        }
    }
    return least;
}

static void drop_feed(struct tq_partition *partition, struct tq_feed *feed)
{
    struct tq_view *view = feed->view;
    tq_feed_close(feed);
    partition->n_feeds--;
    if (tq_list_empty(&view->feeds))
        close_view(view);
}

static tq_status make_room(struct tq_partition *partition, struct tq_error *err)
{
    if (partition->n_feeds < partition->limits->views)
        return TQ_OK;
    struct tq_feed *least = least_used(partition);
    if (least == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "LIMIT_VIEWS",
                       "fields: partition %s has %u sets of fields and tasks that fetches wait for, no more are kept",
                       partition->name, partition->n_feeds);
    drop_feed(partition, least);
    return TQ_OK;
}

static struct tq_feed *find_feed(const struct tq_view *view, const struct tq_task *task, uint32_t group_size)
{
    tq_list_each (node, &view->feeds) {
        struct tq_feed *feed = tq_container_of(node, struct tq_feed, in_view);
        if (feed->task == task && feed->group_size == group_size)
            return feed;
    }
    return NULL;
}

tq_status tq_feed_get(struct tq_partition *partition, const uint32_t *fields, uint32_t n_fields, struct tq_task *task,
                      uint32_t group_size, struct tq_feed **out_feed, struct tq_error *err)
{
    struct tq_view *view = find_view(partition, fields, n_fields);
    struct tq_feed *feed = view != NULL ? find_feed(view, task, group_size) : NULL;
    if (feed == NULL) {
        tq_status status = make_room(partition, err);
        if (status != TQ_OK)
            return status;
        view = find_view(partition, fields, n_fields); /* making room may have closed it */
        if (view == NULL && (view = open_view(partition, fields, n_fields)) == NULL)
            return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "fields: no memory for their ready set");
        feed = tq_feed_open(view, task, group_size);
        if (feed == NULL) {
            if (tq_list_empty(&view->feeds))
                close_view(view);
            return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "fields: no memory for their ready set");
        }
        partition->n_feeds++;
    }
    feed->used = ++partition->turn;
    *out_feed = feed;
    return TQ_OK;
}

static void admit(struct tq_view *view, const roaring_bitmap_t *slots)
{
    roaring_bitmap_t *fresh = servable(view, slots);
    if (fresh == NULL)
        return;
    roaring_bitmap_andnot_inplace(fresh, view->ready);
    if (!roaring_bitmap_is_empty(fresh)) {
        roaring_bitmap_or_inplace(view->ready, fresh);
        tq_list_each (node, &view->feeds)
            tq_feed_add(tq_container_of(node, struct tq_feed, in_view), fresh);
    }
    roaring_bitmap_free(fresh);
}

/* Whether two ascending lists of numbers have one in common. */
static bool meet(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b)
{
    for (uint32_t i = 0, j = 0; i < n_a && j < n_b;) {
        if (a[i] == b[j])
            return true;
        if (a[i] < b[j])
            i++;
        else
            j++;
    }
    return false;
}

void tq_views_produced(struct tq_partition *partition, const roaring_bitmap_t *slots, const uint32_t *fields,
                       uint32_t n_fields)
{
    tq_list_each (node, &partition->views) {
        struct tq_view *view = tq_container_of(node, struct tq_view, in_partition);
        if (meet(view->fields, view->n_fields, fields, n_fields))
            admit(view, slots);
    }
}

void tq_views_restored(struct tq_partition *partition, const roaring_bitmap_t *slots)
{
    tq_list_each (node, &partition->views)
        admit(tq_container_of(node, struct tq_view, in_partition), slots);
}

void tq_views_removed(struct tq_partition *partition, const roaring_bitmap_t *slots)
{
    tq_list_each (view_node, &partition->views) {
        struct tq_view *view = tq_container_of(view_node, struct tq_view, in_partition);
        roaring_bitmap_andnot_inplace(view->ready, slots);
        tq_list_each (node, &view->feeds)
            tq_feed_remove(tq_container_of(node, struct tq_feed, in_view), slots);
    }
}

void tq_views_touch(struct tq_partition *partition)
{
    tq_list_each (view_node, &partition->views) {
        struct tq_view *view = tq_container_of(view_node, struct tq_view, in_partition);
        tq_list_each (node, &view->feeds)
            tq_container_of(node, struct tq_feed, in_view)->dirty = true;
    }
}

bool tq_views_reserve_groups(struct tq_partition *partition, uint32_t capacity)
{
    tq_list_each (view_node, &partition->views) {
        struct tq_view *view = tq_container_of(view_node, struct tq_view, in_partition);
        tq_list_each (node, &view->feeds) {
            if (!tq_feed_reserve_groups(tq_container_of(node, struct tq_feed, in_view), capacity))
                return false;
        }
    }
    return true;
}

void tq_views_close(struct tq_partition *partition)
{
    tq_list_each_safe (view_node, &partition->views) {
        struct tq_view *view = tq_container_of(view_node, struct tq_view, in_partition);
        tq_list_each_safe (node, &view->feeds)
            tq_feed_close(tq_container_of(node, struct tq_feed, in_view));
        close_view(view);
    }
    partition->n_feeds = 0;
}

#include "server/controller/compact.h"

#include "server/controller/feed.h"
#include "server/controller/view.h"
#include "transport/base/assert.h"

/* While it runs, the partition has its rows still under their old slots, and the indexes know the new ones. */
struct compaction {
    struct tq_partition *partition;
    struct tq_index_space *indexes;
    struct tq_rows fresh;
};

static uint32_t moved(const struct compaction *c, uint32_t slot)
{
    return tq_index_find(c->indexes, tq_row_at(&c->partition->rows, slot)->index)->slot;
}

/* The same for slot + 1, of which 0 is none. */
static uint32_t moved_link(const struct compaction *c, uint32_t link)
{
    return link == 0 ? 0 : moved(c, link - 1) + 1;
}

/* All memory that is needed. */
static bool reserve(struct compaction *c)
{
    tq_rows_init(&c->fresh, c->partition->seam);
    uint32_t slot;
    for (uint32_t i = 0; i < c->partition->rows.n_live; i++)
        if (!tq_rows_add(&c->fresh, &slot))
            return false;
    return true;
}

static void number(struct compaction *c)
{
    uint32_t slot = 0;
    roaring_uint32_iterator_t at;
    for (roaring_init_iterator(c->partition->live, &at); at.has_value; roaring_advance_uint32_iterator(&at))
        tq_index_find(c->indexes, tq_row_at(&c->partition->rows, at.current_value)->index)->slot = slot++;
    TQ_ASSERT(slot == c->fresh.n_live);
}

static void move_rows(struct compaction *c)
{
    roaring_uint32_iterator_t at;
    for (roaring_init_iterator(c->partition->live, &at); at.has_value; roaring_advance_uint32_iterator(&at)) {
        const struct tq_row *row = tq_row_at(&c->partition->rows, at.current_value);
        uint32_t slot = moved(c, at.current_value);
        struct tq_row *fresh = tq_row_at(&c->fresh, slot);
        *fresh = *row;
        fresh->next = moved_link(c, row->next);
        fresh->prev = moved_link(c, row->prev);
        if (row->key != NULL)
            tq_text_map_replace(&c->partition->keys, row->key, (void *)((uintptr_t)slot + 1));
    }
}

static void move_groups(const struct compaction *c)
{
    struct tq_groups *groups = &c->partition->groups;
    for (uint32_t i = 0; i < groups->n_ordinals; i++) {
        struct tq_group *group = groups->by_ordinal[i];
        if (group == NULL)
            continue;
        group->first = moved_link(c, group->first);
        group->last = moved_link(c, group->last);
    }
}

static void move_bits(const struct compaction *c, roaring_bitmap_t **bitmap)
{
    uint32_t slots[1024];
    size_t n = 0;
    roaring_bitmap_t *fresh = roaring_bitmap_create();
    roaring_uint32_iterator_t at;
    for (roaring_init_iterator(*bitmap, &at); at.has_value; roaring_advance_uint32_iterator(&at)) {
        slots[n++] = moved(c, at.current_value);
        if (n == sizeof(slots) / sizeof(slots[0])) {
            roaring_bitmap_add_many(fresh, n, slots);
            n = 0;
        }
    }
    if (n > 0)
        roaring_bitmap_add_many(fresh, n, slots);
    roaring_bitmap_free(*bitmap);
    *bitmap = fresh;
}

static void move_feed(const struct compaction *c, struct tq_feed *feed)
{
    move_bits(c, &feed->available);
    move_bits(c, &feed->complete);
    for (uint32_t i = 0; i < feed->tally_capacity; i++)
        feed->tallies[i].lead = moved_link(c, feed->tallies[i].lead);
}

static void move_views(const struct compaction *c)
{
    tq_list_each (view_node, &c->partition->views) {
        struct tq_view *view = tq_container_of(view_node, struct tq_view, in_partition);
        move_bits(c, &view->ready);
        tq_list_each (node, &view->feeds)
            move_feed(c, tq_container_of(node, struct tq_feed, in_view));
    }
}

bool tq_partition_compact(struct tq_partition *partition, struct tq_index_space *indexes)
{
    struct compaction c = { .partition = partition, .indexes = indexes };
    if (!reserve(&c)) {
        tq_rows_fini(&c.fresh);
        return false;
    }
    number(&c);
    move_rows(&c);
    move_groups(&c);
    move_views(&c);
    for (uint32_t i = 0; i < partition->n_fields; i++)
        move_bits(&c, &partition->fields[i]->produced);
    tq_list_each (node, &partition->tasks)
        move_bits(&c, &tq_container_of(node, struct tq_task, in_partition)->consumed);
    move_bits(&c, &partition->withheld);
    move_bits(&c, &partition->live);
    tq_rows_fini(&partition->rows);
    partition->rows = c.fresh;
    return true;
}

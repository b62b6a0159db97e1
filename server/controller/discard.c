#include "server/controller/discard.h"

#include <string.h>

#include "server/controller/fields.h"
#include "server/controller/view.h"

void tq_cells_forget(struct tq_partition *partition, const roaring_bitmap_t *slots)
{
    tq_views_removed(partition, slots);
    for (uint32_t i = 0; i < partition->n_fields; i++)
        roaring_bitmap_andnot_inplace(partition->fields[i]->produced, slots);
    tq_fields_settle(partition);
}

static void forget_consumption(struct tq_partition *partition, const roaring_bitmap_t *slots)
{
    tq_list_each (node, &partition->tasks)
        roaring_bitmap_andnot_inplace(tq_container_of(node, struct tq_task, in_partition)->consumed, slots);
}

static void discard_row(struct tq_table *table, struct tq_partition *partition, uint32_t slot)
{
    struct tq_row *row = tq_partition_row(partition, slot);
    struct tq_unit *unit = tq_unit_find(&table->units, row->unit);
    if (unit != NULL) {
        unit->samples--;
        unit->bytes -= row->bytes;
    }
    if (row->key != NULL)
        table->text_bytes -= strlen(row->key) + 1;
    if (row->tags != NULL)
        table->text_bytes -= row->tags->bytes;
    tq_partition_drop_key(partition, slot);
    tq_tag_set_drop(table->seam, row->tags);
    row->tags = NULL;
    tq_group_leave(partition, slot);
    tq_index_release(&table->indexes, row->index);
    tq_partition_remove_row(partition, slot);
}

void tq_rows_discard(struct tq_table *table, struct tq_partition *partition, const uint32_t *slots, uint32_t n)
{
    if (n == 0)
        return;
    roaring_bitmap_t *gone = roaring_bitmap_of_ptr(n, slots);
    tq_cells_forget(partition, gone);
    forget_consumption(partition, gone);
    roaring_bitmap_free(gone);
    for (uint32_t i = 0; i < n; i++)
        discard_row(table, partition, slots[i]);
}

#include "server/storage/sample.h"

#include <string.h>

#include "transport/base/assert.h"

struct tq_shelf *tq_shelf_peek(const struct tq_store *store, const char *name)
{
    const struct tq_name *known = tq_names_peek(&store->names, name);
    return known == NULL ? NULL : tq_map_get(&store->partitions, known->id);
}

static struct tq_shelf *open_shelf(struct tq_store *store, struct tq_name *name)
{
    struct tq_shelf *partition = tq_seam_alloc(store->seam, sizeof(*partition));
    if (partition == NULL)
        return NULL;
    if (!tq_map_put(&store->partitions, name->id, partition)) {
        tq_seam_free(store->seam, partition);
        return NULL;
    }
    partition->name = tq_name_hold(name);
    tq_list_init(&partition->samples);
    return partition;
}

struct tq_shelf *tq_shelf_hold(struct tq_store *store, const char *name)
{
    struct tq_name *known = tq_names_hold(&store->names, name);
    if (known == NULL)
        return NULL;
    struct tq_shelf *partition = tq_map_get(&store->partitions, known->id);
    if (partition == NULL)
        partition = open_shelf(store, known);
    if (partition != NULL)
        partition->holds++;
    tq_name_drop(&store->names, known);
    return partition;
}

void tq_shelf_drop(struct tq_store *store, struct tq_shelf *partition)
{
    if (partition == NULL || --partition->holds > 0)
        return;
    TQ_ASSERT(partition->count == 0);
    tq_map_remove(&store->partitions, partition->name->id);
    tq_name_drop(&store->names, partition->name);
    tq_seam_free(store->seam, partition);
}

struct tq_sample *tq_sample_open(struct tq_store *store, uint64_t index)
{
    struct tq_sample *sample = tq_seam_alloc(store->seam, sizeof(*sample));
    if (sample == NULL)
        return NULL;
    sample->index = index;
    tq_list_init(&sample->in_partition);
    if (!tq_map_put(&store->samples, index, sample)) {
        tq_seam_free(store->seam, sample);
        return NULL;
    }
    return sample;
}

static void leave_partition(struct tq_store *store, struct tq_sample *sample)
{
    if (sample->partition == NULL)
        return;
    tq_list_remove(&sample->in_partition);
    sample->partition->count--;
    tq_shelf_drop(store, sample->partition);
    sample->partition = NULL;
}

void tq_sample_empty(struct tq_store *store, struct tq_sample *sample)
{
    store->cells -= sample->n_cells;
    while (sample->n_cells > 0)
        tq_frame_drop(store, sample->cells[--sample->n_cells].frame);
    leave_partition(store, sample);
}

void tq_sample_close(struct tq_store *store, struct tq_sample *sample)
{
    tq_sample_empty(store, sample);
    tq_map_remove(&store->samples, sample->index);
    tq_seam_free(store->seam, sample->cells);
    tq_seam_free(store->seam, sample);
}

void tq_sample_settle(struct tq_sample *sample, struct tq_shelf *partition, uint32_t generation)
{
    TQ_ASSERT(sample->n_cells == 0 && sample->partition == NULL);
    sample->generation = generation;
    sample->partition = partition;
    partition->holds++;
    partition->count++;
    tq_list_add_tail(&partition->samples, &sample->in_partition);
}

bool tq_sample_reserve(struct tq_store *store, struct tq_sample *sample, size_t more)
{
    size_t need = sample->n_cells + more;
    if (need <= sample->capacity)
        return true;
    struct tq_cell *cells = tq_seam_alloc_array(store->seam, need, sizeof(*cells));
    if (cells == NULL)
        return false;
    if (sample->n_cells > 0)
        memcpy(cells, sample->cells, sample->n_cells * sizeof(*cells));
    tq_seam_free(store->seam, sample->cells);
    sample->cells = cells;
    sample->capacity = (uint32_t)need;
    return true;
}

/* Where the field's cell is, or would go. */
static uint32_t find_place(const struct tq_sample *sample, const struct tq_name *field)
{
    uint32_t low = 0;
    uint32_t high = sample->n_cells;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sample->cells[middle].name->id < field->id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct tq_sample *sample, uint32_t place, const struct tq_name *field)
{
    return place < sample->n_cells && sample->cells[place].name == field;
}

struct tq_frame *tq_sample_cell(const struct tq_sample *sample, const struct tq_name *field)
{
    uint32_t place = find_place(sample, field);
    return is_at(sample, place, field) ? sample->cells[place].frame : NULL;
}

void tq_sample_set(struct tq_store *store, struct tq_sample *sample, struct tq_frame **frame)
{
    struct tq_name *field = (*frame)->schema->name;
    uint32_t place = find_place(sample, field);
    struct tq_cell *cell = &sample->cells[place];
    struct tq_frame *old = NULL;
    if (is_at(sample, place, field)) {
        old = cell->frame;
    } else {
        TQ_ASSERT(sample->n_cells < sample->capacity);
        memmove(cell + 1, cell, (sample->n_cells - place) * sizeof(*cell));
        sample->n_cells++;
        store->cells++;
    }
    *cell = (struct tq_cell){ field, *frame };
    *frame = NULL;
    tq_frame_drop(store, old);
}

bool tq_sample_unset(struct tq_store *store, struct tq_sample *sample, const struct tq_name *field)
{
    uint32_t place = find_place(sample, field);
    if (!is_at(sample, place, field))
        return false;
    struct tq_cell *cell = &sample->cells[place];
    struct tq_frame *frame = cell->frame;
    memmove(cell, cell + 1, (sample->n_cells - place - 1) * sizeof(*cell));
    sample->n_cells--;
    store->cells--;
    tq_frame_drop(store, frame);
    return true;
}

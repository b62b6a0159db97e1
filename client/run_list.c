#include "client/run_list.h"

#include <string.h>

#include "client/meta.h"

enum { FIRST_CAPACITY = 16 };

void tq_run_list_init(struct tq_run_list *list, struct tq_arena *arena)
{
    *list = (struct tq_run_list){ .arena = arena };
    tq__v1__cell_runs__init(&list->runs);
}

static void *grow_column(struct tq_arena *arena, const void *old, size_t n, size_t capacity, size_t size)
{
    void *grown = tq_arena_array(arena, capacity, size);
    if (grown != NULL && n > 0)
        memcpy(grown, old, n * size);
    return grown;
}

static bool grow(struct tq_run_list *list)
{
    Tq__V1__CellRuns *runs = &list->runs;
    size_t n = runs->n_count, capacity = list->capacity == 0 ? FIRST_CAPACITY : list->capacity * 4;
    runs->region = grow_column(list->arena, runs->region, n, capacity, sizeof(*runs->region));
    runs->offset = grow_column(list->arena, runs->offset, n, capacity, sizeof(*runs->offset));
    runs->length = grow_column(list->arena, runs->length, n, capacity, sizeof(*runs->length));
    runs->stride = grow_column(list->arena, runs->stride, n, capacity, sizeof(*runs->stride));
    runs->count = grow_column(list->arena, runs->count, n, capacity, sizeof(*runs->count));
    list->capacity = capacity;
    return runs->region != NULL && runs->offset != NULL && runs->length != NULL && runs->stride != NULL &&
           runs->count != NULL;
}

/* Whether the cell continues the last run; decides the run's stride with its second cell. */
static bool extend(Tq__V1__CellRuns *runs, uint32_t region, uint64_t offset, uint64_t length)
{
    if (runs->n_count == 0)
        return false;
    size_t last = runs->n_count - 1;
    if (runs->region[last] != region || runs->length[last] != length || runs->count[last] == UINT32_MAX ||
        offset < runs->offset[last])
        return false;
    uint64_t distance = offset - runs->offset[last];
    if (runs->count[last] == 1)
        runs->stride[last] = distance;
    else if (distance != runs->stride[last] * runs->count[last])
        return false;
    runs->count[last]++;
    return true;
}

bool tq_run_list_add(struct tq_run_list *list, uint32_t region, uint64_t offset, uint64_t length)
{
    Tq__V1__CellRuns *runs = &list->runs;
    if (extend(runs, region, offset, length))
        return true;
    if (runs->n_count == list->capacity && !grow(list))
        return false;
    size_t at = runs->n_count++;
    runs->n_region = runs->n_offset = runs->n_length = runs->n_stride = runs->n_count;
    runs->region[at] = region;
    runs->offset[at] = offset;
    runs->length[at] = length;
    runs->stride[at] = length;
    runs->count[at] = 1;
    return true;
}

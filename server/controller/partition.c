#include "server/controller/partition.h"

#include <inttypes.h>
#include <string.h>

#include "server/controller/view.h"
#include "transport/base/assert.h"

static bool open_bitmaps(struct tq_partition *partition)
{
    partition->live = roaring_bitmap_create();
    partition->withheld = roaring_bitmap_create();
    return partition->live != NULL && partition->withheld != NULL;
}

struct tq_partition *tq_partition_open(const struct tq_seam *seam, const struct tq_controller_limits *limits,
                                       const char *name)
{
    struct tq_partition *partition = tq_seam_alloc(seam, sizeof(*partition));
    if (partition == NULL)
        return NULL;
    partition->seam = seam;
    partition->limits = limits;
    tq_list_init(&partition->tasks);
    tq_list_init(&partition->views);
    tq_list_init(&partition->waiters);
    tq_text_map_init(&partition->keys, seam);
    tq_text_map_init(&partition->field_names, seam);
    tq_text_map_init(&partition->task_names, seam);
    tq_groups_init(&partition->groups, seam);
    tq_rows_init(&partition->rows, seam);
    partition->name = tq_seam_strdup(seam, name);
    if (partition->name == NULL || !open_bitmaps(partition)) {
        tq_partition_close(partition);
        return NULL;
    }
    return partition;
}

static void free_bitmap(roaring_bitmap_t *bitmap)
{
    if (bitmap != NULL)
        roaring_bitmap_free(bitmap);
}

static void close_field(const struct tq_seam *seam, struct tq_field *field)
{
    tq_seam_free(seam, field->name);
    free_bitmap(field->produced);
    tq_seam_free(seam, field);
}

static void close_task(const struct tq_seam *seam, struct tq_task *task)
{
    tq_seam_free(seam, task->name);
    free_bitmap(task->consumed);
    tq_seam_free(seam, task);
}

static void close_rows(struct tq_partition *partition)
{
    roaring_uint32_iterator_t at;
    if (partition->rows.n_live > 0)
        for (roaring_init_iterator(partition->live, &at); at.has_value; roaring_advance_uint32_iterator(&at)) {
            const struct tq_row *row = tq_partition_row(partition, at.current_value);
            tq_seam_free(partition->seam, row->key);
            tq_tag_set_drop(partition->seam, row->tags);
        }
    tq_rows_fini(&partition->rows);
}

void tq_partition_close(struct tq_partition *partition)
{
    if (partition == NULL)
        return;
    TQ_ASSERT(tq_list_empty(&partition->waiters));
    tq_views_close(partition);
    tq_list_each_safe (node, &partition->tasks)
        close_task(partition->seam, tq_container_of(node, struct tq_task, in_partition));
    for (uint32_t i = 0; i < partition->n_fields; i++)
        close_field(partition->seam, partition->fields[i]);
    tq_seam_free(partition->seam, partition->fields);
    close_rows(partition);
    tq_groups_fini(&partition->groups);
    tq_text_map_fini(&partition->keys);
    tq_text_map_fini(&partition->field_names);
    tq_text_map_fini(&partition->task_names);
    free_bitmap(partition->live);
    free_bitmap(partition->withheld);
    tq_seam_free(partition->seam, partition->name);
    tq_seam_free(partition->seam, partition);
}

bool tq_partition_add_row(struct tq_partition *partition, uint32_t *out_slot)
{
    if (!tq_rows_add(&partition->rows, out_slot))
        return false;
    roaring_bitmap_add(partition->live, *out_slot);
    return true;
}

void tq_partition_remove_row(struct tq_partition *partition, uint32_t slot)
{
    const struct tq_row *row = tq_partition_row(partition, slot);
    TQ_ASSERT(row->key == NULL && row->tags == NULL && row->group == 0);
    bool was_live = roaring_bitmap_remove_checked(partition->live, slot);
    TQ_ASSERT(was_live);
    roaring_bitmap_remove(partition->withheld, slot);
    tq_rows_remove(&partition->rows, slot);
}

bool tq_partition_find_key(const struct tq_partition *partition, const char *key, uint32_t *out_slot)
{
    uintptr_t found = (uintptr_t)tq_text_map_get(&partition->keys, key);
    if (found == 0)
        return false;
    *out_slot = (uint32_t)(found - 1);
    return true;
}

bool tq_partition_set_key(struct tq_partition *partition, uint32_t slot, const char *key)
{
    char *copy = tq_seam_strdup(partition->seam, key);
    if (copy == NULL)
        return false;
    if (!tq_text_map_put(&partition->keys, copy, (void *)((uintptr_t)slot + 1))) {
        tq_seam_free(partition->seam, copy);
        return false;
    }
    tq_partition_row(partition, slot)->key = copy;
    return true;
}

void tq_partition_drop_key(struct tq_partition *partition, uint32_t slot)
{
    struct tq_row *row = tq_partition_row(partition, slot);
    if (row->key == NULL)
        return;
    tq_text_map_remove(&partition->keys, row->key);
    tq_seam_free(partition->seam, row->key);
    row->key = NULL;
}

struct tq_field *tq_partition_find_field(const struct tq_partition *partition, const char *name)
{
    return tq_text_map_get(&partition->field_names, name);
}

static bool grow_fields(struct tq_partition *partition)
{
    uint32_t capacity = partition->field_capacity == 0 ? 8 : partition->field_capacity * 2;
    struct tq_field **fields = tq_seam_alloc_array(partition->seam, capacity, sizeof(struct tq_field *));
    if (fields == NULL)
        return false;
    if (partition->n_fields > 0)
        memcpy(fields, partition->fields, partition->n_fields * sizeof(struct tq_field *));
    tq_seam_free(partition->seam, partition->fields);
    partition->fields = fields;
    partition->field_capacity = capacity;
    return true;
}

struct tq_field *tq_partition_add_field(struct tq_partition *partition, const char *name)
{
    if (partition->n_fields == partition->field_capacity && !grow_fields(partition))
        return NULL;
    struct tq_field *field = tq_seam_alloc(partition->seam, sizeof(*field));
    if (field == NULL)
        return NULL;
    field->name = tq_seam_strdup(partition->seam, name);
    field->produced = roaring_bitmap_create();
    field->number = partition->n_fields;
    if (field->name == NULL || field->produced == NULL ||
        !tq_text_map_put(&partition->field_names, field->name, field)) {
        close_field(partition->seam, field);
        return NULL;
    }
    partition->fields[partition->n_fields++] = field;
    return field;
}

void tq_partition_drop_fields(struct tq_partition *partition, uint32_t n)
{
    while (partition->n_fields > n) {
        struct tq_field *field = partition->fields[--partition->n_fields];
        TQ_ASSERT(roaring_bitmap_is_empty(field->produced));
        tq_text_map_remove(&partition->field_names, field->name);
        close_field(partition->seam, field);
    }
}

struct tq_task *tq_partition_find_task(const struct tq_partition *partition, const char *name)
{
    return tq_text_map_get(&partition->task_names, name);
}

tq_status tq_partition_get_task(struct tq_partition *partition, const char *name, struct tq_task **out_task,
                                struct tq_error *err)
{
    *out_task = tq_partition_find_task(partition, name);
    if (*out_task != NULL)
        return TQ_OK;
    if (partition->n_tasks >= partition->limits->tasks)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "LIMIT_TASKS",
                       "task %s: partition %s has %u tasks, expected at most %" PRIu64, name, partition->name,
                       partition->n_tasks, partition->limits->tasks);
    struct tq_task *task = tq_seam_alloc(partition->seam, sizeof(*task));
    if (task != NULL) {
        tq_list_init(&task->feeds);
        task->name = tq_seam_strdup(partition->seam, name);
        task->consumed = roaring_bitmap_create();
        if (task->name != NULL && task->consumed != NULL && tq_text_map_put(&partition->task_names, task->name, task)) {
            tq_list_add_tail(&partition->tasks, &task->in_partition);
            partition->n_tasks++;
            *out_task = task;
            return TQ_OK;
        }
        close_task(partition->seam, task);
    }
    return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "task %s: no memory", name);
}

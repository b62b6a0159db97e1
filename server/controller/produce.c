#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/controller/fields.h"
#include "server/controller/table.h"
#include "server/controller/view.h"
#include "transport/base/assert.h"

/* ---- tags, made aside before anything changes ---- */

struct new_tags {
    struct tq_tag_set **sets; /* one a sample; NULL: unchanged */
    uint64_t bytes_before, bytes_after;
};

static void drop_new_tags(const struct tq_table *table, struct new_tags *fresh, uint32_t n)
{
    for (uint32_t i = 0; fresh->sets != NULL && i < n; i++)
        tq_tag_set_drop(table->seam, fresh->sets[i]);
    tq_seam_free(table->seam, fresh->sets);
    fresh->sets = NULL;
}

static tq_status make_set(const struct tq_table *table, const struct tq_row *row, const struct tq_tag *tags, uint32_t n,
                          bool replace, struct new_tags *fresh, struct tq_tag_set **out_set, struct tq_error *err)
{
    struct tq_tag_set *set = tq_tag_set_make(table->seam, replace ? NULL : row->tags, tags, n);
    if (set == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "tags: no memory for them");
    *out_set = set;
    fresh->bytes_before += row->tags != NULL ? row->tags->bytes : 0;
    fresh->bytes_after += set->bytes;
    if (set->n > table->limits.sample_tags)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "LIMIT_TAGS",
                       "tags: index %" PRIu64 " would have %zu, expected at most %" PRIu64, row->index, set->n,
                       table->limits.sample_tags);
    return TQ_OK;
}

/* With `replace` every sample gets a new set, be it an empty one. */
static tq_status make_tags(const struct tq_table *table, const struct tq_partition *partition, const uint32_t *slots,
                           uint32_t n, const struct tq_tag_changes *tags, bool replace, struct new_tags *fresh,
                           struct tq_error *err)
{
    tq_status status = TQ_OK;
    *fresh = (struct new_tags){ 0 };
    if (tags->first == NULL && !replace)
        return TQ_OK;
    fresh->sets = tq_seam_alloc_array(table->seam, n, sizeof(struct tq_tag_set *));
    if (fresh->sets == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "tags: no memory for them");
    for (uint32_t i = 0; status == TQ_OK && i < n; i++) {
        uint32_t from = tags->first != NULL ? tags->first[i] : 0, to = tags->first != NULL ? tags->first[i + 1] : 0;
        if (to > from || replace)
            status = make_set(table, tq_partition_row(partition, slots[i]), to > from ? tags->entries + from : NULL,
                              to - from, replace, fresh, &fresh->sets[i], err);
    }
    if (status == TQ_OK && table->text_bytes - fresh->bytes_before + fresh->bytes_after > table->limits.text_bytes)
        status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, "LIMIT_TEXT",
                         "tags: %" PRIu64 " bytes beside %" PRIu64 ", expected at most %" PRIu64 " in all",
                         fresh->bytes_after, table->text_bytes - fresh->bytes_before, table->limits.text_bytes);
    if (status != TQ_OK)
        drop_new_tags(table, fresh, n);
    return status;
}

/* A sample that is named twice has two new sets: the later one stays. */
static void install_tags(struct tq_table *table, struct tq_partition *partition, const uint32_t *slots, uint32_t n,
                         struct new_tags *fresh)
{
    for (uint32_t i = 0; fresh->sets != NULL && i < n; i++) {
        struct tq_row *row = tq_partition_row(partition, slots[i]);
        if (fresh->sets[i] == NULL)
            continue;
        table->text_bytes -= row->tags != NULL ? row->tags->bytes : 0;
        table->text_bytes += fresh->sets[i]->bytes;
        tq_tag_set_drop(table->seam, row->tags);
        row->tags = fresh->sets[i];
        fresh->sets[i] = NULL;
    }
    drop_new_tags(table, fresh, n);
}

/* ---- which samples ---- */

/* Slots of the samples, to be freed by the caller. */
static tq_status resolve_all(const struct tq_table *table, const struct tq_partition *partition,
                             const struct tq_sample_ref *samples, uint32_t n, uint32_t **out_slots,
                             struct tq_error *err)
{
    tq_status status = TQ_OK;
    uint32_t *slots = tq_seam_alloc_array(table->seam, n, sizeof(*slots));
    if (slots == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "samples: no memory for %u of them", n);
    for (uint32_t i = 0; status == TQ_OK && i < n; i++)
        status = tq_table_resolve(table, partition, &samples[i], &slots[i], err);
    if (status != TQ_OK) {
        tq_seam_free(table->seam, slots);
        return status;
    }
    *out_slots = slots;
    return TQ_OK;
}

static tq_status check_units(const struct tq_partition *partition, const struct tq_production *production,
                             const uint32_t *slots, struct tq_error *err)
{
    for (uint32_t i = 0; i < production->n; i++) {
        const struct tq_row *row = tq_partition_row(partition, slots[i]);
        if (production->units != NULL && production->units[i] != row->unit)
            return tq_fail(err, TQ_FAILED_PRECONDITION, "WRONG_UNIT",
                           "samples.unit[%u]: %u, expected %u for index %" PRIu64, i, production->units[i], row->unit,
                           row->index);
    }
    return TQ_OK;
}

/* ---- the change itself, which cannot fail ---- */

static void account_bytes(struct tq_table *table, struct tq_partition *partition,
                          const struct tq_production *production, const uint32_t *slots)
{
    for (uint32_t i = 0; production->bytes != NULL && i < production->n; i++) {
        struct tq_row *row = tq_partition_row(partition, slots[i]);
        /* What is told is of this call's fields. An expected size covers them all: it only ever grows. */
        uint64_t bytes = production->bytes[i] > row->bytes ? production->bytes[i] : row->bytes;
        tq_unit_find(&table->units, row->unit)->bytes += bytes - row->bytes;
        row->bytes = bytes;
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

static uint64_t mark(struct tq_partition *partition, const struct tq_production *production, const uint32_t *slots,
                     uint32_t *numbers)
{
    uint64_t cells = 0;
    roaring_bitmap_t *made = roaring_bitmap_of_ptr(production->n, slots);
    uint64_t n_made = roaring_bitmap_get_cardinality(made);
    for (uint32_t i = 0; i < production->n_fields; i++) {
        struct tq_field *field = tq_partition_find_field(partition, production->fields[i].name);
        numbers[i] = field->number;
        cells += n_made - roaring_bitmap_and_cardinality(field->produced, made);
        roaring_bitmap_or_inplace(field->produced, made);
    }
    qsort(numbers, production->n_fields, sizeof(*numbers), by_number);
    tq_views_produced(partition, made, numbers, production->n_fields);
    roaring_bitmap_free(made);
    return cells;
}

static tq_status produce(struct tq_table *table, struct tq_partition *partition, const struct tq_production *production,
                         const uint32_t *slots, uint64_t *out_cells, struct tq_error *err)
{
    struct new_tags fresh = { 0 };
    uint32_t n_fields_before = partition->n_fields;
    tq_status status = check_units(partition, production, slots, err);
    if (status == TQ_OK)
        status = tq_fields_check(partition, production->fields, production->n_fields, err);
    if (status == TQ_OK)
        status = make_tags(table, partition, slots, production->n, &production->tags, false, &fresh, err);
    if (status != TQ_OK)
        return status;
    uint32_t *numbers = tq_seam_alloc_array(table->seam, production->n_fields, sizeof(*numbers));
    if (numbers == NULL || !tq_fields_register(partition, production->fields, production->n_fields)) {
        drop_new_tags(table, &fresh, production->n);
        tq_seam_free(table->seam, numbers);
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "fields: no memory for them");
    }
    tq_fields_announce(partition, production->fields, production->n_fields);
    install_tags(table, partition, slots, production->n, &fresh);
    account_bytes(table, partition, production, slots);
    *out_cells = mark(partition, production, slots, numbers);
    tq_seam_free(table->seam, numbers);
    if (partition->n_fields > n_fields_before)
        tq_fetch_bind(table, partition);
    tq_fetch_wake(table, partition);
    return TQ_OK;
}

tq_status tq_table_produce(struct tq_table *table, const struct tq_production *production, uint64_t *out_cells,
                           struct tq_error *err)
{
    struct tq_partition *partition;
    uint32_t *slots = NULL;
    tq_status status = tq_table_need(table, production->partition, &partition, err);
    if (status == TQ_OK)
        status = resolve_all(table, partition, production->samples, production->n, &slots, err);
    if (status != TQ_OK)
        return status;
    TQ_ASSERT(slots != NULL);
    status = produce(table, partition, production, slots, out_cells, err);
    tq_seam_free(table->seam, slots);
    return status;
}

tq_status tq_table_set_tags(struct tq_table *table, const char *name, const struct tq_sample_ref *samples, uint32_t n,
                            const struct tq_tag_changes *tags, bool replace, struct tq_error *err)
{
    struct tq_partition *partition;
    struct new_tags fresh;
    uint32_t *slots = NULL;
    tq_status status = tq_table_need(table, name, &partition, err);
    if (status == TQ_OK)
        status = resolve_all(table, partition, samples, n, &slots, err);
    if (status != TQ_OK)
        return status;
    TQ_ASSERT(slots != NULL);
    status = make_tags(table, partition, slots, n, tags, replace, &fresh, err);
    if (status == TQ_OK)
        install_tags(table, partition, slots, n, &fresh);
    tq_seam_free(table->seam, slots);
    return status;
}

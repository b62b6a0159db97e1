#include "server/controller/samples_in.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/controller/text_in.h"

static tq_status no_memory(const struct tq_intake *intake)
{
    return tq_fail(intake->err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "no memory for the request");
}

/* ---- index runs ---- */

static tq_status count_runs(const struct tq_intake *intake, const char *what, const Tq__V1__IndexRuns *runs,
                            uint32_t *out_n)
{
    uint64_t n = 0, most = intake->limits->request_samples;
    if (runs == NULL || runs->n_start == 0)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "SAMPLES", "%s.indexes: none, expected 1 or more", what);
    if (runs->n_start != runs->n_count)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "COLUMNS", "%s.indexes.count: %zu entries, expected %zu", what,
                       runs->n_count, runs->n_start);
    for (size_t i = 0; i < runs->n_start; i++) {
        if (runs->count[i] == 0 || runs->count[i] > most - n)
            return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "SAMPLES",
                           "%s.indexes.count[%zu]: %" PRIu64 ", expected 1 or more, in all at most %" PRIu64, what, i,
                           runs->count[i], most);
        if (runs->start[i] > UINT64_MAX - runs->count[i])
            return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "SAMPLES",
                           "%s.indexes.start[%zu]: %" PRIu64 " and %" PRIu64 " more, expected what fits 64 bits", what,
                           i, runs->start[i], runs->count[i]);
        n += runs->count[i];
    }
    *out_n = (uint32_t)n;
    return TQ_OK;
}

static void spread_runs(const Tq__V1__IndexRuns *runs, struct tq_sample_ref *refs)
{
    for (size_t i = 0; i < runs->n_start; i++)
        for (uint64_t k = 0; k < runs->count[i]; k++)
            (refs++)->index = runs->start[i] + k;
}

/* A column of n or 1 numbers, none of which is 0. */
static tq_status check_numbers(const struct tq_intake *intake, const char *what, const char *column,
                               const uint32_t *numbers, size_t n_numbers, uint32_t n)
{
    if (n_numbers != n && n_numbers != 1)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "COLUMNS", "%s.%s: %zu entries, expected %u or 1", what,
                       column, n_numbers, n);
    for (size_t i = 0; i < n_numbers; i++)
        if (numbers[i] == 0)
            return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "SAMPLES", "%s.%s[%zu]: 0, expected 1 or more", what,
                           column, i);
    return TQ_OK;
}

static tq_status units_in(const struct tq_intake *intake, const char *what, const Tq__V1__Samples *samples, uint32_t n,
                          const uint32_t **out_units)
{
    *out_units = NULL;
    if (samples->n_unit == 0)
        return TQ_OK;
    tq_status status = check_numbers(intake, what, "unit", samples->unit, samples->n_unit, n);
    if (status != TQ_OK)
        return status;
    uint32_t *units = tq_arena_alloc(intake->arena, n * sizeof(*units));
    if (units == NULL)
        return no_memory(intake);
    for (uint32_t i = 0; i < n; i++)
        units[i] = samples->unit[samples->n_unit == 1 ? 0 : i];
    *out_units = units;
    return TQ_OK;
}

tq_status tq_samples_in(const struct tq_intake *intake, const char *what, const Tq__V1__Samples *samples,
                        struct tq_samples_in *out)
{
    uint32_t n = 0;
    if (samples == NULL)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "SAMPLES", "%s: missing", what);
    tq_status status = tq_text_check("partition", samples->partition, intake->limits->name_bytes, intake->err);
    if (status == TQ_OK)
        status = count_runs(intake, what, samples->indexes, &n);
    if (status == TQ_OK)
        status = check_numbers(intake, what, "generation", samples->generation, samples->n_generation, n);
    if (status == TQ_OK)
        status = units_in(intake, what, samples, n, &out->units);
    if (status != TQ_OK)
        return status;
    struct tq_sample_ref *refs = tq_arena_alloc(intake->arena, n * sizeof(*refs));
    if (refs == NULL)
        return no_memory(intake);
    spread_runs(samples->indexes, refs);
    for (uint32_t i = 0; i < n; i++)
        refs[i].generation = samples->generation[samples->n_generation == 1 ? 0 : i];
    out->partition = samples->partition;
    out->refs = refs;
    out->n = n;
    return TQ_OK;
}

tq_status tq_column_in(const struct tq_intake *intake, const char *what, const uint64_t *column, size_t n_column,
                       uint32_t n, const uint64_t **out)
{
    *out = NULL;
    if (n_column == 0)
        return TQ_OK;
    if (n_column != n && n_column != 1)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "COLUMNS", "%s: %zu entries, expected %u or 1", what, n_column,
                       n);
    uint64_t *all = tq_arena_alloc(intake->arena, n * sizeof(*all));
    if (all == NULL)
        return no_memory(intake);
    for (uint32_t i = 0; i < n; i++)
        all[i] = column[n_column == 1 ? 0 : i];
    *out = all;
    return TQ_OK;
}

/* ---- tags ---- */

static tq_status check_tag(const struct tq_intake *intake, const Tq__V1__Tags *tags, size_t i, uint32_t n)
{
    if (tags->sample[i] >= n)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "TAGS", "tags.sample[%zu]: %u, expected a position below %u",
                       i, tags->sample[i], n);
    if (tags->value[i].len > intake->limits->tag_value_bytes)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "TAGS",
                       "tags.value[%zu]: %zu bytes, expected at most %" PRIu64, i, tags->value[i].len,
                       intake->limits->tag_value_bytes);
    return tq_text_check("tags.key", tags->key[i], intake->limits->tag_key_bytes, intake->err);
}

static tq_status check_tags(const struct tq_intake *intake, const Tq__V1__Tags *tags, uint32_t n)
{
    if (tags->n_sample != tags->n_key || tags->n_sample != tags->n_value)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "COLUMNS",
                       "tags: %zu samples, %zu keys, %zu values, expected as many of each", tags->n_sample, tags->n_key,
                       tags->n_value);
    tq_status status = TQ_OK;
    for (size_t i = 0; status == TQ_OK && i < tags->n_sample; i++)
        status = check_tag(intake, tags, i, n);
    return status;
}

tq_status tq_tags_in(const struct tq_intake *intake, const Tq__V1__Tags *tags, uint32_t n, struct tq_tag_changes *out)
{
    *out = (struct tq_tag_changes){ 0 };
    if (tags == NULL)
        return TQ_OK;
    tq_status status = check_tags(intake, tags, n);
    if (status != TQ_OK || tags->n_sample == 0)
        return status;
    uint32_t *first = tq_arena_alloc(intake->arena, ((size_t)n + 2) * sizeof(*first));
    struct tq_tag *entries = tq_arena_alloc(intake->arena, tags->n_sample * sizeof(*entries));
    if (first == NULL || entries == NULL)
        return no_memory(intake);
    /* Counting sort by sample, shifted by one: after the second loop first[i] is where sample i begins. */
    for (size_t i = 0; i < tags->n_sample; i++)
        first[tags->sample[i] + 2]++;
    for (uint32_t i = 0; i < n; i++) {
        if (first[i + 2] > intake->limits->sample_tags)
            return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "TAGS",
                           "tags: %u for the sample at %u, expected at most %" PRIu64, first[i + 2], i,
                           intake->limits->sample_tags);
        first[i + 2] += first[i + 1];
    }
    for (size_t i = 0; i < tags->n_sample; i++)
        entries[first[tags->sample[i] + 1]++] =
            (struct tq_tag){ tags->key[i], { tags->value[i].data, tags->value[i].len } };
    *out = (struct tq_tag_changes){ first, entries };
    return TQ_OK;
}

/* ---- names that must differ ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

tq_status tq_distinct_in(const struct tq_intake *intake, const char *what, char *const *names, size_t n_names)
{
    if (n_names < 2)
        return TQ_OK;
    const char **sorted = tq_arena_copy(intake->arena, names, n_names * sizeof(*names));
    if (sorted == NULL)
        return no_memory(intake);
    qsort(sorted, n_names, sizeof(*sorted), by_text);
    for (size_t i = 1; i < n_names; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "DUPLICATE", "%s: %.200s is named twice, expected once",
                           what, sorted[i]);
    return TQ_OK;
}

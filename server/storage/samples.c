#include "server/storage/samples.h"

#include <stdlib.h>
#include <string.h>

/* The length of the UTF-8 sequence at `text`; 0 when it is none (RFC 3629: no overlong forms, no surrogates). */
static size_t sequence_len(const unsigned char *text)
{
    unsigned char first = text[0];
    if (first < 0x80)
        return 1;
    size_t len = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (first == 0xe0 && text[1] < 0xa0) || (first == 0xf0 && text[1] < 0x90);
    bool beyond = (first == 0xed && text[1] > 0x9f) || (first == 0xf4 && text[1] > 0x8f);
    return overlong || beyond ? 0 : len;
}

tq_status tq_name_check(const char *what, const char *name, uint64_t max_bytes, struct tq_error *err)
{
    size_t len = strlen(name);
    if (len == 0 || len > max_bytes)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "NAME", "%s: '%.64s': %zu bytes; expected 1 to %llu", what, name, len,
                       (unsigned long long)max_bytes);
    const unsigned char *end = (const unsigned char *)name + len;
    for (const unsigned char *at = (const unsigned char *)name; at < end;) {
        size_t sequence = sequence_len(at);
        if (sequence == 0 || *at < 0x20 || *at == 0x7f)
            return tq_fail(err, TQ_INVALID_ARGUMENT, "NAME",
                           "%s: byte 0x%02x at %zu; expected UTF-8 without control characters", what, *at,
                           (size_t)(at - (const unsigned char *)name));
        at += sequence;
    }
    return TQ_OK;
}

static tq_status count_runs(const Tq__V1__IndexRuns *runs, uint64_t max, uint64_t *out_count, struct tq_error *err)
{
    *out_count = 0;
    if (runs == NULL)
        return TQ_OK;
    if (runs->n_start != runs->n_count)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "COLUMNS", "samples.indexes: %zu starts, %zu counts; expected as many",
                       runs->n_start, runs->n_count);
    for (size_t i = 0; i < runs->n_start; i++) {
        uint64_t last;
        if (runs->count[i] == 0 || __builtin_add_overflow(runs->start[i], runs->count[i] - 1, &last))
            return tq_fail(err, TQ_INVALID_ARGUMENT, "RUN",
                           "samples.indexes[%zu]: %llu from %llu on; expected 1 or more below 2^64", i,
                           (unsigned long long)runs->count[i], (unsigned long long)runs->start[i]);
        if (runs->count[i] > max - *out_count)
            return tq_fail(err, TQ_INVALID_ARGUMENT, "TOO_MANY_SAMPLES",
                           "samples.indexes: more than %llu samples; ask for fewer", (unsigned long long)max);
        *out_count += runs->count[i];
    }
    return TQ_OK;
}

static tq_status check_columns(const Tq__V1__Samples *samples, uint64_t n, struct tq_error *err)
{
    if (n > 0 && samples->n_generation != 1 && samples->n_generation != n)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "COLUMNS", "samples.generation: %zu entries; expected 1 or %llu",
                       samples->n_generation, (unsigned long long)n);
    if (samples->n_unit > 1 && samples->n_unit != n)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "COLUMNS", "samples.unit: %zu entries; expected 1 or %llu",
                       samples->n_unit, (unsigned long long)n);
    return TQ_OK;
}

static void write_out(const Tq__V1__Samples *samples, struct tq_sample_list *list)
{
    size_t at = 0;
    for (size_t run = 0; samples->indexes != NULL && run < samples->indexes->n_start; run++)
        for (uint64_t i = 0; i < samples->indexes->count[run]; i++, at++) {
            list->index[at] = samples->indexes->start[run] + i;
            list->generation[at] = samples->generation[samples->n_generation == 1 ? 0 : at];
        }
}

struct run {
    uint64_t first, last;
};

static int compare_runs(const void *a, const void *b)
{
    const struct run *left = a;
    const struct run *right = b;
    return (left->first > right->first) - (left->first < right->first);
}

static tq_status check_distinct(const struct tq_store *store, const Tq__V1__IndexRuns *runs, struct tq_error *err)
{
    struct run *sorted = tq_seam_alloc_array(store->seam, runs->n_start, sizeof(*sorted));
    if (sorted == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory to check %zu runs", runs->n_start);
    for (size_t i = 0; i < runs->n_start; i++)
        sorted[i] = (struct run){ runs->start[i], runs->start[i] + runs->count[i] - 1 };
    qsort(sorted, runs->n_start, sizeof(*sorted), compare_runs);
    tq_status status = TQ_OK;
    for (size_t i = 1; i < runs->n_start && status == TQ_OK; i++)
        if (sorted[i].first <= sorted[i - 1].last)
            status = tq_fail(err, TQ_INVALID_ARGUMENT, "DUPLICATE", "samples.indexes: %llu occurs twice",
                             (unsigned long long)sorted[i].first);
    tq_seam_free(store->seam, sorted);
    return status;
}

static tq_status check(const struct tq_store *store, const Tq__V1__Samples *samples,
                       const struct tq_sample_rules *rules, uint64_t *out_count, struct tq_error *err)
{
    *out_count = 0;
    if (samples == NULL)
        return rules->may_be_none
                   ? TQ_OK
                   : tq_fail(err, TQ_INVALID_ARGUMENT, "MISSING", "samples: missing; expected at least one sample");
    tq_status status = count_runs(samples->indexes, rules->max, out_count, err);
    if (status == TQ_OK && *out_count == 0 && !rules->may_be_none)
        status = tq_fail(err, TQ_INVALID_ARGUMENT, "MISSING", "samples.indexes: empty; expected at least one sample");
    if (status == TQ_OK)
        status = check_columns(samples, *out_count, err);
    if (status == TQ_OK && (*out_count > 0 || samples->partition[0] != '\0'))
        status = tq_name_check("samples.partition", samples->partition, store->limits.name_bytes, err);
    if (status == TQ_OK && rules->distinct && *out_count > 0)
        status = check_distinct(store, samples->indexes, err);
    return status;
}

tq_status tq_sample_list_open(const struct tq_store *store, const Tq__V1__Samples *samples,
                              const struct tq_sample_rules *rules, struct tq_sample_list *out_list,
                              struct tq_error *err)
{
    uint64_t n;
    *out_list = (struct tq_sample_list){ .named = { .partition = samples != NULL ? samples->partition : "" } };
    tq_status status = check(store, samples, rules, &n, err);
    if (status != TQ_OK || n == 0)
        return status;
    out_list->index = tq_seam_alloc_array(store->seam, n, sizeof(*out_list->index));
    out_list->generation = tq_seam_alloc_array(store->seam, n, sizeof(*out_list->generation));
    if (out_list->index == NULL || out_list->generation == NULL) {
        tq_sample_list_close(store, out_list);
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for %llu samples", (unsigned long long)n);
    }
    write_out(samples, out_list);
    out_list->named.index = out_list->index;
    out_list->named.generation = out_list->generation;
    out_list->named.count = (size_t)n;
    return TQ_OK;
}

void tq_sample_list_close(const struct tq_store *store, struct tq_sample_list *list)
{
    tq_seam_free(store->seam, list->index);
    tq_seam_free(store->seam, list->generation);
    *list = (struct tq_sample_list){ 0 };
}

#include "server/storage/sample_runs.h"

#include <stdlib.h>

#include "transport/base/assert.h"

static int compare_rows(const void *a, const void *b)
{
    const struct tq_sample *left = *(struct tq_sample *const *)a;
    const struct tq_sample *right = *(struct tq_sample *const *)b;
    return (left->index > right->index) - (left->index < right->index);
}

static tq_status no_memory(size_t n, struct tq_error *err)
{
    return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory to list %zu samples", n);
}

static void fill(struct tq_sample **rows, size_t n, struct tq_sample_runs *runs)
{
    size_t run = 0;
    for (size_t i = 0; i < n; i++) {
        runs->message.generation[i] = rows[i]->generation;
        if (i > 0 && rows[i]->index == rows[i - 1]->index + 1) {
            runs->indexes.count[run - 1]++;
        } else {
            runs->indexes.start[run] = rows[i]->index;
            runs->indexes.count[run++] = 1;
        }
    }
    runs->indexes.n_start = runs->indexes.n_count = run;
    runs->message.n_generation = n;
    runs->message.partition = rows[0]->partition->name->text;
}

tq_status tq_sample_runs_open(const struct tq_store *store, struct tq_sample **rows, size_t n,
                              struct tq_sample_runs *out_runs, struct tq_error *err)
{
    tq__v1__samples__init(&out_runs->message);
    tq__v1__index_runs__init(&out_runs->indexes);
    out_runs->message.indexes = &out_runs->indexes;
    if (n == 0)
        return TQ_OK;
    out_runs->indexes.start = tq_seam_alloc_array(store->seam, n, sizeof(uint64_t));
    out_runs->indexes.count = tq_seam_alloc_array(store->seam, n, sizeof(uint64_t));
    out_runs->message.generation = tq_seam_alloc_array(store->seam, n, sizeof(uint32_t));
    if (out_runs->indexes.start == NULL || out_runs->indexes.count == NULL || out_runs->message.generation == NULL) {
        tq_sample_runs_close(store, out_runs);
        return no_memory(n, err);
    }
    qsort(rows, n, sizeof(struct tq_sample *), compare_rows);
    fill(rows, n, out_runs);
    return TQ_OK;
}

void tq_sample_runs_close(const struct tq_store *store, struct tq_sample_runs *runs)
{
    tq_seam_free(store->seam, runs->indexes.start);
    tq_seam_free(store->seam, runs->indexes.count);
    tq_seam_free(store->seam, runs->message.generation);
    *runs = (struct tq_sample_runs){ 0 };
}

static tq_status add_shelf(const struct tq_store *store, const struct tq_shelf *shelf, struct tq_held *held,
                           struct tq_error *err)
{
    size_t n = 0;
    TQ_ASSERT(held->runs != NULL && held->messages != NULL);
    struct tq_sample **rows = tq_seam_alloc_array(store->seam, (size_t)shelf->count, sizeof(struct tq_sample *));
    if (rows == NULL)
        return no_memory((size_t)shelf->count, err);
    tq_list_each (node, &shelf->samples)
        rows[n++] = tq_container_of(node, struct tq_sample, in_partition);
    struct tq_sample_runs *runs = &held->runs[held->count];
    tq_status status = tq_sample_runs_open(store, rows, n, runs, err);
    if (status == TQ_OK)
        held->messages[held->count++] = &runs->message;
    tq_seam_free(store->seam, rows);
    return status;
}

tq_status tq_held_open(const struct tq_store *store, const struct tq_shelf *only, struct tq_held *out_held,
                       struct tq_error *err)
{
    size_t n = only != NULL ? 1 : tq_map_count(&store->partitions);
    *out_held = (struct tq_held){ .runs = tq_seam_alloc_array(store->seam, n, sizeof(*out_held->runs)),
                                  .messages = tq_seam_alloc_array(store->seam, n, sizeof(Tq__V1__Samples *)) };
    tq_status status = out_held->runs == NULL || out_held->messages == NULL ? no_memory(n, err) : TQ_OK;
    size_t cursor = 0;
    const struct tq_shelf *shelf = only != NULL ? only : tq_map_next(&store->partitions, &cursor);
    while (status == TQ_OK && shelf != NULL) {
        if (shelf->count > 0) /* only a put on its way: nothing yet */
            status = add_shelf(store, shelf, out_held, err);
        shelf = only != NULL ? NULL : tq_map_next(&store->partitions, &cursor);
    }
    if (status != TQ_OK)
        tq_held_close(store, out_held);
    return status;
}

void tq_held_close(const struct tq_store *store, struct tq_held *held)
{
    for (size_t i = 0; held->runs != NULL && i < held->count; i++)
        tq_sample_runs_close(store, &held->runs[i]);
    tq_seam_free(store->seam, held->runs);
    tq_seam_free(store->seam, held->messages);
    *held = (struct tq_held){ 0 };
}

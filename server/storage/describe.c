/* StorageService/Describe: which cells exist. Costs a walk over the samples it is asked about. */
#include "server/storage/fields.h"
#include "server/storage/sample.h"
#include "server/storage/sample_runs.h"
#include "server/storage/samples.h"
#include "server/storage/service.h"
#include "transport/base/assert.h"

struct describe {
    struct tq_store *store;
    struct tq_sample **rows;
    size_t n_rows;
    uint64_t walk; /* marks above it are positions in `schemas`, from 1 */
    struct tq_schema **schemas;
    uint64_t *cells;
    size_t n_schemas, capacity;
    uint64_t bytes;
    struct tq_held held;
};

static tq_status no_memory(struct tq_error *err)
{
    return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for the description");
}

static tq_status grow(struct describe *d, struct tq_error *err)
{
    if (d->n_schemas < d->capacity)
        return TQ_OK;
    size_t capacity = d->capacity == 0 ? 16 : d->capacity * 2;
    struct tq_schema **schemas = tq_seam_alloc_array(d->store->seam, capacity, sizeof(struct tq_schema *));
    uint64_t *cells = tq_seam_alloc_array(d->store->seam, capacity, sizeof(*cells));
    if (schemas == NULL || cells == NULL) {
        tq_seam_free(d->store->seam, schemas);
        tq_seam_free(d->store->seam, cells);
        return no_memory(err);
    }
    for (size_t i = 0; i < d->n_schemas; i++) {
        schemas[i] = d->schemas[i];
        cells[i] = d->cells[i];
    }
    tq_seam_free(d->store->seam, d->schemas);
    tq_seam_free(d->store->seam, d->cells);
    d->schemas = schemas;
    d->cells = cells;
    d->capacity = capacity;
    return TQ_OK;
}

static tq_status count_sample(struct describe *d, const struct tq_sample *sample, struct tq_error *err)
{
    for (uint32_t c = 0; c < sample->n_cells; c++) {
        struct tq_schema *schema = sample->cells[c].frame->schema;
        if (schema->mark <= d->walk) {
            if (grow(d, err) != TQ_OK)
                return TQ_RESOURCE_EXHAUSTED;
            TQ_ASSERT(d->schemas != NULL);
            d->schemas[d->n_schemas++] = schema;
            schema->mark = d->walk + d->n_schemas;
        }
        TQ_ASSERT(d->cells != NULL);
        d->cells[schema->mark - d->walk - 1]++;
        d->bytes += sample->cells[c].frame->len;
    }
    return TQ_OK;
}

/* The named samples that are here, each once. */
static tq_status describe_named(struct describe *d, const struct tq_named_samples *named, struct tq_error *err)
{
    d->rows = tq_seam_alloc_array(d->store->seam, named->count, sizeof(struct tq_sample *));
    d->held.runs = tq_seam_alloc(d->store->seam, sizeof(*d->held.runs));
    d->held.messages = tq_seam_alloc(d->store->seam, sizeof(Tq__V1__Samples *));
    if (d->rows == NULL || d->held.runs == NULL || d->held.messages == NULL)
        return no_memory(err);
    for (size_t i = 0; i < named->count; i++) {
        struct tq_sample *sample;
        if (tq_store_find(d->store, named->partition, named->index[i], named->generation[i], &sample, NULL) != TQ_OK)
            continue;
        d->rows[d->n_rows++] = sample;
        if (count_sample(d, sample, err) != TQ_OK)
            return TQ_RESOURCE_EXHAUSTED;
    }
    if (d->n_rows == 0)
        return TQ_OK;
    tq_status status = tq_sample_runs_open(d->store, d->rows, d->n_rows, d->held.runs, err);
    if (status == TQ_OK)
        d->held.messages[d->held.count++] = &d->held.runs->message;
    return status;
}

static tq_status count_shelf(struct describe *d, const struct tq_shelf *shelf, struct tq_error *err)
{
    tq_status status = TQ_OK;
    for (const struct tq_list *node = shelf->samples.next; node != &shelf->samples && status == TQ_OK;
         node = node->next)
        status = count_sample(d, tq_container_of(node, struct tq_sample, in_partition), err);
    return status;
}

/* A whole partition, or everything. */
static tq_status describe_shelves(struct describe *d, const char *partition, struct tq_error *err)
{
    const struct tq_shelf *only = NULL;
    if (partition[0] != '\0' && (only = tq_shelf_peek(d->store, partition)) == NULL)
        return TQ_OK;
    uint64_t n = only != NULL ? only->count : tq_store_samples(d->store);
    if (n > d->store->limits.request_samples)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "TOO_MANY_SAMPLES",
                       "%llu samples; expected at most %llu: describe a partition or name indexes",
                       (unsigned long long)n, (unsigned long long)d->store->limits.request_samples);
    tq_status status = TQ_OK;
    size_t cursor = 0;
    const struct tq_shelf *shelf = only != NULL ? only : tq_map_next(&d->store->partitions, &cursor);
    while (status == TQ_OK && shelf != NULL) {
        status = count_shelf(d, shelf, err);
        shelf = only != NULL ? NULL : tq_map_next(&d->store->partitions, &cursor);
    }
    return status == TQ_OK ? tq_held_open(d->store, only, &d->held, err) : status;
}

static tq_status answer(struct describe *d, struct tq_server_call *call, struct tq_error *err)
{
    const struct tq_seam *seam = d->store->seam;
    Tq__V1__Field *fields = tq_seam_alloc_array(seam, d->n_schemas, sizeof(*fields));
    Tq__V1__Field **pointers = tq_seam_alloc_array(seam, d->n_schemas, sizeof(Tq__V1__Field *));
    bool has_memory = fields != NULL && pointers != NULL;
    if (has_memory) {
        for (size_t i = 0; i < d->n_schemas; i++) {
            tq_field_write(d->schemas[i], &fields[i]);
            pointers[i] = &fields[i];
        }
        Tq__V1__DescribeResponse response = TQ__V1__DESCRIBE_RESPONSE__INIT;
        response.n_samples = d->held.count;
        response.samples = d->held.messages;
        response.n_fields = response.n_cells = d->n_schemas;
        response.fields = pointers;
        response.cells = d->cells;
        response.bytes = d->bytes;
        tq_v1_storage_describe_answer(call, &response);
    }
    tq_seam_free(seam, fields);
    tq_seam_free(seam, pointers);
    return has_memory ? TQ_OK : no_memory(err);
}

void tq_storage_describe(void *state, const Tq__V1__DescribeRequest *request, struct tq_server_call *call)
{
    struct tq_store *store = &((struct tq_storage *)state)->store;
    struct describe d = { .store = store, .walk = store->walk };
    struct tq_sample_list list;
    struct tq_error err;
    const struct tq_sample_rules rules = { .max = store->limits.request_samples,
                                           .may_be_none = true,
                                           .distinct = true };
    tq_status status = tq_sample_list_open(store, request->samples, &rules, &list, &err);
    if (status == TQ_OK)
        status = list.named.count > 0 ? describe_named(&d, &list.named, &err)
                                      : describe_shelves(&d, list.named.partition, &err);
    store->walk += d.n_schemas;
    if (status == TQ_OK)
        status = answer(&d, call, &err);
    if (status != TQ_OK)
        tq_server_fail_error(call, &err);
    tq_held_close(store, &d.held);
    tq_sample_list_close(store, &list);
    tq_seam_free(store->seam, d.rows);
    tq_seam_free(store->seam, d.schemas);
    tq_seam_free(store->seam, d.cells);
}

#include "server/storage/put_request.h"

#include "server/storage/fields.h"

static tq_status no_memory(struct tq_error *err)
{
    return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory to check the put");
}

/* No parser is built in; a plug-in would bring one. */
static tq_status check_parser(const Tq__V1__PutRequest *message, struct tq_error *err)
{
    if (message->parser[0] != '\0')
        return tq_fail(err, TQ_INVALID_ARGUMENT, "PARSER", "parser: '%.64s' is not known; known: none",
                       message->parser);
    if (message->parser_arguments.len != 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "PARSER",
                       "parser_arguments: %zu bytes; expected none without a parser", message->parser_arguments.len);
    return TQ_OK;
}

static tq_status open_fields(const struct tq_store *store, const Tq__V1__PutRequest *message,
                             struct tq_put_request *request, struct tq_error *err)
{
    const struct tq_fields_in in = { message->fields, message->n_fields, message->shapes, message->n_shapes,
                                     request->samples.named.count };
    request->fields = tq_seam_alloc_array(store->seam, message->n_fields, sizeof(*request->fields));
    request->sizes = tq_seam_alloc_array(store->seam, message->n_fields, sizeof(*request->sizes));
    if (request->fields == NULL || request->sizes == NULL)
        return no_memory(err);
    tq_status status = tq_put_fields_check(store, &in, request->fields, request->sizes, err);
    if (status != TQ_OK)
        return status;
    uint64_t cells;
    if (__builtin_mul_overflow(message->n_fields, request->samples.named.count, &cells) ||
        cells > store->limits.request_cells)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "TOO_MANY_CELLS",
                       "%zu fields of %zu samples: expected at most %llu cells; put fewer", message->n_fields,
                       request->samples.named.count, (unsigned long long)store->limits.request_cells);
    request->n_cells = (size_t)cells;
    return TQ_OK;
}

static tq_status check_region(const struct tq_region *region, size_t i, struct tq_error *err)
{
    if (region->kind != TQ_REGION_HEAP && region->kind != TQ_REGION_ARENA)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "REGION", "source.kind[%zu]: %u; expected 1, arena, or 2, heap", i,
                       region->kind);
    if (region->id == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "REGION", "source.id[%zu]: 0; expected the number of a region", i);
    return TQ_OK;
}

static tq_status check_region_columns(const struct tq_store *store, const Tq__V1__Regions *source, struct tq_error *err)
{
    size_t n = source->n_id;
    if (source->n_kind != n || source->n_start != n || source->n_length != n || source->n_key != n ||
        source->n_ticket != n)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "COLUMNS",
                       "source: %zu id, %zu kind, %zu start, %zu length, %zu key, %zu ticket; expected as many of each",
                       n, source->n_kind, source->n_start, source->n_length, source->n_key, source->n_ticket);
    if (n > store->limits.request_regions)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "TOO_MANY_REGIONS", "source: %zu regions; expected at most %llu", n,
                       (unsigned long long)store->limits.request_regions);
    if (n > 0 && source->address.len == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "REGION", "source.address: empty; expected the address of the owner");
    return TQ_OK;
}

static tq_status open_regions(const struct tq_store *store, const Tq__V1__Regions *source,
                              struct tq_put_request *request, struct tq_error *err)
{
    if (source == NULL)
        return TQ_OK;
    tq_status status = check_region_columns(store, source, err);
    if (status != TQ_OK)
        return status;
    request->address = (struct tq_bytes){ source->address.data, source->address.len };
    request->regions = tq_seam_alloc_array(store->seam, source->n_id, sizeof(*request->regions));
    if (request->regions == NULL)
        return no_memory(err);
    request->n_regions = source->n_id;
    for (size_t i = 0; i < request->n_regions && status == TQ_OK; i++) {
        request->regions[i] = (struct tq_region){ .id = source->id[i],
                                                  .kind = source->kind[i],
                                                  .base = source->start[i],
                                                  .length = source->length[i],
                                                  .key = { source->key[i].data, source->key[i].len },
                                                  .ticket = { source->ticket[i].data, source->ticket[i].len } };
        status = check_region(&request->regions[i], i, err);
    }
    return status;
}

static tq_status check_run_columns(const Tq__V1__CellRuns *runs, struct tq_error *err)
{
    if (runs == NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "MISSING", "cells: missing; expected runs of cells");
    size_t n = runs->n_region;
    if (runs->n_offset != n || runs->n_length != n || runs->n_stride != n || runs->n_count != n)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "COLUMNS",
                       "cells: %zu region, %zu offset, %zu length, %zu stride, %zu count; expected as many of each", n,
                       runs->n_offset, runs->n_length, runs->n_stride, runs->n_count);
    return TQ_OK;
}

/* Whether the last cell of the run ends inside its region, without overflow on the way. */
static bool run_fits(const Tq__V1__CellRuns *runs, size_t run, uint64_t region_bytes)
{
    uint64_t last, end;
    return !__builtin_mul_overflow(runs->stride[run], runs->count[run] - 1, &last) &&
           !__builtin_add_overflow(last, runs->offset[run], &last) &&
           !__builtin_add_overflow(last, runs->length[run], &end) && end <= region_bytes;
}

static tq_status check_run(const struct tq_put_request *request, const Tq__V1__CellRuns *runs, size_t run,
                           size_t done_cells, uint64_t inline_bytes, struct tq_error *err)
{
    uint32_t region = runs->region[run];
    if (region > request->n_regions)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "REGION", "cells.region[%zu]: %u; expected at most %zu", run, region,
                       request->n_regions);
    if (runs->count[run] == 0 || runs->count[run] > request->n_cells - done_cells)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "RUN", "cells.count[%zu]: %u; expected 1 to %zu: there are %zu cells",
                       run, runs->count[run], request->n_cells - done_cells, request->n_cells);
    uint64_t region_bytes = region == 0 ? inline_bytes : request->regions[region - 1].length;
    if (!run_fits(runs, run, region_bytes))
        return tq_fail(err, TQ_INVALID_ARGUMENT, "RANGE",
                       "cells[%zu]: %u cells of %llu bytes from %llu, %llu apart, leave region %u of %llu bytes", run,
                       runs->count[run], (unsigned long long)runs->length[run], (unsigned long long)runs->offset[run],
                       (unsigned long long)runs->stride[run], region, (unsigned long long)region_bytes);
    return TQ_OK;
}

static void write_out_run(struct tq_put_request *request, const Tq__V1__CellRuns *runs, size_t run, size_t at)
{
    for (uint32_t i = 0; i < runs->count[run]; i++) {
        request->lengths[at + i] = runs->length[run];
        request->sources[at + i] =
            (struct tq_cell_source){ runs->region[run], runs->offset[run] + i * runs->stride[run] };
    }
}

static tq_status open_cells(const struct tq_store *store, const Tq__V1__CellRuns *runs, uint64_t inline_bytes,
                            struct tq_put_request *request, struct tq_error *err)
{
    tq_status status = check_run_columns(runs, err);
    if (status != TQ_OK)
        return status;
    request->lengths = tq_seam_alloc_array(store->seam, request->n_cells, sizeof(*request->lengths));
    request->sources = tq_seam_alloc_array(store->seam, request->n_cells, sizeof(*request->sources));
    if (request->lengths == NULL || request->sources == NULL)
        return no_memory(err);
    size_t at = 0;
    for (size_t run = 0; run < runs->n_region; run++) {
        status = check_run(request, runs, run, at, inline_bytes, err);
        if (status != TQ_OK)
            return status;
        write_out_run(request, runs, run, at);
        at += runs->count[run];
    }
    if (at != request->n_cells)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "RUN",
                       "cells.count: %zu cells; expected %zu: %zu fields of %zu samples", at, request->n_cells,
                       request->plan.n_fields, request->samples.named.count);
    return TQ_OK;
}

/* Every inline byte belongs to one cell: what is left over or used twice is a writer's mistake. */
static tq_status count_bytes(struct tq_put_request *request, uint64_t inline_bytes, struct tq_error *err)
{
    uint64_t used_inline = 0;
    for (size_t c = 0; c < request->n_cells; c++) {
        uint64_t *sum = request->sources[c].region == 0 ? &used_inline : &request->bulk_bytes;
        request->n_bulk += request->sources[c].region != 0 && request->lengths[c] > 0;
        if (__builtin_add_overflow(*sum, request->lengths[c], sum))
            return tq_fail(err, TQ_INVALID_ARGUMENT, "RANGE", "cells.length: the sum exceeds 2^64");
    }
    if (used_inline != inline_bytes)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "INLINE", "cells of region 0: %llu bytes; the inline frames have %llu",
                       (unsigned long long)used_inline, (unsigned long long)inline_bytes);
    return TQ_OK;
}

static tq_status check_length(const struct tq_put_request *request, size_t field, size_t sample, struct tq_error *err)
{
    const struct tq_declaration *declaration = &request->fields[field];
    uint64_t got = request->lengths[field * request->samples.named.count + sample];
    uint64_t expected = got;
    bool fits = true;
    if (declaration->layout == TQ_CELLS_DENSE)
        fits = tq_cell_bytes(declaration->shape, declaration->rank, declaration->dtype, &expected);
    if (declaration->layout == TQ_CELLS_JAGGED)
        fits = tq_cell_bytes(request->sizes[field] + sample * declaration->rank, declaration->rank, declaration->dtype,
                             &expected);
    if (!fits)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "SHAPES", "shapes of '%s', sample %llu: the product exceeds 2^64",
                       declaration->name, (unsigned long long)request->samples.index[sample]);
    if (got != expected)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "LENGTH",
                       "cells.length of '%s', sample %llu: %llu bytes; type and shape make %llu", declaration->name,
                       (unsigned long long)request->samples.index[sample], (unsigned long long)got,
                       (unsigned long long)expected);
    return TQ_OK;
}

static tq_status check_lengths(const struct tq_put_request *request, struct tq_error *err)
{
    tq_status status = TQ_OK;
    for (size_t f = 0; f < request->plan.n_fields && status == TQ_OK; f++)
        for (size_t i = 0; i < request->samples.named.count && status == TQ_OK; i++)
            status = check_length(request, f, i, err);
    return status;
}

tq_status tq_put_request_open(const struct tq_store *store, const Tq__V1__PutRequest *message, uint64_t inline_bytes,
                              struct tq_put_request *out_request, struct tq_error *err)
{
    const struct tq_sample_rules rules = { .max = store->limits.request_cells, .distinct = true };
    *out_request = (struct tq_put_request){ 0 };
    tq_status status = check_parser(message, err);
    if (status == TQ_OK)
        status = tq_sample_list_open(store, message->samples, &rules, &out_request->samples, err);
    if (status == TQ_OK)
        status = open_fields(store, message, out_request, err);
    if (status == TQ_OK)
        status = open_regions(store, message->source, out_request, err);
    out_request->plan.n_fields = message->n_fields;
    if (status == TQ_OK)
        status = open_cells(store, message->cells, inline_bytes, out_request, err);
    if (status == TQ_OK)
        status = count_bytes(out_request, inline_bytes, err);
    if (status == TQ_OK)
        status = check_lengths(out_request, err);
    if (status != TQ_OK) {
        tq_put_request_close(store, out_request);
        return status;
    }
    out_request->plan = (struct tq_put_plan){ .samples = out_request->samples.named,
                                              .fields = out_request->fields,
                                              .n_fields = message->n_fields,
                                              .lengths = out_request->lengths,
                                              .sizes = out_request->sizes };
    return TQ_OK;
}

void tq_put_request_close(const struct tq_store *store, struct tq_put_request *request)
{
    tq_sample_list_close(store, &request->samples);
    tq_seam_free(store->seam, request->fields);
    tq_seam_free(store->seam, request->sizes);
    tq_seam_free(store->seam, request->lengths);
    tq_seam_free(store->seam, request->sources);
    tq_seam_free(store->seam, request->regions);
    *request = (struct tq_put_request){ 0 };
}

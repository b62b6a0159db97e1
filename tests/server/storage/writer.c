#include "tests/server/storage/writer.h"

#include <stdlib.h>

#include "tests/support/cmocka_all.h"
#include "tq/v1/health.tq.h"
#include "transport/base/crc32c.h"

void writer_open(struct writer *writer, const char *address, enum tq_bulk_mode mode, bool tcp_only)
{
    const struct tq_bulk_opts bulk = { .mode = mode, .tcp_only = tcp_only };
    struct tq_error err;
    *writer = (struct writer){ 0 };
    assert_int_equal(tq_runtime_open(&(struct tq_runtime_opts){ .role = TQ_ROLE_CLIENT }, &writer->runtime, &err),
                     TQ_OK);
    assert_int_equal(tq_channel_open(writer->runtime, address, NULL, &writer->channel, &err), TQ_OK);
    assert_int_equal(tq_bulk_open(&bulk, &writer->bulk, &err), TQ_OK);
    tq_channel_keep(writer->channel);
}

void writer_close(struct writer *writer)
{
    tq_channel_close(writer->channel);
    tq_runtime_close(writer->runtime);
    tq_bulk_close(writer->bulk);
    *writer = (struct writer){ 0 };
}

/* ---- put ---- */

struct put_message {
    Tq__V1__PutRequest request;
    Tq__V1__Samples samples;
    Tq__V1__IndexRuns indexes;
    Tq__V1__Field field, *fields[1];
    Tq__V1__Shapes shape, *shapes[1];
    Tq__V1__CellRuns cells;
    Tq__V1__Regions source;
    ProtobufCBinaryData key, ticket;
    struct tq_region region;
    uint64_t start, count;
    uint32_t generation;
};

static void fill_samples(const struct rows *rows, Tq__V1__Samples *samples, Tq__V1__IndexRuns *indexes, uint64_t *start,
                         uint64_t *count, uint32_t *generation)
{
    tq__v1__samples__init(samples);
    tq__v1__index_runs__init(indexes);
    *start = rows->first;
    *count = rows->n;
    *generation = rows->generation;
    indexes->n_start = indexes->n_count = 1;
    indexes->start = start;
    indexes->count = count;
    samples->partition = (char *)rows->partition;
    samples->indexes = indexes;
    samples->n_generation = 1;
    samples->generation = generation;
}

static void fill_field(struct put_message *m, const struct packed *column, size_t n)
{
    bool is_jagged = column->layout == TQ__V1__LAYOUT__LAYOUT_JAGGED;
    tq__v1__field__init(&m->field);
    tq__v1__shapes__init(&m->shape);
    m->field.name = (char *)column->name;
    m->field.layout = column->layout;
    m->field.dtype = column->dtype;
    m->field.content_type = (char *)(column->content_type != NULL ? column->content_type : "");
    if (is_jagged) {
        m->shape.rank = (uint32_t)column->rank;
        m->shape.n_size = column->rank * n;
        m->shape.size = (uint64_t *)column->shape;
    } else {
        m->field.n_shape = column->rank;
        m->field.shape = (uint64_t *)column->shape;
    }
    m->fields[0] = &m->field;
    m->shapes[0] = &m->shape;
    m->request.n_fields = m->request.n_shapes = 1;
    m->request.fields = m->fields;
    m->request.shapes = m->shapes;
}

/* One run for neighbours of equal length. */
static uint64_t fill_cells(struct put_message *m, const struct packed *column, size_t n, enum way way)
{
    Tq__V1__CellRuns *cells = &m->cells;
    uint64_t at = 0;
    size_t run = 0;
    tq__v1__cell_runs__init(cells);
    cells->region = calloc(n, sizeof(*cells->region));
    cells->offset = calloc(n, sizeof(*cells->offset));
    cells->length = calloc(n, sizeof(*cells->length));
    cells->stride = calloc(n, sizeof(*cells->stride));
    cells->count = calloc(n, sizeof(*cells->count));
    for (size_t i = 0; i < n; at += column->lengths[i], i++) {
        if (i > 0 && column->lengths[i] == column->lengths[i - 1]) {
            cells->count[run - 1]++;
            continue;
        }
        cells->region[run] = way != BY_FRAMES;
        cells->offset[run] = at;
        cells->length[run] = cells->stride[run] = column->lengths[i];
        cells->count[run++] = 1;
    }
    cells->n_region = cells->n_offset = cells->n_length = cells->n_stride = cells->n_count = run;
    return at;
}

/* m->region is filled. */
static void fill_source(struct put_message *m, struct writer *writer)
{
    struct tq_bytes address = tq_bulk_address(writer->bulk);
    Tq__V1__Regions *source = &m->source;
    tq__v1__regions__init(source);
    m->key = (ProtobufCBinaryData){ m->region.key.len, (uint8_t *)m->region.key.ptr };
    m->ticket = (ProtobufCBinaryData){ m->region.ticket.len, (uint8_t *)m->region.ticket.ptr };
    source->address = (ProtobufCBinaryData){ address.len, (uint8_t *)address.ptr };
    source->n_id = source->n_kind = source->n_start = source->n_length = source->n_key = source->n_ticket = 1;
    source->id = &m->region.id;
    source->kind = &m->region.kind;
    source->start = &m->region.base;
    source->length = &m->region.length;
    source->key = &m->key;
    source->ticket = &m->ticket;
    m->request.source = source;
}

static void check_digests(const struct packed *column, size_t n, const Tq__V1__PutResponse *response)
{
    const uint8_t *at = column->bytes;
    assert_int_equal(response->n_digest, n);
    for (size_t i = 0; i < n; at += column->lengths[i], i++)
        assert_int_equal(response->digest[i], tq_crc32c(at, column->lengths[i]));
}

tq_status writer_put(struct writer *writer, const struct rows *rows, const struct packed *column, enum way way,
                     struct tq_reply *reply)
{
    struct put_message m = { 0 };
    struct tq_exposure *exposure = NULL;
    struct tq_block block = { 0 };
    tq__v1__put_request__init(&m.request);
    fill_samples(rows, &m.samples, &m.indexes, &m.start, &m.count, &m.generation);
    fill_field(&m, column, rows->n);
    uint64_t total = fill_cells(&m, column, rows->n, way);
    m.request.samples = &m.samples;
    m.request.cells = &m.cells;
    const struct tq_bytes frame = { column->bytes, total };
    struct tq_call_opts opts = { .deadline_ns = writer->put_deadline_ns };
    if (way == BY_BULK) {
        assert_int_equal(tq_bulk_expose(writer->bulk, column->bytes, total, &exposure, NULL), TQ_OK);
        tq_exposure_region(exposure, &m.region);
        fill_source(&m, writer);
    } else if (way == BY_ARENA) {
        assert_int_equal(tq_bulk_alloc(writer->bulk, total, &block, NULL), TQ_OK);
        memcpy(block.ptr, column->bytes, total);
        tq_block_publish(&block, 1);
        assert_true(tq_bulk_region(writer->bulk, block.region, &m.region));
        m.cells.offset[0] = block.frame;
        fill_source(&m, writer);
    } else if (total > 0) {
        opts.frames = &frame;
        opts.n_frames = 1;
    }
    tq_status status = tq_v1_storage_put(writer->channel, &m.request, &opts, reply);
    tq_bulk_unexpose(exposure, tq_deadline_after_ms(5000));
    tq_bulk_free(writer->bulk, &block);
    if (status == TQ_OK)
        check_digests(column, rows->n, tq_v1_storage_put_response(reply));
    void *const memory[] = { m.cells.region, m.cells.offset, m.cells.length, m.cells.stride, m.cells.count };
    for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
        free(memory[i]);
    return status;
}

/* ---- get ---- */

tq_status writer_get_answer(struct writer *writer, const struct rows *rows, const char *field, struct fetched *out)
{
    Tq__V1__GetRequest request = TQ__V1__GET_REQUEST__INIT;
    Tq__V1__Samples samples;
    Tq__V1__IndexRuns indexes;
    uint64_t start, count;
    uint32_t generation;
    struct tq_bytes address = tq_bulk_address(writer->bulk);
    *out = (struct fetched){ 0 };
    fill_samples(rows, &samples, &indexes, &start, &count, &generation);
    request.samples = &samples;
    request.n_fields = 1;
    request.fields = (char **)&field;
    request.reader = (ProtobufCBinaryData){ address.len, (uint8_t *)address.ptr };
    tq_status status = tq_v1_storage_get(writer->channel, &request, NULL, &out->reply);
    out->response = tq_v1_storage_get_response(&out->reply);
    for (size_t i = 0; out->response != NULL && i < out->response->cells->n_length; i++)
        out->total += out->response->cells->length[i];
    return status;
}

static void copy_inline(const struct tq_reply *reply, uint64_t offset, uint8_t *into, uint64_t len)
{
    uint64_t start = 0;
    for (size_t f = 0; f < reply->n_frames && len > 0; start += reply->frames[f].len, f++) {
        if (offset >= start + reply->frames[f].len)
            continue;
        uint64_t skip = offset - start;
        uint64_t piece = reply->frames[f].len - skip < len ? reply->frames[f].len - skip : len;
        memcpy(into, reply->frames[f].ptr + skip, piece);
        into += piece;
        offset += piece;
        len -= piece;
    }
    assert_int_equal(len, 0);
}

static tq_status read_ranges(struct writer *writer, struct fetched *fetched, struct tq_bulk_range *ranges, size_t n,
                             struct tq_error *err)
{
    const Tq__V1__Regions *source = fetched->response->source;
    struct tq_region *regions = calloc(source->n_id, sizeof(*regions));
    for (size_t i = 0; i < source->n_id; i++)
        regions[i] = (struct tq_region){ .id = source->id[i],
                                         .kind = source->kind[i],
                                         .base = source->start[i],
                                         .length = source->length[i],
                                         .key = { source->key[i].data, source->key[i].len },
                                         .ticket = { source->ticket[i].data, source->ticket[i].len } };
    struct tq_bulk_result result;
    const struct tq_bulk_read_opts opts = { .deadline_ns = tq_deadline_after_ms(20000) };
    tq_status status = tq_bulk_read_wait(writer->bulk, (struct tq_bytes){ source->address.data, source->address.len },
                                         regions, source->n_id, ranges, n, &opts, &result);
    *err = result.error;
    memcpy(fetched->engine_bytes, result.bytes, sizeof(result.bytes));
    free(regions);
    return status;
}

tq_status writer_read(struct writer *writer, struct fetched *fetched, struct tq_error *err)
{
    const Tq__V1__Cells *cells = fetched->response->cells;
    struct tq_bulk_range *ranges = calloc(cells->n_length, sizeof(*ranges));
    size_t n = 0;
    tq_status status = TQ_OK;
    fetched->bytes = malloc(fetched->total + 1);
    uint8_t *at = fetched->bytes;
    for (size_t i = 0; i < cells->n_length; at += cells->length[i], i++) {
        if (cells->region[i] == 0)
            copy_inline(&fetched->reply, cells->frame[i], at, cells->length[i]);
        else
            ranges[n++] = (struct tq_bulk_range){ .source = cells->region[i] - 1,
                                                  .frame = cells->frame[i],
                                                  .len = cells->length[i],
                                                  .version = cells->version[i],
                                                  .into = at };
    }
    if (n > 0)
        status = read_ranges(writer, fetched, ranges, n, err);
    at = fetched->bytes;
    for (size_t i = 0; i < cells->n_length && status == TQ_OK; at += cells->length[i], i++)
        assert_int_equal(cells->digest[i], tq_crc32c(at, cells->length[i]));
    free(ranges);
    return status;
}

tq_status writer_get(struct writer *writer, const struct rows *rows, const char *field, struct fetched *out,
                     struct tq_error *err)
{
    tq_status status = writer_get_answer(writer, rows, field, out);
    *err = out->reply.error;
    return status == TQ_OK ? writer_read(writer, out, err) : status;
}

void writer_release(struct writer *writer, uint64_t pin)
{
    Tq__V1__ReleaseRequest request = TQ__V1__RELEASE_REQUEST__INIT;
    struct tq_reply reply;
    request.n_pin = 1;
    request.pin = &pin;
    assert_int_equal(tq_v1_storage_release(writer->channel, &request, NULL, &reply), TQ_OK);
    tq_reply_drop(&reply);
}

void fetched_drop(struct fetched *fetched)
{
    tq_reply_drop(&fetched->reply);
    free(fetched->bytes);
    *fetched = (struct fetched){ 0 };
}

/* ---- others ---- */

tq_status writer_clear(struct writer *writer, const struct rows *rows)
{
    Tq__V1__ClearRequest request = TQ__V1__CLEAR_REQUEST__INIT;
    Tq__V1__Samples samples;
    Tq__V1__IndexRuns indexes;
    uint64_t start, count;
    uint32_t generation;
    struct tq_reply reply;
    fill_samples(rows, &samples, &indexes, &start, &count, &generation);
    request.samples = &samples;
    tq_status status = tq_v1_storage_clear(writer->channel, &request, NULL, &reply);
    tq_reply_drop(&reply);
    return status;
}

double writer_metric(struct writer *writer, const char *name)
{
    Tq__V1__GetMetricsRequest request = TQ__V1__GET_METRICS_REQUEST__INIT;
    struct tq_reply reply;
    double value = -1;
    request.prefix = (char *)name;
    assert_int_equal(tq_v1_health_get_metrics(writer->channel, &request, NULL, &reply), TQ_OK);
    const Tq__V1__GetMetricsResponse *response = tq_v1_health_get_metrics_response(&reply);
    for (size_t i = 0; i < response->n_name; i++)
        if (strcmp(response->name[i], name) == 0)
            value = response->value[i];
    tq_reply_drop(&reply);
    return value;
}

void writer_await_metric(struct writer *writer, const char *name, double value)
{
    int64_t deadline_ns = tq_deadline_after_ms(15000);
    double last = -1;
    while (tq_now_ns() < deadline_ns && (last = writer_metric(writer, name)) != value)
        ;
    assert_true(last == value);
}

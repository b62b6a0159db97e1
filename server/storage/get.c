/* StorageService/Get: all cells or none. Small cells, and everything for a reader without bulk, travel inline; the
 * others are pinned and described, and the reader pulls them. */
#include "server/storage/columns.h"
#include "server/storage/fields.h"
#include "server/storage/inline_cells.h"
#include "server/storage/samples.h"
#include "server/storage/service.h"
#include "transport/base/assert.h"

/* Everything that an answer is made of; cells field by field. */
struct get {
    struct tq_storage *storage;
    struct tq_sample_list samples;
    size_t n_fields, n_columns, n_cells, n_regions;
    struct tq_frame **frames;  /* n_cells, borrowed */
    struct tq_frame **inlined; /* those of them that travel inline, else NULL */
    struct tq_frame **pinned;  /* the others */
    struct tq_inline_cells *inline_cells;
    uint64_t inline_bytes, total_bytes;
    struct tq_column_out *columns;
    Tq__V1__Field **fields;
    Tq__V1__Shapes **shapes;
    Tq__V1__Cells cells;
    Tq__V1__Regions source;
    struct tq_map region_at; /* region id -> position in source, from 1 */
    uint64_t pin;
};

static tq_status no_memory(struct tq_error *err)
{
    return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for the answer");
}

static void *room(const struct get *get, size_t count, size_t size)
{
    return tq_seam_alloc_array(get->storage->seam, count, size);
}

static tq_status check(struct get *get, const Tq__V1__GetRequest *request, struct tq_error *err)
{
    const struct tq_store *store = &get->storage->store;
    if (request->view)
        return tq_fail(err, TQ_UNIMPLEMENTED, NULL, "view: true; views are not served yet, expected false");
    if (request->n_fields == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "MISSING", "fields: empty; expected at least one");
    tq_status status = tq_field_names_check(store, request->fields, request->n_fields, err);
    if (status != TQ_OK)
        return status;
    const struct tq_sample_rules rules = { .max = store->limits.request_cells };
    status = tq_sample_list_open(store, request->samples, &rules, &get->samples, err);
    if (status != TQ_OK)
        return status;
    get->n_fields = request->n_fields;
    size_t n_samples = get->samples.named.count;
    if (n_samples > store->limits.request_cells / get->n_fields)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "TOO_MANY_CELLS",
                       "%zu fields of %zu samples: expected at most %llu cells; get fewer", get->n_fields, n_samples,
                       (unsigned long long)store->limits.request_cells);
    get->n_cells = get->n_fields * n_samples;
    return TQ_OK;
}

static tq_status open_arrays(struct get *get, struct tq_error *err)
{
    get->frames = room(get, get->n_cells, sizeof(struct tq_frame *));
    get->inlined = room(get, get->n_cells, sizeof(struct tq_frame *));
    get->pinned = room(get, get->n_cells, sizeof(struct tq_frame *));
    get->columns = room(get, get->n_fields, sizeof(*get->columns));
    get->fields = room(get, get->n_fields, sizeof(Tq__V1__Field *));
    get->shapes = room(get, get->n_fields, sizeof(Tq__V1__Shapes *));
    Tq__V1__Cells *cells = &get->cells;
    tq__v1__cells__init(cells);
    cells->n_region = cells->n_frame = cells->n_length = cells->n_version = cells->n_digest = get->n_cells;
    cells->region = room(get, get->n_cells, sizeof(*cells->region));
    cells->frame = room(get, get->n_cells, sizeof(*cells->frame));
    cells->length = room(get, get->n_cells, sizeof(*cells->length));
    cells->version = room(get, get->n_cells, sizeof(*cells->version));
    cells->digest = room(get, get->n_cells, sizeof(*cells->digest));
    bool complete = get->frames != NULL && get->inlined != NULL && get->pinned != NULL && get->columns != NULL &&
                    get->fields != NULL && get->shapes != NULL && cells->region != NULL && cells->frame != NULL &&
                    cells->length != NULL && cells->version != NULL && cells->digest != NULL;
    return complete ? TQ_OK : no_memory(err);
}

static tq_status find_cells(struct get *get, char *const *names, struct tq_error *err)
{
    const struct tq_store *store = &get->storage->store;
    const struct tq_named_samples *samples = &get->samples.named;
    for (size_t i = 0; i < samples->count; i++) {
        struct tq_sample *sample;
        tq_status status =
            tq_store_find(store, samples->partition, samples->index[i], samples->generation[i], &sample, err);
        if (status != TQ_OK)
            return status;
        for (size_t f = 0; f < get->n_fields; f++) {
            const struct tq_name *name = tq_names_peek(&store->names, names[f]);
            struct tq_frame *frame = name != NULL ? tq_sample_cell(sample, name) : NULL;
            if (frame == NULL)
                return tq_fail(err, TQ_NOT_FOUND, "NO_FIELD", "sample %llu of partition '%s' has no field '%s'",
                               (unsigned long long)samples->index[i], samples->partition, names[f]);
            get->frames[f * samples->count + i] = frame;
            get->total_bytes += frame->len;
        }
    }
    return TQ_OK;
}

static tq_status open_columns(struct get *get, struct tq_error *err)
{
    size_t n = get->samples.named.count;
    tq_status status = TQ_OK;
    for (size_t f = 0; f < get->n_fields && status == TQ_OK; f++) {
        get->n_columns++;
        status = tq_column_open(&get->storage->store, get->frames + f * n, n, &get->columns[f], err);
        get->fields[f] = &get->columns[f].field;
        get->shapes[f] = &get->columns[f].shapes;
    }
    return status;
}

/* ---- which way each cell goes ---- */

static bool goes_by_bulk(const struct get *get, bool is_reachable, const struct tq_frame *frame)
{
    return is_reachable && get->total_bytes > TQ_SMALL_ANSWER_BYTES && tq_frame_is_placed(frame);
}

static tq_status choose_ways(struct get *get, const Tq__V1__GetRequest *request, struct tq_error *err)
{
    struct tq_storage *storage = get->storage;
    const struct tq_bytes reader = { request->reader.data, request->reader.len };
    bool is_reachable = reader.len > 0 && tq_bulk_reaches(storage->bulk, reader);
    for (size_t c = 0; c < get->n_cells; c++) {
        bool by_bulk = goes_by_bulk(get, is_reachable, get->frames[c]);
        (by_bulk ? get->pinned : get->inlined)[c] = get->frames[c];
        get->inline_bytes += by_bulk ? 0 : get->frames[c]->len;
    }
    uint64_t limit = storage->store.limits.inline_bytes;
    if (request->inline_limit != 0 && request->inline_limit < limit)
        limit = request->inline_limit;
    if (get->inline_bytes > limit)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "INLINE_BYTES",
                       "%zu cells have %llu bytes that travel inline; expected at most %llu: ask for fewer cells",
                       get->n_cells, (unsigned long long)get->inline_bytes, (unsigned long long)limit);
    return TQ_OK;
}

static tq_status open_region_columns(struct get *get, struct tq_error *err)
{
    Tq__V1__Regions *source = &get->source;
    size_t max = 1;
    for (size_t c = 0; c < get->n_cells; c++)
        max += get->pinned[c] != NULL;
    source->id = room(get, max, sizeof(*source->id));
    source->kind = room(get, max, sizeof(*source->kind));
    source->start = room(get, max, sizeof(*source->start));
    source->length = room(get, max, sizeof(*source->length));
    source->key = room(get, max, sizeof(*source->key));
    source->ticket = room(get, max, sizeof(*source->ticket));
    if (source->id == NULL || source->kind == NULL || source->start == NULL || source->length == NULL ||
        source->key == NULL || source->ticket == NULL)
        return no_memory(err);
    return TQ_OK;
}

/* The position of the frame's region in the table, added when it is new. */
static tq_status need_region(struct get *get, const struct tq_frame *frame, uint32_t *out_position,
                             struct tq_error *err)
{
    const struct tq_engine *engine = &get->storage->store.engine;
    Tq__V1__Regions *source = &get->source;
    uint64_t position = (uint64_t)(uintptr_t)tq_map_get(&get->region_at, frame->place.block.region);
    if (position == 0) {
        struct tq_region region;
        if (!engine->region(engine->self, &frame->place, &region))
            return tq_fail(err, TQ_INTERNAL, NULL, "region %llu of a stored cell is not known",
                           (unsigned long long)frame->place.block.region);
        position = get->n_regions + 1;
        if (!tq_map_put(&get->region_at, frame->place.block.region, (void *)(uintptr_t)position))
            return no_memory(err);
        size_t at = get->n_regions++;
        source->id[at] = region.id;
        source->kind[at] = region.kind;
        source->start[at] = region.base;
        source->length[at] = region.length;
        source->key[at] = (ProtobufCBinaryData){ region.key.len, (uint8_t *)region.key.ptr };
        source->ticket[at] = (ProtobufCBinaryData){ region.ticket.len, (uint8_t *)region.ticket.ptr };
    }
    *out_position = (uint32_t)position;
    return TQ_OK;
}

static tq_status describe_cells(struct get *get, const uint64_t *inline_offsets, struct tq_error *err)
{
    Tq__V1__Cells *cells = &get->cells;
    for (size_t c = 0; c < get->n_cells; c++) {
        const struct tq_frame *frame = get->frames[c];
        cells->length[c] = frame->len;
        cells->digest[c] = frame->digest;
        if (get->pinned[c] == NULL) {
            cells->frame[c] = inline_offsets[c];
            continue;
        }
        tq_status status = need_region(get, frame, &cells->region[c], err);
        if (status != TQ_OK)
            return status;
        cells->frame[c] = frame->place.block.frame;
        cells->version[c] = frame->version;
    }
    return TQ_OK;
}

static tq_status place_cells(struct get *get, struct tq_error *err)
{
    uint64_t *offsets = room(get, get->n_cells, sizeof(*offsets));
    if (offsets == NULL)
        return no_memory(err);
    tq_status status = tq_inline_cells_open(get->storage, get->inlined, get->n_cells, offsets, &get->inline_cells, err);
    if (status == TQ_OK)
        status = open_region_columns(get, err);
    if (status == TQ_OK)
        status = describe_cells(get, offsets, err);
    tq_seam_free(get->storage->seam, offsets);
    return status;
}

static tq_status pin_cells(struct get *get, uint64_t session, struct tq_error *err)
{
    if (get->n_regions == 0)
        return TQ_OK;
    return tq_pins_add(&get->storage->pins, session, get->pinned, get->n_cells, &get->pin, err);
}

static void answer(struct get *get, struct tq_server_call *call)
{
    Tq__V1__GetResponse response = TQ__V1__GET_RESPONSE__INIT;
    Tq__V1__Regions *source = &get->source;
    response.n_fields = response.n_shapes = get->n_fields;
    response.fields = get->fields;
    response.shapes = get->shapes;
    response.cells = &get->cells;
    if (get->n_regions > 0) {
        const struct tq_bytes address = tq_bulk_address(get->storage->bulk);
        source->n_id = source->n_kind = source->n_start = source->n_length = get->n_regions;
        source->n_key = source->n_ticket = get->n_regions;
        source->address = (ProtobufCBinaryData){ address.len, (uint8_t *)address.ptr };
        response.source = source;
    }
    response.pin = get->pin;
    get->storage->engine_bytes[TQ_ENGINE_INLINE] += get->inline_bytes;
    tq_storage_count(get->storage, TQ_OPERATION_GET, TQ_OK, get->total_bytes);
    tq_inline_cells_answer(&get->inline_cells, call, &response);
}

static void close_get(struct get *get)
{
    const struct tq_seam *seam = get->storage->seam;
    for (size_t f = 0; f < get->n_columns; f++)
        tq_column_close(&get->storage->store, &get->columns[f]);
    tq_inline_cells_close(get->inline_cells);
    tq_sample_list_close(&get->storage->store, &get->samples);
    tq_map_fini(&get->region_at);
    void *const memory[] = { get->frames,       get->inlined,       get->pinned,        get->columns,
                             get->fields,       get->shapes,        get->cells.region,  get->cells.frame,
                             get->cells.length, get->cells.version, get->cells.digest,  get->source.id,
                             get->source.kind,  get->source.start,  get->source.length, get->source.key,
                             get->source.ticket };
    for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
        tq_seam_free(seam, memory[i]);
}

void tq_storage_get(void *state, const Tq__V1__GetRequest *request, struct tq_server_call *call)
{
    struct tq_storage *storage = state;
    struct get get = { .storage = storage };
    struct tq_error err;
    tq__v1__regions__init(&get.source);
    tq_map_init(&get.region_at, storage->seam);
    tq_status status = check(&get, request, &err);
    if (status == TQ_OK)
        status = open_arrays(&get, &err);
    if (status == TQ_OK)
        status = find_cells(&get, request->fields, &err);
    if (status == TQ_OK)
        status = open_columns(&get, &err);
    if (status == TQ_OK)
        status = choose_ways(&get, request, &err);
    if (status == TQ_OK)
        status = place_cells(&get, &err);
    if (status == TQ_OK)
        status = pin_cells(&get, tq_server_call_session(call), &err);
    if (status == TQ_OK) {
        answer(&get, call);
    } else {
        tq_storage_count(storage, TQ_OPERATION_GET, status, 0);
        tq_server_fail_error(call, &err);
    }
    close_get(&get);
}

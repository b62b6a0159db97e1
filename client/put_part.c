#include "client/put_part.h"

#include <string.h>

#include "client/field_wire.h"
#include "client/region_list.h"
#include "client/run_list.h"
#include "client/samples_wire.h"
#include "transport/base/crc32c.h"

/* A staged cell is a frame of its own with this version: a unit that reads it has no other way to know. */
enum { STAGED_VERSION = 1 };

static bool is_bulk(const struct tq_put_columns *columns, size_t c, enum tq_put_way way)
{
    return way != TQ_PUT_INLINE && columns->large[c];
}

size_t tq_put_part_size(const struct tq_put_columns *columns, const struct tq_share *share, enum tq_put_way way)
{
    const struct tq_batch *batch = columns->batch;
    uint64_t inline_bytes = 0, bulk_bytes = 0, sizes = 0, ranks = 0;
    for (size_t c = 0; c < batch->n_columns; c++)
        ranks += batch->columns[c].rank;
    size_t n = 0;
    for (size_t k = share->next; k < share->n; k++, n++) {
        for (size_t c = 0; c < batch->n_columns; c++) {
            size_t bytes = tq_cells_at(&columns->cells[c], share->positions[k]).len;
            *(is_bulk(columns, c, way) ? &bulk_bytes : &inline_bytes) += bytes;
        }
        sizes += ranks;
        bool full = inline_bytes > TQ_PART_INLINE_BYTES || (n + 1) * batch->n_columns > TQ_PART_CELLS ||
                    sizes > TQ_PART_SIZES || (way == TQ_PUT_STAGED && bulk_bytes > TQ_PART_STAGED_BYTES);
        if (n > 0 && full)
            break;
    }
    return n;
}

/* ---- cells ---- */

struct maker {
    struct tq_arena *arena;
    const struct tq_put_columns *columns;
    const size_t *positions;
    size_t n;
    struct tq_put_part *part;
    struct tq_run_list runs;
    struct tq_region_list regions;
};

static struct tq_bytes cell(const struct maker *maker, size_t c, size_t k)
{
    return tq_cells_at(&maker->columns->cells[c], maker->positions[k]);
}

static bool add_inline_runs(struct maker *maker, size_t c)
{
    uint64_t offset = maker->part->inlined.starts[c];
    for (size_t k = 0; k < maker->n; k++) {
        size_t len = cell(maker, c, k).len;
        if (!tq_run_list_add(&maker->runs, 0, len == 0 ? 0 : offset, len))
            return false;
        offset += len;
    }
    return true;
}

static bool add_exposed_runs(struct maker *maker, size_t c)
{
    struct tq_region region;
    tq_exposure_region(maker->columns->exposures[c], &region);
    uint32_t number = tq_region_list_add(&maker->regions, &region);
    for (size_t k = 0; k < maker->n && number != 0; k++) {
        struct tq_bytes bytes = cell(maker, c, k);
        uint64_t offset = bytes.len == 0 ? 0 : (uint64_t)(bytes.ptr - maker->columns->cells[c].base);
        if (!tq_run_list_add(&maker->runs, number, offset, bytes.len))
            return false;
    }
    return number != 0;
}

/* Copies one cell; its digest is computed while it is hot. Returns its region's number, 0 when there is no room. */
static uint32_t stage_cell(struct maker *maker, struct tq_bytes bytes, uint32_t *digest, uint64_t *offset)
{
    struct tq_put_part *part = maker->part;
    struct tq_block *block = &part->blocks[part->n_blocks];
    struct tq_region region;
    if (tq_bulk_alloc(maker->columns->bulk, bytes.len, block, NULL) != TQ_OK)
        return 0;
    part->n_blocks++;
    uint32_t number = tq_region_list_find(&maker->regions, block->region);
    if (number == 0 && tq_bulk_region(maker->columns->bulk, block->region, &region))
        number = tq_region_list_add(&maker->regions, &region);
    if (number == 0)
        return 0;
    memcpy(block->ptr, bytes.ptr, bytes.len);
    *digest = tq_crc32c(block->ptr, bytes.len);
    tq_block_publish(block, STAGED_VERSION);
    *offset = block->frame;
    return number;
}

static bool add_staged_runs(struct maker *maker, size_t c)
{
    for (size_t k = 0; k < maker->n; k++) {
        struct tq_bytes bytes = cell(maker, c, k);
        uint64_t offset = 0;
        uint32_t region = 0;
        uint32_t *digest = &maker->part->digests[c * maker->n + k];
        if (bytes.len > 0 && (region = stage_cell(maker, bytes, digest, &offset)) == 0)
            return false;
        if (!tq_run_list_add(&maker->runs, region, offset, bytes.len))
            return false;
    }
    return true;
}

static bool add_runs(struct maker *maker)
{
    bool added = true;
    for (size_t c = 0; c < maker->columns->batch->n_columns && added; c++) {
        if (!is_bulk(maker->columns, c, maker->part->way))
            added = add_inline_runs(maker, c);
        else if (maker->part->way == TQ_PUT_EXPOSED)
            added = add_exposed_runs(maker, c);
        else
            added = add_staged_runs(maker, c);
    }
    return added;
}

static bool make_frames(struct maker *maker)
{
    const struct tq_put_columns *columns = maker->columns;
    size_t n_columns = columns->batch->n_columns, n_large = 0;
    bool *inlined = tq_arena_array(maker->arena, n_columns, sizeof(*inlined));
    if (inlined == NULL)
        return false;
    for (size_t c = 0; c < n_columns; c++) {
        inlined[c] = !is_bulk(columns, c, maker->part->way);
        n_large += !inlined[c];
    }
    maker->part->digests = tq_arena_array(maker->arena, n_columns * maker->n, sizeof(*maker->part->digests));
    maker->part->blocks = tq_arena_array(maker->arena, n_large * maker->n, sizeof(*maker->part->blocks));
    return maker->part->digests != NULL && maker->part->blocks != NULL &&
           tq_put_frames_make(maker->arena, columns->cells, n_columns, inlined, maker->positions, maker->n,
                              &maker->part->inlined);
}

/* ---- the request ---- */

static bool make_request(struct maker *maker, const struct tq_meta *meta)
{
    Tq__V1__PutRequest *request = &maker->part->request;
    const struct tq_batch *batch = maker->columns->batch;
    tq__v1__put_request__init(request);
    request->samples = tq_samples_to_wire(maker->arena, meta, maker->positions, maker->n);
    request->fields = tq_fields_to_wire(maker->arena, batch);
    request->shapes = tq_shapes_to_wire(maker->arena, batch, maker->positions, maker->n);
    request->n_fields = request->n_shapes = batch->n_columns;
    return request->samples != NULL && request->fields != NULL && request->shapes != NULL;
}

tq_status tq_put_part_make(struct tq_arena *arena, const struct tq_put_columns *columns, const struct tq_meta *meta,
                           const struct tq_share *share, size_t n, struct tq_put_part *part, struct tq_error *err)
{
    struct maker maker = {
        .arena = arena, .columns = columns, .positions = share->positions + share->next, .n = n, .part = part
    };
    *part = (struct tq_put_part){ .way = part->way, .first = share->next, .n = n };
    tq_run_list_init(&maker.runs, arena);
    tq_region_list_init(&maker.regions, arena);
    if (!make_request(&maker, meta) || !make_frames(&maker))
        return tq_fail_no_memory(err);
    if (!add_runs(&maker))
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, part->way == TQ_PUT_STAGED ? "STAGE" : "NO_MEMORY",
                       "no memory for a put of %zu samples", n);
    part->request.cells = tq_arena_copy(arena, &maker.runs.runs, sizeof(maker.runs.runs));
    part->request.source = tq_arena_copy(arena, &maker.regions.regions, sizeof(maker.regions.regions));
    if (part->request.cells == NULL || part->request.source == NULL)
        return tq_fail_no_memory(err);
    if (maker.regions.regions.n_id > 0) {
        struct tq_bytes address = tq_bulk_address(columns->bulk);
        part->request.source->address = (ProtobufCBinaryData){ address.len, (uint8_t *)(uintptr_t)address.ptr };
    }
    return TQ_OK;
}

void tq_put_part_digest(struct tq_put_part *part, const struct tq_put_columns *columns, const struct tq_share *share)
{
    for (size_t c = 0; c < columns->batch->n_columns; c++) {
        if (part->way == TQ_PUT_STAGED && columns->large[c])
            continue;
        for (size_t k = 0; k < part->n; k++) {
            struct tq_bytes bytes = tq_cells_at(&columns->cells[c], share->positions[part->first + k]);
            part->digests[c * part->n + k] = tq_crc32c(bytes.ptr, bytes.len);
        }
    }
}

void tq_put_part_drop(struct tq_put_part *part, struct tq_bulk *bulk)
{
    for (size_t b = 0; b < part->n_blocks; b++)
        tq_bulk_free(bulk, &part->blocks[b]);
    part->n_blocks = 0;
}

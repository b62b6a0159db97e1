#include "client/put_part.h"

#include <string.h>

#include "client/field_wire.h"
#include "client/run_list.h"
#include "client/samples_wire.h"

/* Inline bytes of a column up to which it is gathered with others into one frame: a frame costs more than the copy. */
enum { GATHER_BYTES = 64 << 10 };

static bool is_inline(const struct tq_put_columns *columns, const struct tq_share *share, size_t c)
{
    return share->inline_only || columns->exposures[c] == NULL;
}

size_t tq_put_part_size(const struct tq_put_columns *columns, const struct tq_share *share)
{
    const struct tq_batch *batch = columns->batch;
    uint64_t inline_bytes = 0, sizes = 0, ranks = 0;
    for (size_t c = 0; c < batch->n_columns; c++)
        ranks += batch->columns[c].rank;
    size_t n = 0;
    for (size_t k = share->next; k < share->n; k++, n++) {
        for (size_t c = 0; c < batch->n_columns; c++)
            if (is_inline(columns, share, c))
                inline_bytes += tq_cells_at(&columns->cells[c], share->positions[k]).len;
        sizes += ranks;
        if (n > 0 && (inline_bytes > TQ_PART_INLINE_BYTES || (n + 1) * batch->n_columns > TQ_PART_CELLS ||
                      sizes > TQ_PART_SIZES))
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
    struct tq_run_list runs;
    struct tq_bytes *frames;
    size_t n_frames;
    uint64_t *column_offset; /* where a column's inline bytes begin in region 0 */
};

static struct tq_bytes cell(const struct maker *maker, size_t c, size_t k)
{
    return tq_cells_at(&maker->columns->cells[c], maker->positions[k]);
}

static uint64_t column_bytes(const struct maker *maker, size_t c)
{
    uint64_t bytes = 0;
    for (size_t k = 0; k < maker->n; k++)
        bytes += cell(maker, c, k).len;
    return bytes;
}

/* Whether the column's cells lie one behind the other, so that they can be sent from where they are. */
static bool is_packed(const struct maker *maker, size_t c)
{
    for (size_t k = 1; k < maker->n; k++) {
        struct tq_bytes before = cell(maker, c, k - 1);
        if (cell(maker, c, k).ptr != before.ptr + before.len)
            return false;
    }
    return true;
}

static void gather(const struct maker *maker, size_t c, uint8_t *into)
{
    for (size_t k = 0; k < maker->n; k++) {
        struct tq_bytes bytes = cell(maker, c, k);
        if (bytes.len > 0)
            memcpy(into, bytes.ptr, bytes.len);
        into += bytes.len;
    }
}

/* One frame holds all small columns; it is the first. */
static bool add_small_frame(struct maker *maker, const struct tq_share *share, const uint64_t *bytes, uint64_t *end)
{
    size_t n_columns = maker->columns->batch->n_columns;
    uint64_t total = 0;
    for (size_t c = 0; c < n_columns; c++)
        if (is_inline(maker->columns, share, c) && bytes[c] <= GATHER_BYTES)
            total += bytes[c];
    if (total == 0)
        return true;
    uint8_t *memory = tq_arena_alloc(maker->arena, total);
    if (memory == NULL)
        return false;
    for (size_t c = 0; c < n_columns; c++) {
        if (!is_inline(maker->columns, share, c) || bytes[c] > GATHER_BYTES)
            continue;
        maker->column_offset[c] = *end;
        gather(maker, c, memory + *end);
        *end += bytes[c];
    }
    maker->frames[maker->n_frames++] = (struct tq_bytes){ memory, total };
    return true;
}

static bool add_large_frame(struct maker *maker, size_t c, uint64_t bytes, uint64_t *end)
{
    const uint8_t *memory = cell(maker, c, 0).ptr;
    if (!is_packed(maker, c)) {
        uint8_t *gathered = tq_arena_alloc(maker->arena, bytes);
        if (gathered == NULL)
            return false;
        gather(maker, c, gathered);
        memory = gathered;
    }
    maker->column_offset[c] = *end;
    maker->frames[maker->n_frames++] = (struct tq_bytes){ memory, bytes };
    *end += bytes;
    return true;
}

static bool make_frames(struct maker *maker, const struct tq_share *share)
{
    size_t n_columns = maker->columns->batch->n_columns;
    uint64_t *bytes = tq_arena_array(maker->arena, n_columns, sizeof(*bytes));
    maker->column_offset = tq_arena_array(maker->arena, n_columns, sizeof(*maker->column_offset));
    maker->frames = tq_arena_array(maker->arena, n_columns + 1, sizeof(*maker->frames));
    if (bytes == NULL || maker->column_offset == NULL || maker->frames == NULL)
        return false;
    for (size_t c = 0; c < n_columns; c++)
        bytes[c] = is_inline(maker->columns, share, c) ? column_bytes(maker, c) : 0;
    uint64_t end = 0;
    if (!add_small_frame(maker, share, bytes, &end))
        return false;
    for (size_t c = 0; c < n_columns; c++)
        if (bytes[c] > GATHER_BYTES && !add_large_frame(maker, c, bytes[c], &end))
            return false;
    return true;
}

/* Region 0 is inline; the exposed columns follow in their order, in every part alike. */
static bool add_runs(struct maker *maker, const struct tq_share *share)
{
    uint32_t region = 0;
    for (size_t c = 0; c < maker->columns->batch->n_columns; c++) {
        bool exposed = maker->columns->exposures[c] != NULL && !share->inline_only;
        if (exposed)
            region++;
        uint64_t offset = maker->column_offset[c];
        for (size_t k = 0; k < maker->n; k++) {
            struct tq_bytes bytes = cell(maker, c, k);
            if (exposed)
                offset = bytes.len == 0 ? 0 : (uint64_t)(bytes.ptr - maker->columns->cells[c].base);
            if (!tq_run_list_add(&maker->runs, exposed ? region : 0, offset, bytes.len))
                return false;
            offset += bytes.len;
        }
    }
    return true;
}

/* ---- regions ---- */

static ProtobufCBinaryData binary(struct tq_bytes bytes)
{
    return (ProtobufCBinaryData){ bytes.len, (uint8_t *)(uintptr_t)bytes.ptr };
}

static bool make_region_columns(struct tq_arena *arena, Tq__V1__Regions *regions, size_t n)
{
    regions->id = tq_arena_array(arena, n, sizeof(*regions->id));
    regions->kind = tq_arena_array(arena, n, sizeof(*regions->kind));
    regions->start = tq_arena_array(arena, n, sizeof(*regions->start));
    regions->length = tq_arena_array(arena, n, sizeof(*regions->length));
    regions->key = tq_arena_array(arena, n, sizeof(*regions->key));
    regions->ticket = tq_arena_array(arena, n, sizeof(*regions->ticket));
    return regions->id != NULL && regions->kind != NULL && regions->start != NULL && regions->length != NULL &&
           regions->key != NULL && regions->ticket != NULL;
}

static Tq__V1__Regions *make_regions(struct tq_arena *arena, const struct tq_put_columns *columns,
                                     const struct tq_share *share)
{
    Tq__V1__Regions *regions = tq_arena_alloc(arena, sizeof(*regions));
    size_t n = 0;
    for (size_t c = 0; c < columns->batch->n_columns; c++)
        n += !is_inline(columns, share, c);
    if (regions == NULL)
        return NULL;
    tq__v1__regions__init(regions);
    if (!make_region_columns(arena, regions, n))
        return NULL;
    if (n > 0)
        regions->address = binary(columns->address);
    regions->n_id = regions->n_kind = regions->n_start = regions->n_length = regions->n_key = regions->n_ticket = n;
    for (size_t c = 0, r = 0; c < columns->batch->n_columns; c++) {
        if (is_inline(columns, share, c))
            continue;
        struct tq_region region;
        tq_exposure_region(columns->exposures[c], &region);
        regions->id[r] = region.id;
        regions->kind[r] = region.kind;
        regions->start[r] = region.base;
        regions->length[r] = region.length;
        regions->key[r] = binary(region.key);
        regions->ticket[r++] = binary(region.ticket);
    }
    return regions;
}

tq_status tq_put_part_make(struct tq_arena *arena, const struct tq_put_columns *columns, const struct tq_meta *meta,
                           const struct tq_share *share, size_t n, struct tq_put_part *out_part, struct tq_error *err)
{
    struct maker maker = { .arena = arena, .columns = columns, .positions = share->positions + share->next, .n = n };
    tq_run_list_init(&maker.runs, arena);
    Tq__V1__PutRequest request = TQ__V1__PUT_REQUEST__INIT;
    request.samples = tq_samples_to_wire(arena, meta, maker.positions, n);
    request.fields = tq_fields_to_wire(arena, columns->batch);
    request.shapes = tq_shapes_to_wire(arena, columns->batch, maker.positions, n);
    request.n_fields = request.n_shapes = columns->batch->n_columns;
    request.source = make_regions(arena, columns, share);
    request.cells = tq_arena_alloc(arena, sizeof(*request.cells));
    bool made = request.samples != NULL && request.fields != NULL && request.shapes != NULL && request.source != NULL &&
                request.cells != NULL && make_frames(&maker, share) && add_runs(&maker, share);
    if (!made)
        return tq_fail_no_memory(err);
    *request.cells = maker.runs.runs;
    *out_part = (struct tq_put_part){
        .first = share->next, .n = n, .request = request, .frames = maker.frames, .n_frames = maker.n_frames
    };
    return TQ_OK;
}

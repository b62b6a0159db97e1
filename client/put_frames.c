#include "client/put_frames.h"

#include <string.h>

#include "client/meta.h"

/* Bytes of a column up to which it is gathered with others into one frame: a frame costs more than the copy. */
enum { GATHER_BYTES = 64 << 10 };

struct maker {
    struct tq_arena *arena;
    const size_t *positions;
    size_t n;
    struct tq_put_frames *out;
    uint64_t end; /* of region 0, so far */
};

static uint64_t column_bytes(const struct maker *maker, const struct tq_cells *cells)
{
    uint64_t bytes = 0;
    for (size_t k = 0; k < maker->n; k++)
        bytes += tq_cells_at(cells, maker->positions[k]).len;
    return bytes;
}

/* Whether the cells lie one behind the other, so that they can be sent from where they are. */
static bool is_packed(const struct maker *maker, const struct tq_cells *cells)
{
    for (size_t k = 1; k < maker->n; k++) {
        struct tq_bytes before = tq_cells_at(cells, maker->positions[k - 1]);
        if (tq_cells_at(cells, maker->positions[k]).ptr != before.ptr + before.len)
            return false;
    }
    return true;
}

static uint8_t *gather(const struct maker *maker, const struct tq_cells *cells, uint8_t *into)
{
    for (size_t k = 0; k < maker->n; k++) {
        struct tq_bytes bytes = tq_cells_at(cells, maker->positions[k]);
        if (bytes.len > 0)
            memcpy(into, bytes.ptr, bytes.len);
        into += bytes.len;
    }
    return into;
}

static void add_frame(struct maker *maker, const uint8_t *memory, uint64_t bytes)
{
    maker->out->frames[maker->out->n++] = (struct tq_bytes){ memory, bytes };
    maker->end += bytes;
}

/* One frame holds all small columns; it is the first. */
static bool add_small_frame(struct maker *maker, const struct tq_cells *cells, size_t n_columns, const uint64_t *bytes)
{
    uint64_t total = 0;
    for (size_t c = 0; c < n_columns; c++)
        total += bytes[c] <= GATHER_BYTES ? bytes[c] : 0;
    if (total == 0)
        return true;
    uint8_t *memory = tq_arena_alloc(maker->arena, total), *next = memory;
    if (memory == NULL)
        return false;
    for (size_t c = 0; c < n_columns; c++) {
        if (bytes[c] == 0 || bytes[c] > GATHER_BYTES)
            continue;
        maker->out->starts[c] = (uint64_t)(next - memory);
        next = gather(maker, &cells[c], next);
    }
    add_frame(maker, memory, total);
    return true;
}

static bool add_large_frame(struct maker *maker, const struct tq_cells *cells, size_t c, uint64_t bytes)
{
    const uint8_t *memory = tq_cells_at(&cells[c], maker->positions[0]).ptr;
    if (!is_packed(maker, &cells[c])) {
        uint8_t *gathered = tq_arena_alloc(maker->arena, bytes);
        if (gathered == NULL)
            return false;
        gather(maker, &cells[c], gathered);
        memory = gathered;
    }
    maker->out->starts[c] = maker->end;
    add_frame(maker, memory, bytes);
    return true;
}

bool tq_put_frames_make(struct tq_arena *arena, const struct tq_cells *cells, size_t n_columns, const bool *inlined,
                        const size_t *positions, size_t n, struct tq_put_frames *out_frames)
{
    struct maker maker = { .arena = arena, .positions = positions, .n = n, .out = out_frames };
    uint64_t *bytes = tq_arena_array(arena, n_columns, sizeof(*bytes));
    *out_frames = (struct tq_put_frames){ 0 };
    out_frames->starts = tq_arena_array(arena, n_columns, sizeof(*out_frames->starts));
    out_frames->frames = tq_arena_array(arena, n_columns + 1, sizeof(*out_frames->frames));
    if (bytes == NULL || out_frames->starts == NULL || out_frames->frames == NULL)
        return false;
    for (size_t c = 0; c < n_columns; c++)
        bytes[c] = inlined[c] ? column_bytes(&maker, &cells[c]) : 0;
    if (!add_small_frame(&maker, cells, n_columns, bytes))
        return false;
    for (size_t c = 0; c < n_columns; c++)
        if (bytes[c] > GATHER_BYTES && !add_large_frame(&maker, cells, c, bytes[c]))
            return false;
    return true;
}

#include "server/storage/inline_cells.h"

#include <string.h>

struct tq_inline_cells {
    struct tq_storage *storage;
    struct tq_letter letter; /* brings it back to the loop */
    uint8_t *gathered;
    struct tq_frame *held[TQ_INLINE_FRAMES];
    size_t n_held;
    struct tq_bytes frames[TQ_INLINE_FRAMES + 1];
    size_t n_frames;
};

static void close_cells(void *user)
{
    tq_inline_cells_close(user);
}

void tq_inline_cells_close(struct tq_inline_cells *cells)
{
    if (cells == NULL)
        return;
    for (size_t i = 0; i < cells->n_held; i++)
        tq_frame_drop(&cells->storage->store, cells->held[i]);
    tq_seam_free(cells->storage->seam, cells->gathered);
    tq_seam_free(cells->storage->seam, cells);
}

/* Which cells are sent from where they lie: the first large ones. */
static void hold_large(struct tq_inline_cells *out, struct tq_frame *const *cells, size_t n, uint64_t *gathered_bytes)
{
    for (size_t i = 0; i < n; i++) {
        if (cells[i] == NULL)
            continue;
        if (cells[i]->len >= TQ_INLINE_FRAME_BYTES && out->n_held < TQ_INLINE_FRAMES)
            out->held[out->n_held++] = tq_frame_hold(cells[i]);
        else
            *gathered_bytes += cells[i]->len;
    }
}

static void lay_out(struct tq_inline_cells *out, struct tq_frame *const *cells, size_t n, uint64_t gathered_bytes,
                    uint64_t *offsets)
{
    uint64_t gather_at = 0;
    uint64_t held_at = gathered_bytes;
    size_t next_held = 0;
    for (size_t i = 0; i < n; i++) {
        if (cells[i] == NULL)
            continue;
        if (next_held < out->n_held && out->held[next_held] == cells[i]) {
            next_held++;
            offsets[i] = held_at;
            held_at += cells[i]->len;
            out->frames[out->n_frames++] = (struct tq_bytes){ cells[i]->ptr, cells[i]->len };
        } else {
            offsets[i] = gather_at;
            if (cells[i]->len > 0)
                memcpy(out->gathered + gather_at, cells[i]->ptr, cells[i]->len);
            gather_at += cells[i]->len;
        }
    }
}

tq_status tq_inline_cells_open(struct tq_storage *storage, struct tq_frame *const *cells, size_t n,
                               uint64_t *out_offsets, struct tq_inline_cells **out_inline, struct tq_error *err)
{
    uint64_t gathered_bytes = 0;
    struct tq_inline_cells *out = tq_seam_alloc(storage->seam, sizeof(*out));
    if (out == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for inline cells");
    out->storage = storage;
    out->letter = (struct tq_letter){ .take = close_cells, .user = out };
    hold_large(out, cells, n, &gathered_bytes);
    if (gathered_bytes > 0) {
        out->gathered = tq_seam_alloc(storage->seam, (size_t)gathered_bytes);
        if (out->gathered == NULL) {
            tq_inline_cells_close(out);
            return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for %llu inline bytes",
                           (unsigned long long)gathered_bytes);
        }
        out->frames[out->n_frames++] = (struct tq_bytes){ out->gathered, (size_t)gathered_bytes };
    }
    lay_out(out, cells, n, gathered_bytes, out_offsets);
    *out_inline = out;
    return TQ_OK;
}

/* From any thread, perhaps after the loop has ended. */
static void transport_done(void *user)
{
    struct tq_inline_cells *cells = user;
    tq_inbox_post(&cells->storage->inbox, &cells->letter);
}

void tq_inline_cells_answer(struct tq_inline_cells **cells, struct tq_server_call *call,
                            const Tq__V1__GetResponse *response)
{
    struct tq_inline_cells *taken = *cells;
    *cells = NULL;
    tq_server_answer_frames(call, &response->base, taken->frames, taken->n_frames, transport_done, taken);
}

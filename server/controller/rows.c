#include "server/controller/rows.h"

#include <string.h>

#include "transport/base/assert.h"

void tq_rows_init(struct tq_rows *rows, const struct tq_seam *seam)
{
    *rows = (struct tq_rows){ .seam = seam };
}

void tq_rows_fini(struct tq_rows *rows)
{
    for (uint32_t i = 0; i < rows->n_chunks; i++)
        tq_seam_free(rows->seam, rows->chunks[i]);
    tq_seam_free(rows->seam, rows->chunks);
    tq_rows_init(rows, rows->seam);
}

static bool grow(struct tq_rows *rows)
{
    uint32_t capacity = rows->capacity == 0 ? 8 : rows->capacity * 2;
    struct tq_row_chunk **chunks = tq_seam_alloc_array(rows->seam, capacity, sizeof(struct tq_row_chunk *));
    if (chunks == NULL)
        return false;
    if (rows->n_chunks > 0)
        memcpy(chunks, rows->chunks, rows->n_chunks * sizeof(struct tq_row_chunk *));
    tq_seam_free(rows->seam, rows->chunks);
    rows->chunks = chunks;
    rows->capacity = capacity;
    return true;
}

static bool add_chunk(struct tq_rows *rows)
{
    if (rows->n_chunks == rows->capacity && !grow(rows))
        return false;
    struct tq_row_chunk *chunk = tq_seam_alloc(rows->seam, sizeof(*chunk));
    if (chunk == NULL)
        return false;
    if (rows->n_chunks == 0)
        rows->first_chunk = rows->next / TQ_ROW_CHUNK;
    rows->chunks[rows->n_chunks++] = chunk;
    return true;
}

bool tq_rows_add(struct tq_rows *rows, uint32_t *out_slot)
{
    if (rows->next == TQ_SLOTS_MAX)
        return false;
    bool is_in_last = rows->n_chunks > 0 && rows->next / TQ_ROW_CHUNK - rows->first_chunk < rows->n_chunks;
    if (!is_in_last && !add_chunk(rows))
        return false;
    rows->chunks[rows->n_chunks - 1]->n_live++;
    rows->n_live++;
    *out_slot = rows->next++;
    return true;
}

/* The first of the chunks is never NULL, so that they begin with the oldest row. */
static void drop_leading(struct tq_rows *rows)
{
    uint32_t n = 0;
    while (n < rows->n_chunks && rows->chunks[n] == NULL)
        n++;
    rows->first_chunk += n;
    rows->n_chunks -= n;
    memmove(rows->chunks, rows->chunks + n, rows->n_chunks * sizeof(struct tq_row_chunk *));
}

void tq_rows_remove(struct tq_rows *rows, uint32_t slot)
{
    uint32_t at = slot / TQ_ROW_CHUNK - rows->first_chunk;
    TQ_ASSERT(at < rows->n_chunks && rows->chunks[at] != NULL && rows->chunks[at]->n_live > 0);
    rows->n_live--;
    /* The chunk that is being filled stays. */
    if (--rows->chunks[at]->n_live > 0 || slot / TQ_ROW_CHUNK == rows->next / TQ_ROW_CHUNK)
        return;
    tq_seam_free(rows->seam, rows->chunks[at]);
    rows->chunks[at] = NULL;
    if (at == 0)
        drop_leading(rows);
}

bool tq_rows_are_sparse(const struct tq_rows *rows)
{
    return rows->n_chunks > 16 + 4 * (rows->n_live / TQ_ROW_CHUNK + 1);
}

#include "client/put_store.h"

#include <stdatomic.h>
#include <string.h>

#include "client/field_wire.h"
#include "client/put_part.h"
#include "client/shares.h"
#include "tq/v1/storage.tq.h"
#include "transport/base/seam.h"

enum {
    /* Below, a column travels inline: a range and its turn cost more than the copies. */
    BULK_CELL_BYTES = 4 << 10,
    BULK_COLUMN_BYTES = 64 << 10,
    /* Requests under way to one unit: it reads one while the next is made. */
    DEPTH = 2,
    FAR_PARTS = 32
};

/* A request under way. */
struct flight {
    struct tq_arena *arena; /* of the part; reset for the next one */
    struct tq_put_part part;
    struct tq_future *future;
    struct tq_reply reply;
    bool flying;
};

struct put {
    struct tq_client *client;
    const struct tq_meta *meta;
    struct tq_arena *arena;
    int64_t deadline_ns;
    struct tq_put_columns columns;
    struct tq_shares shares;
    struct flight *flights; /* DEPTH a share */
    bool alone;             /* one small request: the blocking path saves a hand-over between threads */
    bool no_room;           /* staging found none: the application's memory is exposed instead */
    struct tq_client_stats stats;
};

/* ---- columns ---- */

static bool is_large(const struct tq_cells *cells)
{
    uint64_t total = tq_cells_total_bytes(cells);
    return total >= BULK_COLUMN_BYTES && total / cells->n >= BULK_CELL_BYTES;
}

static uint64_t bytes_of(const struct tq_put_columns *columns)
{
    uint64_t bytes = 0;
    for (size_t c = 0; c < columns->batch->n_columns; c++)
        bytes += tq_cells_total_bytes(&columns->cells[c]);
    return bytes;
}

static tq_status prepare_columns(struct put *put, const struct tq_batch *batch, struct tq_error *err)
{
    struct tq_put_columns *columns = &put->columns;
    size_t n = batch->n_columns;
    columns->bulk = put->client->bulk;
    columns->cells = tq_arena_array(put->arena, n, sizeof(*columns->cells));
    columns->large = tq_arena_array(put->arena, n, sizeof(*columns->large));
    columns->exposures = tq_arena_array(put->arena, n, sizeof(struct tq_exposure *));
    put->flights = tq_arena_array(put->arena, put->shares.n * DEPTH, sizeof(*put->flights));
    if (columns->cells == NULL || columns->large == NULL || columns->exposures == NULL || put->flights == NULL)
        return tq_fail_no_memory(err);
    columns->batch = batch; /* from here on fini finds all of them */
    for (size_t c = 0; c < n; c++) {
        tq_status status = tq_cells_init(&columns->cells[c], &batch->columns[c], batch->n_samples, err);
        if (status != TQ_OK)
            return status;
        columns->large[c] = is_large(&columns->cells[c]);
    }
    put->alone = put->shares.n == 1 && bytes_of(columns) < BULK_COLUMN_BYTES;
    return TQ_OK;
}

static tq_status expose_columns(struct put *put, struct tq_error *err)
{
    struct tq_put_columns *columns = &put->columns;
    tq_status status = TQ_OK;
    for (size_t c = 0; c < columns->batch->n_columns && status == TQ_OK; c++) {
        const struct tq_cells *cells = &columns->cells[c];
        if (columns->large[c] && columns->exposures[c] == NULL)
            status =
                tq_bulk_expose(columns->bulk, cells->base, tq_cells_span_bytes(cells), &columns->exposures[c], err);
    }
    return status;
}

static void put_fini(struct put *put)
{
    struct tq_put_columns *columns = &put->columns;
    for (size_t f = 0; put->flights != NULL && f < put->shares.n * DEPTH; f++)
        tq_arena_close(put->flights[f].arena);
    for (size_t c = 0; columns->batch != NULL && c < columns->batch->n_columns; c++) {
        tq_bulk_unexpose(columns->exposures[c], put->deadline_ns);
        tq_cells_fini(&columns->cells[c]);
    }
    tq_shares_fini(&put->shares);
    tq_arena_close(put->arena);
    tq_client_count(put->client, &put->stats);
}

/* ---- starting a part ---- */

/* Staging is for units that read our arenas like memory; a unit that has shown that it does not gets the application's
 * own, and another chance later. */
static enum tq_put_way choose_way(const struct put *put, const struct tq_share *share)
{
    if (share->inline_only)
        return TQ_PUT_INLINE;
    unsigned far_parts = atomic_load(&share->unit->far_parts);
    if (far_parts > 0) /* a lost race counts one part more or less */
        atomic_compare_exchange_strong(&share->unit->far_parts, &far_parts, far_parts - 1);
    return put->no_room || far_parts > 0 ? TQ_PUT_EXPOSED : TQ_PUT_STAGED;
}

static tq_status make_part(struct put *put, const struct tq_share *share, struct flight *flight, enum tq_put_way way,
                           struct tq_error *err)
{
    tq_status status = way == TQ_PUT_EXPOSED ? expose_columns(put, err) : TQ_OK;
    if (status != TQ_OK)
        return status;
    tq_arena_reset(flight->arena, SIZE_MAX);
    flight->part = (struct tq_put_part){ .way = way };
    size_t n = tq_put_part_size(&put->columns, share, way);
    return tq_put_part_make(flight->arena, &put->columns, put->meta, share, n, &flight->part, err);
}

static tq_status send_part(struct put *put, const struct tq_share *share, struct flight *flight, bool blocking,
                           struct tq_error *err)
{
    const struct tq_put_part *part = &flight->part;
    struct tq_call_opts opts = { .deadline_ns = put->deadline_ns,
                                 .frames = part->inlined.frames,
                                 .n_frames = part->inlined.n };
    put->stats.calls++;
    flight->flying = true;
    if (blocking) {
        tq_v1_storage_put(share->unit->channel, &part->request, &opts, &flight->reply);
        return TQ_OK;
    }
    flight->future = tq_v1_storage_put_start(share->unit->channel, &part->request, &opts);
    return flight->future != NULL ? TQ_OK : tq_fail_no_memory(err);
}

static tq_status launch(struct put *put, struct tq_share *share, struct flight *flight, struct tq_error *err)
{
    enum tq_put_way way = choose_way(put, share);
    if (flight->arena == NULL && (flight->arena = tq_arena_open(NULL, SIZE_MAX)) == NULL)
        return tq_fail_no_memory(err);
    struct tq_error error = { 0 };
    tq_status status = make_part(put, share, flight, way, &error);
    if (status == TQ_RESOURCE_EXHAUSTED && way == TQ_PUT_STAGED) {
        tq_put_part_drop(&flight->part, put->columns.bulk);
        put->no_room = true;
        status = make_part(put, share, flight, TQ_PUT_EXPOSED, &error);
    }
    if (status == TQ_OK)
        status = send_part(put, share, flight, put->alone, &error);
    if (status == TQ_OK)
        share->next += flight->part.n;
    else if (err != NULL)
        *err = error;
    return status;
}

/* ---- judging an answer ---- */

static void count_answer(struct put *put, struct tq_share *share, const struct tq_put_part *part,
                         const Tq__V1__PutResponse *response)
{
    uint64_t bulk = response->bulk_bytes, stored = response->stored_bytes;
    enum tq_bulk_engine engine =
        response->engine == TQ_ENGINE_REMOTE_READ ? TQ_ENGINE_REMOTE_READ : TQ_ENGINE_RENDEZVOUS;
    put->stats.put_bytes[engine] += bulk;
    put->stats.put_bytes[TQ_ENGINE_INLINE] += stored > bulk ? stored - bulk : 0;
    put->stats.samples_put += part->n;
    if (part->n_blocks > 0)
        atomic_store(&share->unit->far_parts, response->engine == TQ_ENGINE_RENDEZVOUS ? FAR_PARTS : 0);
}

/* The first cell that the unit stored otherwise; the number of cells when there is none. */
static size_t find_difference(const struct tq_put_part *part, const Tq__V1__PutResponse *response)
{
    size_t at = 0;
    while (at < response->n_digest && response->digest[at] == part->digests[at])
        at++;
    return at;
}

static tq_status check_reply(struct put *put, struct tq_share *share, struct flight *flight, size_t *out_wrong,
                             struct tq_error *err)
{
    const Tq__V1__PutResponse *response = tq_v1_storage_put_response(&flight->reply);
    size_t n_cells = put->columns.batch->n_columns * flight->part.n;
    tq_status status = flight->reply.error.status;
    *out_wrong = n_cells;
    if (status != TQ_OK) {
        if (err != NULL)
            *err = flight->reply.error;
        tq_error_prefix(err, "put to unit %u (%s)", share->info->number, share->info->name);
    } else if (response->n_digest != n_cells) {
        status = tq_fail_answer(err, "unit %u answered %zu digests for %zu cells", share->info->number,
                                response->n_digest, n_cells);
    } else {
        *out_wrong = find_difference(&flight->part, response);
        if (*out_wrong == n_cells)
            count_answer(put, share, &flight->part, response);
        else
            put->stats.digest_failures++;
    }
    tq_reply_drop(&flight->reply);
    return status;
}

static tq_status fail_digest(const struct put *put, const struct tq_share *share, const struct flight *flight,
                             size_t wrong, struct tq_error *err)
{
    size_t sample = share->positions[flight->part.first + wrong % flight->part.n];
    return tq_fail(err, TQ_DATA_LOSS, "DIGEST", "unit %u stored other bytes of sample %llu, field %s, twice",
                   share->info->number, (unsigned long long)put->meta->indexes[sample],
                   put->columns.batch->columns[wrong / flight->part.n].name);
}

/* A difference is put again once, from the columns: somebody may have written into them. */
static tq_status judge(struct put *put, struct tq_share *share, struct flight *flight, struct tq_error *err)
{
    size_t wrong, n_cells = put->columns.batch->n_columns * flight->part.n;
    tq_status status = check_reply(put, share, flight, &wrong, err);
    if (status != TQ_OK || wrong == n_cells)
        return status;
    struct tq_share again = *share;
    again.next = flight->part.first;
    enum tq_put_way way = flight->part.way;
    size_t n = flight->part.n;
    tq_put_part_drop(&flight->part, put->columns.bulk);
    tq_arena_reset(flight->arena, SIZE_MAX);
    flight->part = (struct tq_put_part){ .way = way };
    status = tq_put_part_make(flight->arena, &put->columns, put->meta, &again, n, &flight->part, err);
    if (status == TQ_OK)
        status = send_part(put, share, flight, true, err);
    flight->flying = false;
    if (status != TQ_OK)
        return status;
    put->stats.retries++;
    tq_put_part_digest(&flight->part, &put->columns, share);
    status = check_reply(put, share, flight, &wrong, err);
    return status == TQ_OK && wrong < n_cells ? fail_digest(put, share, flight, wrong, err) : status;
}

/* Ends the flight; `status` is what is known so far: after a failure the others are only waited for. */
static tq_status land(struct put *put, struct tq_share *share, struct flight *flight, tq_status status,
                      struct tq_error *err)
{
    if (flight->flying) {
        flight->flying = false;
        if (status == TQ_OK)
            tq_put_part_digest(&flight->part, &put->columns, share); /* while the unit reads */
        else if (flight->future != NULL)
            tq_future_cancel(flight->future);
        if (flight->future != NULL)
            tq_future_wait(flight->future, &flight->reply);
        tq_future_drop(flight->future);
        flight->future = NULL;
        if (status == TQ_OK)
            status = judge(put, share, flight, err);
        tq_reply_drop(&flight->reply);
    }
    tq_put_part_drop(&flight->part, put->columns.bulk);
    return status;
}

static bool is_done(const struct put *put)
{
    for (size_t s = 0; s < put->shares.n; s++)
        if (put->shares.share[s].next < put->shares.share[s].n)
            return false;
    return true;
}

/* In turns: every unit gets its next part; a slot is landed when it is needed again. */
static tq_status fly_all(struct put *put, struct tq_error *err)
{
    tq_status status = TQ_OK;
    for (size_t turn = 0; status == TQ_OK && !is_done(put); turn++)
        for (size_t s = 0; s < put->shares.n && status == TQ_OK; s++) {
            struct tq_share *share = &put->shares.share[s];
            struct flight *flight = &put->flights[s * DEPTH + turn % DEPTH];
            status = land(put, share, flight, status, err);
            if (status == TQ_OK && share->next < share->n)
                status = launch(put, share, flight, err);
        }
    for (size_t f = 0; f < put->shares.n * DEPTH; f++)
        status = land(put, &put->shares.share[f / DEPTH], &put->flights[f], status, err);
    return status;
}

tq_status tq_put_store(struct tq_client *client, const struct tq_meta *meta, const struct tq_batch *batch,
                       int64_t deadline_ns, struct tq_error *err)
{
    struct put put = { .client = client, .meta = meta, .deadline_ns = deadline_ns };
    put.arena = tq_arena_open(NULL, SIZE_MAX);
    tq_status status = put.arena == NULL ? tq_fail_no_memory(err) : TQ_OK;
    if (status == TQ_OK)
        status = tq_shares_init(&put.shares, client, put.arena, meta, err);
    if (status == TQ_OK)
        status = prepare_columns(&put, batch, err);
    if (status == TQ_OK)
        status = fly_all(&put, err);
    put_fini(&put);
    return status;
}

/* Putting: every unit reads its share at the same time while we compute the same digests; what the units say they
 * stored must be what we had, or nothing becomes ready. */
#include "client/put.h"

#include "client/field_wire.h"
#include "client/insert.h"
#include "client/notify.h"
#include "client/put_part.h"
#include "client/samples_wire.h"
#include "client/undo.h"
#include "tq/v1/storage.tq.h"
#include "transport/base/crc32c.h"
#include "transport/base/seam.h"

/* Below, a column travels inline: a range and its turn cost more than the copies. */
enum { BULK_CELL_BYTES = 4 << 10, BULK_COLUMN_BYTES = 64 << 10 };

/* A request under way. */
struct flight {
    struct tq_put_part part;
    struct tq_future *future;
    struct tq_reply reply;
    bool flying;
    bool mismatched; /* this part has been sent twice */
};

struct put {
    struct tq_client *client;
    const struct tq_meta *meta;
    struct tq_arena *arena;
    int64_t deadline_ns;
    struct tq_put_columns columns;
    struct tq_shares shares;
    struct flight *flights; /* one a share */
    uint32_t *digests;      /* ours, of the part that is judged */
    struct tq_client_stats stats;
};

/* ---- columns ---- */

static bool wants_bulk(const struct tq_cells *cells)
{
    uint64_t total = tq_cells_total_bytes(cells);
    return total >= BULK_COLUMN_BYTES && total / cells->n >= BULK_CELL_BYTES;
}

static bool any_reachable(const struct tq_shares *shares)
{
    for (size_t s = 0; s < shares->n; s++)
        if (!shares->share[s].inline_only)
            return true;
    return false;
}

static tq_status prepare_columns(struct put *put, const struct tq_batch *batch, struct tq_error *err)
{
    struct tq_put_columns *columns = &put->columns;
    bool bulk = any_reachable(&put->shares);
    columns->address = tq_bulk_address(put->client->bulk);
    columns->cells = tq_arena_array(put->arena, batch->n_columns, sizeof(*columns->cells));
    columns->exposures = tq_arena_array(put->arena, batch->n_columns, sizeof(struct tq_exposure *));
    put->flights = tq_arena_array(put->arena, put->shares.n, sizeof(*put->flights));
    if (columns->cells == NULL || columns->exposures == NULL || put->flights == NULL)
        return tq_fail_no_memory(err);
    columns->batch = batch; /* from here on fini finds all of them */
    for (size_t c = 0; c < batch->n_columns; c++) {
        struct tq_cells *cells = &columns->cells[c];
        tq_status status = tq_cells_init(cells, &batch->columns[c], batch->n_samples, err);
        if (status == TQ_OK && bulk && wants_bulk(cells))
            status =
                tq_bulk_expose(put->client->bulk, cells->base, tq_cells_span_bytes(cells), &columns->exposures[c], err);
        if (status != TQ_OK)
            return status;
    }
    return TQ_OK;
}

static void put_fini(struct put *put)
{
    struct tq_put_columns *columns = &put->columns;
    for (size_t c = 0; columns->batch != NULL && c < columns->batch->n_columns; c++) {
        tq_bulk_unexpose(columns->exposures[c], put->deadline_ns);
        tq_cells_fini(&columns->cells[c]);
    }
    tq_shares_fini(&put->shares);
    tq_seam_free(NULL, put->digests);
    tq_arena_close(put->arena);
    tq_client_count(put->client, &put->stats);
}

/* ---- one round: a part for every share that is not done ---- */

static tq_status start_flight(struct put *put, size_t s, bool alone, struct tq_error *err)
{
    struct tq_share *share = &put->shares.share[s];
    struct flight *flight = &put->flights[s];
    size_t n = tq_put_part_size(&put->columns, share);
    tq_status status = tq_put_part_make(put->arena, &put->columns, put->meta, share, n, &flight->part, err);
    if (status != TQ_OK)
        return status;
    struct tq_call_opts opts = { .deadline_ns = put->deadline_ns,
                                 .frames = flight->part.frames,
                                 .n_frames = flight->part.n_frames };
    put->stats.calls++;
    flight->flying = true;
    if (alone) { /* the blocking path saves a hand-over between threads */
        tq_v1_storage_put(share->unit->channel, &flight->part.request, &opts, &flight->reply);
        return TQ_OK;
    }
    flight->future = tq_v1_storage_put_start(share->unit->channel, &flight->part.request, &opts);
    if (flight->future != NULL)
        return TQ_OK;
    flight->flying = false;
    return tq_fail_no_memory(err);
}

static void compute_digests(const struct put *put, const struct tq_share *share, const struct tq_put_part *part,
                            uint32_t *digests)
{
    for (size_t c = 0; c < put->columns.batch->n_columns; c++)
        for (size_t k = 0; k < part->n; k++) {
            struct tq_bytes bytes = tq_cells_at(&put->columns.cells[c], share->positions[part->first + k]);
            *digests++ = tq_crc32c(bytes.ptr, bytes.len);
        }
}

static void count_answer(struct put *put, const struct tq_put_part *part, const Tq__V1__PutResponse *response)
{
    uint64_t bulk = response->bulk_bytes, stored = response->stored_bytes;
    bool known = response->engine == TQ_ENGINE_REMOTE_READ || response->engine == TQ_ENGINE_RENDEZVOUS;
    put->stats.put_bytes[known ? response->engine : TQ_ENGINE_RENDEZVOUS] += bulk;
    put->stats.put_bytes[TQ_ENGINE_INLINE] += stored > bulk ? stored - bulk : 0;
    put->stats.samples_put += part->n;
}

/* Whether the unit stored what we had. A difference is put again once: somebody may have written into the columns. */
static tq_status judge_digests(struct put *put, size_t s, const uint32_t *ours, struct tq_error *err)
{
    struct tq_share *share = &put->shares.share[s];
    struct flight *flight = &put->flights[s];
    const Tq__V1__PutResponse *response = tq_v1_storage_put_response(&flight->reply);
    size_t n_cells = put->columns.batch->n_columns * flight->part.n;
    if (response->n_digest != n_cells)
        return tq_fail_answer(err, "unit %u answered %zu digests for %zu cells", share->info->number,
                              response->n_digest, n_cells);
    size_t wrong = 0;
    while (wrong < n_cells && response->digest[wrong] == ours[wrong])
        wrong++;
    if (wrong == n_cells) {
        count_answer(put, &flight->part, response);
        share->next += flight->part.n;
        flight->mismatched = false;
        return TQ_OK;
    }
    put->stats.digest_failures++;
    if (!flight->mismatched) {
        flight->mismatched = true;
        put->stats.retries++;
        return TQ_OK;
    }
    size_t sample = share->positions[flight->part.first + wrong % flight->part.n];
    return tq_fail(err, TQ_DATA_LOSS, "DIGEST", "unit %u stored other bytes of sample %llu, field %s, twice",
                   share->info->number, (unsigned long long)put->meta->indexes[sample],
                   put->columns.batch->columns[wrong / flight->part.n].name);
}

static tq_status judge_flight(struct put *put, size_t s, const uint32_t *ours, struct tq_error *err)
{
    struct tq_share *share = &put->shares.share[s];
    struct flight *flight = &put->flights[s];
    tq_status status = flight->reply.error.status;
    if (status == TQ_OK)
        status = judge_digests(put, s, ours, err);
    else if (err != NULL) {
        *err = flight->reply.error;
        tq_error_prefix(err, "put to unit %u (%s)", share->info->number, share->info->name);
    }
    tq_reply_drop(&flight->reply);
    return status;
}

static size_t shares_left(const struct put *put)
{
    size_t left = 0;
    for (size_t s = 0; s < put->shares.n; s++)
        left += put->shares.share[s].next < put->shares.share[s].n;
    return left;
}

static uint64_t bytes_of(const struct tq_put_columns *columns)
{
    uint64_t bytes = 0;
    for (size_t c = 0; c < columns->batch->n_columns; c++)
        bytes += tq_cells_total_bytes(&columns->cells[c]);
    return bytes;
}

static tq_status land_flights(struct put *put, tq_status status, const size_t *offsets, struct tq_error *err)
{
    for (size_t s = 0; s < put->shares.n; s++) {
        struct flight *flight = &put->flights[s];
        if (!flight->flying)
            continue;
        flight->flying = false;
        if (status != TQ_OK && flight->future != NULL)
            tq_future_cancel(flight->future);
        if (flight->future != NULL)
            tq_future_wait(flight->future, &flight->reply);
        tq_future_drop(flight->future);
        flight->future = NULL;
        if (status == TQ_OK)
            status = judge_flight(put, s, put->digests + offsets[s], err);
        else
            tq_reply_drop(&flight->reply);
    }
    return status;
}

/* Starts a part for every share, computes our digests while the units read, judges their answers. */
static tq_status fly_round(struct put *put, struct tq_error *err)
{
    bool alone = shares_left(put) == 1 && bytes_of(&put->columns) < BULK_COLUMN_BYTES;
    tq_status status = TQ_OK;
    size_t *offsets = tq_arena_array(put->arena, put->shares.n + 1, sizeof(*offsets));
    if (offsets == NULL)
        return tq_fail_no_memory(err);
    for (size_t s = 0; s < put->shares.n; s++) {
        offsets[s + 1] = offsets[s];
        if (put->shares.share[s].next == put->shares.share[s].n || status != TQ_OK)
            continue;
        status = start_flight(put, s, alone, err);
        offsets[s + 1] += put->flights[s].part.n * put->columns.batch->n_columns;
    }
    tq_seam_free(NULL, put->digests);
    put->digests = tq_seam_alloc_array(NULL, offsets[put->shares.n] + 1, sizeof(*put->digests));
    if (put->digests == NULL && status == TQ_OK)
        status = tq_fail_no_memory(err);
    for (size_t s = 0; s < put->shares.n && status == TQ_OK; s++)
        if (put->flights[s].flying)
            compute_digests(put, &put->shares.share[s], &put->flights[s].part, put->digests + offsets[s]);
    return land_flights(put, status, offsets, err);
}

/* Stores all columns on the units. */
static tq_status store(struct tq_client *client, const struct tq_meta *meta, const struct tq_batch *batch,
                       int64_t deadline_ns, struct tq_error *err)
{
    struct put put = { .client = client, .meta = meta, .deadline_ns = deadline_ns };
    put.arena = tq_arena_open(NULL, SIZE_MAX);
    tq_status status = put.arena == NULL ? tq_fail_no_memory(err) : TQ_OK;
    if (status == TQ_OK)
        status = tq_shares_init(&put.shares, client, put.arena, meta, err);
    if (status == TQ_OK)
        status = prepare_columns(&put, batch, err);
    while (status == TQ_OK && shares_left(&put) > 0)
        status = fly_round(&put, err);
    put_fini(&put);
    return status;
}

/* ---- the operations ---- */

tq_status tq_put_columns_to(struct tq_client *client, struct tq_meta *meta, const struct tq_batch *batch,
                            const struct tq_tag *tags, size_t n_tags, int64_t deadline_ns, struct tq_error *err)
{
    if (batch->n_samples != meta->n)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "the batch has %zu samples; the meta has %zu", batch->n_samples,
                       meta->n);
    tq_status status = store(client, meta, batch, deadline_ns, err);
    if (status == TQ_OK)
        status = tq_notify_produced(client, meta, batch, tags, n_tags, deadline_ns, err);
    if (status == TQ_OK)
        status = tq_meta_add_columns(meta, batch, err);
    return status;
}

tq_status tq_client_put_to(struct tq_client *client, struct tq_meta *meta, const struct tq_batch *batch,
                           const struct tq_op_opts *opts, struct tq_error *err)
{
    tq_status status = tq_batch_check(batch, err);
    if (status != TQ_OK)
        return status;
    return tq_put_columns_to(client, meta, batch, NULL, 0, tq_op_deadline_ns(client, opts), err);
}

tq_status tq_client_put(struct tq_client *client, const char *partition, const struct tq_batch *batch,
                        const struct tq_insert *insert, const struct tq_op_opts *opts, struct tq_meta **out_meta,
                        struct tq_error *err)
{
    int64_t deadline_ns = tq_op_deadline_ns(client, opts);
    tq_status status = tq_batch_check(batch, err);
    if (status != TQ_OK)
        return status;
    struct tq_insert wanted = insert != NULL ? *insert : (struct tq_insert){ 0 };
    wanted.partition = partition;
    wanted.n_samples = batch->n_samples;
    struct tq_meta *meta = NULL;
    status = tq_insert_samples(client, &wanted, batch, deadline_ns, &meta, err);
    if (status != TQ_OK)
        return status;
    status = tq_put_columns_to(client, meta, batch, NULL, 0, deadline_ns, err);
    if (status != TQ_OK) {
        tq_undo_start(client, meta);
        tq_meta_drop(meta);
        return status;
    }
    *out_meta = meta;
    return TQ_OK;
}

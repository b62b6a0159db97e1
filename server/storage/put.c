/* StorageService/Put.
 *
 *     PLACING -> READING -> ENDED   memory is found; the bytes came (or not): commit and answer, or answer why not
 *        |          |
 *        v          v
 *          ABANDONED -> ENDED       the caller is gone, memory or bytes may still come: nothing is stored
 *
 * A small put is placed, and one without bulk bytes ends, at once. Moves on the loop; the placer and the bulk thread
 * only post the letter. */
#include <string.h>

#include "server/storage/put_request.h"
#include "server/storage/service.h"
#include "transport/base/assert.h"
#include "transport/base/crc32c.h"

enum put_state { PUT_PLACING, PUT_READING, PUT_ABANDONED, PUT_ENDED, PUT_STATES };
#define TO(state) (1u << PUT_##state)
static const unsigned put_next[PUT_STATES] = {
    [PUT_PLACING] = TO(READING) | TO(ABANDONED) | TO(ENDED),
    [PUT_READING] = TO(ABANDONED) | TO(ENDED),
    [PUT_ABANDONED] = TO(ENDED),
};

struct put {
    struct tq_list in_storage;
    struct tq_letter letter;
    struct tq_placer_job job;
    struct tq_storage *storage;
    struct tq_server_call *call; /* NULL once it is answered */
    enum put_state state;
    struct tq_put_request request; /* points into the call's message: not to be read once `call` is NULL */
    struct tq_put cells;
    struct tq_bulk_range *ranges; /* one a bulk cell */
    size_t *range_cells;          /* which */
    size_t n_ranges;
    struct tq_bulk_result result;
};

static void put_move(struct put *put, enum put_state to)
{
    TQ_ASSERT(put_next[put->state] & (1u << to));
    put->state = to;
}

static void close_put(struct put *put)
{
    struct tq_storage *storage = put->storage;
    tq_list_remove(&put->in_storage);
    tq_put_close(&storage->store, &put->cells);
    tq_put_request_close(&storage->store, &put->request);
    tq_seam_free(storage->seam, put->ranges);
    tq_seam_free(storage->seam, put->range_cells);
    tq_seam_free(storage->seam, put);
}

static void answer_error(struct put *put, const struct tq_error *err)
{
    tq_storage_count(put->storage, TQ_OPERATION_PUT, err->status, 0);
    tq_server_fail_error(put->call, err);
    put->call = NULL;
}

/* What carried most of the bytes. */
static enum tq_bulk_engine main_engine(const uint64_t *bytes)
{
    enum tq_bulk_engine best = TQ_ENGINE_INLINE;
    for (int engine = TQ_ENGINE_REMOTE_READ; engine < TQ_ENGINE_COUNT; engine++)
        if (bytes[engine] > bytes[best])
            best = (enum tq_bulk_engine)engine;
    return best;
}

static void answer_digests(struct put *put, uint32_t *digests, uint64_t stored_bytes)
{
    struct tq_storage *storage = put->storage;
    uint64_t bulk_bytes = put->result.bytes[TQ_ENGINE_REMOTE_READ] + put->result.bytes[TQ_ENGINE_RENDEZVOUS];
    put->result.bytes[TQ_ENGINE_INLINE] = stored_bytes - bulk_bytes;
    Tq__V1__PutResponse response = TQ__V1__PUT_RESPONSE__INIT;
    response.n_digest = put->cells.n_cells;
    response.digest = digests;
    response.stored_bytes = stored_bytes;
    response.bulk_bytes = bulk_bytes;
    response.engine = (uint32_t)main_engine(put->result.bytes);
    for (int engine = 0; engine < TQ_ENGINE_COUNT; engine++)
        storage->engine_bytes[engine] += put->result.bytes[engine];
    tq_storage_count(storage, TQ_OPERATION_PUT, TQ_OK, stored_bytes);
    tq_v1_storage_put_answer(put->call, &response);
    put->call = NULL;
}

/* All bytes are in their frames. */
static tq_status commit(struct put *put, struct tq_error *err)
{
    struct tq_storage *storage = put->storage;
    uint32_t *digests = tq_seam_alloc_array(storage->seam, put->cells.n_cells, sizeof(*digests));
    if (digests == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for %zu digests", put->cells.n_cells);
    for (size_t r = 0; r < put->n_ranges; r++)
        put->cells.frames[put->range_cells[r]]->digest = put->ranges[r].crc32c;
    for (size_t c = 0; c < put->cells.n_cells; c++)
        digests[c] = put->cells.frames[c]->digest;
    uint64_t stored_bytes = put->cells.bytes;
    tq_status status = tq_put_commit(&storage->store, &put->cells, err);
    if (status == TQ_OK)
        answer_digests(put, digests, stored_bytes);
    tq_seam_free(storage->seam, digests);
    return status;
}

/* The end of every put; the letter of a bulk read brings it here. */
static void end_put(void *user)
{
    struct put *put = user;
    struct tq_error err = put->result.error;
    bool is_wanted = put->state == PUT_READING && put->call != NULL;
    put_move(put, PUT_ENDED);
    if (is_wanted && err.status == TQ_OK)
        commit(put, &err);
    if (put->call != NULL)
        answer_error(put, &err);
    close_put(put);
}

/* On the bulk thread. */
static void bytes_came(void *user, const struct tq_bulk_result *result)
{
    struct put *put = user;
    put->result = *result;
    tq_inbox_post(&put->storage->inbox, &put->letter);
}

/* The caller has cancelled, or its session or deadline has ended: answered now, freed when its bytes are quiet. */
static void caller_gone(void *user, tq_status why)
{
    struct put *put = user;
    struct tq_error err;
    put_move(put, PUT_ABANDONED);
    tq_fail(&err, why, NULL, "the put was given up before its bytes were here");
    answer_error(put, &err);
}

/* ---- filling ---- */

struct cursor {
    const struct tq_bytes *frames;
    size_t n_frames, at;
    uint64_t start; /* of frames[at], in the concatenation */
};

/* Copies inline bytes [offset, offset + len), which the checks have found to exist. Going forward costs nothing. */
static void copy_inline(struct cursor *cursor, uint64_t offset, uint8_t *into, uint64_t len)
{
    if (offset < cursor->start)
        cursor->at = 0, cursor->start = 0;
    while (len > 0) {
        TQ_ASSERT(cursor->at < cursor->n_frames);
        const struct tq_bytes *frame = &cursor->frames[cursor->at];
        uint64_t skip = offset - cursor->start;
        if (skip >= frame->len) {
            cursor->start += frame->len;
            cursor->at++;
            continue;
        }
        uint64_t piece = frame->len - skip < len ? frame->len - skip : len;
        memcpy(into, frame->ptr + skip, piece);
        into += piece;
        offset += piece;
        len -= piece;
    }
}

static void fill_inline(struct put *put)
{
    const struct tq_put_request *request = &put->request;
    struct cursor cursor = { 0 };
    cursor.frames = tq_server_call_frames(put->call, &cursor.n_frames);
    for (size_t c = 0; c < request->n_cells; c++) {
        struct tq_frame *frame = put->cells.frames[c];
        if (request->sources[c].region != 0 || frame->len == 0)
            continue;
        copy_inline(&cursor, request->sources[c].offset, frame->ptr, frame->len);
        frame->digest = tq_crc32c(frame->ptr, frame->len);
    }
}

static tq_status list_ranges(struct put *put, struct tq_error *err)
{
    const struct tq_put_request *request = &put->request;
    const struct tq_seam *seam = put->storage->seam;
    put->ranges = tq_seam_alloc_array(seam, request->n_bulk, sizeof(*put->ranges));
    put->range_cells = tq_seam_alloc_array(seam, request->n_bulk, sizeof(*put->range_cells));
    if (put->ranges == NULL || put->range_cells == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for %zu ranges", request->n_bulk);
    for (size_t c = 0; c < request->n_cells; c++) {
        const struct tq_frame *frame = put->cells.frames[c];
        if (request->sources[c].region == 0 || frame->len == 0)
            continue;
        uint32_t source = request->sources[c].region - 1;
        uint64_t offset = request->sources[c].offset;
        /* Exposed memory is one frame; in an arena each cell is a frame of its own. Both have version 1. */
        bool is_frame = request->regions[source].kind == TQ_REGION_ARENA;
        put->range_cells[put->n_ranges] = c;
        put->ranges[put->n_ranges++] = (struct tq_bulk_range){ .source = source,
                                                               .frame = is_frame ? offset : 0,
                                                               .skip = is_frame ? 0 : offset,
                                                               .len = frame->len,
                                                               .version = 1,
                                                               .into = frame->ptr };
    }
    return TQ_OK;
}

static tq_status start_reading(struct put *put, struct tq_error *err)
{
    const struct tq_put_request *request = &put->request;
    tq_status status = list_ranges(put, err);
    if (status != TQ_OK)
        return status;
    put->letter = (struct tq_letter){ .take = end_put, .user = put };
    const struct tq_bulk_read_opts opts = { .deadline_ns = tq_server_call_deadline_ns(put->call) };
    return tq_bulk_read(put->storage->bulk, request->address, request->regions, request->n_regions, put->ranges,
                        put->n_ranges, &opts, bytes_came, put, err);
}

/* Every frame has its memory. */
static void read_cells(struct put *put)
{
    put_move(put, PUT_READING);
    fill_inline(put);
    if (put->request.n_bulk > 0 && start_reading(put, &put->result.error) == TQ_OK)
        return;
    end_put(put);
}

/* The letter of the placer. */
static void places_came(void *user)
{
    struct put *put = user;
    if (put->state == PUT_PLACING && put->call != NULL && put->result.error.status == TQ_OK)
        read_cells(put);
    else
        end_put(put);
}

/* On the placer's thread, or on the loop. */
static void find_places(struct put *put)
{
    if (tq_put_place(&put->storage->store, &put->cells, &put->result.error) == TQ_OK)
        tq_error_clear(&put->result.error);
}

static void place_beside_the_loop(void *user)
{
    struct put *put = user;
    find_places(put);
    tq_inbox_post(&put->storage->inbox, &put->letter);
}

static void run_put(struct put *put)
{
    struct tq_error err;
    if (tq_put_open(&put->storage->store, &put->request.plan, &put->cells, &err) != TQ_OK) {
        put->result.error = err;
        end_put(put);
        return;
    }
    tq_server_call_on_gone(put->call, caller_gone, put);
    if (put->cells.bytes <= TQ_PLACE_AT_ONCE_BYTES) {
        find_places(put);
        places_came(put);
        return;
    }
    put->letter = (struct tq_letter){ .take = places_came, .user = put };
    put->job = (struct tq_placer_job){ .run = place_beside_the_loop, .user = put };
    tq_placer_post(&put->storage->placer, &put->job);
}

/* The unit must be able to read what the put names, before anything is reserved for it. */
static tq_status check_reach(const struct tq_storage *storage, const struct tq_put_request *request,
                             struct tq_error *err)
{
    if (request->n_bulk == 0 || tq_bulk_reaches(storage->bulk, request->address))
        return TQ_OK;
    return tq_fail(err, TQ_FAILED_PRECONDITION, "BULK_UNREACHABLE",
                   "source.address: this unit cannot read from there; send the cells as inline frames");
}

static uint64_t inline_bytes_of(const struct tq_server_call *call)
{
    size_t n;
    uint64_t bytes = 0;
    const struct tq_bytes *frames = tq_server_call_frames(call, &n);
    for (size_t i = 0; i < n; i++)
        bytes += frames[i].len;
    return bytes;
}

void tq_storage_put(void *state, const Tq__V1__PutRequest *message, struct tq_server_call *call)
{
    struct tq_storage *storage = state;
    struct tq_put_request request;
    struct tq_error err;
    tq_status status = tq_put_request_open(&storage->store, message, inline_bytes_of(call), &request, &err);
    if (status == TQ_OK)
        status = check_reach(storage, &request, &err);
    struct put *put = status == TQ_OK ? tq_seam_alloc(storage->seam, sizeof(*put)) : NULL;
    if (status == TQ_OK && put == NULL)
        status = tq_fail(&err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a put");
    if (put != NULL) {
        put->storage = storage;
        put->call = call;
        put->request = request;
        tq_list_add_tail(&storage->puts, &put->in_storage);
        run_put(put);
    } else {
        tq_storage_count(storage, TQ_OPERATION_PUT, status, 0);
        tq_server_fail_error(call, &err);
        tq_put_request_close(&storage->store, &request);
    }
}

/* The bulk thread may still write into these places. It holds the blocks of a read until it is done with them, so that
 * their memory stays until tq_bulk_close has ended the last read; after that no place may be left to give back. */
void tq_storage_abandon_puts(struct tq_storage *storage)
{
    tq_list_each (node, &storage->puts) {
        struct put *put = tq_container_of(node, struct put, in_storage);
        put->call = NULL; /* the server has ended it */
        for (size_t c = 0; c < put->cells.n_cells; c++)
            tq_frame_free_place(&storage->store, put->cells.frames[c]);
    }
}

#include "client/receive.h"

#include <pthread.h>

#include "transport/base/crc32c.h"

/* Counts transfers down. */
struct join {
    pthread_mutex_t lock;
    pthread_cond_t done;
    size_t pending; /* under lock */
};

struct transfer {
    struct join *join;
    struct tq_answer *answer;
    struct tq_bulk_range *ranges;
    size_t *cells; /* of the answer, one a range */
    size_t n;
    struct tq_bulk_result result;
    bool started;
};

static void transfer_done(void *user, const struct tq_bulk_result *result)
{
    struct transfer *transfer = user;
    struct join *join = transfer->join;
    pthread_mutex_lock(&join->lock);
    transfer->result = *result;
    if (--join->pending == 0)
        pthread_cond_signal(&join->done);
    pthread_mutex_unlock(&join->lock);
}

static size_t position_of(const struct tq_answer *answer, size_t cell)
{
    return answer->share->positions[answer->first + cell % answer->n];
}

static uint8_t *place_of(const struct tq_data *data, const struct tq_answer *answer, size_t cell)
{
    return tq_data_cell(data, cell / answer->n, position_of(answer, cell));
}

static size_t count_cells(const struct tq_answer *answer)
{
    return answer->message->n_fields * answer->n;
}

static bool is_remote(const struct tq_answer *answer, size_t cell)
{
    return answer->message->cells->region[cell] != 0 && answer->message->cells->length[cell] > 0;
}

/* ---- bulk ---- */

static tq_status make_transfer(struct transfer *transfer, struct join *join, struct tq_answer *answer,
                               const struct tq_data *data, struct tq_arena *arena, struct tq_error *err)
{
    const Tq__V1__Cells *cells = answer->message->cells;
    size_t n = 0;
    for (size_t c = 0; c < count_cells(answer); c++)
        n += is_remote(answer, c);
    *transfer = (struct transfer){ .join = join, .answer = answer };
    transfer->ranges = tq_arena_array(arena, n, sizeof(*transfer->ranges));
    transfer->cells = tq_arena_array(arena, n, sizeof(*transfer->cells));
    if (transfer->ranges == NULL || transfer->cells == NULL)
        return tq_fail_no_memory(err);
    for (size_t c = 0; c < count_cells(answer); c++) {
        if (!is_remote(answer, c))
            continue;
        transfer->cells[transfer->n] = c;
        transfer->ranges[transfer->n++] = (struct tq_bulk_range){ .source = cells->region[c] - 1,
                                                                  .frame = cells->frame[c],
                                                                  .len = cells->length[c],
                                                                  .version = cells->version[c],
                                                                  .into = place_of(data, answer, c) };
    }
    return TQ_OK;
}

static tq_status start_transfer(struct tq_bulk *bulk, struct transfer *transfer, int64_t deadline_ns,
                                struct tq_error *err)
{
    const struct tq_answer *answer = transfer->answer;
    ProtobufCBinaryData address = answer->message->source->address;
    struct tq_bulk_read_opts opts = { .deadline_ns = deadline_ns };
    struct join *join = transfer->join;
    pthread_mutex_lock(&join->lock);
    join->pending++;
    pthread_mutex_unlock(&join->lock);
    tq_status status =
        tq_bulk_read(bulk, (struct tq_bytes){ address.data, address.len }, answer->regions, answer->n_regions,
                     transfer->ranges, transfer->n, &opts, transfer_done, transfer, err);
    transfer->started = status == TQ_OK;
    if (status != TQ_OK) {
        pthread_mutex_lock(&join->lock);
        join->pending--;
        pthread_mutex_unlock(&join->lock);
    }
    return status;
}

static tq_status fail_digest(const struct tq_meta *meta, const struct tq_answer *answer, size_t cell, uint32_t digest,
                             struct tq_client_stats *stats, struct tq_error *err)
{
    stats->digest_failures++;
    return tq_fail(err, TQ_DATA_LOSS, "DIGEST", "sample %llu, field %s, from unit %u: digest %08x; stored with %08x",
                   (unsigned long long)meta->indexes[position_of(answer, cell)], answer->fields[cell / answer->n].name,
                   answer->share->info->number, digest, answer->message->cells->digest[cell]);
}

static tq_status judge_transfer(const struct tq_meta *meta, const struct transfer *transfer,
                                struct tq_client_stats *stats, struct tq_error *err)
{
    const struct tq_answer *answer = transfer->answer;
    if (transfer->result.error.status != TQ_OK) {
        if (err != NULL)
            *err = transfer->result.error;
        tq_error_prefix(err, "reading from unit %u (%s)", answer->share->info->number, answer->share->info->name);
        return transfer->result.error.status;
    }
    for (int e = 0; e < TQ_ENGINE_COUNT; e++)
        stats->get_bytes[e] += transfer->result.bytes[e];
    for (size_t r = 0; r < transfer->n; r++)
        if (transfer->ranges[r].crc32c != answer->message->cells->digest[transfer->cells[r]])
            return fail_digest(meta, answer, transfer->cells[r], transfer->ranges[r].crc32c, stats, err);
    return TQ_OK;
}

/* ---- inline ---- */

static tq_status copy_inline(const struct tq_meta *meta, struct tq_answer *answer, const struct tq_data *data,
                             struct tq_client_stats *stats, struct tq_error *err)
{
    const Tq__V1__Cells *cells = answer->message->cells;
    for (size_t c = 0; c < count_cells(answer); c++) {
        if (is_remote(answer, c))
            continue;
        uint8_t *into = place_of(data, answer, c);
        size_t len = (size_t)cells->length[c];
        if (len > 0)
            tq_frames_copy(&answer->frames, cells->frame[c], len, into);
        uint32_t digest = tq_crc32c(into, len);
        if (digest != cells->digest[c])
            return fail_digest(meta, answer, c, digest, stats, err);
        stats->get_bytes[TQ_ENGINE_INLINE] += len;
    }
    return TQ_OK;
}

/* Transfers that started are waited for whatever happens: until then they may write into the columns. */
static void wait_all(struct join *join)
{
    pthread_mutex_lock(&join->lock);
    while (join->pending > 0)
        pthread_cond_wait(&join->done, &join->lock);
    pthread_mutex_unlock(&join->lock);
}

tq_status tq_receive(struct tq_bulk *bulk, const struct tq_meta *meta, struct tq_answer *answers, size_t n_answers,
                     const struct tq_data *data, struct tq_arena *arena, int64_t deadline_ns,
                     struct tq_client_stats *stats, struct tq_error *err)
{
    struct join join = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
    struct transfer *transfers = tq_arena_array(arena, n_answers, sizeof(*transfers));
    if (transfers == NULL)
        return tq_fail_no_memory(err);
    tq_status status = TQ_OK;
    size_t made = 0;
    for (; made < n_answers && status == TQ_OK; made++) {
        status = make_transfer(&transfers[made], &join, &answers[made], data, arena, err);
        if (status == TQ_OK && transfers[made].n > 0)
            status = start_transfer(bulk, &transfers[made], deadline_ns, err);
    }
    for (size_t a = 0; a < n_answers && status == TQ_OK; a++)
        status = copy_inline(meta, &answers[a], data, stats, err);
    wait_all(&join);
    for (size_t a = 0; a < made && status == TQ_OK; a++)
        if (transfers[a].started)
            status = judge_transfer(meta, &transfers[a], stats, err);
    pthread_cond_destroy(&join.done);
    pthread_mutex_destroy(&join.lock);
    return status;
}

#include <unistd.h>

#include "transport/base/assert.h"
#include "transport/bulk/runtime.h"

struct read_letter {
    struct tq_letter letter;
    struct tq_transfer *transfer;
};

static void begin(struct tq_bulk *bulk, struct tq_letter *letter)
{
    struct read_letter *mine = tq_container_of(letter, struct read_letter, letter);
    struct tq_transfer *transfer = mine->transfer;
    tq_seam_free(bulk->seam, mine);
    tq_transfer_begin(bulk, transfer);
}

static tq_status check_runtime(const struct tq_bulk *bulk, const struct tq_bulk_read_opts *opts, struct tq_error *err)
{
    if (bulk->pid != getpid())
        return tq_fail(err, TQ_FAILED_PRECONDITION, "FORKED", "UCX does not survive fork(): open again after exec");
    if (bulk->ucx == NULL)
        return tq_fail(err, TQ_UNAVAILABLE, "INLINE_ONLY", "this process has no UCX: use inline frames");
    if (opts->engine == TQ_ENGINE_INLINE || (unsigned)opts->engine >= TQ_ENGINE_COUNT)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "ENGINE", "engine %u is not one of this function",
                       (unsigned)opts->engine);
    return TQ_OK;
}

tq_status tq_bulk_read(struct tq_bulk *bulk, struct tq_bytes address, const struct tq_region *sources, size_t n_sources,
                       struct tq_bulk_range *ranges, size_t n_ranges, const struct tq_bulk_read_opts *opts,
                       tq_bulk_done_fn *done, void *user, struct tq_error *err)
{
    const struct tq_read_args args = { address, sources, n_sources, ranges, n_ranges, opts, done, user };
    struct tq_transfer *transfer = NULL;
    tq_status status = check_runtime(bulk, opts, err);
    if (status == TQ_OK)
        status = tq_transfer_open(bulk->seam, &args, &transfer, err);
    if (status != TQ_OK)
        return status;
    struct read_letter *mine = tq_seam_alloc(bulk->seam, sizeof(*mine));
    if (mine == NULL || !tq_transfer_hold(transfer, &bulk->memory)) {
        tq_seam_free(bulk->seam, mine);
        tq_transfer_close(transfer);
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a transfer");
    }
    *mine = (struct read_letter){ .letter.run = begin, .transfer = transfer };
    atomic_fetch_add_explicit(&bulk->counters.reads_in_flight, 1, memory_order_relaxed);
    if (tq_mailbox_post(&bulk->mailbox, &mine->letter.node))
        return TQ_OK;
    atomic_fetch_sub_explicit(&bulk->counters.reads_in_flight, 1, memory_order_relaxed);
    tq_seam_free(bulk->seam, mine);
    tq_transfer_close(transfer);
    return tq_fail(err, TQ_FAILED_PRECONDITION, "CLOSING", "the bulk runtime is closing");
}

/* ---- blocking ---- */

struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool is_done;
    struct tq_bulk_result *result;
};

static void wake(void *user, const struct tq_bulk_result *result)
{
    struct waiter *waiter = user;
    pthread_mutex_lock(&waiter->lock);
    *waiter->result = *result;
    waiter->is_done = true;
    pthread_cond_signal(&waiter->done); /* with the lock held: the waiter's stack goes as soon as it is free */
    pthread_mutex_unlock(&waiter->lock);
}

tq_status tq_bulk_read_wait(struct tq_bulk *bulk, struct tq_bytes address, const struct tq_region *sources,
                            size_t n_sources, struct tq_bulk_range *ranges, size_t n_ranges,
                            const struct tq_bulk_read_opts *opts, struct tq_bulk_result *out_result)
{
    struct waiter waiter = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, out_result };
    *out_result = (struct tq_bulk_result){ 0 };
    TQ_ASSERT(!bulk->has_thread || !pthread_equal(pthread_self(), bulk->thread));
    tq_status status =
        tq_bulk_read(bulk, address, sources, n_sources, ranges, n_ranges, opts, wake, &waiter, &out_result->error);
    if (status != TQ_OK)
        return status;
    pthread_mutex_lock(&waiter.lock);
    while (!waiter.is_done)
        pthread_cond_wait(&waiter.done, &waiter.lock);
    pthread_mutex_unlock(&waiter.lock);
    pthread_cond_destroy(&waiter.done);
    pthread_mutex_destroy(&waiter.lock);
    return out_result->error.status;
}

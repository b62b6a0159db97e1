#include <errno.h>
#include <string.h>

#include "transport/base/assert.h"
#include "transport/bulk/memory.h"

tq_status tq_memory_expose(struct tq_memory *memory, const void *ptr, size_t len, struct tq_exposure **out_exposure,
                           struct tq_error *err)
{
    struct tq_exposure *exposure = tq_seam_alloc(memory->seam, sizeof(*exposure));
    if (exposure == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for an exposure");
    *exposure =
        (struct tq_exposure){ .memory = memory, .ptr = ptr, .len = len, .region = tq_seam_random64(memory->seam) };
    tq_seam_random(memory->seam, exposure->ticket, sizeof(exposure->ticket));
    pthread_mutex_lock(&memory->lock);
    bool entered = tq_map_put(&memory->exposed, exposure->region, exposure);
    pthread_mutex_unlock(&memory->lock);
    if (!entered) {
        tq_seam_free(memory->seam, exposure);
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for an exposure");
    }
    *out_exposure = exposure;
    return TQ_OK;
}

void tq_exposure_region(const struct tq_exposure *exposure, struct tq_region *out_region)
{
    *out_region = (struct tq_region){
        .id = exposure->region,
        .kind = TQ_REGION_HEAP,
        .length = exposure->len,
        .ticket = { exposure->ticket, TQ_TICKET_BYTES },
    };
}

void tq_exposure_revoke(struct tq_exposure *exposure)
{
    struct tq_memory *memory = exposure->memory;
    pthread_mutex_lock(&memory->lock);
    TQ_ASSERT(!exposure->revoked);
    exposure->revoked = true;
    (void)tq_map_remove(&memory->exposed, exposure->region);
    pthread_mutex_unlock(&memory->lock);
}

bool tq_exposure_wait(struct tq_exposure *exposure, int64_t deadline_ns)
{
    struct tq_memory *memory = exposure->memory;
    const int64_t second = INT64_C(1000000000);
    struct timespec until = { .tv_sec = deadline_ns / second, .tv_nsec = deadline_ns % second };
    if (deadline_ns <= 0)
        until = (struct timespec){ 0 };
    pthread_mutex_lock(&memory->lock);
    for (int code = 0; exposure->holds > 0 && code != ETIMEDOUT;)
        code = pthread_cond_timedwait(&memory->quiet, &memory->lock, &until);
    bool quiet = exposure->holds == 0;
    pthread_mutex_unlock(&memory->lock);
    return quiet;
}

void tq_exposure_close(struct tq_exposure *exposure)
{
    TQ_ASSERT(exposure->revoked && exposure->holds == 0);
    tq_seam_free(exposure->memory->seam, exposure);
}

#include "transport/rpc/server_timers.h"

#include <string.h>

#include "transport/base/assert.h"

enum { FIRST_CAPACITY = 64 };

static void place(struct tq_server_timers *timers, size_t at, struct tq_server_timer *timer)
{
    timers->heap[at] = timer;
    timer->slot_ = at + 1;
}

/* Puts the timer where it belongs, from the free place `at`, upwards or downwards. */
static void settle(struct tq_server_timers *timers, size_t at, struct tq_server_timer *timer)
{
    for (size_t up; at > 0 && timers->heap[up = (at - 1) / 2]->due_ns_ > timer->due_ns_; at = up)
        place(timers, at, timers->heap[up]);
    for (size_t down; (down = 2 * at + 1) < timers->count; at = down) {
        if (down + 1 < timers->count && timers->heap[down + 1]->due_ns_ < timers->heap[down]->due_ns_)
            down++;
        if (timers->heap[down]->due_ns_ >= timer->due_ns_)
            break;
        place(timers, at, timers->heap[down]);
    }
    place(timers, at, timer);
}

static bool grow(struct tq_server_timers *timers)
{
    size_t capacity = timers->capacity == 0 ? FIRST_CAPACITY : timers->capacity * 2;
    struct tq_server_timer **heap = tq_seam_alloc_array(timers->seam, capacity, sizeof(struct tq_server_timer *));
    if (heap == NULL)
        return false;
    if (timers->count > 0)
        memcpy(heap, timers->heap, timers->count * sizeof(struct tq_server_timer *));
    tq_seam_free(timers->seam, timers->heap);
    timers->heap = heap;
    timers->capacity = capacity;
    return true;
}

void tq_server_timers_fini(struct tq_server_timers *timers)
{
    for (size_t i = 0; i < timers->count; i++)
        timers->heap[i]->slot_ = 0;
    tq_seam_free(timers->seam, timers->heap);
    *timers = (struct tq_server_timers){ .seam = timers->seam };
}

bool tq_server_timers_set(struct tq_server_timers *timers, struct tq_server_timer *timer, int64_t due_ns)
{
    if (timer->slot_ == 0 && timers->count == timers->capacity && !grow(timers))
        return false;
    timer->due_ns_ = due_ns;
    size_t at = timer->slot_ == 0 ? timers->count++ : timer->slot_ - 1;
    settle(timers, at, timer);
    return true;
}

void tq_server_timers_remove(struct tq_server_timers *timers, struct tq_server_timer *timer)
{
    if (timer->slot_ == 0)
        return;
    size_t at = timer->slot_ - 1;
    TQ_ASSERT(at < timers->count && timers->heap[at] == timer);
    struct tq_server_timer *last = timers->heap[--timers->count];
    timer->slot_ = 0;
    if (last != timer)
        settle(timers, at, last);
}

void tq_server_timers_fire(struct tq_server_timers *timers, int64_t now_ns)
{
    for (size_t most = timers->count; most > 0 && timers->count > 0 && timers->heap[0]->due_ns_ <= now_ns; most--) {
        struct tq_server_timer *timer = timers->heap[0];
        tq_server_timers_remove(timers, timer);
        timer->fire(timer->user);
    }
}

int64_t tq_server_timers_next_ns(const struct tq_server_timers *timers)
{
    return timers->count > 0 ? timers->heap[0]->due_ns_ : INT64_MAX;
}

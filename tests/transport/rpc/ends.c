#include "tests/transport/rpc/ends.h"

#include "tests/support/cmocka_all.h"

void ends_init(struct ends *ends)
{
    *ends = (struct ends){ .ended = 0 };
    pthread_mutex_init(&ends->lock, NULL);
    pthread_cond_init(&ends->changed, NULL);
}

void ends_count(void *user, struct tq_reply *reply)
{
    struct ends *ends = user;
    pthread_mutex_lock(&ends->lock);
    ends->ended++;
    ends->by_status[reply->error.status]++;
    ends->last_ns = tq_now_ns();
    pthread_cond_broadcast(&ends->changed);
    pthread_mutex_unlock(&ends->lock);
}

void ends_wait(struct ends *ends, unsigned n, int64_t timeout_ms)
{
    int64_t deadline = tq_deadline_after_ms(timeout_ms);
    struct timespec until = { deadline / 1000000000, deadline % 1000000000 };
    pthread_mutex_lock(&ends->lock);
    while (ends->ended < n && pthread_cond_clockwait(&ends->changed, &ends->lock, CLOCK_MONOTONIC, &until) == 0)
        continue;
    unsigned ended = ends->ended;
    pthread_mutex_unlock(&ends->lock);
    assert_true(ended >= n);
}

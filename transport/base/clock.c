#include "tq/bytes.h"

#include <time.h>

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

int64_t tq_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t tq_deadline_after_ns(int64_t timeout_ns)
{
    int64_t now = tq_now_ns();
    if (timeout_ns <= 0)
        return now;
    return timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns;
}

int64_t tq_deadline_after_ms(int64_t timeout_ms)
{
    return tq_deadline_after_ns(timeout_ms > INT64_MAX / NS_PER_MS ? INT64_MAX : timeout_ms * NS_PER_MS);
}

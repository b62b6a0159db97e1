#include "tq/init.h"

#include <pthread.h>
#include <stdatomic.h>
#include <zmq.h>

#include "transport/base/environment.h"

static atomic_bool forked;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void mark_forked(void)
{
    atomic_store(&forked, true);
}

static void prepare(void)
{
    tq_environment_prepare();
    pthread_atfork(NULL, NULL, mark_forked);
}

tq_status tq_init(struct tq_error *err)
{
    int major, minor, patch;
    pthread_once(&once, prepare);
    if (tq_forked())
        return tq_fail(err, TQ_FAILED_PRECONDITION, "FORKED", "this is a child of fork(): exec first");
    zmq_version(&major, &minor, &patch);
    if (major * 10000 + minor * 100 + patch < 40304)
        return tq_fail(err, TQ_FAILED_PRECONDITION, "LIBRARY", "libzmq %d.%d.%d: expected 4.3.4 or later", major, minor,
                       patch);
    return TQ_OK;
}

bool tq_forked(void)
{
    return atomic_load_explicit(&forked, memory_order_relaxed);
}

const char *tq_version(void)
{
    return "0.1.0";
}

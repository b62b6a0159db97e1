#include "transport/rpc/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "tq/init.h"
#include "transport/base/assert.h"

enum { SOCKETS_MAX = 16384 };

static __thread const char *forbidden;

void tq_thread_forbid_blocking(const char *what)
{
    forbidden = what;
}

const char *tq_thread_forbidden(void)
{
    return forbidden;
}

tq_status tq_runtime_check(struct tq_error *err)
{
    if (tq_forked())
        return tq_fail(err, TQ_FAILED_PRECONDITION, "FORKED", "this is a child of fork(): exec first");
    return TQ_OK;
}

static void default_name(char *out, size_t cap)
{
    snprintf(out, cap, "%.40s/%d", program_invocation_short_name, (int)getpid());
}

tq_status tq_runtime_open(const struct tq_runtime_opts *opts, struct tq_runtime **out_runtime, struct tq_error *err)
{
    static const struct tq_runtime_opts defaults;
    char name[TQ_NAME_BYTES];
    opts = opts != NULL ? opts : &defaults;
    tq_status status = tq_runtime_check(err);
    if (status != TQ_OK)
        return status;
    struct tq_runtime *runtime = tq_seam_alloc(opts->seam, sizeof(*runtime));
    if (runtime == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a runtime");
    runtime->seam = opts->seam;
    default_name(name, sizeof(name));
    tq_self_init(&runtime->self, opts->name != NULL ? opts->name : name,
                 opts->role != 0 ? (uint32_t)opts->role : (uint32_t)TQ_ROLE_CLIENT, tq_seam_random64(opts->seam),
                 opts->cluster_id);
    if ((status = tq_driver_init(&runtime->driver, opts->seam, err)) != TQ_OK)
        goto fail;
    runtime->zmq = zmq_ctx_new();
    if (runtime->zmq == NULL || zmq_ctx_set(runtime->zmq, ZMQ_MAX_SOCKETS, SOCKETS_MAX) != 0) {
        status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no ZMQ context: %s", zmq_strerror(errno));
        goto fail;
    }
    *out_runtime = runtime;
    return TQ_OK;
fail:
    tq_runtime_close(runtime);
    return status;
}

void tq_runtime_close(struct tq_runtime *runtime)
{
    if (runtime == NULL)
        return;
    TQ_ASSERT(atomic_load(&runtime->users) == 0); /* channels and servers are closed first */
    if (!tq_forked()) {
        tq_driver_fini(&runtime->driver);
        if (runtime->zmq != NULL)
            while (zmq_ctx_term(runtime->zmq) != 0 && errno == EINTR)
                continue;
    }
    tq_self_fini(&runtime->self);
    tq_seam_free(runtime->seam, runtime);
}

uint64_t tq_runtime_epoch(const struct tq_runtime *runtime)
{
    return runtime->self.epoch;
}

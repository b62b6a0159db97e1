#include "server/storage/service.h"

/* Checkpoints have no handler: they answer UNIMPLEMENTED. */
static const struct tq_v1_storage_ops ops = {
    .put = tq_storage_put,
    .get = tq_storage_get,
    .release = tq_storage_release,
    .clear = tq_storage_clear,
    .describe = tq_storage_describe,
    .get_stats = tq_storage_get_stats,
};

static void session_ended(void *user, uint64_t session)
{
    tq_pins_end_session(&((struct tq_storage *)user)->pins, session);
}

tq_status tq_storage_serve(struct tq_storage *storage, struct tq_error *err)
{
    tq_server_on_session_end(storage->server, session_ended, storage);
    tq_reflection_add(&storage->reflection, &tq_v1_storage_service);
    return tq_v1_storage_add(storage->server, &ops, storage, err);
}

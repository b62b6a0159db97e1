/* StorageService/GetStats, and the same figures as metrics. */
#include "server/storage/service.h"

static const char *const operation_names[TQ_OPERATIONS] = { "put", "get", "clear" };

void tq_storage_count(struct tq_storage *storage, enum tq_storage_operation operation, tq_status status, uint64_t bytes)
{
    struct tq_operation_stats *stats = &storage->operations[operation];
    stats->count++;
    stats->failed += status != TQ_OK;
    stats->bytes += bytes;
}

/* By engine, from remote read on: what puts and inline answers moved, and what we sent by rendezvous. Remote reads of
 * our memory by others leave no trace here. */
static void read_engines(const struct tq_storage *storage, const struct tq_bulk_stats *bulk, uint64_t *out_bytes)
{
    for (int engine = 0; engine < TQ_ENGINE_COUNT; engine++)
        out_bytes[engine] = storage->engine_bytes[engine];
    out_bytes[TQ_ENGINE_RENDEZVOUS] += bulk->sent_bytes;
}

void tq_storage_get_stats(void *state, const Tq__V1__GetStatsRequest *request, struct tq_server_call *call)
{
    struct tq_storage *storage = state;
    struct tq_server_stats server;
    struct tq_bulk_stats bulk;
    uint64_t counts[TQ_OPERATIONS], failed[TQ_OPERATIONS], bytes[TQ_OPERATIONS];
    uint64_t engine_bytes[TQ_ENGINE_COUNT];
    const char *engines[TQ_ENGINE_COUNT];
    (void)request;
    tq_server_read_stats(storage->server, &server);
    tq_bulk_read_stats(storage->bulk, &bulk);
    read_engines(storage, &bulk, engine_bytes);
    for (int i = 0; i < TQ_OPERATIONS; i++) {
        counts[i] = storage->operations[i].count;
        failed[i] = storage->operations[i].failed;
        bytes[i] = storage->operations[i].bytes;
    }
    for (int i = TQ_ENGINE_REMOTE_READ; i < TQ_ENGINE_COUNT; i++)
        engines[i] = tq_engine_name((enum tq_bulk_engine)i);
    Tq__V1__GetStatsResponse response = TQ__V1__GET_STATS_RESPONSE__INIT;
    response.name = storage->name;
    response.budget_bytes = storage->store.limits.budget_bytes;
    response.used_bytes = storage->store.used_bytes;
    response.arena_bytes = bulk.arena_bytes;
    response.samples = tq_store_samples(&storage->store);
    response.cells = storage->store.cells;
    response.pins = tq_pins_count(&storage->pins);
    response.quarantined_bytes = bulk.quarantined_bytes;
    response.rss_bytes = tq_process_rss_bytes();
    response.n_operation = response.n_count = response.n_failed = response.n_bytes = TQ_OPERATIONS;
    response.operation = (char **)operation_names;
    response.count = counts;
    response.failed = failed;
    response.bytes = bytes;
    response.n_engine = response.n_engine_bytes = TQ_ENGINE_COUNT - TQ_ENGINE_REMOTE_READ;
    response.engine = (char **)&engines[TQ_ENGINE_REMOTE_READ];
    response.engine_bytes = &engine_bytes[TQ_ENGINE_REMOTE_READ];
    response.arrivals = server.arrivals;
    tq_v1_storage_get_stats_answer(call, &response);
}

void tq_storage_report(void *user, struct tq_metric_sink *sink)
{
    const struct tq_storage *storage = user;
    const struct tq_store *store = &storage->store;
    const struct tq_operation_stats *operations = storage->operations;
    tq_metric_put(sink, "storage_budget_bytes", (double)store->limits.budget_bytes);
    tq_metric_put(sink, "storage_used_bytes", (double)store->used_bytes);
    tq_metric_put(sink, "storage_reserved_bytes", (double)store->reserved_bytes);
    tq_metric_put(sink, "storage_samples", (double)tq_store_samples(store));
    tq_metric_put(sink, "storage_cells", (double)store->cells);
    tq_metric_put(sink, "storage_pins", (double)tq_pins_count(&storage->pins));
    tq_metric_put(sink, "storage_puts", (double)operations[TQ_OPERATION_PUT].count);
    tq_metric_put(sink, "storage_puts_failed", (double)operations[TQ_OPERATION_PUT].failed);
    tq_metric_put(sink, "storage_put_bytes", (double)operations[TQ_OPERATION_PUT].bytes);
    tq_metric_put(sink, "storage_gets", (double)operations[TQ_OPERATION_GET].count);
    tq_metric_put(sink, "storage_gets_failed", (double)operations[TQ_OPERATION_GET].failed);
    tq_metric_put(sink, "storage_get_bytes", (double)operations[TQ_OPERATION_GET].bytes);
    tq_metric_put(sink, "storage_clears", (double)operations[TQ_OPERATION_CLEAR].count);
}

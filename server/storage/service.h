/* server/storage/service.h: one storage unit at work: what its handlers share. Each handler has its file, named after
 * the method.
 * Owns: everything in struct tq_storage. Threads: after start everything here is the loop's, but what says otherwise.
 */
#ifndef TQ_STORAGE_SERVICE_H
#define TQ_STORAGE_SERVICE_H

#include "server/common/health.h"
#include "server/common/inbox.h"
#include "server/common/limit_rows.h"
#include "server/common/metrics.h"
#include "server/common/reflection.h"
#include "server/storage/pins.h"
#include "server/storage/placer.h"
#include "server/storage/store.h"
#include "tq/bulk.h"
#include "tq/rpc.h"
#include "tq/v1/storage.tq.h"

enum tq_storage_operation { TQ_OPERATION_PUT, TQ_OPERATION_GET, TQ_OPERATION_CLEAR, TQ_OPERATIONS };

struct tq_operation_stats {
    uint64_t count, failed, bytes;
};

enum {
#define TQ_LIMIT_COUNT_(name, initial, min, max, help) TQ_STORAGE_LIMIT_##name,
    TQ_STORAGE_LIMITS(TQ_LIMIT_COUNT_)
#undef TQ_LIMIT_COUNT_
        TQ_STORAGE_LIMIT_COUNT
};

struct tq_registration;

struct tq_storage {
    const struct tq_seam *seam;
    char *name;
    struct tq_runtime *runtime;
    struct tq_bulk *bulk;
    struct tq_server *server;
    struct tq_inbox inbox;
    struct tq_store store;
    struct tq_pins pins;
    struct tq_list puts; /* on their way */
    struct tq_placer placer;
    struct tq_operation_stats operations[TQ_OPERATIONS];
    uint64_t engine_bytes[TQ_ENGINE_COUNT]; /* of puts, and of the inline cells of gets */
    struct tq_health health;
    struct tq_metrics metrics;
    struct tq_reflection reflection;
    struct tq_limit_row limit_rows[TQ_STORAGE_LIMIT_COUNT];
    struct tq_registration *registration; /* NULL: no controller */
    bool has_store;
};

/* Adds the service to storage->server. */
TQ_MUST_CHECK tq_status tq_storage_serve(struct tq_storage *storage, struct tq_error *err);

/* Handlers. */
void tq_storage_put(void *state, const Tq__V1__PutRequest *request, struct tq_server_call *call);
void tq_storage_get(void *state, const Tq__V1__GetRequest *request, struct tq_server_call *call);
void tq_storage_release(void *state, const Tq__V1__ReleaseRequest *request, struct tq_server_call *call);
void tq_storage_clear(void *state, const Tq__V1__ClearRequest *request, struct tq_server_call *call);
void tq_storage_describe(void *state, const Tq__V1__DescribeRequest *request, struct tq_server_call *call);
void tq_storage_get_stats(void *state, const Tq__V1__GetStatsRequest *request, struct tq_server_call *call);

/* A metric source. */
void tq_storage_report(void *user, struct tq_metric_sink *sink);

/* Ends the puts that are on their way: their places go back to the bulk runtime, which is closed next; what it still
 * completes then arrives in the inbox. After the server is closed. */
void tq_storage_abandon_puts(struct tq_storage *storage);

/* Counts an operation. */
void tq_storage_count(struct tq_storage *storage, enum tq_storage_operation operation, tq_status status,
                      uint64_t bytes);

#endif

/* server/controller/service.h: one controller at work: what its handlers share. Each handler has its file, named after
 * the method or the family of methods.
 * Owns: everything in struct tq_controller. Threads: after start everything here is the loop's, but what says
 * otherwise. */
#ifndef TQ_CONTROLLER_SERVICE_H
#define TQ_CONTROLLER_SERVICE_H

#include "server/common/health.h"
#include "server/common/limit_rows.h"
#include "server/common/metrics.h"
#include "server/common/reflection.h"
#include "server/controller/batch_out.h"
#include "server/controller/handout.h"
#include "server/controller/samples_in.h"
#include "server/controller/table.h"
#include "tq/rpc.h"
#include "tq/v1/controller.tq.h"

enum {
#define TQ_LIMIT_COUNT_(name, initial, min, max, help) TQ_CONTROLLER_LIMIT_##name,
    TQ_CONTROLLER_LIMITS(TQ_LIMIT_COUNT_)
#undef TQ_LIMIT_COUNT_
        TQ_CONTROLLER_LIMIT_COUNT
};

/* What it counts for GetMetrics. */
struct tq_controller_stats {
    uint64_t inserted, produced_cells, cleared;
    uint64_t batches, batch_samples, short_fetches, parked, repeated;
};

struct tq_controller {
    const struct tq_seam *seam;
    char *name;
    struct tq_runtime *runtime;
    struct tq_server *server;
    struct tq_table table;
    struct tq_handouts handouts;
    struct tq_arena *scratch;    /* of the handler that runs */
    struct tq_list fetches;      /* every FetchBatch that is not answered */
    bool is_draining;            /* nothing is parked any more */
    struct tq_server_timer tick; /* looks for silent units */
    struct tq_server_timer due;  /* the next max_wait */
    uint8_t *config;
    size_t config_bytes;
    uint64_t config_version;
    struct tq_controller_stats stats;
    struct tq_health health;
    struct tq_metrics metrics;
    struct tq_reflection reflection;
    struct tq_limit_row limit_rows[TQ_CONTROLLER_LIMIT_COUNT];
    bool has_table;
};

/* Adds the service to controller->server. */
TQ_MUST_CHECK tq_status tq_controller_serve(struct tq_controller *controller, struct tq_error *err);
/* Sets and arms the timers: before the server starts. */
void tq_controller_begin(struct tq_controller *controller);
/* Ends parked fetches and parks no more; on the loop thread. */
void tq_controller_stop_waiting(void *controller);
/* Frees the fetches that were never answered. After the server is closed. */
void tq_controller_abandon_fetches(struct tq_controller *controller);

/* Answers the fetches that have ended. To be called by every handler that changes what can be fetched, last. */
void tq_controller_settle(struct tq_controller *controller);

/* For reading a request: empties the scratch arena. */
struct tq_intake tq_controller_intake(struct tq_controller *controller, struct tq_error *err);
/* Fails the call for lack of memory. */
void tq_controller_no_memory(struct tq_server_call *call);

/* A metric source. */
void tq_controller_report(void *user, struct tq_metric_sink *sink);

/* ---- handlers ---- */

#define TQ_CONTROLLER_HANDLERS(X)                                                                                      \
    X(insert_samples, InsertSamplesRequest)                                                                            \
    X(notify_produced, NotifyProducedRequest)                                                                          \
    X(fetch_batch, FetchBatchRequest)                                                                                  \
    X(describe_partition, DescribePartitionRequest)                                                                    \
    X(list_partitions, ListPartitionsRequest)                                                                          \
    X(seal_partition, SealPartitionRequest)                                                                            \
    X(clear_samples, ClearSamplesRequest)                                                                              \
    X(clear_partition, ClearPartitionRequest)                                                                          \
    X(get_consumption, GetConsumptionRequest)                                                                          \
    X(reset_consumption, ResetConsumptionRequest)                                                                      \
    X(get_production, GetProductionRequest)                                                                            \
    X(set_tags, SetTagsRequest)                                                                                        \
    X(resolve_keys, ResolveKeysRequest)                                                                                \
    X(list_keys, ListKeysRequest)                                                                                      \
    X(ack_lease, AckLeaseRequest)                                                                                      \
    X(extend_lease, ExtendLeaseRequest)                                                                                \
    X(release_lease, ReleaseLeaseRequest)                                                                              \
    X(list_dead_letters, ListDeadLettersRequest)                                                                       \
    X(register_unit, RegisterUnitRequest)                                                                              \
    X(heartbeat_unit, HeartbeatUnitRequest)                                                                            \
    X(drain_unit, DrainUnitRequest)                                                                                    \
    X(list_units, ListUnitsRequest)                                                                                    \
    X(set_config, SetConfigRequest)                                                                                    \
    X(get_config, GetConfigRequest)                                                                                    \
    X(save_controller_checkpoint, SaveControllerCheckpointRequest)                                                     \
    X(load_controller_checkpoint, LoadControllerCheckpointRequest)

#define TQ_DECLARE_HANDLER_(name, Request)                                                                             \
    void tq_controller_##name(void *state, const Tq__V1__##Request *request, struct tq_server_call *call);
TQ_CONTROLLER_HANDLERS(TQ_DECLARE_HANDLER_)
#undef TQ_DECLARE_HANDLER_

#endif

/* The life of a storage unit: what is opened in which order, and closed in the other one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/common/addresses.h"
#include "server/storage/devices.h"
#include "server/storage/memory_engine.h"
#include "server/storage/registration.h"
#include "server/storage/service.h"
#include "tq/server.h"
#include "tq/v1/health.tq.h"
#include "transport/base/log.h"

static tq_status fill_limits(const struct tq_storage_opts *opts, struct tq_storage_limits *out_limits,
                             struct tq_error *err)
{
    *out_limits = (struct tq_storage_limits){
#define INITIAL(name, initial, min, max, help) .name = (initial),
        TQ_STORAGE_LIMITS(INITIAL)
#undef INITIAL
    };
    if (opts->memory_bytes != 0)
        out_limits->budget_bytes = opts->memory_bytes;
    if (opts->max_samples != 0)
        out_limits->budget_samples = opts->max_samples;
#define CHECK(name, initial, min, max, help)                                                                           \
    if (out_limits->name < (min) || out_limits->name > (max))                                                          \
        return tq_fail(err, TQ_INVALID_ARGUMENT, "LIMIT", #name ": %" PRIu64 "; expected %" PRIu64 " to %" PRIu64,     \
                       out_limits->name, (uint64_t)(min), (uint64_t)(max));
    TQ_STORAGE_LIMITS(CHECK)
#undef CHECK
    return TQ_OK;
}

/* What can be refused without opening anything. */
static tq_status check_opts(const struct tq_storage_opts *opts, struct tq_error *err)
{
    tq_status status = TQ_OK;
    if (opts->advertise != NULL)
        status = tq_address_check("advertise", opts->advertise, err);
    if (status == TQ_OK && opts->controller != NULL)
        status = tq_address_check("controller", opts->controller, err);
    if (status == TQ_OK && opts->devices != NULL && opts->bulk != TQ_BULK_OFF)
        status = tq_devices_check(opts->devices, opts->insecure, err);
    return status;
}

static void fill_rows(struct tq_storage *storage)
{
    const struct tq_storage_limits *limits = &storage->store.limits;
#define ROW(name, initial, min, max, help)                                                                             \
    storage->limit_rows[TQ_STORAGE_LIMIT_##name] =                                                                     \
        (struct tq_limit_row){ #name, limits->name, (initial), (min), (max), (help) };
    TQ_STORAGE_LIMITS(ROW)
#undef ROW
    storage->reflection.limits = storage->limit_rows;
    storage->reflection.n_limits = TQ_STORAGE_LIMIT_COUNT;
}

static tq_status open_runtime(struct tq_storage *storage, const struct tq_storage_opts *opts, struct tq_error *err)
{
    struct tq_runtime_opts runtime = { .name = opts->name, .role = TQ_ROLE_STORAGE };
    memcpy(runtime.cluster_id, opts->cluster_id, sizeof(runtime.cluster_id));
    tq_status status = tq_runtime_open(&runtime, &storage->runtime, err);
    if (status != TQ_OK)
        return status;
    char name[40];
    snprintf(name, sizeof(name), "storage-%016" PRIx64, tq_runtime_epoch(storage->runtime));
    storage->name = tq_seam_strdup(storage->seam, opts->name != NULL ? opts->name : name);
    return storage->name != NULL ? TQ_OK : tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for the name");
}

/* Frames have headers and round up: the arenas are a little larger than the payload that the budget allows. */
static uint64_t arena_bytes(uint64_t budget_bytes)
{
    const uint64_t slack = UINT64_C(128) << 20;
    return budget_bytes + budget_bytes / 8 + slack;
}

static tq_status open_store(struct tq_storage *storage, const struct tq_storage_opts *opts, struct tq_error *err)
{
    struct tq_storage_limits limits;
    tq_status status = fill_limits(opts, &limits, err);
    if (status != TQ_OK)
        return status;
    const struct tq_bulk_opts bulk = { .mode = opts->bulk,
                                       .tcp_only = opts->tcp_only,
                                       .devices = opts->devices,
                                       .arena_bytes = (size_t)arena_bytes(limits.budget_bytes),
                                       .keep_bytes = (size_t)limits.budget_bytes };
    status = tq_bulk_open(&bulk, &storage->bulk, err);
    if (status != TQ_OK)
        return status;
    const struct tq_engine engine = tq_memory_engine(storage->bulk);
    tq_store_init(&storage->store, &engine, &limits, storage->seam);
    tq_pins_init(&storage->pins, &storage->store);
    storage->has_store = true;
    fill_rows(storage);
    return tq_placer_open(&storage->placer, err);
}

static uint64_t bulk_beats(void *user)
{
    struct tq_bulk_stats stats;
    tq_bulk_read_stats(user, &stats);
    return stats.heartbeat;
}

static tq_status add_services(struct tq_storage *storage, struct tq_error *err)
{
    tq_metrics_add(&storage->metrics, tq_storage_report, storage);
    tq_metrics_add(&storage->metrics, tq_metrics_of_server, storage->server);
    tq_metrics_add(&storage->metrics, tq_metrics_of_bulk, storage->bulk);
    tq_metrics_add(&storage->metrics, tq_metrics_of_process, NULL);
    tq_health_init(&storage->health, storage->name, tq_runtime_epoch(storage->runtime));
    if (tq_bulk_address(storage->bulk).len > 0) /* else there is no bulk thread */
        tq_health_supervise(&storage->health, "bulk", bulk_beats, storage->bulk);
    tq_status status = tq_storage_serve(storage, err);
    tq_reflection_add(&storage->reflection, &tq_v1_health_service);
    if (status == TQ_OK)
        status = tq_health_serve(&storage->health, &storage->metrics, storage->server, err);
    if (status == TQ_OK)
        status = tq_reflection_serve(&storage->reflection, storage->server, err);
    return status;
}

/* Before the store: an address that cannot be had is said before UCX is opened. Nothing is read until it starts. */
static tq_status open_server(struct tq_storage *storage, const struct tq_storage_opts *opts, struct tq_error *err)
{
    const struct tq_server_opts server = { .listen = opts->listen != NULL ? opts->listen : "tcp://127.0.0.1:0",
                                           .advertise = opts->advertise,
                                           .insecure = opts->insecure };
    tq_status status = tq_server_open(storage->runtime, &server, &storage->server, err);
    if (status == TQ_OK)
        tq_inbox_init(&storage->inbox, storage->server);
    return status;
}

static tq_status start_server(struct tq_storage *storage, const struct tq_storage_opts *opts, struct tq_error *err)
{
    tq_status status = add_services(storage, err);
    if (status == TQ_OK && opts->controller != NULL) {
        const struct tq_registration_opts registration = { opts->controller, opts->tcp_only };
        status = tq_registration_open(storage, &registration, &storage->registration, err);
    }
    if (status == TQ_OK)
        status = tq_server_start(storage->server, err);
    return status;
}

tq_status tq_storage_open(const struct tq_storage_opts *opts, struct tq_storage **out_storage, struct tq_error *err)
{
    struct tq_storage *storage = tq_seam_alloc(NULL, sizeof(*storage));
    if (storage == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a storage unit");
    tq_list_init(&storage->puts);
    tq_status status = check_opts(opts, err);
    if (status == TQ_OK)
        status = open_runtime(storage, opts, err);
    if (status == TQ_OK)
        status = open_server(storage, opts, err);
    if (status == TQ_OK)
        status = open_store(storage, opts, err);
    if (status == TQ_OK)
        status = start_server(storage, opts, err);
    if (status != TQ_OK) {
        tq_storage_close(storage);
        return status;
    }
    tq_health_watch(&storage->health);
    if (storage->registration != NULL)
        tq_registration_start(storage->registration);
    *out_storage = storage;
    return TQ_OK;
}

void tq_storage_drain(struct tq_storage *storage, int64_t deadline_ns)
{
    tq_health_drain(&storage->health);
    tq_server_drain(storage->server, deadline_ns);
}

/* First everything that calls us ends: the loop, the driver, libzmq's hold of inline frames. Then what lies in arenas
 * goes back, then the bulk runtime ends and with it the last reads; their letters end the puts. */
void tq_storage_close(struct tq_storage *storage)
{
    if (storage == NULL)
        return;
    bool has_inbox = storage->server != NULL; /* made together */
    if (has_inbox)
        tq_inbox_shut(&storage->inbox);
    tq_server_close(storage->server);
    tq_placer_close(&storage->placer);
    tq_registration_stop(storage->registration);
    tq_runtime_close(storage->runtime);
    tq_storage_abandon_puts(storage);
    if (has_inbox)
        tq_inbox_take_all(&storage->inbox);
    if (storage->has_store) {
        tq_pins_fini(&storage->pins);
        tq_store_empty(&storage->store);
    }
    tq_bulk_close(storage->bulk);
    if (has_inbox) {
        tq_inbox_take_all(&storage->inbox);
        tq_inbox_fini(&storage->inbox);
    }
    tq_registration_close(storage->registration);
    if (storage->has_store)
        tq_store_fini(&storage->store);
    tq_seam_free(storage->seam, storage->name);
    tq_seam_free(storage->seam, storage);
}

const char *tq_storage_address(const struct tq_storage *storage)
{
    return tq_server_advertised(storage->server);
}

uint32_t tq_storage_unit(const struct tq_storage *storage)
{
    return tq_registration_unit(storage->registration);
}

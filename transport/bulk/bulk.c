#include <string.h>
#include <unistd.h>

#include "transport/base/assert.h"
#include "transport/base/log.h"
#include "transport/bulk/runtime.h"

const char *tq_engine_name(enum tq_bulk_engine engine)
{
    static const char *const names[TQ_ENGINE_COUNT] = { "none", "remote_read", "rendezvous", "inline" };
    return (unsigned)engine < TQ_ENGINE_COUNT ? names[engine] : "?";
}

/* ---- open and close ---- */

static tq_status map_extent(void *self, size_t bytes, uint64_t region, struct tq_mapping *out_mapping,
                            struct tq_error *err)
{
    struct tq_bulk *bulk = self;
    tq_wire_BulkKey key = tq_wire_BulkKey_init_zero;
    tq_status status = tq_ucx_map(bulk->ucx, bytes, out_mapping, err);
    if (status != TQ_OK)
        return status;
    uint8_t *packed = out_mapping->key;
    uint8_t *encoded = tq_seam_alloc(bulk->seam, tq_wire_BulkKey_size);
    if (encoded != NULL && out_mapping->key_len <= sizeof(key.packed.bytes)) {
        key.process = bulk->self.process;
        key.region = region;
        key.base = (uintptr_t)out_mapping->base;
        key.length = bytes;
        key.packed.size = (pb_size_t)out_mapping->key_len;
        memcpy(key.packed.bytes, packed, out_mapping->key_len);
        out_mapping->key = encoded;
        out_mapping->key_len = tq_key_encode(&key, encoded, tq_wire_BulkKey_size);
    } else {
        tq_seam_free(bulk->seam, encoded); /* without a key there is no remote read, and no harm */
        out_mapping->key = NULL;
        out_mapping->key_len = 0;
    }
    tq_seam_free(bulk->seam, packed);
    return TQ_OK;
}

static void unmap_extent(void *self, struct tq_mapping *mapping)
{
    struct tq_bulk *bulk = self;
    tq_ucx_unmap(bulk->ucx, mapping);
}

static bool fill(pb_size_t *out_size, uint8_t *out, size_t cap, struct tq_bytes bytes)
{
    if (bytes.len > cap)
        return false;
    if (bytes.len > 0)
        memcpy(out, bytes.ptr, bytes.len);
    *out_size = (pb_size_t)bytes.len;
    return true;
}

static tq_status make_addresses(struct tq_bulk *bulk, bool tcp_only, struct tq_error *err)
{
    tq_wire_BulkAddress *self = &bulk->self;
    uint64_t features = TQ_ADDRESS_TCP | (tcp_only ? 0u : (unsigned)TQ_ADDRESS_SHM);
    tq_address_of_self(self, tq_seam_random64(bulk->seam), features);
    uint16_t port = 0;
    tq_ucx_listens_at(bulk->ucx, &self->ipv4, &port);
    self->port = port;
    bool fits = fill(&self->worker.size, self->worker.bytes, TQ_WORKER_MAX, tq_ucx_serving_address(bulk->ucx)) &&
                fill(&self->reader.size, self->reader.bytes, TQ_WORKER_MAX, tq_ucx_mapping_address(bulk->ucx));
    bulk->address_len = tq_address_encode(self, bulk->address, sizeof(bulk->address));
    if (!fits || bulk->address_len == 0)
        return tq_fail(err, TQ_UNAVAILABLE, "UCX", "worker addresses of %zu and %zu bytes: at most %d",
                       tq_ucx_serving_address(bulk->ucx).len, tq_ucx_mapping_address(bulk->ucx).len, TQ_WORKER_MAX);
    return TQ_OK;
}

static tq_status open_ucx(struct tq_bulk *bulk, const struct tq_bulk_opts *opts, struct tq_error *err)
{
    struct tq_ucx_opts ucx_opts = {
        .seam = bulk->seam,
        .tcp_only = opts->tcp_only,
        .devices = opts->devices != NULL ? opts->devices : "lo",
    };
    tq_ports_of_ucx(bulk, &ucx_opts.events);
    tq_status status = tq_ucx_open(&ucx_opts, &bulk->ucx, err);
    if (status == TQ_OK)
        status = make_addresses(bulk, opts->tcp_only, err);
    return status;
}

static void init_memory(struct tq_bulk *bulk, const struct tq_bulk_opts *opts)
{
    const struct tq_backing backing = { bulk, map_extent, unmap_extent };
    const struct tq_memory_opts memory = {
        .seam = bulk->seam,
        .backing = bulk->ucx != NULL && tq_ucx_has_shared_memory(bulk->ucx) ? &backing : NULL,
        .extent_bytes = opts->extent_bytes,
        .budget_bytes = opts->arena_bytes,
        .quarantine_bytes = opts->quarantine_bytes,
        .keep_spare = bulk->ucx != NULL,
        .keep_bytes = bulk->ucx != NULL ? opts->keep_bytes : 0,
    };
    tq_memory_init(&bulk->memory, &memory);
}

tq_status tq_bulk_open(const struct tq_bulk_opts *opts, struct tq_bulk **out_bulk, struct tq_error *err)
{
    const struct tq_seam *seam = opts->seam != NULL ? opts->seam : tq_seam_system();
    struct tq_bulk *bulk = tq_seam_alloc(seam, sizeof(*bulk));
    if (bulk == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for the bulk runtime");
    bulk->seam = seam;
    bulk->pid = getpid();
    bulk->mode = opts->mode;
    bulk->mailbox.wake_fd = bulk->loop.deaths_fd = -1;
    tq_status status = opts->mode != TQ_BULK_OFF ? open_ucx(bulk, opts, err) : TQ_OK;
    if (status != TQ_OK && opts->mode == TQ_BULK_AUTO) {
        tq_warn("bulk-inline-only", "why=\"%s\"", err != NULL ? err->message : "");
        tq_ucx_close(bulk->ucx);
        bulk->ucx = NULL;
        bulk->address_len = 0;
        status = TQ_OK;
    }
    init_memory(bulk, opts);
    if (status == TQ_OK && bulk->ucx != NULL)
        status = tq_mailbox_open(&bulk->mailbox, err);
    if (status == TQ_OK && bulk->ucx != NULL)
        status = tq_loop_open(bulk, err);
    if (status != TQ_OK) {
        tq_bulk_close(bulk);
        return status;
    }
    *out_bulk = bulk;
    tq_error_clear(err);
    return TQ_OK;
}

void tq_bulk_close(struct tq_bulk *bulk)
{
    if (bulk == NULL)
        return;
    tq_loop_close(bulk);
    tq_mailbox_close(&bulk->mailbox);
    tq_memory_fini(&bulk->memory);
    tq_ucx_close(bulk->ucx);
    tq_seam_free(bulk->seam, bulk);
}

struct tq_bytes tq_bulk_address(const struct tq_bulk *bulk)
{
    return (struct tq_bytes){ bulk->address, bulk->address_len };
}

bool tq_bulk_reaches(struct tq_bulk *bulk, struct tq_bytes address)
{
    tq_wire_BulkAddress peer;
    struct tq_error why;
    return bulk->ucx != NULL && tq_address_decode(address, &peer, &why) == TQ_OK &&
           tq_address_is_usable(&peer, &bulk->self);
}

/* ---- memory ---- */

tq_status tq_bulk_alloc(struct tq_bulk *bulk, size_t len, struct tq_block *out_block, struct tq_error *err)
{
    return tq_memory_alloc(&bulk->memory, len, out_block, err);
}

void tq_bulk_free(struct tq_bulk *bulk, struct tq_block *block)
{
    tq_memory_free(&bulk->memory, block);
}

bool tq_bulk_region(struct tq_bulk *bulk, uint64_t region, struct tq_region *out_region)
{
    return bulk->ucx != NULL && tq_memory_region(&bulk->memory, region, out_region);
}

tq_status tq_bulk_expose(struct tq_bulk *bulk, const void *memory, size_t len, struct tq_exposure **out_exposure,
                         struct tq_error *err)
{
    tq_status status = tq_memory_expose(&bulk->memory, memory, len, out_exposure, err);
    if (status != TQ_OK)
        return status;
    (*out_exposure)->bulk = bulk;
    atomic_fetch_add_explicit(&bulk->counters.exposures, 1, memory_order_relaxed);
    return TQ_OK;
}

static void relieve(struct tq_bulk *bulk, struct tq_letter *letter)
{
    tq_seam_free(bulk->seam, letter);
    tq_owner_relieve(&bulk->loop.owner);
}

static void ask_for_relief(struct tq_bulk *bulk)
{
    struct tq_letter *letter = tq_seam_alloc(bulk->seam, sizeof(*letter));
    if (letter == NULL)
        return; /* asked again soon */
    letter->run = relieve;
    if (!tq_mailbox_post(&bulk->mailbox, &letter->node))
        tq_seam_free(bulk->seam, letter);
}

void tq_bulk_unexpose(struct tq_exposure *exposure, int64_t deadline_ns)
{
    if (exposure == NULL)
        return;
    struct tq_bulk *bulk = exposure->bulk;
    tq_exposure_revoke(exposure);
    for (int64_t until_ns = deadline_ns; !tq_exposure_wait(exposure, until_ns); until_ns = tq_deadline_after_ms(100))
        ask_for_relief(bulk);
    tq_exposure_close(exposure);
    atomic_fetch_sub_explicit(&bulk->counters.exposures, 1, memory_order_relaxed);
}

/* ---- counters ---- */

static uint64_t get(_Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void tq_bulk_read_stats(struct tq_bulk *bulk, struct tq_bulk_stats *out_stats)
{
    struct tq_counters *c = &bulk->counters;
    *out_stats = (struct tq_bulk_stats){
        .sends = get(&c->sends),
        .sent_bytes = get(&c->sent_bytes),
        .failures = get(&c->failures),
        .expired = get(&c->expired),
        .stale = get(&c->stale),
        .forced_closes = get(&c->forced_closes),
        .endpoints_made = get(&c->endpoints_made),
        .shm_endpoints = get(&c->shm_endpoints),
        .tcp_endpoints = get(&c->tcp_endpoints),
        .endpoints = atomic_load_explicit(&c->endpoints, memory_order_relaxed),
        .reads_in_flight = atomic_load_explicit(&c->reads_in_flight, memory_order_relaxed),
        .exposures = atomic_load_explicit(&c->exposures, memory_order_relaxed),
        .heartbeat = get(&c->heartbeat),
    };
    for (int engine = 0; engine < TQ_ENGINE_COUNT; engine++) {
        out_stats->reads[engine] = get(&c->reads[engine]);
        out_stats->read_bytes[engine] = get(&c->read_bytes[engine]);
    }
    pthread_mutex_lock(&bulk->memory.lock);
    out_stats->registrations = bulk->memory.registrations;
    out_stats->arena_bytes = bulk->memory.extents_bytes;
    out_stats->arena_used_bytes = bulk->memory.used_bytes;
    out_stats->quarantined_bytes = bulk->memory.quarantined_bytes;
    pthread_mutex_unlock(&bulk->memory.lock);
}

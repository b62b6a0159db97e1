#include "server/controller/unit.h"

#include <inttypes.h>
#include <string.h>

#include "transport/base/assert.h"
#include "transport/base/log.h"

enum { MISSED_INTERVALS = 3, TELLINGS = 3 };

#define TO(state) (1u << TQ_UNIT_##state)
static const unsigned next_states[TQ_UNIT_STATES] = {
    [TQ_UNIT_NONE] = TO(SERVING),
    [TQ_UNIT_SERVING] = TO(SERVING) | TO(DRAINING) | TO(LOST),
    [TQ_UNIT_DRAINING] = TO(SERVING) | TO(DRAINING) | TO(LOST),
    [TQ_UNIT_LOST] = TO(SERVING),
};
#undef TO

static void move_unit(struct tq_unit *unit, enum tq_unit_state to)
{
    TQ_ASSERT(next_states[unit->state] & (1u << to));
    unit->state = to;
}

void tq_units_init(struct tq_units *units, const struct tq_seam *seam, const struct tq_controller_limits *limits,
                   int64_t heartbeat_ns, int64_t now_ns)
{
    *units = (struct tq_units){ .seam = seam, .limits = limits, .heartbeat_ns = heartbeat_ns, .last_tick_ns = now_ns };
    tq_text_map_init(&units->by_name, seam);
}

static void close_unit(struct tq_units *units, struct tq_unit *unit)
{
    tq_unit_forget_releases(units, unit);
    tq_seam_free(units->seam, unit->name);
    tq_seam_free(units->seam, unit->address);
    tq_seam_free(units->seam, unit->host);
    tq_seam_free(units->seam, (void *)(uintptr_t)unit->bulk.ptr);
    tq_seam_free(units->seam, unit);
}

void tq_units_fini(struct tq_units *units)
{
    for (uint32_t i = 0; i < units->n; i++)
        close_unit(units, units->by_number[i]);
    tq_seam_free(units->seam, units->by_number);
    tq_text_map_fini(&units->by_name);
    *units = (struct tq_units){ .seam = units->seam };
}

struct tq_unit *tq_unit_find(const struct tq_units *units, uint32_t number)
{
    return number >= 1 && number <= units->n ? units->by_number[number - 1] : NULL;
}

struct tq_unit *tq_unit_find_name(const struct tq_units *units, const char *name)
{
    return tq_text_map_get(&units->by_name, name);
}

int64_t tq_unit_age_ns(const struct tq_units *units, const struct tq_unit *unit)
{
    return units->observed_ns - unit->heard_ns;
}

/* We have not run for a while: what units said meanwhile may still lie in our sockets. */
static void forgive(struct tq_units *units)
{
    int64_t oldest = units->observed_ns - (MISSED_INTERVALS - 1) * units->heartbeat_ns;
    for (uint32_t i = 0; i < units->n; i++)
        if (units->by_number[i]->heard_ns < oldest)
            units->by_number[i]->heard_ns = oldest;
}

void tq_units_tick(struct tq_units *units, int64_t now_ns)
{
    int64_t step = now_ns - units->last_tick_ns;
    if (step <= 0)
        return;
    units->last_tick_ns = now_ns;
    if (step <= units->heartbeat_ns) {
        units->observed_ns += step;
        return;
    }
    units->observed_ns += units->heartbeat_ns;
    forgive(units);
}

struct tq_unit *tq_units_next_lost(struct tq_units *units)
{
    for (uint32_t i = 0; i < units->n; i++) {
        struct tq_unit *unit = units->by_number[i];
        bool alive = tq_unit_age_ns(units, unit) <= MISSED_INTERVALS * units->heartbeat_ns;
        if (alive || unit->state == TQ_UNIT_LOST || unit->state == TQ_UNIT_NONE)
            continue;
        move_unit(unit, TQ_UNIT_LOST);
        return unit;
    }
    return NULL;
}

static struct tq_unit *add_unit(struct tq_units *units, const char *name)
{
    if (units->n == units->capacity) {
        uint32_t capacity = units->capacity == 0 ? 8 : units->capacity * 2;
        struct tq_unit **by_number = tq_seam_alloc_array(units->seam, capacity, sizeof(struct tq_unit *));
        if (by_number == NULL)
            return NULL;
        if (units->n > 0)
            memcpy(by_number, units->by_number, units->n * sizeof(struct tq_unit *));
        tq_seam_free(units->seam, units->by_number);
        units->by_number = by_number;
        units->capacity = capacity;
    }
    struct tq_unit *unit = tq_seam_alloc(units->seam, sizeof(*unit));
    if (unit == NULL)
        return NULL;
    tq_list_init(&unit->releases);
    unit->name = tq_seam_strdup(units->seam, name);
    if (unit->name == NULL || !tq_text_map_put(&units->by_name, unit->name, unit)) {
        close_unit(units, unit);
        return NULL;
    }
    unit->number = units->n + 1;
    units->by_number[units->n++] = unit;
    return unit;
}

static uint8_t *copy_bytes(const struct tq_seam *seam, struct tq_bytes bytes)
{
    uint8_t *copy = tq_seam_alloc(seam, bytes.len);
    if (copy != NULL && bytes.len > 0)
        memcpy(copy, bytes.ptr, bytes.len);
    return copy;
}

/* Takes over what the unit says of itself; false without memory, with nothing changed. */
static bool adopt_claim(struct tq_units *units, struct tq_unit *unit, const struct tq_unit_claim *claim)
{
    const struct tq_seam *seam = units->seam;
    char *address = tq_seam_strdup(seam, claim->address), *host = tq_seam_strdup(seam, claim->host);
    uint8_t *bulk = copy_bytes(seam, claim->bulk);
    if (address == NULL || host == NULL || bulk == NULL) {
        tq_seam_free(seam, address);
        tq_seam_free(seam, host);
        tq_seam_free(seam, bulk);
        return false;
    }
    tq_seam_free(seam, unit->address);
    tq_seam_free(seam, unit->host);
    tq_seam_free(seam, (void *)(uintptr_t)unit->bulk.ptr);
    unit->address = address;
    unit->host = host;
    unit->bulk = (struct tq_bytes){ bulk, claim->bulk.len };
    unit->budget_bytes = claim->budget_bytes;
    unit->budget_samples = claim->budget_samples;
    unit->over_network = claim->over_network;
    unit->bulk_unchanged = 0;
    if (unit->epoch != claim->epoch)
        unit->reported_bytes = unit->reported_samples = 0;
    unit->epoch = claim->epoch;
    return true;
}

tq_status tq_unit_register(struct tq_units *units, const struct tq_unit_claim *claim, struct tq_unit **out_unit,
                           enum tq_unit_state *out_was, struct tq_error *err)
{
    struct tq_unit *unit = tq_unit_find_name(units, claim->name);
    if (unit == NULL) {
        if (units->n >= units->limits->units)
            return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "LIMIT_UNITS",
                           "name: %s would be unit number %u, expected at most %" PRIu64, claim->name, units->n + 1,
                           units->limits->units);
        unit = add_unit(units, claim->name);
    } else if (unit->state != TQ_UNIT_LOST && unit->state != TQ_UNIT_NONE && unit->epoch != claim->epoch &&
               tq_unit_age_ns(units, unit) <= units->heartbeat_ns) {
        tq_status status = tq_fail(err, TQ_ALREADY_EXISTS, "NAME_TAKEN",
                                   "name: %s belongs to a unit that lives at %.100s; expected another name, or wait "
                                   "until it is silent",
                                   claim->name, unit->address);
        if (err != NULL)
            err->retry_after_ms = (uint32_t)(units->heartbeat_ns / 1000000);
        return status;
    }
    if (unit == NULL || !adopt_claim(units, unit, claim))
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "name: no memory for unit %s", claim->name);
    *out_was = unit->state;
    if (unit->state != TQ_UNIT_DRAINING)
        move_unit(unit, TQ_UNIT_SERVING);
    unit->heard_ns = units->observed_ns;
    tq_unit_forget_releases(units, unit);
    *out_unit = unit;
    return TQ_OK;
}

bool tq_unit_heartbeat(struct tq_units *units, uint32_t number, uint64_t epoch, uint64_t used_bytes,
                       uint64_t used_samples, uint64_t bulk_heartbeat)
{
    struct tq_unit *unit = tq_unit_find(units, number);
    if (unit == NULL || unit->epoch != epoch || unit->state == TQ_UNIT_LOST || unit->state == TQ_UNIT_NONE ||
        unit->resync)
        return false;
    unit->heard_ns = units->observed_ns;
    unit->reported_bytes = used_bytes;
    unit->reported_samples = used_samples;
    bool same = bulk_heartbeat != 0 && bulk_heartbeat == unit->bulk_heartbeat;
    unit->bulk_unchanged = same ? unit->bulk_unchanged + 1 : 0;
    if (unit->bulk_unchanged == 2)
        tq_warn("unit-bulk-hangs", "unit=%u name=%s", unit->number, unit->name);
    unit->bulk_heartbeat = bulk_heartbeat;
    return true;
}

tq_status tq_unit_drain(struct tq_unit *unit, bool resume, struct tq_error *err)
{
    if (unit->state == TQ_UNIT_LOST)
        return tq_fail(err, TQ_FAILED_PRECONDITION, "UNIT_LOST", "unit: %u is lost, expected one that serves",
                       unit->number);
    move_unit(unit, resume ? TQ_UNIT_SERVING : TQ_UNIT_DRAINING);
    return TQ_OK;
}

static void close_release(struct tq_units *units, struct tq_release *release)
{
    units->n_releases -= release->n;
    tq_list_remove(&release->in_unit);
    tq_seam_free(units->seam, release->partition);
    tq_seam_free(units->seam, release);
}

void tq_unit_release(struct tq_units *units, struct tq_unit *unit, const char *partition,
                     const struct tq_sample_ref *samples, uint32_t n)
{
    bool silent = unit->state == TQ_UNIT_LOST || tq_unit_age_ns(units, unit) > units->heartbeat_ns;
    if (!silent || unit->resync || n == 0)
        return;
    struct tq_release *release = NULL;
    if (units->n_releases + n <= units->limits->releases)
        release = tq_seam_alloc(units->seam, sizeof(*release) + n * sizeof(*samples));
    char *name = release != NULL ? tq_seam_strdup(units->seam, partition) : NULL;
    if (name == NULL) {
        /* Registering again compares all that it holds, which needs no memory of ours. */
        tq_seam_free(units->seam, release);
        tq_unit_forget_releases(units, unit);
        unit->resync = true;
        return;
    }
    release->partition = name;
    release->n = n;
    memcpy(release->samples, samples, n * sizeof(*samples));
    units->n_releases += n;
    tq_list_add_tail(&unit->releases, &release->in_unit);
}

const struct tq_release *tq_unit_next_release(struct tq_unit *unit, const struct tq_release *at)
{
    const struct tq_list *next = at == NULL ? unit->releases.next : at->in_unit.next;
    if (next == &unit->releases)
        return NULL;
    struct tq_release *release = tq_container_of(next, struct tq_release, in_unit);
    release->told++;
    return release;
}

void tq_unit_forget_told(struct tq_units *units, struct tq_unit *unit)
{
    tq_list_each_safe (node, &unit->releases) {
        struct tq_release *release = tq_container_of(node, struct tq_release, in_unit);
        if (release->told >= TELLINGS)
            close_release(units, release);
    }
}

void tq_unit_forget_releases(struct tq_units *units, struct tq_unit *unit)
{
    tq_list_each_safe (node, &unit->releases)
        close_release(units, tq_container_of(node, struct tq_release, in_unit));
    unit->resync = false;
}

#include "server/storage/registration.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "server/storage/sample_runs.h"
#include "server/storage/samples.h"
#include "tq/v1/controller.tq.h"
#include "transport/base/assert.h"
#include "transport/base/log.h"

enum {
    FIRST_BACK_OFF_MS = 50,
    MAX_BACK_OFF_MS = 2000,
    REGISTER_TIMEOUT_MS = 5000,
    MIN_BEAT_MS = 20,
    MAX_BEAT_MS = 60000,
    DEFAULT_BEAT_MS = 1000,
    MIN_BEAT_TIMEOUT_MS = 500,
    MAX_BEAT_TIMEOUT_MS = 5000,
    HOST_MAX = 256,
};

#define STATES(X)        X(OFF) X(REGISTERING) X(BACKING_OFF) X(MEMBER) X(BEATING) X(STOPPED)
#define STATE_ENUM(name) IS_##name,
enum state { STATES(STATE_ENUM) IS_STATES };
#define TO(state) (1u << IS_##state)
static const unsigned next_states[IS_STATES] = {
    [IS_OFF] = TO(REGISTERING) | TO(STOPPED),
    [IS_REGISTERING] = TO(MEMBER) | TO(BACKING_OFF) | TO(STOPPED),
    [IS_BACKING_OFF] = TO(REGISTERING) | TO(STOPPED),
    [IS_MEMBER] = TO(BEATING) | TO(STOPPED),
    [IS_BEATING] = TO(MEMBER) | TO(REGISTERING) | TO(STOPPED),
};

struct tq_registration {
    struct tq_storage *storage;
    struct tq_channel *channel;
    char host[HOST_MAX];
    bool over_network;
    enum state state;
    struct tq_server_timer timer;
    struct tq_letter letter;
    struct tq_reply reply; /* the driver's until the letter is posted */
    uint32_t beat_ms, back_off_ms;
    uint64_t controller_epoch;
    _Atomic uint32_t unit;
    bool is_stopping; /* the loop has ended */
};

static void move(struct tq_registration *reg, enum state to)
{
    TQ_ASSERT(next_states[reg->state] & (1u << to));
    reg->state = to;
}

static void wake_in(struct tq_registration *reg, uint32_t ms)
{
    if (!tq_server_timer_arm(reg->storage->server, &reg->timer, tq_deadline_after_ms(ms)))
        tq_error_log("register-timer", "reason=no-memory"); /* no heartbeats: the controller calls us lost */
}

/* On the driver thread. */
static void answered(void *user, struct tq_reply *reply)
{
    struct tq_registration *reg = user;
    reg->reply = tq_reply_take(reply);
    tq_inbox_post(&reg->storage->inbox, &reg->letter);
}

/* ---- calls ---- */

static tq_status call_register(struct tq_registration *reg, struct tq_error *err)
{
    struct tq_storage *storage = reg->storage;
    const struct tq_bytes bulk = tq_bulk_address(storage->bulk);
    struct tq_held held;
    tq_status status = tq_held_open(&storage->store, NULL, &held, err);
    if (status != TQ_OK)
        return status;
    Tq__V1__RegisterUnitRequest request = TQ__V1__REGISTER_UNIT_REQUEST__INIT;
    request.name = storage->name;
    request.address = (char *)tq_server_advertised(storage->server);
    request.epoch = tq_runtime_epoch(storage->runtime);
    request.budget_bytes = storage->store.limits.budget_bytes;
    request.budget_samples = storage->store.limits.budget_samples;
    request.host = reg->host;
    request.over_network = reg->over_network;
    request.n_held = held.count;
    request.held = held.messages;
    request.bulk = (ProtobufCBinaryData){ bulk.len, (uint8_t *)bulk.ptr };
    const struct tq_call_opts opts = { .deadline_ns = tq_deadline_after_ms(REGISTER_TIMEOUT_MS) };
    status = tq_v1_controller_register_unit_cb(reg->channel, &request, &opts, answered, reg, NULL, err);
    tq_held_close(&storage->store, &held);
    return status;
}

static uint32_t clamp(uint32_t value, uint32_t min, uint32_t max)
{
    return value < min ? min : value > max ? max : value;
}

static tq_status call_heartbeat(struct tq_registration *reg, struct tq_error *err)
{
    const struct tq_storage *storage = reg->storage;
    struct tq_bulk_stats bulk;
    tq_bulk_read_stats(storage->bulk, &bulk);
    Tq__V1__HeartbeatUnitRequest request = TQ__V1__HEARTBEAT_UNIT_REQUEST__INIT;
    request.unit = atomic_load(&reg->unit);
    request.epoch = tq_runtime_epoch(storage->runtime);
    request.used_bytes = storage->store.used_bytes + storage->store.reserved_bytes;
    request.used_samples = tq_store_samples(&storage->store);
    request.bulk_heartbeat = bulk.heartbeat;
    uint32_t timeout_ms = clamp(reg->beat_ms, MIN_BEAT_TIMEOUT_MS, MAX_BEAT_TIMEOUT_MS);
    const struct tq_call_opts opts = { .deadline_ns = tq_deadline_after_ms(timeout_ms) };
    return tq_v1_controller_heartbeat_unit_cb(reg->channel, &request, &opts, answered, reg, NULL, err);
}

static void back_off(struct tq_registration *reg, const struct tq_error *why)
{
    tq_warn("register-failed", "unit=%s controller=%s status=%s retry_ms=%u message=\"%s\"", reg->storage->name,
            tq_channel_address(reg->channel), tq_status_name(why->status), reg->back_off_ms, why->message);
    move(reg, IS_BACKING_OFF);
    uint32_t jitter_ms = (uint32_t)(tq_seam_random64(reg->storage->seam) % (reg->back_off_ms / 2 + 1));
    wake_in(reg, reg->back_off_ms + jitter_ms);
    reg->back_off_ms = clamp(reg->back_off_ms * 2, FIRST_BACK_OFF_MS, MAX_BACK_OFF_MS);
}

static void begin_register(struct tq_registration *reg)
{
    struct tq_error err;
    move(reg, IS_REGISTERING);
    atomic_store(&reg->unit, 0);
    if (call_register(reg, &err) != TQ_OK)
        back_off(reg, &err);
}

static void beat_again(struct tq_registration *reg)
{
    move(reg, IS_MEMBER);
    wake_in(reg, reg->beat_ms);
}

static void begin_heartbeat(struct tq_registration *reg)
{
    struct tq_error err;
    move(reg, IS_BEATING);
    if (call_heartbeat(reg, &err) != TQ_OK)
        beat_again(reg);
}

static void timer_fired(void *user)
{
    struct tq_registration *reg = user;
    if (reg->state == IS_MEMBER)
        begin_heartbeat(reg);
    else
        begin_register(reg);
}

/* ---- answers ---- */

/* Clears what the controller does not count as ours. What it cannot spell is not obeyed, and said. */
static void obey_release(struct tq_registration *reg, Tq__V1__Samples *const *release, size_t n)
{
    struct tq_store *store = &reg->storage->store;
    const struct tq_sample_rules rules = { .max = store->limits.request_samples, .may_be_none = true };
    struct tq_clear_counts counts = { 0 };
    for (size_t i = 0; i < n; i++) {
        struct tq_sample_list list;
        struct tq_error err;
        if (tq_sample_list_open(store, release[i], &rules, &list, &err) != TQ_OK) {
            tq_error_log("release-refused", "message=\"%s\"", err.message);
            continue;
        }
        tq_store_clear(store, &list.named, NULL, 0, &counts);
        tq_sample_list_close(store, &list);
    }
    if (n > 0)
        tq_info("released", "samples=%llu stale=%llu bytes=%llu", (unsigned long long)counts.removed,
                (unsigned long long)counts.stale, (unsigned long long)counts.freed_bytes);
}

static void registered(struct tq_registration *reg, const Tq__V1__RegisterUnitResponse *response)
{
    obey_release(reg, response->release, response->n_release);
    if (reg->controller_epoch != 0 && reg->controller_epoch != response->controller_epoch)
        tq_cleared_forget(&reg->storage->store.cleared); /* it counts generations anew */
    reg->controller_epoch = response->controller_epoch;
    reg->beat_ms =
        response->heartbeat_ms == 0 ? DEFAULT_BEAT_MS : clamp(response->heartbeat_ms, MIN_BEAT_MS, MAX_BEAT_MS);
    reg->back_off_ms = FIRST_BACK_OFF_MS;
    atomic_store(&reg->unit, response->unit);
    tq_info("registered", "unit=%u name=%s controller=%s heartbeat_ms=%u", response->unit, reg->storage->name,
            tq_channel_address(reg->channel), reg->beat_ms);
    beat_again(reg);
}

static void take_register(struct tq_registration *reg, struct tq_reply *reply)
{
    const Tq__V1__RegisterUnitResponse *response = tq_v1_controller_register_unit_response(reply);
    if (response != NULL && response->unit != 0) {
        registered(reg, response);
        return;
    }
    if (response != NULL)
        tq_fail(&reply->error, TQ_INTERNAL, NULL, "unit: 0; expected a number");
    back_off(reg, &reply->error);
}

static void take_heartbeat(struct tq_registration *reg, struct tq_reply *reply)
{
    const Tq__V1__HeartbeatUnitResponse *response = tq_v1_controller_heartbeat_unit_response(reply);
    if (response == NULL) { /* not there, or slow: it will say whether it still knows us */
        tq_warn("heartbeat-failed", "unit=%s status=%s message=\"%s\"", reg->storage->name,
                tq_status_name(reply->error.status), reply->error.message);
        beat_again(reg);
        return;
    }
    obey_release(reg, response->release, response->n_release);
    if (response->known)
        beat_again(reg);
    else
        begin_register(reg);
}

static void take_answer(void *user)
{
    struct tq_registration *reg = user;
    struct tq_reply reply = tq_reply_take(&reg->reply); /* what follows may start the next call */
    if (reg->is_stopping)
        reg->state = IS_STOPPED;
    else if (reg->state == IS_REGISTERING)
        take_register(reg, &reply);
    else
        take_heartbeat(reg, &reply);
    tq_reply_drop(&reply);
}

/* ---- life ---- */

uint32_t tq_registration_unit(const struct tq_registration *reg)
{
    return reg == NULL ? 0 : atomic_load(&reg->unit);
}

tq_status tq_registration_open(struct tq_storage *storage, const struct tq_registration_opts *opts,
                               struct tq_registration **out_registration, struct tq_error *err)
{
    struct tq_registration *reg = tq_seam_alloc(storage->seam, sizeof(*reg));
    if (reg == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for the registration");
    reg->storage = storage;
    reg->over_network = opts->over_network;
    reg->back_off_ms = FIRST_BACK_OFF_MS;
    reg->letter = (struct tq_letter){ .take = take_answer, .user = reg };
    reg->timer = (struct tq_server_timer){ .fire = timer_fired, .user = reg };
    if (gethostname(reg->host, sizeof(reg->host) - 1) != 0)
        reg->host[0] = '\0';
    tq_status status = tq_channel_open(storage->runtime, opts->controller, NULL, &reg->channel, err);
    if (status != TQ_OK) {
        tq_registration_close(reg);
        return status;
    }
    *out_registration = reg;
    return TQ_OK;
}

static void start(void *user)
{
    begin_register(user);
}

void tq_registration_start(struct tq_registration *reg)
{
    bool posted = tq_server_post(reg->storage->server, start, reg);
    TQ_ASSERT(posted); /* it has just started */
}

void tq_registration_stop(struct tq_registration *reg)
{
    if (reg == NULL)
        return;
    reg->is_stopping = true;
    tq_channel_close(reg->channel);
    reg->channel = NULL;
}

void tq_registration_close(struct tq_registration *reg)
{
    if (reg == NULL)
        return;
    tq_channel_close(reg->channel);
    tq_reply_drop(&reg->reply);
    tq_seam_free(reg->storage->seam, reg);
}

/* Getting: every unit is asked at the same time where the cells lie; when all have answered the layout is known, the
 * columns get their memory, and the bytes are read straight into them. */
#include <string.h>

#include "client/answer.h"
#include "client/column.h"
#include "client/data.h"
#include "client/field_wire.h"
#include "client/receive.h"
#include "client/samples_wire.h"
#include "tq/v1/storage.tq.h"

enum {
    REQUEST_CELLS = 131072, /* of one request; the peer takes 262144 */
    ATTEMPTS = 3,           /* of a get whose cells are replaced meanwhile */
    RELEASE_TIMEOUT_MS = 5000,
};

/* A request under way. */
struct flight {
    struct tq_future *future;
    struct tq_reply reply;
    bool flying;
    size_t n;    /* samples of this request */
    size_t most; /* samples that this unit can answer at once */
};

struct get {
    struct tq_client *client;
    const struct tq_meta *meta;
    const char *const *fields;
    size_t n_fields;
    int64_t deadline_ns;
    struct tq_arena *arena;
    struct tq_shares shares;
    struct flight *flights; /* one a share */
    struct tq_answer *answers;
    size_t n_answers, capacity;
    struct tq_client_stats stats;
};

/* ---- asking ---- */

static tq_status start_flight(struct get *get, size_t s, bool alone, struct tq_error *err)
{
    struct tq_share *share = &get->shares.share[s];
    struct flight *flight = &get->flights[s];
    flight->n = share->n - share->next < flight->most ? share->n - share->next : flight->most;
    Tq__V1__GetRequest request = TQ__V1__GET_REQUEST__INIT;
    request.samples = tq_samples_to_wire(get->arena, get->meta, share->positions + share->next, flight->n);
    if (request.samples == NULL)
        return tq_fail_no_memory(err);
    request.fields = (char **)(uintptr_t)get->fields;
    request.n_fields = get->n_fields;
    if (!share->inline_only) {
        struct tq_bytes reader = tq_bulk_address(get->client->bulk);
        request.reader = (ProtobufCBinaryData){ reader.len, (uint8_t *)(uintptr_t)reader.ptr };
    }
    struct tq_call_opts opts = { .deadline_ns = get->deadline_ns };
    get->stats.calls++;
    flight->flying = true;
    if (alone) { /* the blocking path saves a hand-over between threads */
        tq_v1_storage_get(share->unit->channel, &request, &opts, &flight->reply);
        return TQ_OK;
    }
    flight->future = tq_v1_storage_get_start(share->unit->channel, &request, &opts);
    if (flight->future != NULL)
        return TQ_OK;
    flight->flying = false;
    return tq_fail_no_memory(err);
}

/* ---- pins ---- */

static void ignore(void *user, struct tq_reply *reply)
{
    (void)user;
    (void)reply;
}

/* Without waiting: a pin that is not given back ends with our session. */
static void release_pin(struct get *get, const struct tq_share *share, const Tq__V1__GetResponse *message)
{
    if (message == NULL || message->pin == 0)
        return;
    uint64_t pin = message->pin;
    Tq__V1__ReleaseRequest request = TQ__V1__RELEASE_REQUEST__INIT;
    request.n_pin = 1;
    request.pin = &pin;
    struct tq_call_opts opts = { .deadline_ns = tq_deadline_after_ms(RELEASE_TIMEOUT_MS) };
    tq_status started = tq_v1_storage_release_cb(share->unit->channel, &request, &opts, ignore, NULL, NULL, NULL);
    (void)started; /* as above */
    get->stats.calls++;
}

/* The answer is not wanted, but what the unit pinned for it is ours to give back. */
static void forgo_flight(struct get *get, size_t s)
{
    struct flight *flight = &get->flights[s];
    if (flight->reply.error.status == TQ_OK)
        release_pin(get, &get->shares.share[s], tq_v1_storage_get_response(&flight->reply));
    tq_reply_drop(&flight->reply);
}

static void release_pins(struct get *get)
{
    for (size_t a = 0; a < get->n_answers; a++)
        release_pin(get, get->answers[a].share, get->answers[a].message);
}

/* ---- answers ---- */

static bool need_answer(struct get *get)
{
    if (get->n_answers < get->capacity)
        return true;
    size_t capacity = get->capacity == 0 ? get->shares.n : get->capacity * 2;
    struct tq_answer *grown = tq_arena_array(get->arena, capacity, sizeof(*grown));
    if (grown == NULL)
        return false;
    if (get->n_answers > 0)
        memcpy(grown, get->answers, get->n_answers * sizeof(*grown));
    get->answers = grown;
    get->capacity = capacity;
    return true;
}

static tq_status add_answer(struct get *get, size_t s, struct tq_error *err)
{
    struct tq_share *share = &get->shares.share[s];
    struct flight *flight = &get->flights[s];
    if (!need_answer(get)) {
        forgo_flight(get, s);
        return tq_fail_no_memory(err);
    }
    struct tq_answer *answer = &get->answers[get->n_answers++];
    *answer = (struct tq_answer){ .share = share, .first = share->next, .n = flight->n };
    answer->reply = tq_reply_take(&flight->reply);
    share->next += flight->n;
    tq_status status = tq_answer_check(answer, get->arena, get->fields, get->n_fields, err);
    if (status != TQ_OK)
        tq_error_prefix(err, "unit %u (%s)", share->info->number, share->info->name);
    return status;
}

/* Too many inline bytes for one answer: fewer samples at once. */
static bool can_split(const struct flight *flight)
{
    return flight->reply.error.status == TQ_RESOURCE_EXHAUSTED && flight->n > 1 &&
           strcmp(flight->reply.error.reason, "INLINE_BYTES") == 0;
}

static tq_status judge_flight(struct get *get, size_t s, struct tq_error *err)
{
    struct tq_share *share = &get->shares.share[s];
    struct flight *flight = &get->flights[s];
    tq_status status = flight->reply.error.status;
    if (status == TQ_OK)
        return add_answer(get, s, err);
    if (can_split(flight)) {
        flight->most = flight->n / 2;
        get->stats.retries++;
        status = TQ_OK;
    } else if (err != NULL) {
        *err = flight->reply.error;
        tq_error_prefix(err, "get from unit %u (%s)", share->info->number, share->info->name);
    }
    tq_reply_drop(&flight->reply);
    return status;
}

static size_t shares_left(const struct get *get)
{
    size_t left = 0;
    for (size_t s = 0; s < get->shares.n; s++)
        left += get->shares.share[s].next < get->shares.share[s].n;
    return left;
}

/* One request for every share that is not done; then their answers. None is cancelled when another one failed: a unit
 * may have pinned cells already, and only its answer names the pin. */
static tq_status fly_round(struct get *get, struct tq_error *err)
{
    bool alone = shares_left(get) == 1;
    tq_status status = TQ_OK;
    for (size_t s = 0; s < get->shares.n && status == TQ_OK; s++)
        if (get->shares.share[s].next < get->shares.share[s].n)
            status = start_flight(get, s, alone, err);
    for (size_t s = 0; s < get->shares.n; s++) {
        struct flight *flight = &get->flights[s];
        if (!flight->flying)
            continue;
        flight->flying = false;
        if (flight->future != NULL) {
            tq_future_wait(flight->future, &flight->reply);
            tq_future_drop(flight->future);
            flight->future = NULL;
        }
        if (status == TQ_OK)
            status = judge_flight(get, s, err);
        else
            forgo_flight(get, s);
    }
    return status;
}

static void get_fini(struct get *get)
{
    release_pins(get);
    for (size_t a = 0; a < get->n_answers; a++)
        tq_answer_drop(&get->answers[a]);
    tq_shares_fini(&get->shares);
    tq_arena_close(get->arena);
    tq_client_count(get->client, &get->stats);
}

/* ---- the whole ---- */

static tq_status prepare(struct get *get, struct tq_error *err)
{
    get->arena = tq_arena_open(NULL, SIZE_MAX);
    if (get->arena == NULL)
        return tq_fail_no_memory(err);
    tq_status status = tq_shares_init(&get->shares, get->client, get->arena, get->meta, err);
    if (status != TQ_OK)
        return status;
    get->flights = tq_arena_array(get->arena, get->shares.n, sizeof(*get->flights));
    if (get->flights == NULL)
        return tq_fail_no_memory(err);
    size_t most = REQUEST_CELLS / get->n_fields;
    for (size_t s = 0; s < get->shares.n; s++)
        get->flights[s].most = most > 0 ? most : 1;
    return TQ_OK;
}

/* Reads from units that we do not reach would fail: ask them again for inline frames. */
static tq_status check_reach(const struct get *get, struct tq_error *err)
{
    for (size_t a = 0; a < get->n_answers; a++) {
        const struct tq_answer *answer = &get->answers[a];
        if (answer->n_regions == 0)
            continue;
        ProtobufCBinaryData address = answer->message->source->address;
        if (!tq_bulk_reaches(get->client->bulk, (struct tq_bytes){ address.data, address.len }))
            return tq_fail_answer(err, "unit %u (%s) names regions at an address that we cannot reach",
                                  answer->share->info->number, answer->share->info->name);
    }
    return TQ_OK;
}

static tq_status get_once(struct get *get, struct tq_data **out_data, struct tq_error *err)
{
    struct tq_data *data = NULL;
    tq_status status = prepare(get, err);
    while (status == TQ_OK && shares_left(get) > 0)
        status = fly_round(get, err);
    if (status == TQ_OK)
        status = check_reach(get, err);
    if (status == TQ_OK)
        status =
            tq_data_make(&get->client->buffers, get->answers, get->n_answers, get->meta->n, get->n_fields, &data, err);
    if (status == TQ_OK)
        status = tq_receive(get->client->bulk, get->meta, get->answers, get->n_answers, data, get->arena,
                            get->deadline_ns, &get->stats, err);
    if (status == TQ_OK) {
        get->stats.samples_got += get->meta->n;
        *out_data = data;
    } else {
        tq_data_drop(data);
    }
    get_fini(get);
    return status;
}

/* What another attempt can mend: a frame that was replaced under the reader, bytes that went wrong on their way. */
static bool is_worth_repeating(tq_status status, const struct tq_error *err, int attempt)
{
    if (status == TQ_DATA_LOSS)
        return attempt == 1 && strcmp(err->reason, "DIGEST") == 0;
    return attempt < ATTEMPTS &&
           (status == TQ_ABORTED || (status == TQ_NOT_FOUND && strcmp(err->reason, "STALE_REGION") == 0));
}

static tq_status check(const struct tq_meta *meta, const char *const *fields, size_t n_fields, struct tq_error *err)
{
    if (meta->n == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "the meta has no samples");
    if (n_fields == 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "no fields: expected 1 or more");
    for (size_t f = 0; f < n_fields; f++) {
        tq_status status = tq_name_check(fields[f], "field", err);
        if (status != TQ_OK)
            return status;
        for (size_t other = 0; other < f; other++)
            if (strcmp(fields[f], fields[other]) == 0)
                return tq_fail(err, TQ_INVALID_ARGUMENT, NULL, "fields %zu and %zu are both %s", other, f, fields[f]);
    }
    return TQ_OK;
}

static tq_status get_fields(struct tq_client *client, const struct tq_meta *meta, const char *const *fields,
                            size_t n_fields, int64_t deadline_ns, struct tq_data **out_data, struct tq_error *err)
{
    tq_status status = check(meta, fields, n_fields, err);
    if (status != TQ_OK)
        return status;
    struct tq_error error;
    for (int attempt = 1;; attempt++) {
        struct get get = {
            .client = client, .meta = meta, .fields = fields, .n_fields = n_fields, .deadline_ns = deadline_ns
        };
        tq_error_clear(&error);
        status = get_once(&get, out_data, &error);
        if (!is_worth_repeating(status, &error, attempt) || tq_now_ns() >= deadline_ns)
            break;
        tq_client_count(client, &(struct tq_client_stats){ .retries = 1 });
    }
    if (status != TQ_OK && err != NULL)
        *err = error;
    return status;
}

tq_status tq_client_get(struct tq_client *client, const struct tq_meta *meta, const char *const *fields,
                        size_t n_fields, const struct tq_op_opts *opts, struct tq_data **out_data, struct tq_error *err)
{
    int64_t deadline_ns = tq_op_deadline_ns(client, opts);
    if (fields != NULL)
        return get_fields(client, meta, fields, n_fields, deadline_ns, out_data, err);
    struct tq_arena *arena = tq_arena_open(NULL, SIZE_MAX);
    const char **names = arena == NULL ? NULL : tq_arena_array(arena, meta->n_fields, sizeof(char *));
    for (size_t f = 0; names != NULL && f < meta->n_fields; f++)
        names[f] = meta->fields[f].name;
    tq_status status = names == NULL ? tq_fail_no_memory(err)
                                     : get_fields(client, meta, names, meta->n_fields, deadline_ns, out_data, err);
    tq_arena_close(arena);
    return status;
}

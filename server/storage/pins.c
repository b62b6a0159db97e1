#include "server/storage/pins.h"

struct session {
    uint64_t id;
    struct tq_list pins;
    uint64_t count, cells;
};

struct pin {
    struct tq_list in_session;
    struct session *session;
    uint64_t id;
    size_t n;
    struct tq_frame *frames[];
};

void tq_pins_init(struct tq_pins *pins, struct tq_store *store)
{
    /* Not from 1 on: a pin of an earlier life should not name one of ours. */
    *pins = (struct tq_pins){ .store = store, .last_id = tq_seam_random64(store->seam) >> 1 };
    tq_map_init(&pins->by_id, store->seam);
    tq_map_init(&pins->by_session, store->seam);
}

uint64_t tq_pins_count(const struct tq_pins *pins)
{
    return tq_map_count(&pins->by_id);
}

static struct session *need_session(struct tq_pins *pins, uint64_t id)
{
    struct session *session = tq_map_get(&pins->by_session, id);
    if (session != NULL)
        return session;
    session = tq_seam_alloc(pins->store->seam, sizeof(*session));
    if (session == NULL)
        return NULL;
    session->id = id;
    tq_list_init(&session->pins);
    if (!tq_map_put(&pins->by_session, id, session)) {
        tq_seam_free(pins->store->seam, session);
        return NULL;
    }
    return session;
}

static void close_session_if_unused(struct tq_pins *pins, struct session *session)
{
    if (session->count > 0)
        return;
    tq_map_remove(&pins->by_session, session->id);
    tq_seam_free(pins->store->seam, session);
}

static void end_pin(struct tq_pins *pins, struct pin *pin)
{
    tq_map_remove(&pins->by_id, pin->id);
    tq_list_remove(&pin->in_session);
    pin->session->count--;
    pin->session->cells -= pin->n;
    for (size_t i = 0; i < pin->n; i++)
        tq_frame_drop(pins->store, pin->frames[i]);
    tq_seam_free(pins->store->seam, pin);
}

static tq_status check_room(const struct tq_pins *pins, const struct session *session, size_t n, struct tq_error *err)
{
    const struct tq_storage_limits *limits = &pins->store->limits;
    if (session->count >= limits->session_pins)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "SESSION_PINS",
                       "%llu answers of this session are not released; expected fewer than %llu",
                       (unsigned long long)session->count, (unsigned long long)limits->session_pins);
    if (n > limits->session_pinned_cells || session->cells > limits->session_pinned_cells - n)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "SESSION_PINNED_CELLS",
                       "%zu cells and %llu that this session has not released; expected at most %llu", n,
                       (unsigned long long)session->cells, (unsigned long long)limits->session_pinned_cells);
    return TQ_OK;
}

static tq_status open_pin(struct tq_pins *pins, struct session *session, size_t n, struct pin **out_pin,
                          struct tq_error *err)
{
    struct pin *pin = tq_seam_alloc(pins->store->seam, sizeof(*pin) + n * sizeof(struct tq_frame *));
    if (pin == NULL || !tq_map_put(&pins->by_id, pins->last_id + 1, pin)) {
        tq_seam_free(pins->store->seam, pin);
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory to pin %zu cells", n);
    }
    pin->id = ++pins->last_id;
    pin->session = session;
    session->count++;
    session->cells += n;
    tq_list_add_tail(&session->pins, &pin->in_session);
    *out_pin = pin;
    return TQ_OK;
}

/* A pin has room for the frames that are there, not for all that were asked for. */
static size_t count_frames(struct tq_frame *const *frames, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += frames[i] != NULL;
    return count;
}

tq_status tq_pins_add(struct tq_pins *pins, uint64_t session_id, struct tq_frame *const *frames, size_t n,
                      uint64_t *out_pin, struct tq_error *err)
{
    struct session *session = need_session(pins, session_id);
    if (session == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for the pins of a session");
    size_t count = count_frames(frames, n);
    struct pin *pin = NULL;
    tq_status status = check_room(pins, session, count, err);
    if (status == TQ_OK)
        status = open_pin(pins, session, count, &pin, err);
    if (status != TQ_OK) {
        close_session_if_unused(pins, session);
        return status;
    }
    for (size_t i = 0; i < n; i++)
        if (frames[i] != NULL)
            pin->frames[pin->n++] = tq_frame_hold(frames[i]);
    *out_pin = pin->id;
    return TQ_OK;
}

bool tq_pins_release(struct tq_pins *pins, uint64_t session_id, uint64_t id)
{
    struct pin *pin = tq_map_get(&pins->by_id, id);
    if (pin == NULL || pin->session->id != session_id)
        return false;
    struct session *session = pin->session;
    end_pin(pins, pin);
    close_session_if_unused(pins, session);
    return true;
}

static void end_session(struct tq_pins *pins, struct session *session)
{
    while (!tq_list_empty(&session->pins))
        end_pin(pins, tq_container_of(session->pins.next, struct pin, in_session));
    close_session_if_unused(pins, session);
}

void tq_pins_end_session(struct tq_pins *pins, uint64_t session_id)
{
    struct session *session = tq_map_get(&pins->by_session, session_id);
    if (session != NULL)
        end_session(pins, session);
}

void tq_pins_fini(struct tq_pins *pins)
{
    struct session *session;
    size_t cursor = 0;
    while ((session = tq_map_next(&pins->by_session, &cursor)) != NULL) {
        end_session(pins, session);
        cursor = 0;
    }
    tq_map_fini(&pins->by_session);
    tq_map_fini(&pins->by_id);
}

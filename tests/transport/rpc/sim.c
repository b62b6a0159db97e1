#include "tests/transport/rpc/sim.h"

#include <stdlib.h>

#include "tests/support/cmocka_all.h"
#include "tests/transport/rpc/echo_service.h"
#include "transport/rpc/body.h"

enum event_kind { SUBMIT, CANCEL, UP, DELIVER, CUT, NOTICE_CUT, ANSWER, RESTART };

struct event {
    struct tq_heap_node node;
    enum event_kind kind;
    unsigned index; /* call, connection or answer */
    bool to_client;
    size_t len;
    uint8_t bytes[];
};

uint64_t sim_roll(struct sim *sim, uint64_t below)
{
    sim->dice ^= sim->dice << 13;
    sim->dice ^= sim->dice >> 7;
    sim->dice ^= sim->dice << 17;
    return sim->dice % below;
}

static bool chance(struct sim *sim, unsigned percent)
{
    return sim_roll(sim, 100) < percent;
}

static struct event *schedule(struct sim *sim, enum event_kind kind, unsigned index, int64_t at_ns,
                              struct tq_bytes bytes)
{
    struct event *event = calloc(1, sizeof(*event) + bytes.len);
    assert_non_null(event);
    event->kind = kind;
    event->index = index;
    event->len = bytes.len;
    if (bytes.len > 0)
        memcpy(event->bytes, bytes.ptr, bytes.len);
    assert_true(tq_heap_set(&sim->events, &event->node, at_ns));
    return event;
}

static const struct tq_bytes nothing;

/* ---- the network ---- */

static void transmit(struct sim *sim, unsigned index, bool to_client, struct tq_bytes bytes)
{
    struct sim_connection *connection = &sim->connections[index];
    if (chance(sim, sim->weather.lose))
        return;
    for (unsigned copies = 1 + chance(sim, sim->weather.repeat); copies > 0; copies--) {
        int64_t at = sim->now_ns + 1 + (int64_t)sim_roll(sim, (uint64_t)sim->weather.delay_most_ns);
        if (sim->weather.in_order && at <= connection->last_ns[to_client])
            at = connection->last_ns[to_client] + 1;
        connection->last_ns[to_client] = at;
        schedule(sim, DELIVER, index, at, bytes)->to_client = to_client;
    }
    if (chance(sim, sim->weather.cut))
        schedule(sim, CUT, index, sim->now_ns + (int64_t)sim_roll(sim, (uint64_t)sim->weather.delay_most_ns), nothing);
}

static tq_status client_dial(void *self, unsigned link, struct tq_error *err)
{
    struct sim *sim = self;
    (void)err;
    assert_true(sim->n_connections < SIM_CONNECTIONS);
    assert_int_equal(sim->current[link], -1);
    unsigned index = sim->n_connections++;
    struct sim_connection *connection = &sim->connections[index];
    *connection = (struct sim_connection){ .open = true, .link = link };
    memcpy(connection->peer.id, tq_peer_id_prefix, TQ_PEER_ID_PREFIX);
    memcpy(connection->peer.id + TQ_PEER_ID_PREFIX, &index, sizeof(index));
    sim->current[link] = (int)index;
    if (!chance(sim, sim->weather.refuse_dial))
        schedule(sim, UP, index, sim->now_ns + 1 + (int64_t)sim_roll(sim, (uint64_t)sim->weather.delay_most_ns),
                 nothing);
    return TQ_OK;
}

static enum tq_sent client_send(void *self, unsigned link, const struct tq_outbound *message)
{
    struct sim *sim = self;
    assert_true(sim->current[link] >= 0);
    if (sim->connections[sim->current[link]].open)
        transmit(sim, (unsigned)sim->current[link], false, message->head);
    return TQ_SENT; /* a cut is noticed later: until then sends seem to work */
}

static void client_hang_up(void *self, unsigned link)
{
    struct sim *sim = self;
    assert_true(sim->current[link] >= 0);
    sim->connections[sim->current[link]].open = false;
    sim->current[link] = -1;
}

static enum tq_sent server_send(void *self, const struct tq_peer *to, const struct tq_outbound *message)
{
    struct sim *sim = self;
    unsigned index;
    memcpy(&index, to->id + TQ_PEER_ID_PREFIX, sizeof(index));
    assert_true(index < sim->n_connections);
    if (!sim->connections[index].open)
        return TQ_SENT_GONE;
    transmit(sim, index, true, message->head);
    return TQ_SENT;
}

/* ---- the handler ---- */

static void finish(struct sim *sim, struct tq_server_call *call, uint64_t number, bool fails)
{
    Tqtest__EchoResponse response = TQTEST__ECHO_RESPONSE__INIT;
    response.number = number;
    tq_error_clear(&call->error);
    assert_true(tq_packet_pack(&call->answer, &response.base));
    if (fails)
        (void)tq_fail(&call->error, TQ_ABORTED, "SIM", "as the dice want");
    tq_server_core_finish(&sim->server, call, sim->now_ns);
}

static void dispatch(void *self, struct tq_server_call *call)
{
    struct sim *sim = self;
    const ProtobufCMessage *message;
    struct tq_error err;
    if (tq_body_decode(call->arena, call->entry->method->request, call->body, (struct tq_body_limits){ 0 }, &message,
                       &err) != TQ_OK) {
        call->error = err;
        tq_server_core_finish(&sim->server, call, sim->now_ns);
        return;
    }
    uint64_t number = ((const Tqtest__EchoRequest *)message)->number;
    sim->calls[number].executed++;
    unsigned at = 0;
    while (at < SIM_ANSWERS && sim->answers[at] != NULL)
        at++;
    if (at == SIM_ANSWERS || chance(sim, 30)) {
        finish(sim, call, number, chance(sim, sim->weather.fail));
        return;
    }
    sim->answers[at] = call;
    sim->answer_numbers[at] = number;
    int64_t delay = 1 + (int64_t)sim_roll(sim, (uint64_t)sim->weather.answer_most_ns);
    if (chance(sim, sim->weather.park))
        delay += 20000 * SIM_MS;
    schedule(sim, ANSWER, at, sim->now_ns + delay, nothing);
}

static void session_ended(void *self, uint64_t session)
{
    (void)self;
    assert_int_not_equal(session, 0);
}

/* ---- life ---- */

static void start_server(struct sim *sim, const struct tq_server_opts *opts)
{
    static const uint8_t no_cluster[TQ_CLUSTER_ID_BYTES];
    struct tq_server_io io = { sim, server_send, dispatch, session_ended };
    struct tq_error err;
    tq_self_init(&sim->server_self, "server", 2, tq_seam_random64(&sim->seam.seam), no_cluster);
    tq_server_core_init(&sim->server, opts, &sim->server_self, io, &sim->seam.seam);
    assert_int_equal(tq_server_core_add(&sim->server, &echo_table, NULL, NULL, &err), TQ_OK);
}

static void stop_server(struct sim *sim)
{
    tq_server_core_shut(&sim->server);
    for (unsigned i = 0; i < SIM_ANSWERS; i++) {
        if (sim->answers[i] != NULL)
            finish(sim, sim->answers[i], sim->answer_numbers[i], false);
        sim->answers[i] = NULL;
    }
    tq_server_core_fini(&sim->server);
    tq_self_fini(&sim->server_self);
}

void sim_init(struct sim *sim, uint64_t seed, struct sim_weather weather, const struct tq_channel_opts *opts,
              const struct tq_server_opts *server_opts)
{
    static const uint8_t no_cluster[TQ_CLUSTER_ID_BYTES];
    static const struct tq_channel_opts no_opts;
    static const struct tq_server_opts no_server_opts;
    struct tq_client_io io = { sim, client_dial, client_send, client_hang_up };
    memset(sim, 0, sizeof(*sim));
    test_seam_init(&sim->seam, seed);
    sim->weather = weather;
    sim->dice = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    sim->now_ns = 1000 * SIM_MS;
    tq_heap_init(&sim->events, NULL);
    for (unsigned i = 0; i < TQ_LINKS_MAX; i++)
        sim->current[i] = -1;
    tq_self_init(&sim->client_self, "client", 1, 77, no_cluster);
    tq_client_init(&sim->client, opts != NULL ? opts : &no_opts, "sim://server", &sim->client_self, io,
                   &sim->seam.seam);
    start_server(sim, server_opts != NULL ? server_opts : &no_server_opts);
}

/* ---- calls ---- */

static void submit(struct sim *sim, unsigned number)
{
    struct sim_call *sim_call = &sim->calls[number];
    Tqtest__EchoRequest request = TQTEST__ECHO_REQUEST__INIT;
    struct tq_call *call = tq_seam_alloc(&sim->seam.seam, sizeof(*call));
    struct tq_error err;
    assert_non_null(call);
    tq_list_init(&call->node);
    call->request.seam = &sim->seam.seam;
    call->method = echo_method(sim_call->method);
    call->deadline_ns = sim_call->deadline_ns;
    call->max_attempts = TQ_ATTEMPTS_MAX;
    call->user = sim_call;
    if (call->method->idempotency == TQ_KEYED) {
        call->key_len = TQ_KEY_BYTES;
        tq_seam_random(&sim->seam.seam, call->key, TQ_KEY_BYTES);
    }
    request.number = number;
    assert_true(tq_packet_pack(&call->request, &request.base));
    assert_int_equal(tq_client_submit(&sim->client, call, sim->now_ns, &err), TQ_OK);
    sim_call->id = call->id;
}

static void note_end(struct sim *sim, struct tq_call *call)
{
    struct sim_call *sim_call = call->user;
    sim->n_ended++;
    sim_call->ended++;
    sim_call->ended_ns = sim->now_ns;
    sim_call->error = call->error;
    if (call->error.status == TQ_OK) {
        struct tq_bytes body = tq_call_answer_body(call);
        Tqtest__EchoResponse *response = tqtest__echo_response__unpack(NULL, body.len, body.ptr);
        assert_non_null(response);
        sim_call->foreign_reply = response->number != (uint64_t)(sim_call - sim->calls);
        tqtest__echo_response__free_unpacked(response, NULL);
    }
    tq_call_fini(call);
    tq_seam_free(&sim->seam.seam, call);
}

static void collect_ends(struct sim *sim)
{
    for (struct tq_list *node; (node = tq_list_take_head(&sim->client.finished)) != NULL;)
        note_end(sim, tq_container_of(node, struct tq_call, node));
}

void sim_call_at(struct sim *sim, uint32_t method, int64_t after_ns, int64_t timeout_ns)
{
    assert_true(sim->n_calls < SIM_CALLS);
    sim->calls[sim->n_calls] =
        (struct sim_call){ .method = method, .deadline_ns = sim->now_ns + after_ns + timeout_ns };
    schedule(sim, SUBMIT, sim->n_calls++, sim->now_ns + after_ns, nothing);
}

void sim_cancel_at(struct sim *sim, unsigned call, int64_t after_ns)
{
    schedule(sim, CANCEL, call, sim->now_ns + after_ns, nothing);
}

/* ---- time ---- */

static void deliver(struct sim *sim, const struct event *event)
{
    const struct sim_connection *connection = &sim->connections[event->index];
    struct tq_inbound message = { .ops = NULL };
    if (!connection->open)
        return;
    assert_true(tq_inbound_copy(&message, &sim->seam.seam, (struct tq_bytes){ event->bytes, event->len }, NULL, 0));
    if (event->to_client)
        tq_client_receive(&sim->client, connection->link, &message, sim->now_ns);
    else
        tq_server_core_receive(&sim->server, &connection->peer, &message, sim->now_ns);
    tq_inbound_release(&message);
}

static void notice_cut(struct sim *sim, unsigned index)
{
    unsigned link = sim->connections[index].link;
    if (sim->current[link] == (int)index)
        tq_client_down(&sim->client, link, sim->now_ns);
}

static void cut(struct sim *sim, unsigned index)
{
    if (!sim->connections[index].open)
        return;
    sim->connections[index].open = false;
    schedule(sim, NOTICE_CUT, index, sim->now_ns + 1 + (int64_t)sim_roll(sim, 200 * SIM_MS), nothing);
}

static void restart(struct sim *sim)
{
    struct tq_server_opts opts = sim->server.opts;
    stop_server(sim);
    for (unsigned i = 0; i < sim->n_connections; i++)
        cut(sim, i);
    start_server(sim, &opts);
    sim->restarts++;
}

static void happen(struct sim *sim, struct event *event)
{
    switch (event->kind) {
    case SUBMIT:
        submit(sim, event->index);
        if (chance(sim, sim->weather.restart))
            schedule(sim, RESTART, 0, sim->now_ns + (int64_t)sim_roll(sim, 500 * SIM_MS), nothing);
        break;
    case CANCEL:
        tq_client_cancel(&sim->client, sim->calls[event->index].id, sim->now_ns);
        break;
    case UP:
        if (sim->connections[event->index].open)
            tq_client_up(&sim->client, sim->connections[event->index].link, sim->now_ns);
        break;
    case DELIVER:
        deliver(sim, event);
        break;
    case CUT:
        cut(sim, event->index);
        break;
    case NOTICE_CUT:
        notice_cut(sim, event->index);
        break;
    case RESTART:
        restart(sim);
        break;
    case ANSWER:
        if (sim->answers[event->index] != NULL) {
            struct tq_server_call *call = sim->answers[event->index];
            sim->answers[event->index] = NULL;
            finish(sim, call, sim->answer_numbers[event->index], chance(sim, sim->weather.fail));
        }
        break;
    }
}

void sim_run(struct sim *sim, int64_t until_ns)
{
    while (sim->n_ended < sim->n_calls || until_ns < INT64_MAX) {
        int64_t client = tq_client_next_ns(&sim->client), server = tq_server_core_next_ns(&sim->server);
        int64_t next = tq_heap_next_ns(&sim->events);
        next = client < next ? client : next;
        next = server < next ? server : next;
        assert_true(next < INT64_MAX || until_ns < INT64_MAX);
        if (next > until_ns)
            break;
        sim->now_ns = next > sim->now_ns ? next : sim->now_ns;
        atomic_store(&sim->seam.now_ns, sim->now_ns);
        struct tq_heap_node *node = tq_heap_take_due(&sim->events, sim->now_ns);
        if (node != NULL) {
            struct event *event = tq_container_of(node, struct event, node);
            happen(sim, event);
            free(event);
        }
        tq_client_tick(&sim->client, sim->now_ns);
        tq_server_core_tick(&sim->server, sim->now_ns);
        collect_ends(sim);
    }
    if (until_ns < INT64_MAX)
        sim->now_ns = until_ns;
}

void sim_fini(struct sim *sim)
{
    tq_client_shut(&sim->client, sim->now_ns);
    collect_ends(sim);
    tq_client_fini(&sim->client);
    stop_server(sim);
    tq_self_fini(&sim->client_self);
    for (struct tq_heap_node *node; (node = tq_heap_take_due(&sim->events, INT64_MAX)) != NULL;)
        free(tq_container_of(node, struct event, node));
    tq_heap_fini(&sim->events);
    assert_int_equal(atomic_load(&sim->seam.outstanding), 0);
}

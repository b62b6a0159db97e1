#include "client/undo.h"

#include <stdatomic.h>

#include "client/client.h"
#include "client/samples_wire.h"
#include "client/shares.h"
#include "tq/v1/controller.tq.h"
#include "tq/v1/storage.tq.h"
#include "transport/base/seam.h"

enum { UNDO_TIMEOUT_MS = 2000 };

struct tq_undo {
    struct tq_client *client;
    struct tq_arena *arena;
    struct tq_shares shares;
    Tq__V1__Samples *samples;
    atomic_size_t pending; /* units that have not answered, and 1 for the starter */
    struct tq_undo *next;
};

void tq_undos_init(struct tq_undos *undos)
{
    *undos = (struct tq_undos){ 0 };
    pthread_mutex_init(&undos->lock, NULL);
    pthread_cond_init(&undos->quiet, NULL);
}

static void free_undo(struct tq_undo *undo)
{
    tq_shares_fini(&undo->shares);
    tq_arena_close(undo->arena);
    tq_seam_free(NULL, undo);
}

static void free_ended(struct tq_undos *undos)
{
    pthread_mutex_lock(&undos->lock);
    struct tq_undo *undo = undos->ended;
    undos->ended = NULL;
    pthread_mutex_unlock(&undos->lock);
    while (undo != NULL) {
        struct tq_undo *next = undo->next;
        free_undo(undo);
        undo = next;
    }
}

void tq_undos_fini(struct tq_undos *undos)
{
    pthread_mutex_lock(&undos->lock);
    while (undos->running > 0)
        pthread_cond_wait(&undos->quiet, &undos->lock);
    pthread_mutex_unlock(&undos->lock);
    free_ended(undos);
    pthread_cond_destroy(&undos->quiet);
    pthread_mutex_destroy(&undos->lock);
}

static void end(struct tq_undo *undo)
{
    struct tq_undos *undos = &undo->client->undos;
    pthread_mutex_lock(&undos->lock);
    undo->next = undos->ended;
    undos->ended = undo;
    if (--undos->running == 0)
        pthread_cond_broadcast(&undos->quiet);
    pthread_mutex_unlock(&undos->lock);
}

static void controller_answered(void *user, struct tq_reply *reply)
{
    (void)reply;
    end(user);
}

/* After the last unit: whatever they said, the controller may forget the samples, by generation. */
static void clear_table(struct tq_undo *undo)
{
    Tq__V1__ClearSamplesRequest request = TQ__V1__CLEAR_SAMPLES_REQUEST__INIT;
    request.samples = undo->samples;
    struct tq_call_opts opts = { .deadline_ns = tq_deadline_after_ms(UNDO_TIMEOUT_MS) };
    if (tq_v1_controller_clear_samples_cb(undo->client->controller, &request, &opts, controller_answered, undo, NULL,
                                          NULL) != TQ_OK)
        end(undo);
}

static void unit_ended(struct tq_undo *undo)
{
    if (atomic_fetch_sub(&undo->pending, 1) == 1)
        clear_table(undo);
}

static void unit_answered(void *user, struct tq_reply *reply)
{
    (void)reply;
    unit_ended(user);
}

static void clear_units(struct tq_undo *undo, const struct tq_meta *meta)
{
    struct tq_call_opts opts = { .deadline_ns = tq_deadline_after_ms(UNDO_TIMEOUT_MS) };
    atomic_store(&undo->pending, undo->shares.n + 1);
    for (size_t s = 0; s < undo->shares.n; s++) {
        struct tq_share *share = &undo->shares.share[s];
        Tq__V1__ClearRequest request = TQ__V1__CLEAR_REQUEST__INIT;
        request.samples = tq_samples_to_wire(undo->arena, meta, share->positions, share->n);
        if (request.samples == NULL ||
            tq_v1_storage_clear_cb(share->unit->channel, &request, &opts, unit_answered, undo, NULL, NULL) != TQ_OK)
            unit_ended(undo);
    }
    unit_ended(undo);
}

static bool fill(struct tq_undo *undo, const struct tq_meta *meta)
{
    undo->arena = tq_arena_open(NULL, SIZE_MAX);
    if (undo->arena == NULL)
        return false;
    undo->samples = tq_samples_to_wire(undo->arena, meta, NULL, meta->n);
    return undo->samples != NULL &&
           tq_shares_init_serving(&undo->shares, undo->client, undo->arena, meta, NULL) == TQ_OK;
}

void tq_undo_start(struct tq_client *client, const struct tq_meta *meta)
{
    free_ended(&client->undos);
    struct tq_undo *undo = tq_seam_alloc(NULL, sizeof(*undo));
    if (undo == NULL)
        return;
    undo->client = client;
    if (!fill(undo, meta)) {
        free_undo(undo);
        return;
    }
    pthread_mutex_lock(&client->undos.lock);
    client->undos.running++;
    pthread_mutex_unlock(&client->undos.lock);
    clear_units(undo, meta);
}

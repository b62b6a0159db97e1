/* ControllerService/ResolveKeys. */
#include <inttypes.h>

#include "server/controller/service.h"
#include "server/controller/text_in.h"

static tq_status check(const struct tq_intake *intake, const Tq__V1__ResolveKeysRequest *request)
{
    const struct tq_controller_limits *limits = intake->limits;
    tq_status status = tq_text_check("partition", request->partition, limits->name_bytes, intake->err);
    if (status == TQ_OK && (request->n_key == 0 || request->n_key > limits->request_keys))
        status = tq_fail(intake->err, TQ_INVALID_ARGUMENT, "KEY", "key: %zu, expected 1..%" PRIu64, request->n_key,
                         limits->request_keys);
    for (size_t i = 0; status == TQ_OK && i < request->n_key; i++)
        status = tq_text_check("key", request->key[i], limits->key_bytes, intake->err);
    if (status == TQ_OK)
        status = tq_distinct_in(intake, "key", request->key, request->n_key);
    if (status == TQ_OK && ((int)request->placement < 0 || (int)request->placement > (int)TQ_PLACE_LOCAL_FIRST))
        status = tq_fail(intake->err, TQ_INVALID_ARGUMENT, "PLACEMENT", "placement: %d, expected 0..%d",
                         (int)request->placement, (int)TQ_PLACE_LOCAL_FIRST);
    return status;
}

/* Which keys have a sample. */
struct resolved {
    uint32_t *slots;   /* of those that have, in the order of the request */
    uint32_t *missing; /* positions of the others */
    char **missing_keys;
    uint32_t n, n_missing;
};

static bool resolve(struct tq_arena *arena, const struct tq_partition *partition,
                    const Tq__V1__ResolveKeysRequest *request, struct resolved *resolved)
{
    *resolved = (struct resolved){ .slots = tq_arena_alloc(arena, request->n_key * sizeof(uint32_t)),
                                   .missing = tq_arena_alloc(arena, request->n_key * sizeof(uint32_t)),
                                   .missing_keys = tq_arena_alloc(arena, request->n_key * sizeof(char *)) };
    if (resolved->slots == NULL || resolved->missing == NULL || resolved->missing_keys == NULL)
        return false;
    for (uint32_t i = 0; i < request->n_key; i++) {
        if (partition != NULL && tq_partition_find_key(partition, request->key[i], &resolved->slots[resolved->n])) {
            resolved->n++;
        } else {
            resolved->missing_keys[resolved->n_missing] = request->key[i];
            resolved->missing[resolved->n_missing++] = i;
        }
    }
    return true;
}

/* Fields that all of the slots have: what a reader of these keys can ask for. */
static size_t common_fields(struct tq_arena *arena, const struct tq_partition *partition, const uint32_t *slots,
                            uint32_t n, char ***out_names)
{
    size_t n_names = 0;
    char **names = tq_arena_alloc(arena, partition->n_fields * sizeof(*names));
    roaring_bitmap_t *wanted = roaring_bitmap_of_ptr(n, slots);
    for (uint32_t i = 0; names != NULL && n > 0 && i < partition->n_fields; i++)
        if (roaring_bitmap_is_subset(wanted, partition->fields[i]->produced))
            names[n_names++] = partition->fields[i]->name;
    roaring_bitmap_free(wanted);
    *out_names = names;
    return n_names;
}

static void answer(struct tq_controller *controller, const Tq__V1__ResolveKeysRequest *request,
                   const struct tq_partition *partition, const struct resolved *resolved, bool created,
                   struct tq_server_call *call)
{
    Tq__V1__ResolveKeysResponse response = TQ__V1__RESOLVE_KEYS_RESPONSE__INIT;
    struct tq_batch_wish wish = { .partition = request->partition, .all_ready = true };
    wish.want_keys = true;
    wish.want_tags = request->want_tags;
    char **names = NULL;
    if (partition != NULL)
        wish.n_fields = common_fields(controller->scratch, partition, resolved->slots, resolved->n, &names);
    wish.fields = names;
    if (wish.n_fields == 0)
        wish.all_ready = false;
    response.batch =
        tq_batch_out(controller->scratch, &controller->table, partition, resolved->slots, resolved->n, &wish);
    *(created ? &response.n_created : &response.n_missing) = resolved->n_missing;
    *(created ? &response.created : &response.missing) = resolved->missing;
    if (response.batch == NULL)
        tq_controller_no_memory(call);
    else
        tq_v1_controller_resolve_keys_answer(call, &response);
}

static tq_status create(struct tq_controller *controller, const Tq__V1__ResolveKeysRequest *request,
                        const struct resolved *resolved, struct tq_partition **out_partition, struct tq_error *err)
{
    const struct tq_insertion insertion = { .partition = request->partition,
                                            .n = resolved->n_missing,
                                            .keys = resolved->missing_keys,
                                            .placement = (enum tq_placement)request->placement,
                                            .near = request->near,
                                            .sample_bytes = request->sample_bytes };
    uint32_t *slots = tq_arena_alloc(controller->scratch, resolved->n_missing * sizeof(*slots));
    if (slots == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "no memory for %u keys", resolved->n_missing);
    tq_status status = tq_table_insert(&controller->table, &insertion, out_partition, slots, err);
    if (status == TQ_OK)
        controller->stats.inserted += resolved->n_missing;
    return status;
}

void tq_controller_resolve_keys(void *state, const Tq__V1__ResolveKeysRequest *request, struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_error err;
    struct resolved resolved, all;
    const struct tq_intake intake = tq_controller_intake(controller, &err);
    if (check(&intake, request) != TQ_OK) {
        tq_server_fail_error(call, &err);
        return;
    }
    struct tq_partition *partition = tq_table_find(&controller->table, request->partition);
    if (!resolve(intake.arena, partition, request, &resolved)) {
        tq_controller_no_memory(call);
        return;
    }
    bool created = request->create && resolved.n_missing > 0;
    if (created && create(controller, request, &resolved, &partition, &err) != TQ_OK) {
        tq_server_fail_error(call, &err);
        return;
    }
    if (created) { /* now all keys have a sample */
        if (!resolve(intake.arena, partition, request, &all)) {
            tq_controller_no_memory(call);
            return;
        }
        resolved.slots = all.slots;
        resolved.n = all.n;
    }
    answer(controller, request, partition, &resolved, created, call);
    tq_controller_settle(controller);
}

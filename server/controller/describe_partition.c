/* ControllerService/DescribePartition, ListPartitions, SealPartition. */
#include <inttypes.h>

#include "server/controller/service.h"
#include "server/controller/text_in.h"

/* ---- describe ---- */

static tq_status check_fields(const struct tq_intake *intake, const Tq__V1__DescribePartitionRequest *request)
{
    if (request->n_fields > intake->limits->fields)
        return tq_fail(intake->err, TQ_INVALID_ARGUMENT, "FIELD", "fields: %zu, expected at most %" PRIu64,
                       request->n_fields, intake->limits->fields);
    tq_status status = TQ_OK;
    for (size_t i = 0; status == TQ_OK && i < request->n_fields; i++)
        status = tq_field_name_check("fields", request->fields[i], intake->limits->name_bytes, intake->err);
    return status == TQ_OK ? tq_distinct_in(intake, "fields", request->fields, request->n_fields) : status;
}

/* The named samples, or all of them by slot. */
static tq_status find_slots(const struct tq_intake *intake, const struct tq_table *table,
                            const struct tq_partition *partition, const Tq__V1__Samples *samples, uint32_t **out_slots,
                            uint32_t *out_n)
{
    struct tq_samples_in named = { 0 };
    tq_status status = TQ_OK;
    if (samples != NULL && (status = tq_samples_in(intake, "samples", samples, &named)) != TQ_OK)
        return status;
    uint32_t n = samples != NULL ? named.n : (uint32_t)tq_partition_count(partition);
    uint32_t *slots = tq_arena_alloc(intake->arena, n * sizeof(*slots));
    if (slots == NULL)
        return tq_fail(intake->err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "no memory for %u samples", n);
    if (samples == NULL)
        roaring_bitmap_to_uint32_array(partition->live, slots);
    for (uint32_t i = 0; status == TQ_OK && i < named.n; i++)
        status = tq_table_resolve(table, partition, &named.refs[i], &slots[i], intake->err);
    *out_slots = slots;
    *out_n = n;
    return status;
}

static char **field_names(struct tq_arena *arena, const struct tq_partition *partition)
{
    char **names = tq_arena_alloc(arena, partition->n_fields * sizeof(*names));
    for (uint32_t i = 0; names != NULL && i < partition->n_fields; i++)
        names[i] = partition->fields[i]->name;
    return names;
}

static char **task_names(struct tq_arena *arena, const struct tq_partition *partition)
{
    size_t at = 0;
    char **names = tq_arena_alloc(arena, partition->n_tasks * sizeof(*names));
    if (names == NULL)
        return NULL;
    tq_list_each (node, &partition->tasks)
        names[at++] = tq_container_of(node, struct tq_task, in_partition)->name;
    return names;
}

static void describe(struct tq_controller *controller, const Tq__V1__DescribePartitionRequest *request,
                     const struct tq_partition *partition, const uint32_t *slots, uint32_t n,
                     struct tq_server_call *call)
{
    bool all = request->n_fields == 0;
    const struct tq_batch_wish wish = { .partition = request->partition,
                                        .fields = all ? field_names(controller->scratch, partition) : request->fields,
                                        .n_fields = all ? partition->n_fields : request->n_fields,
                                        .want_tags = request->want_tags,
                                        .want_keys = request->want_keys };
    Tq__V1__DescribePartitionResponse response = TQ__V1__DESCRIBE_PARTITION_RESPONSE__INIT;
    response.tasks = task_names(controller->scratch, partition);
    response.n_tasks = partition->n_tasks;
    response.sealed = partition->sealed;
    response.reserved = partition->reserved;
    if (wish.fields != NULL)
        response.batch = tq_batch_out(controller->scratch, &controller->table, partition, slots, n, &wish);
    if (response.batch == NULL || response.tasks == NULL)
        tq_controller_no_memory(call);
    else
        tq_v1_controller_describe_partition_answer(call, &response);
}

void tq_controller_describe_partition(void *state, const Tq__V1__DescribePartitionRequest *request,
                                      struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_error err;
    struct tq_partition *partition;
    uint32_t *slots = NULL, n = 0;
    const struct tq_intake intake = tq_controller_intake(controller, &err);
    tq_status status = tq_text_check("partition", request->partition, intake.limits->name_bytes, &err);
    if (status == TQ_OK)
        status = check_fields(&intake, request);
    if (status == TQ_OK)
        status = tq_table_need(&controller->table, request->partition, &partition, &err);
    if (status == TQ_OK)
        status = find_slots(&intake, &controller->table, partition, request->samples, &slots, &n);
    if (status != TQ_OK)
        tq_server_fail_error(call, &err);
    else
        describe(controller, request, partition, slots, n, call);
}

/* ---- list ---- */

/* Samples with at least one field ready. */
static uint64_t count_produced(const struct tq_partition *partition)
{
    roaring_bitmap_t *any = roaring_bitmap_create();
    for (uint32_t i = 0; i < partition->n_fields; i++)
        roaring_bitmap_or_inplace(any, partition->fields[i]->produced);
    uint64_t n = roaring_bitmap_get_cardinality(any);
    roaring_bitmap_free(any);
    return n;
}

struct listing {
    char **names;
    uint64_t *samples, *produced;
    protobuf_c_boolean *sealed;
    size_t n;
};

static bool make_listing(struct tq_arena *arena, size_t most, struct listing *listing)
{
    *listing = (struct listing){ .names = tq_arena_alloc(arena, most * sizeof(char *)),
                                 .samples = tq_arena_alloc(arena, most * sizeof(uint64_t)),
                                 .produced = tq_arena_alloc(arena, most * sizeof(uint64_t)),
                                 .sealed = tq_arena_alloc(arena, most * sizeof(protobuf_c_boolean)) };
    return listing->names != NULL && listing->samples != NULL && listing->produced != NULL && listing->sealed != NULL;
}

void tq_controller_list_partitions(void *state, const Tq__V1__ListPartitionsRequest *request,
                                   struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_error err;
    struct listing listing;
    size_t cursor = 0;
    (void)request;
    const struct tq_intake intake = tq_controller_intake(controller, &err);
    if (!make_listing(intake.arena, controller->table.partitions.count, &listing)) {
        tq_controller_no_memory(call);
        return;
    }
    for (struct tq_partition *at; (at = tq_text_map_next(&controller->table.partitions, &cursor)) != NULL;) {
        if (!at->exists)
            continue;
        listing.names[listing.n] = at->name;
        listing.samples[listing.n] = tq_partition_count(at);
        listing.produced[listing.n] = count_produced(at);
        listing.sealed[listing.n++] = at->sealed;
    }
    Tq__V1__ListPartitionsResponse response = TQ__V1__LIST_PARTITIONS_RESPONSE__INIT;
    response.n_partition = response.n_samples = response.n_produced = response.n_sealed = listing.n;
    response.partition = listing.names;
    response.samples = listing.samples;
    response.produced = listing.produced;
    response.sealed = listing.sealed;
    tq_v1_controller_list_partitions_answer(call, &response);
}

/* ---- seal ---- */

void tq_controller_seal_partition(void *state, const Tq__V1__SealPartitionRequest *request, struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_error err;
    Tq__V1__SealPartitionResponse response = TQ__V1__SEAL_PARTITION_RESPONSE__INIT;
    tq_status status = tq_text_check("partition", request->partition, controller->table.limits.name_bytes, &err);
    if (status == TQ_OK)
        status = tq_table_seal(&controller->table, request->partition, &response.samples, &err);
    if (status != TQ_OK) {
        tq_server_fail_error(call, &err);
        return;
    }
    tq_v1_controller_seal_partition_answer(call, &response);
    tq_controller_settle(controller);
}

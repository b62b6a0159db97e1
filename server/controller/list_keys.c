/* ControllerService/ListKeys. */
#include <string.h>

#include "server/controller/service.h"
#include "server/controller/text_in.h"

/* The rows of one partition whose keys match. */
struct found {
    const struct tq_partition *partition;
    uint32_t *slots;
    uint32_t n;
};

struct search {
    struct tq_arena *arena;
    const char *prefix;
    struct found *found;
    size_t n_found;
    size_t n_keys, n_tags;
};

/* False without memory. */
static bool search_one(struct search *search, const struct tq_partition *partition)
{
    if (!partition->exists || partition->keys.count == 0)
        return true;
    size_t cursor = 0, len = strlen(search->prefix);
    struct found *found = &search->found[search->n_found++];
    found->partition = partition;
    found->slots = tq_arena_alloc(search->arena, partition->keys.count * sizeof(*found->slots));
    if (found->slots == NULL)
        return false;
    for (void *at; (at = tq_text_map_next(&partition->keys, &cursor)) != NULL;) {
        uint32_t slot = (uint32_t)((uintptr_t)at - 1);
        const struct tq_row *row = tq_partition_row(partition, slot);
        if (strncmp(row->key, search->prefix, len) != 0)
            continue;
        found->slots[found->n++] = slot;
        search->n_keys++;
        search->n_tags += row->tags != NULL ? row->tags->n : 0;
    }
    return true;
}

static bool search_all(struct search *search, const struct tq_table *table, const char *name)
{
    size_t cursor = 0;
    search->found = tq_arena_alloc(search->arena, table->partitions.count * sizeof(*search->found));
    if (search->found == NULL)
        return false;
    if (name[0] != '\0') {
        const struct tq_partition *one = tq_table_find(table, name);
        return one == NULL || search_one(search, one);
    }
    for (const struct tq_partition *at; (at = tq_text_map_next(&table->partitions, &cursor)) != NULL;)
        if (!search_one(search, at))
            return false;
    return true;
}

static void put_tags(Tq__V1__Tags *tags, uint32_t sample, const struct tq_tag_set *set)
{
    for (size_t i = 0; set != NULL && i < set->n; i++, tags->n_sample++) {
        tags->sample[tags->n_sample] = sample;
        tags->key[tags->n_sample] = (char *)(uintptr_t)set->tags[i].key;
        tags->value[tags->n_sample].len = set->tags[i].value.len;
        tags->value[tags->n_sample].data = (uint8_t *)(uintptr_t)set->tags[i].value.ptr;
    }
}

/* False without memory. */
static bool fill(const struct search *search, Tq__V1__ListKeysResponse *response, Tq__V1__Tags *tags)
{
    response->partition = tq_arena_alloc(search->arena, search->n_keys * sizeof(char *));
    response->key = tq_arena_alloc(search->arena, search->n_keys * sizeof(char *));
    tags->sample = tq_arena_alloc(search->arena, search->n_tags * sizeof(*tags->sample));
    tags->key = tq_arena_alloc(search->arena, search->n_tags * sizeof(*tags->key));
    tags->value = tq_arena_alloc(search->arena, search->n_tags * sizeof(*tags->value));
    if (response->partition == NULL || response->key == NULL || tags->sample == NULL || tags->key == NULL ||
        tags->value == NULL)
        return false;
    for (size_t f = 0; f < search->n_found; f++)
        for (uint32_t i = 0; i < search->found[f].n; i++) {
            const struct tq_partition *partition = search->found[f].partition;
            const struct tq_row *row = tq_partition_row(partition, search->found[f].slots[i]);
            put_tags(tags, (uint32_t)response->n_key, row->tags);
            response->partition[response->n_key] = partition->name;
            response->key[response->n_key++] = row->key;
        }
    response->n_partition = response->n_key;
    tags->n_key = tags->n_value = tags->n_sample;
    return true;
}

void tq_controller_list_keys(void *state, const Tq__V1__ListKeysRequest *request, struct tq_server_call *call)
{
    struct tq_controller *controller = state;
    struct tq_error err;
    const struct tq_intake intake = tq_controller_intake(controller, &err);
    tq_status status = TQ_OK;
    if (request->partition[0] != '\0')
        status = tq_text_check("partition", request->partition, intake.limits->name_bytes, &err);
    if (status == TQ_OK && request->prefix[0] != '\0')
        status = tq_text_check("prefix", request->prefix, intake.limits->key_bytes, &err);
    if (status != TQ_OK) {
        tq_server_fail_error(call, &err);
        return;
    }
    Tq__V1__ListKeysResponse response = TQ__V1__LIST_KEYS_RESPONSE__INIT;
    Tq__V1__Tags tags = TQ__V1__TAGS__INIT;
    struct search search = { .arena = intake.arena, .prefix = request->prefix };
    if (!search_all(&search, &controller->table, request->partition) || !fill(&search, &response, &tags)) {
        tq_controller_no_memory(call);
        return;
    }
    if (request->want_tags)
        response.tags = &tags;
    tq_v1_controller_list_keys_answer(call, &response);
}

/* The controller's handlers over real RPC, in one process. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tests/server/controller/served.h"

#include "tests/support/cmocka_all.h"

static struct served served;

static int open_served(void **state)
{
    (void)state;
    served_open(&served, 2);
    return 0;
}

static int close_served(void **state)
{
    (void)state;
    served_close(&served);
    return 0;
}

static const Tq__V1__FetchBatchResponse *fetch(const Tq__V1__FetchBatchRequest *request,
                                               const struct tq_call_opts *opts, struct tq_reply *reply)
{
    if (tq_v1_controller_fetch_batch(served.channel, request, opts, reply) != TQ_OK)
        fail_msg("%s", reply->error.message);
    return tq_v1_controller_fetch_batch_response(reply);
}

/* Waits until the controller has answered everything that was sent before: calls of one channel keep their order. */
static void barrier(void)
{
    Tq__V1__ListPartitionsRequest request = TQ__V1__LIST_PARTITIONS_REQUEST__INIT;
    struct tq_reply reply;
    assert_int_equal(tq_v1_controller_list_partitions(served.channel, &request, NULL, &reply), TQ_OK);
    tq_reply_drop(&reply);
}

static void a_batch_tells_all_that_is_needed_to_read_it(void **state)
{
    struct fetch wanted;
    struct tq_reply reply;
    Tq__V1__Sampler sampler = TQ__V1__SAMPLER__INIT;
    (void)state;
    uint64_t first = served_insert(&served, "p", 8, 4);
    assert_int_equal(served_notify(&served, "p", first, 8, "x"), 8);
    assert_int_equal(served_notify(&served, "p", first, 8, "x"), 0);
    fetch_of(&wanted, "p", "t", "x", 4, 0);
    sampler.name = (char *)"group_n";
    sampler.group_size = 4;
    wanted.request.sampler = &sampler;
    const Tq__V1__Batch *batch = fetch(&wanted.request, NULL, &reply)->batch;
    assert_string_equal(batch->samples->partition, "p");
    assert_int_equal(batch->samples->indexes->n_start, 1);
    assert_int_equal(batch->samples->indexes->start[0], first);
    assert_int_equal(batch->samples->n_generation, 1);
    assert_int_equal(batch->samples->generation[0], 1);
    assert_int_equal(batch->samples->n_unit, 1); /* a group stays together */
    assert_int_equal(batch->n_units, 1);
    assert_int_equal(batch->units[0]->unit, batch->samples->unit[0]);
    assert_int_equal(batch->units[0]->epoch, 5);
    assert_string_equal(batch->units[0]->address, "tcp://127.0.0.1:1");
    assert_int_equal(batch->units[0]->state, TQ__V1__UNIT_STATE__UNIT_STATE_SERVING);
    assert_int_equal(batch->n_fields, 1);
    assert_int_equal(batch->fields[0]->layout, TQ__V1__LAYOUT__LAYOUT_DENSE);
    assert_int_equal(batch->fields[0]->dtype, TQ__V1__DATA_TYPE__DATA_TYPE_INT32);
    assert_int_equal(batch->n_ready, 1);
    assert_true(batch->ready[0]);
    assert_int_equal(batch->n_group, 4);
    assert_int_equal(batch->group[0], batch->group[3]);
    tq_reply_drop(&reply);
}

static void polling_is_empty_and_waiting_ends_at_max_wait(void **state)
{
    struct fetch wanted;
    struct tq_reply reply;
    (void)state;
    fetch_of(&wanted, "none", "t", "x", 4, 0);
    wanted.request.polling = true;
    assert_int_equal(batch_count(fetch(&wanted.request, NULL, &reply)->batch), 0);
    tq_reply_drop(&reply);
    wanted.request.polling = false;
    wanted.request.max_wait_ms = 50;
    int64_t before = tq_now_ns();
    assert_int_equal(tq_v1_controller_fetch_batch(served.channel, &wanted.request, NULL, &reply), TQ_DEADLINE_EXCEEDED);
    assert_true(tq_now_ns() - before >= 50 * INT64_C(1000000));
    assert_int_equal(reply.error.outcome, TQ_OUTCOME_NOT_STARTED);
    assert_string_equal(reply.error.reason, "SHORT");
    tq_reply_drop(&reply);
}

static void a_short_fetch_is_safe_to_send_again_with_its_key(void **state)
{
    static const uint8_t key[16] = { 4, 2 };
    const struct tq_call_opts opts = { .key = key };
    struct fetch wanted;
    struct tq_reply reply;
    (void)state;
    fetch_of(&wanted, "p", "t", "x", 4, 1);
    assert_int_equal(tq_v1_controller_fetch_batch(served.channel, &wanted.request, &opts, &reply),
                     TQ_DEADLINE_EXCEEDED);
    assert_int_equal(reply.error.outcome, TQ_OUTCOME_NOT_STARTED);
    tq_reply_drop(&reply);
    uint64_t first = served_insert(&served, "p", 4, 0);
    served_notify(&served, "p", first, 4, "x");
    assert_int_equal(batch_count(fetch(&wanted.request, &opts, &reply)->batch), 4);
    tq_reply_drop(&reply);
}

static void a_cancelled_fetch_leaves_its_key_free(void **state)
{
    static const uint8_t key[16] = { 4, 3 };
    const struct tq_call_opts opts = { .key = key };
    struct fetch wanted;
    struct tq_reply reply;
    (void)state;
    fetch_of(&wanted, "p", "t", "x", 4, 20000);
    struct tq_future *future = tq_v1_controller_fetch_batch_start(served.channel, &wanted.request, &opts);
    barrier();
    tq_future_cancel(future);
    assert_int_equal(tq_future_wait(future, &reply), TQ_CANCELLED);
    tq_reply_drop(&reply);
    tq_future_drop(future);
    barrier();
    uint64_t first = served_insert(&served, "p", 4, 0);
    served_notify(&served, "p", first, 4, "x");
    assert_int_equal(batch_count(fetch(&wanted.request, &opts, &reply)->batch), 4);
    tq_reply_drop(&reply);
}

static void a_parked_fetch_is_answered_by_the_notify(void **state)
{
    struct fetch wanted;
    struct tq_reply reply;
    (void)state;
    struct tq_future *future =
        tq_v1_controller_fetch_batch_start(served.channel, fetch_of(&wanted, "p", "t", "x", 4, 20000), NULL);
    uint64_t first = served_insert(&served, "p", 4, 0);
    served_notify(&served, "p", first, 3, "x");
    assert_false(tq_future_done(future));
    served_notify(&served, "p", first + 3, 1, "x");
    assert_int_equal(tq_future_wait(future, &reply), TQ_OK);
    assert_int_equal(batch_count(tq_v1_controller_fetch_batch_response(&reply)->batch), 4);
    tq_reply_drop(&reply);
    tq_future_drop(future);
}

static void a_cancelled_fetch_leaves_the_batch_to_others(void **state)
{
    struct fetch wanted;
    struct tq_reply reply;
    (void)state;
    struct tq_future *future =
        tq_v1_controller_fetch_batch_start(served.channel, fetch_of(&wanted, "p", "t", "x", 4, 20000), NULL);
    barrier();
    tq_future_cancel(future);
    assert_int_equal(tq_future_wait(future, &reply), TQ_CANCELLED);
    tq_reply_drop(&reply);
    tq_future_drop(future);
    barrier();
    uint64_t first = served_insert(&served, "p", 4, 0);
    served_notify(&served, "p", first, 4, "x");
    assert_int_equal(batch_count(fetch(fetch_of(&wanted, "p", "t", "x", 4, 0), NULL, &reply)->batch), 4);
    tq_reply_drop(&reply);
}

/* The session of a client ends while its fetch waits. */
static void a_fetch_of_a_session_that_ended_takes_nothing(void **state)
{
    struct fetch wanted;
    struct tq_reply reply;
    struct tq_channel *other;
    struct tq_error err;
    (void)state;
    assert_int_equal(tq_channel_open(served.runtime, tq_controller_address(served.controller), NULL, &other, &err),
                     TQ_OK);
    Tq__V1__ListPartitionsRequest list = TQ__V1__LIST_PARTITIONS_REQUEST__INIT;
    struct tq_future *future =
        tq_v1_controller_fetch_batch_start(other, fetch_of(&wanted, "p", "t", "x", 4, 20000), NULL);
    assert_int_equal(tq_v1_controller_list_partitions(other, &list, NULL, &reply), TQ_OK);
    tq_reply_drop(&reply);
    tq_channel_close(other);
    tq_future_drop(future);
    uint64_t first = served_insert(&served, "p", 4, 0);
    served_notify(&served, "p", first, 4, "x");
    assert_int_equal(batch_count(fetch(fetch_of(&wanted, "p", "t", "x", 4, 0), NULL, &reply)->batch), 4);
    tq_reply_drop(&reply);
}

static void the_same_key_gets_the_same_batch(void **state)
{
    static const uint8_t key[16] = "sixteen bytes...";
    const struct tq_call_opts opts = { .key = key };
    struct fetch wanted;
    struct tq_reply reply;
    (void)state;
    uint64_t first = served_insert(&served, "p", 8, 0);
    served_notify(&served, "p", first, 8, "x");
    for (unsigned i = 0; i < 3; i++) {
        const Tq__V1__Batch *batch = fetch(fetch_of(&wanted, "p", "t", "x", 2, 0), &opts, &reply)->batch;
        assert_int_equal(batch_count(batch), 2);
        assert_int_equal(batch->samples->indexes->start[0], first);
        tq_reply_drop(&reply);
    }
    const Tq__V1__Batch *batch = fetch(fetch_of(&wanted, "p", "t", "x", 2, 0), NULL, &reply)->batch;
    assert_int_equal(batch->samples->indexes->start[0], first + 2);
    tq_reply_drop(&reply);
}

static void seal_gives_the_remainder_then_out_of_range(void **state)
{
    Tq__V1__SealPartitionRequest seal = TQ__V1__SEAL_PARTITION_REQUEST__INIT;
    struct fetch wanted;
    struct tq_reply reply;
    (void)state;
    uint64_t first = served_insert(&served, "p", 3, 0);
    served_notify(&served, "p", first, 3, "x");
    struct tq_future *future =
        tq_v1_controller_fetch_batch_start(served.channel, fetch_of(&wanted, "p", "t", "x", 8, 20000), NULL);
    seal.partition = (char *)"p";
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(tq_v1_controller_seal_partition(served.channel, &seal, NULL, &reply), TQ_OK);
        assert_int_equal(tq_v1_controller_seal_partition_response(&reply)->samples, 3);
        tq_reply_drop(&reply);
    }
    assert_int_equal(tq_future_wait(future, &reply), TQ_OK);
    assert_int_equal(batch_count(tq_v1_controller_fetch_batch_response(&reply)->batch), 3);
    assert_true(tq_v1_controller_fetch_batch_response(&reply)->remainder);
    tq_reply_drop(&reply);
    tq_future_drop(future);
    assert_int_equal(
        tq_v1_controller_fetch_batch(served.channel, fetch_of(&wanted, "p", "t", "x", 8, 20000), NULL, &reply),
        TQ_OUT_OF_RANGE);
    tq_reply_drop(&reply);
}

static void status_queries_agree_with_what_was_done(void **state)
{
    Tq__V1__GetConsumptionRequest consumption = TQ__V1__GET_CONSUMPTION_REQUEST__INIT;
    Tq__V1__GetProductionRequest production = TQ__V1__GET_PRODUCTION_REQUEST__INIT;
    Tq__V1__ListPartitionsRequest list = TQ__V1__LIST_PARTITIONS_REQUEST__INIT;
    char *fields[2] = { (char *)"y", (char *)"x" };
    struct fetch wanted;
    struct tq_reply reply;
    (void)state;
    uint64_t first = served_insert(&served, "p", 6, 0);
    served_notify(&served, "p", first, 6, "x");
    served_notify(&served, "p", first + 1, 2, "y");
    fetch(fetch_of(&wanted, "p", "t", "x", 4, 0), NULL, &reply);
    tq_reply_drop(&reply);

    consumption.partition = production.partition = (char *)"p";
    consumption.task = (char *)"t";
    assert_int_equal(tq_v1_controller_get_consumption(served.channel, &consumption, NULL, &reply), TQ_OK);
    const Tq__V1__GetConsumptionResponse *consumed = tq_v1_controller_get_consumption_response(&reply);
    assert_true(consumed->exists);
    assert_int_equal(consumed->indexes->count[0], 6);
    assert_int_equal(consumed->consumed->n_count, 1);
    assert_int_equal(consumed->consumed->count[0], 4);
    tq_reply_drop(&reply);

    production.n_fields = 2;
    production.fields = fields;
    assert_int_equal(tq_v1_controller_get_production(served.channel, &production, NULL, &reply), TQ_OK);
    const Tq__V1__GetProductionResponse *produced = tq_v1_controller_get_production_response(&reply);
    assert_int_equal(produced->produced[0], 2); /* in the order of the request */
    assert_int_equal(produced->produced[1], 6);
    assert_int_equal(produced->complete->start[0], first + 1);
    assert_int_equal(produced->complete->count[0], 2);
    tq_reply_drop(&reply);

    assert_int_equal(tq_v1_controller_list_partitions(served.channel, &list, NULL, &reply), TQ_OK);
    const Tq__V1__ListPartitionsResponse *listed = tq_v1_controller_list_partitions_response(&reply);
    assert_int_equal(listed->n_partition, 1);
    assert_int_equal(listed->samples[0], 6);
    assert_int_equal(listed->produced[0], 6);
    tq_reply_drop(&reply);

    production.partition = consumption.partition = (char *)"nowhere";
    assert_int_equal(tq_v1_controller_get_production(served.channel, &production, NULL, &reply), TQ_OK);
    assert_false(tq_v1_controller_get_production_response(&reply)->exists);
    tq_reply_drop(&reply);
    assert_int_equal(tq_v1_controller_get_consumption(served.channel, &consumption, NULL, &reply), TQ_OK);
    assert_false(tq_v1_controller_get_consumption_response(&reply)->exists);
    tq_reply_drop(&reply);
}

static void keys_and_tags_come_back(void **state)
{
    char *keys[3] = { (char *)"k0", (char *)"k1", (char *)"k2" };
    Tq__V1__ResolveKeysRequest resolve = TQ__V1__RESOLVE_KEYS_REQUEST__INIT;
    Tq__V1__SetTagsRequest set = TQ__V1__SET_TAGS_REQUEST__INIT;
    Tq__V1__ListKeysRequest list = TQ__V1__LIST_KEYS_REQUEST__INIT;
    Tq__V1__Tags tags = TQ__V1__TAGS__INIT;
    struct samples samples;
    struct tq_reply reply;
    (void)state;
    resolve.partition = (char *)"p";
    resolve.n_key = 2;
    resolve.key = keys + 1;
    assert_int_equal(tq_v1_controller_resolve_keys(served.channel, &resolve, NULL, &reply), TQ_OK);
    assert_int_equal(tq_v1_controller_resolve_keys_response(&reply)->n_missing, 2);
    tq_reply_drop(&reply);
    resolve.create = true;
    assert_int_equal(tq_v1_controller_resolve_keys(served.channel, &resolve, NULL, &reply), TQ_OK);
    const Tq__V1__ResolveKeysResponse *made = tq_v1_controller_resolve_keys_response(&reply);
    assert_int_equal(made->n_created, 2);
    uint64_t first = made->batch->samples->indexes->start[0];
    tq_reply_drop(&reply);
    served_notify(&served, "p", first, 2, "x");

    uint32_t at = 0;
    char *key = (char *)"length";
    ProtobufCBinaryData value = { 2, (uint8_t *)"42" };
    set.samples = samples_of(&samples, "p", first, 1, 1);
    tags.n_sample = tags.n_key = tags.n_value = 1;
    tags.sample = &at;
    tags.key = &key;
    tags.value = &value;
    set.tags = &tags;
    assert_int_equal(tq_v1_controller_set_tags(served.channel, &set, NULL, &reply), TQ_OK);
    tq_reply_drop(&reply);

    resolve.n_key = 3;
    resolve.key = keys;
    resolve.create = false;
    resolve.want_tags = true;
    assert_int_equal(tq_v1_controller_resolve_keys(served.channel, &resolve, NULL, &reply), TQ_OK);
    const Tq__V1__ResolveKeysResponse *known = tq_v1_controller_resolve_keys_response(&reply);
    assert_int_equal(known->n_missing, 1);
    assert_int_equal(known->missing[0], 0);
    assert_int_equal(batch_count(known->batch), 2);
    assert_string_equal(known->batch->key[0], "k1");
    assert_int_equal(known->batch->n_fields, 1);
    assert_true(known->batch->ready[0]);
    assert_int_equal(known->batch->tags->n_key, 1);
    assert_memory_equal(known->batch->tags->value[0].data, "42", 2);
    tq_reply_drop(&reply);

    list.prefix = (char *)"k2";
    list.want_tags = true;
    assert_int_equal(tq_v1_controller_list_keys(served.channel, &list, NULL, &reply), TQ_OK);
    const Tq__V1__ListKeysResponse *listed = tq_v1_controller_list_keys_response(&reply);
    assert_int_equal(listed->n_key, 1);
    assert_string_equal(listed->key[0], "k2");
    assert_string_equal(listed->partition[0], "p");
    assert_int_equal(listed->tags->n_key, 0);
    tq_reply_drop(&reply);
    list.prefix = (char *)"";
    assert_int_equal(tq_v1_controller_list_keys(served.channel, &list, NULL, &reply), TQ_OK);
    assert_int_equal(tq_v1_controller_list_keys_response(&reply)->n_key, 2);
    assert_int_equal(tq_v1_controller_list_keys_response(&reply)->tags->n_key, 1);
    tq_reply_drop(&reply);
}

static void describe_shows_everything(void **state)
{
    Tq__V1__DescribePartitionRequest describe = TQ__V1__DESCRIBE_PARTITION_REQUEST__INIT;
    struct samples samples;
    struct tq_reply reply;
    (void)state;
    uint64_t first = served_insert(&served, "p", 4, 0);
    served_notify(&served, "p", first + 1, 1, "x");
    describe.partition = (char *)"p";
    assert_int_equal(tq_v1_controller_describe_partition(served.channel, &describe, NULL, &reply), TQ_OK);
    const Tq__V1__Batch *batch = tq_v1_controller_describe_partition_response(&reply)->batch;
    assert_int_equal(batch_count(batch), 4);
    assert_int_equal(batch->n_fields, 1);
    assert_int_equal(batch->n_ready, 4);
    assert_false(batch->ready[0]);
    assert_true(batch->ready[1]);
    assert_int_equal(batch->n_units, 2);
    tq_reply_drop(&reply);
    describe.samples = samples_of(&samples, "p", first + 1, 1, 1);
    assert_int_equal(tq_v1_controller_describe_partition(served.channel, &describe, NULL, &reply), TQ_OK);
    batch = tq_v1_controller_describe_partition_response(&reply)->batch;
    assert_int_equal(batch_count(batch), 1);
    assert_true(batch->ready[0]);
    tq_reply_drop(&reply);
}

static void units_are_listed_and_drained(void **state)
{
    Tq__V1__ListUnitsRequest list = TQ__V1__LIST_UNITS_REQUEST__INIT;
    Tq__V1__DrainUnitRequest drain = TQ__V1__DRAIN_UNIT_REQUEST__INIT;
    Tq__V1__HeartbeatUnitRequest beat = TQ__V1__HEARTBEAT_UNIT_REQUEST__INIT;
    struct tq_reply reply;
    (void)state;
    beat.unit = 2;
    beat.epoch = 5;
    beat.used_bytes = 77;
    assert_int_equal(tq_v1_controller_heartbeat_unit(served.channel, &beat, NULL, &reply), TQ_OK);
    assert_true(tq_v1_controller_heartbeat_unit_response(&reply)->known);
    tq_reply_drop(&reply);
    beat.epoch = 6;
    assert_int_equal(tq_v1_controller_heartbeat_unit(served.channel, &beat, NULL, &reply), TQ_OK);
    assert_false(tq_v1_controller_heartbeat_unit_response(&reply)->known);
    tq_reply_drop(&reply);
    drain.unit = 2;
    assert_int_equal(tq_v1_controller_drain_unit(served.channel, &drain, NULL, &reply), TQ_OK);
    tq_reply_drop(&reply);
    assert_int_equal(tq_v1_controller_list_units(served.channel, &list, NULL, &reply), TQ_OK);
    const Tq__V1__ListUnitsResponse *units = tq_v1_controller_list_units_response(&reply);
    assert_int_equal(units->n_units, 2);
    assert_int_equal(units->units[1]->state, TQ__V1__UNIT_STATE__UNIT_STATE_DRAINING);
    assert_int_equal(units->used_bytes[1], 77);
    tq_reply_drop(&reply);
}

static void a_unit_hears_what_it_is_to_release(void **state)
{
    Tq__V1__RegisterUnitRequest request = TQ__V1__REGISTER_UNIT_REQUEST__INIT;
    struct samples held_p, held_q;
    Tq__V1__Samples *held[2] = { samples_of(&held_p, "p", 10, 3, 2), samples_of(&held_q, "q", 20, 1, 1) };
    struct tq_reply reply;
    (void)state;
    request.name = (char *)"late";
    request.address = (char *)"tcp://127.0.0.1:3";
    request.epoch = 9;
    request.n_held = 2;
    request.held = held;
    assert_int_equal(tq_v1_controller_register_unit(served.channel, &request, NULL, &reply), TQ_OK);
    const Tq__V1__RegisterUnitResponse *response = tq_v1_controller_register_unit_response(&reply);
    assert_int_equal(response->unit, 3);
    assert_int_equal(response->heartbeat_ms, 60000);
    assert_int_equal(response->n_release, 2);
    assert_string_equal(response->release[0]->partition, "p");
    assert_int_equal(response->release[0]->indexes->start[0], 10);
    assert_int_equal(response->release[0]->indexes->count[0], 3);
    assert_int_equal(response->release[0]->generation[0], 2);
    assert_string_equal(response->release[1]->partition, "q");
    tq_reply_drop(&reply);
}

static void config_is_versioned(void **state)
{
    Tq__V1__SetConfigRequest set = TQ__V1__SET_CONFIG_REQUEST__INIT;
    Tq__V1__GetConfigRequest get = TQ__V1__GET_CONFIG_REQUEST__INIT;
    struct tq_reply reply;
    (void)state;
    assert_int_equal(tq_v1_controller_get_config(served.channel, &get, NULL, &reply), TQ_OK);
    assert_int_equal(tq_v1_controller_get_config_response(&reply)->version, 0);
    tq_reply_drop(&reply);
    set.config = (ProtobufCBinaryData){ 3, (uint8_t *)"a\0b" };
    assert_int_equal(tq_v1_controller_set_config(served.channel, &set, NULL, &reply), TQ_OK);
    tq_reply_drop(&reply);
    set.expect_version = 7;
    assert_int_equal(tq_v1_controller_set_config(served.channel, &set, NULL, &reply), TQ_ABORTED);
    tq_reply_drop(&reply);
    assert_int_equal(tq_v1_controller_get_config(served.channel, &get, NULL, &reply), TQ_OK);
    const Tq__V1__GetConfigResponse *config = tq_v1_controller_get_config_response(&reply);
    assert_int_equal(config->version, 1);
    assert_memory_equal(config->config.data, "a\0b", 3);
    tq_reply_drop(&reply);
}

/* A batch that does not fit into an answer is handed to nobody: its samples stay for others. */
static void a_batch_that_is_too_large_to_send_is_not_consumed(void **state)
{
    enum { COUNT = 300, PART = 100, VALUE = 60000 };
    static uint8_t value[VALUE];
    static uint32_t at[PART];
    static char *keys[PART];
    static ProtobufCBinaryData values[PART];
    Tq__V1__SetTagsRequest set = TQ__V1__SET_TAGS_REQUEST__INIT;
    Tq__V1__Tags tags = TQ__V1__TAGS__INIT;
    struct samples samples;
    struct fetch wanted;
    struct tq_reply reply;
    (void)state;
    uint64_t first = served_insert(&served, "p", COUNT, 0);
    served_notify(&served, "p", first, COUNT, "x");
    for (uint32_t i = 0; i < PART; i++) {
        at[i] = i;
        keys[i] = (char *)"long";
        values[i] = (ProtobufCBinaryData){ VALUE, value };
    }
    tags.n_sample = tags.n_key = tags.n_value = PART;
    tags.sample = at;
    tags.key = keys;
    tags.value = values;
    set.tags = &tags;
    for (uint64_t from = 0; from < COUNT; from += PART) {
        set.samples = samples_of(&samples, "p", first + from, PART, 1);
        assert_int_equal(tq_v1_controller_set_tags(served.channel, &set, NULL, &reply), TQ_OK);
        tq_reply_drop(&reply);
    }
    fetch_of(&wanted, "p", "t", "x", COUNT, 0);
    wanted.request.want_tags = true;
    assert_int_equal(tq_v1_controller_fetch_batch(served.channel, &wanted.request, NULL, &reply),
                     TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(reply.error.reason, "ANSWER_BYTES");
    tq_reply_drop(&reply);
    wanted.request.want_tags = false;
    assert_int_equal(batch_count(fetch(&wanted.request, NULL, &reply)->batch), COUNT);
    tq_reply_drop(&reply);
}

enum { WRITERS = 8, ROUNDS = 25, EACH = 128 };

static void *write_rounds(void *user)
{
    (void)user;
    for (unsigned i = 0; i < ROUNDS; i++) {
        Tq__V1__InsertSamplesRequest request = TQ__V1__INSERT_SAMPLES_REQUEST__INIT;
        struct tq_reply reply;
        request.partition = (char *)"p";
        request.count = EACH;
        if (tq_v1_controller_insert_samples(served.channel, &request, NULL, &reply) != TQ_OK)
            return "insert";
        uint64_t first = tq_v1_controller_insert_samples_response(&reply)->batch->samples->indexes->start[0];
        tq_reply_drop(&reply);
        if (served_notify(&served, "p", first, EACH, i % 2 == 0 ? "x" : "y") != EACH ||
            served_notify(&served, "p", first, EACH, i % 2 == 0 ? "y" : "x") != EACH)
            return "notify";
    }
    return NULL;
}

/* BR-091: eight writers while the table grows; every acknowledged cell is there. */
static void many_writers_lose_nothing(void **state)
{
    Tq__V1__GetProductionRequest production = TQ__V1__GET_PRODUCTION_REQUEST__INIT;
    char *fields[2] = { (char *)"x", (char *)"y" };
    pthread_t threads[WRITERS];
    struct fetch wanted;
    struct tq_reply reply;
    (void)state;
    for (unsigned i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_rounds, NULL), 0);
    for (unsigned i = 0; i < WRITERS; i++) {
        void *broken;
        assert_int_equal(pthread_join(threads[i], &broken), 0);
        assert_null(broken);
    }
    production.partition = (char *)"p";
    production.n_fields = 2;
    production.fields = fields;
    assert_int_equal(tq_v1_controller_get_production(served.channel, &production, NULL, &reply), TQ_OK);
    const Tq__V1__GetProductionResponse *produced = tq_v1_controller_get_production_response(&reply);
    assert_int_equal(produced->produced[0], WRITERS * ROUNDS * EACH);
    assert_int_equal(produced->produced[1], WRITERS * ROUNDS * EACH);
    assert_int_equal(produced->complete->n_count, 1);
    assert_int_equal(produced->complete->count[0], WRITERS * ROUNDS * EACH);
    tq_reply_drop(&reply);
    assert_int_equal(
        batch_count(fetch(fetch_of(&wanted, "p", "t", "x", WRITERS * ROUNDS * EACH, 0), NULL, &reply)->batch),
        WRITERS * ROUNDS * EACH);
    tq_reply_drop(&reply);
}

static void draining_ends_parked_fetches_at_once(void **state)
{
    struct fetch wanted;
    struct tq_reply reply;
    (void)state;
    struct tq_future *future =
        tq_v1_controller_fetch_batch_start(served.channel, fetch_of(&wanted, "p", "t", "x", 4, 20000), NULL);
    barrier();
    int64_t before = tq_now_ns();
    tq_controller_drain(served.controller, tq_deadline_after_ms(10000));
    assert_int_equal(tq_future_wait(future, &reply), TQ_UNAVAILABLE);
    assert_int_equal(reply.error.outcome, TQ_OUTCOME_NOT_STARTED);
    assert_true(tq_now_ns() - before < 5000 * INT64_C(1000000));
    tq_reply_drop(&reply);
    tq_future_drop(future);
}

static void closing_with_a_parked_fetch_is_clean(void **state)
{
    struct served other;
    struct fetch wanted;
    struct tq_reply reply;
    (void)state;
    served_open(&other, 1);
    struct tq_future *future =
        tq_v1_controller_fetch_batch_start(other.channel, fetch_of(&wanted, "p", "t", "x", 4, 20000), NULL);
    Tq__V1__ListPartitionsRequest list = TQ__V1__LIST_PARTITIONS_REQUEST__INIT;
    assert_int_equal(tq_v1_controller_list_partitions(other.channel, &list, NULL, &reply), TQ_OK);
    tq_reply_drop(&reply);
    tq_controller_close(other.controller);
    other.controller = NULL;
    tq_future_cancel(future);
    tq_future_drop(future);
    served_close(&other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_served, close_served)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_batch_tells_all_that_is_needed_to_read_it),
        TEST(polling_is_empty_and_waiting_ends_at_max_wait),
        TEST(a_short_fetch_is_safe_to_send_again_with_its_key),
        TEST(a_cancelled_fetch_leaves_its_key_free),
        TEST(a_parked_fetch_is_answered_by_the_notify),
        TEST(a_cancelled_fetch_leaves_the_batch_to_others),
        TEST(a_fetch_of_a_session_that_ended_takes_nothing),
        TEST(the_same_key_gets_the_same_batch),
        TEST(seal_gives_the_remainder_then_out_of_range),
        TEST(status_queries_agree_with_what_was_done),
        TEST(keys_and_tags_come_back),
        TEST(describe_shows_everything),
        TEST(units_are_listed_and_drained),
        TEST(a_unit_hears_what_it_is_to_release),
        TEST(config_is_versioned),
        TEST(a_batch_that_is_too_large_to_send_is_not_consumed),
        TEST(many_writers_lose_nothing),
        TEST(draining_ends_parked_fetches_at_once),
        TEST(closing_with_a_parked_fetch_is_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

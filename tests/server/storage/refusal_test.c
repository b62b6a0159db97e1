/* A unit in this process: what bad requests of every method get, that they change nothing, and what the unit tells
 * about itself. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/server/storage/writer.h"
#include "tests/support/cmocka_all.h"
#include "tq/init.h"
#include "tq/server.h"
#include "tq/v1/health.tq.h"
#include "tq/v1/reflection.tq.h"

static struct {
    struct tq_storage *unit;
    struct writer writer;
} the;

/* Two samples: 5 and 6 of "p", generation 2, with an opaque "x" of three bytes and a dense "d". */
static int open_unit(void **state)
{
    const struct tq_storage_opts opts = { .memory_bytes = 1 << 24, .bulk = TQ_BULK_OFF, .name = "unit-r" };
    const struct rows rows = { "p", 5, 2, 2 };
    const uint64_t three[] = { 3, 3 }, four[] = { 4, 4 };
    const struct packed x = {
        .name = "x", .layout = TQ__V1__LAYOUT__LAYOUT_OPAQUE, .bytes = (const uint8_t *)"abcdef", .lengths = three
    };
    const struct packed d = { .name = "d",
                              .layout = TQ__V1__LAYOUT__LAYOUT_DENSE,
                              .dtype = TQ__V1__DATA_TYPE__DATA_TYPE_INT32,
                              .bytes = (const uint8_t *)"abcdefgh",
                              .lengths = four };
    struct tq_reply reply;
    struct tq_error err;
    (void)state;
    assert_int_equal(tq_storage_open(&opts, &the.unit, &err), TQ_OK);
    writer_open(&the.writer, tq_storage_address(the.unit), TQ_BULK_OFF, false);
    assert_int_equal(writer_put(&the.writer, &rows, &x, BY_FRAMES, &reply), TQ_OK);
    tq_reply_drop(&reply);
    assert_int_equal(writer_put(&the.writer, &rows, &d, BY_FRAMES, &reply), TQ_OK);
    tq_reply_drop(&reply);
    return 0;
}

static int close_unit(void **state)
{
    (void)state;
    assert_true(writer_metric(&the.writer, "storage_used_bytes") == 14);
    assert_true(writer_metric(&the.writer, "storage_cells") == 4);
    writer_close(&the.writer);
    tq_storage_close(the.unit);
    return 0;
}

/* A request that names samples and fields, in one struct; what it is for decides which message it becomes. */
struct ask {
    Tq__V1__Samples samples;
    Tq__V1__IndexRuns indexes;
    uint64_t start[2], count[2];
    uint32_t generation[2];
    char *fields[2];
    size_t n_fields;
    bool view;
    uint64_t inline_limit;
};

static void fill(struct ask *ask)
{
    *ask =
        (struct ask){ .start = { 5 }, .count = { 2 }, .generation = { 2 }, .fields = { (char *)"x" }, .n_fields = 1 };
    tq__v1__samples__init(&ask->samples);
    tq__v1__index_runs__init(&ask->indexes);
    ask->indexes.n_start = ask->indexes.n_count = ask->samples.n_generation = 1;
    ask->indexes.start = ask->start;
    ask->indexes.count = ask->count;
    ask->samples.partition = (char *)"p";
    ask->samples.indexes = &ask->indexes;
    ask->samples.generation = ask->generation;
}

static tq_status get(struct ask *ask, struct tq_reply *reply)
{
    Tq__V1__GetRequest request = TQ__V1__GET_REQUEST__INIT;
    request.samples = &ask->samples;
    request.n_fields = ask->n_fields;
    request.fields = ask->fields;
    request.view = ask->view;
    request.inline_limit = ask->inline_limit;
    return tq_v1_storage_get(the.writer.channel, &request, NULL, reply);
}

static tq_status clear(struct ask *ask, struct tq_reply *reply)
{
    Tq__V1__ClearRequest request = TQ__V1__CLEAR_REQUEST__INIT;
    request.samples = &ask->samples;
    request.n_fields = ask->n_fields;
    request.fields = ask->fields;
    return tq_v1_storage_clear(the.writer.channel, &request, NULL, reply);
}

/* method, mistake, status, what the message says */
#define CASES(X)                                                                                                       \
    X(get, ask->n_fields = 0, INVALID_ARGUMENT, "fields: empty")                                                       \
    X(get, (ask->n_fields = 2, ask->fields[1] = (char *)"x"), INVALID_ARGUMENT, "fields: 'x' occurs twice")            \
    X(get, ask->fields[0] = (char *)"", INVALID_ARGUMENT, "fields[0]: '': 0 bytes")                                    \
    X(get, ask->view = true, UNIMPLEMENTED, "view: true")                                                              \
    X(get, ask->count[0] = 0, INVALID_ARGUMENT, "samples.indexes[0]: 0 from 5 on")                                     \
    X(get, ask->count[0] = UINT64_C(1) << 33, INVALID_ARGUMENT, "samples.indexes: more than 262144 samples")           \
    X(get, ask->samples.n_generation = 0, INVALID_ARGUMENT, "samples.generation: 0 entries")                           \
    X(get, ask->count[0] = 3, NOT_FOUND, "sample 7 of partition 'p' (generation 2) is not here")                       \
    X(get, ask->generation[0] = 1, NOT_FOUND, "sample 5 of partition 'p': generation 1 is gone, here is 2")            \
    X(get, ask->generation[0] = 3, NOT_FOUND, "sample 5 of partition 'p' (generation 3) is not here")                  \
    X(get, ask->samples.partition = (char *)"q", NOT_FOUND, "sample 5 of partition 'q'")                               \
    X(get, ask->fields[0] = (char *)"y", NOT_FOUND, "sample 5 of partition 'p' has no field 'y'")                      \
    X(get, ask->inline_limit = 5, RESOURCE_EXHAUSTED, "2 cells have 6 bytes that travel inline; expected at most 5")   \
    X(clear, ask->count[0] = 0, INVALID_ARGUMENT, "samples.indexes[0]")                                                \
    X(clear, ask->samples.indexes = NULL, INVALID_ARGUMENT, "samples.indexes: empty")                                  \
    X(clear, ask->samples.n_generation = 0, INVALID_ARGUMENT, "samples.generation: 0 entries")                         \
    X(clear, ask->samples.partition = (char *)"", INVALID_ARGUMENT, "samples.partition")                               \
    X(clear, ask->fields[0] = (char *)"a/b", INVALID_ARGUMENT, "fields[0]: 'a/b'")

static void check(const struct tq_reply *reply, tq_status expected, const char *says, size_t line)
{
    if (reply->error.status != expected || strstr(reply->error.message, says) == NULL)
        fail_msg("case %zu: %s '%s'; expected %s '%s'", line, tq_status_name(reply->error.status), reply->error.message,
                 tq_status_name(expected), says);
    assert_int_equal(reply->error.outcome, TQ_OUTCOME_FAILED);
}

static void bad_requests_are_named_and_change_nothing(void **state)
{
    struct ask one, *ask = &one;
    struct tq_reply reply;
    size_t line = 0;
    (void)state;
#define RUN_CASE(method, mistake, status, says)                                                                        \
    fill(ask);                                                                                                         \
    (void)(mistake);                                                                                                   \
    (void)method(ask, &reply);                                                                                         \
    check(&reply, TQ_##status, says, line++);                                                                          \
    tq_reply_drop(&reply);
    CASES(RUN_CASE)
#undef RUN_CASE
}

static void clears_of_what_is_not_here_do_nothing(void **state)
{
    struct ask ask;
    struct tq_reply reply;
    (void)state;
    fill(&ask);
    ask.generation[0] = 1; /* an older generation */
    ask.n_fields = 0;
    assert_int_equal(clear(&ask, &reply), TQ_OK);
    assert_int_equal(tq_v1_storage_clear_response(&reply)->stale, 2);
    tq_reply_drop(&reply);
    fill(&ask);
    ask.fields[0] = (char *)"nothing";
    assert_int_equal(clear(&ask, &reply), TQ_OK);
    assert_int_equal(tq_v1_storage_clear_response(&reply)->absent, 2);
    tq_reply_drop(&reply);
}

static void samples_may_be_asked_for_in_any_order_and_twice(void **state)
{
    struct ask ask;
    struct tq_reply reply;
    (void)state;
    fill(&ask);
    ask.indexes.n_start = ask.indexes.n_count = 2;
    ask.start[0] = 6;
    ask.count[0] = 1;
    ask.start[1] = 5;
    ask.count[1] = 2;
    assert_int_equal(get(&ask, &reply), TQ_OK);
    const Tq__V1__GetResponse *response = tq_v1_storage_get_response(&reply);
    assert_int_equal(response->cells->n_length, 3);
    assert_int_equal(response->pin, 0);
    assert_int_equal(reply.n_frames, 1);
    assert_memory_equal(reply.frames[0].ptr, "defabcdef", 9);
    tq_reply_drop(&reply);
}

static void describe_tells_what_is_held(void **state)
{
    Tq__V1__DescribeRequest request = TQ__V1__DESCRIBE_REQUEST__INIT;
    struct ask ask;
    struct tq_reply reply;
    (void)state;
    for (int named = 0; named < 2; named++) {
        fill(&ask);
        ask.count[0] = 3; /* one of them is not here */
        request.samples = named ? &ask.samples : NULL;
        assert_int_equal(tq_v1_storage_describe(the.writer.channel, &request, NULL, &reply), TQ_OK);
        const Tq__V1__DescribeResponse *response = tq_v1_storage_describe_response(&reply);
        assert_int_equal(response->n_samples, 1);
        assert_string_equal(response->samples[0]->partition, "p");
        assert_int_equal(response->samples[0]->indexes->n_start, 1);
        assert_int_equal(response->samples[0]->indexes->start[0], 5);
        assert_int_equal(response->samples[0]->indexes->count[0], 2);
        assert_int_equal(response->samples[0]->generation[1], 2);
        assert_int_equal(response->n_fields, 2);
        assert_string_equal(response->fields[0]->name, "x");
        assert_int_equal(response->cells[0], 2);
        assert_int_equal(response->bytes, 14);
        tq_reply_drop(&reply);
    }
}

static void checkpoints_are_not_served(void **state)
{
    const Tq__V1__SaveStorageCheckpointRequest request = TQ__V1__SAVE_STORAGE_CHECKPOINT_REQUEST__INIT;
    struct tq_reply reply;
    (void)state;
    assert_int_equal(tq_v1_storage_save_storage_checkpoint(the.writer.channel, &request, NULL, &reply),
                     TQ_UNIMPLEMENTED);
    tq_reply_drop(&reply);
}

static void the_unit_tells_about_itself(void **state)
{
    const Tq__V1__CheckRequest check_request = TQ__V1__CHECK_REQUEST__INIT;
    const Tq__V1__ListServicesRequest list_request = TQ__V1__LIST_SERVICES_REQUEST__INIT;
    const Tq__V1__GetLimitsRequest limits_request = TQ__V1__GET_LIMITS_REQUEST__INIT;
    Tq__V1__DescribeServiceRequest describe = TQ__V1__DESCRIBE_SERVICE_REQUEST__INIT;
    struct tq_channel *channel = the.writer.channel;
    struct tq_reply reply;
    (void)state;
    assert_int_equal(tq_v1_health_check(channel, &check_request, NULL, &reply), TQ_OK);
    assert_int_equal(tq_v1_health_check_response(&reply)->status, TQ__V1__HEALTH_STATUS__HEALTH_STATUS_SERVING);
    assert_string_equal(tq_v1_health_check_response(&reply)->name, "unit-r");
    tq_reply_drop(&reply);
    assert_int_equal(tq_v1_reflection_list_services(channel, &list_request, NULL, &reply), TQ_OK);
    assert_int_equal(tq_v1_reflection_list_services_response(&reply)->n_service, 3);
    tq_reply_drop(&reply);
    describe.service = (char *)"tq.v1.StorageService";
    assert_int_equal(tq_v1_reflection_describe_service(channel, &describe, NULL, &reply), TQ_OK);
    assert_true(tq_v1_reflection_describe_service_response(&reply)->file.len > 100);
    tq_reply_drop(&reply);
    describe.service = (char *)"nobody";
    assert_int_equal(tq_v1_reflection_describe_service(channel, &describe, NULL, &reply), TQ_NOT_FOUND);
    tq_reply_drop(&reply);
    assert_int_equal(tq_v1_reflection_get_limits(channel, &limits_request, NULL, &reply), TQ_OK);
    const Tq__V1__GetLimitsResponse *limits = tq_v1_reflection_get_limits_response(&reply);
    assert_string_equal(limits->name[0], "budget_bytes");
    assert_int_equal(limits->value[0], 1 << 24);
    assert_int_equal(limits->default_value[0], 1 << 30);
    tq_reply_drop(&reply);
}

#define UNIT_TEST(name) cmocka_unit_test_setup_teardown(name, open_unit, close_unit)

int main(void)
{
    struct tq_error err;
    if (tq_init(&err) != TQ_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        UNIT_TEST(bad_requests_are_named_and_change_nothing),
        UNIT_TEST(clears_of_what_is_not_here_do_nothing),
        UNIT_TEST(samples_may_be_asked_for_in_any_order_and_twice),
        UNIT_TEST(describe_tells_what_is_held),
        UNIT_TEST(checkpoints_are_not_served),
        UNIT_TEST(the_unit_tells_about_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

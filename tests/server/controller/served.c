#include "tests/server/controller/served.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tq/init.h"

void served_open(struct served *served, uint32_t units)
{
    const struct tq_controller_opts opts = { .listen = "tcp://127.0.0.1:0", .heartbeat_ms = 60000 };
    struct tq_error err;
    assert_int_equal(tq_init(&err), TQ_OK);
    if (tq_controller_open(&opts, &served->controller, &err) != TQ_OK)
        fail_msg("%s", err.message);
    assert_int_equal(tq_runtime_open(&(struct tq_runtime_opts){ .name = "test" }, &served->runtime, &err), TQ_OK);
    assert_int_equal(
        tq_channel_open(served->runtime, tq_controller_address(served->controller), NULL, &served->channel, &err),
        TQ_OK);
    for (uint32_t i = 0; i < units; i++) {
        char name[16];
        struct tq_reply reply;
        snprintf(name, sizeof(name), "unit-%u", i + 1);
        Tq__V1__RegisterUnitRequest request = TQ__V1__REGISTER_UNIT_REQUEST__INIT;
        request.name = name;
        request.address = (char *)"tcp://127.0.0.1:1";
        request.epoch = 5;
        assert_int_equal(tq_v1_controller_register_unit(served->channel, &request, NULL, &reply), TQ_OK);
        assert_int_equal(tq_v1_controller_register_unit_response(&reply)->unit, i + 1);
        tq_reply_drop(&reply);
    }
}

void served_close(struct served *served)
{
    tq_channel_close(served->channel);
    tq_runtime_close(served->runtime);
    tq_controller_close(served->controller);
}

Tq__V1__Samples *samples_of(struct samples *samples, const char *partition, uint64_t start, uint64_t count,
                            uint32_t generation)
{
    tq__v1__samples__init(&samples->message);
    tq__v1__index_runs__init(&samples->runs);
    samples->start = start;
    samples->count = count;
    samples->generation = generation;
    samples->runs.n_start = samples->runs.n_count = 1;
    samples->runs.start = &samples->start;
    samples->runs.count = &samples->count;
    samples->message.partition = (char *)(uintptr_t)partition;
    samples->message.indexes = &samples->runs;
    samples->message.n_generation = 1;
    samples->message.generation = &samples->generation;
    return &samples->message;
}

uint64_t served_insert(struct served *served, const char *partition, uint32_t count, uint32_t group_size)
{
    Tq__V1__InsertSamplesRequest request = TQ__V1__INSERT_SAMPLES_REQUEST__INIT;
    struct tq_reply reply;
    request.partition = (char *)(uintptr_t)partition;
    request.count = count;
    request.group_size = group_size;
    if (tq_v1_controller_insert_samples(served->channel, &request, NULL, &reply) != TQ_OK)
        fail_msg("%s", reply.error.message);
    const Tq__V1__Batch *batch = tq_v1_controller_insert_samples_response(&reply)->batch;
    assert_int_equal(batch_count(batch), count);
    uint64_t first = batch->samples->indexes->start[0];
    tq_reply_drop(&reply);
    return first;
}

uint32_t served_notify(struct served *served, const char *partition, uint64_t start, uint64_t count, const char *field)
{
    Tq__V1__NotifyProducedRequest request = TQ__V1__NOTIFY_PRODUCED_REQUEST__INIT;
    Tq__V1__Field described = TQ__V1__FIELD__INIT, *fields = &described;
    struct samples samples;
    struct tq_reply reply;
    described.name = (char *)(uintptr_t)field;
    described.layout = TQ__V1__LAYOUT__LAYOUT_DENSE;
    described.dtype = TQ__V1__DATA_TYPE__DATA_TYPE_INT32;
    request.samples = samples_of(&samples, partition, start, count, 1);
    request.n_fields = 1;
    request.fields = &fields;
    if (tq_v1_controller_notify_produced(served->channel, &request, NULL, &reply) != TQ_OK)
        fail_msg("%s", reply.error.message);
    uint32_t cells = tq_v1_controller_notify_produced_response(&reply)->cells;
    tq_reply_drop(&reply);
    return cells;
}

Tq__V1__FetchBatchRequest *fetch_of(struct fetch *fetch, const char *partition, const char *task, const char *field,
                                    uint32_t batch_size, uint32_t max_wait_ms)
{
    tq__v1__fetch_batch_request__init(&fetch->request);
    fetch->field = (char *)(uintptr_t)field;
    fetch->request.partition = (char *)(uintptr_t)partition;
    fetch->request.task = (char *)(uintptr_t)task;
    fetch->request.n_fields = 1;
    fetch->request.fields = &fetch->field;
    fetch->request.batch_size = batch_size;
    fetch->request.max_wait_ms = max_wait_ms;
    return &fetch->request;
}

uint64_t batch_count(const Tq__V1__Batch *batch)
{
    uint64_t n = 0;
    for (size_t i = 0; batch != NULL && i < batch->samples->indexes->n_count; i++)
        n += batch->samples->indexes->count[i];
    return n;
}

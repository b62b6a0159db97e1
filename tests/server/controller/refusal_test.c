/* Every refusal of every handler: status, a message that names the field, and nothing changed. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/server/controller/served.h"

#include "tests/support/cmocka_all.h"

static struct served served;
static uint64_t first; /* index of the eight samples of partition "p" */

enum { LONG = 1200 };
static char long_name[LONG + 1];

/* ---- building requests: a good one each, spoilt by its case ---- */

struct parts {
    struct samples samples;
    Tq__V1__Field field[2];
    Tq__V1__Field *fields[2];
    Tq__V1__Shapes shape;
    Tq__V1__Shapes *shapes[1];
    Tq__V1__Tags tags;
    uint32_t tag_sample;
    char *tag_key, *keys[8], *names[2];
    ProtobufCBinaryData tag_value;
    uint64_t groups[8], sizes[16];
    uint32_t numbers[3];
    Tq__V1__Sampler sampler;
    Tq__V1__Samples *held[1];
};
static struct parts parts;

static void set_up_parts(void)
{
    memset(&parts, 0, sizeof(parts));
    samples_of(&parts.samples, "p", first, 8, 1);
    for (unsigned i = 0; i < 2; i++) {
        tq__v1__field__init(&parts.field[i]);
        parts.field[i].name = i == 0 ? (char *)"x" : (char *)"y";
        parts.field[i].layout = TQ__V1__LAYOUT__LAYOUT_DENSE;
        parts.field[i].dtype = TQ__V1__DATA_TYPE__DATA_TYPE_INT32;
        parts.fields[i] = &parts.field[i];
    }
    tq__v1__shapes__init(&parts.shape);
    parts.shapes[0] = &parts.shape;
    tq__v1__tags__init(&parts.tags);
    parts.tag_key = (char *)"tag";
    parts.tags.n_sample = parts.tags.n_key = parts.tags.n_value = 1;
    parts.tags.sample = &parts.tag_sample;
    parts.tags.key = &parts.tag_key;
    parts.tags.value = &parts.tag_value;
    tq__v1__sampler__init(&parts.sampler);
    parts.names[0] = (char *)"x";
    parts.names[1] = (char *)"y";
}

static Tq__V1__InsertSamplesRequest insert_request(void)
{
    Tq__V1__InsertSamplesRequest request = TQ__V1__INSERT_SAMPLES_REQUEST__INIT;
    request.partition = (char *)"p";
    request.count = 2;
    return request;
}

static Tq__V1__NotifyProducedRequest notify_request(void)
{
    Tq__V1__NotifyProducedRequest request = TQ__V1__NOTIFY_PRODUCED_REQUEST__INIT;
    request.samples = &parts.samples.message;
    request.n_fields = 2;
    request.fields = parts.fields;
    return request;
}

static Tq__V1__FetchBatchRequest fetch_request(void)
{
    Tq__V1__FetchBatchRequest request = TQ__V1__FETCH_BATCH_REQUEST__INIT;
    request.partition = (char *)"p";
    request.task = (char *)"t";
    request.n_fields = 1;
    request.fields = parts.names;
    request.batch_size = 4;
    return request;
}

static Tq__V1__RegisterUnitRequest register_request(void)
{
    Tq__V1__RegisterUnitRequest request = TQ__V1__REGISTER_UNIT_REQUEST__INIT;
    request.name = (char *)"another";
    request.address = (char *)"tcp://127.0.0.1:9";
    request.epoch = 3;
    parts.held[0] = &parts.samples.message;
    return request;
}

/* ---- the cases: CASE(name, method, request type, how to spoil it, status, what the message says) ---- */

#define CASES(X)                                                                                                       \
    X(insert_no_partition, insert_samples, insert_request, r.partition = (char *)"", INVALID_ARGUMENT, "partition")    \
    X(insert_long_partition, insert_samples, insert_request, r.partition = long_name, INVALID_ARGUMENT, "partition")   \
    X(insert_control, insert_samples, insert_request, r.partition = (char *)"a\nb", INVALID_ARGUMENT, "control")       \
    X(insert_not_utf8, insert_samples, insert_request, r.partition = (char *)"a\xff", INVALID_ARGUMENT, "UTF-8")       \
    X(insert_overlong, insert_samples, insert_request, r.partition = (char *)"\xc0\x80", INVALID_ARGUMENT, "UTF-8")    \
    X(insert_surrogate, insert_samples, insert_request, r.partition = (char *)"\xed\xa0\x80", INVALID_ARGUMENT,        \
      "UTF-8")                                                                                                         \
    X(insert_cut_utf8, insert_samples, insert_request, r.partition = (char *)"\xe2\x82", INVALID_ARGUMENT, "UTF-8")    \
    X(insert_none, insert_samples, insert_request, r.count = 0, INVALID_ARGUMENT, "count: 0")                          \
    X(insert_many, insert_samples, insert_request, r.count = 1048577, INVALID_ARGUMENT, "count: 1048577")              \
    X(insert_groups, insert_samples, insert_request, (r.n_group = 3, r.group = parts.groups), INVALID_ARGUMENT,        \
      "group: 3 entries")                                                                                              \
    X(insert_both_groups, insert_samples, insert_request, (r.n_group = 2, r.group = parts.groups, r.group_size = 2),   \
      INVALID_ARGUMENT, "group_size")                                                                                  \
    X(insert_ragged_group, insert_samples, insert_request, r.group_size = 3, INVALID_ARGUMENT, "multiple")             \
    X(insert_huge_group, insert_samples, insert_request, (r.count = 16385, r.group_size = 16385), RESOURCE_EXHAUSTED,  \
      "group_size")                                                                                                    \
    X(insert_keys, insert_samples, insert_request, (parts.keys[0] = (char *)"k", r.n_key = 1, r.key = parts.keys),     \
      INVALID_ARGUMENT, "key: 1 entries")                                                                              \
    X(insert_same_keys, insert_samples, insert_request,                                                                \
      (parts.keys[0] = parts.keys[1] = (char *)"k", r.n_key = 2, r.key = parts.keys), INVALID_ARGUMENT, "twice")       \
    X(insert_empty_key, insert_samples, insert_request,                                                                \
      (parts.keys[0] = (char *)"k", parts.keys[1] = (char *)"", r.n_key = 2, r.key = parts.keys), INVALID_ARGUMENT,    \
      "key: empty")                                                                                                    \
    X(insert_known_key, insert_samples, insert_request,                                                                \
      (parts.keys[0] = (char *)"new", parts.keys[1] = (char *)"known", r.n_key = 2, r.key = parts.keys),               \
      ALREADY_EXISTS, "key[1]: known")                                                                                 \
    X(insert_tag_far, insert_samples, insert_request, (parts.tag_sample = 2, r.tags = &parts.tags), INVALID_ARGUMENT,  \
      "tags.sample[0]: 2")                                                                                             \
    X(insert_tag_columns, insert_samples, insert_request, (parts.tags.n_value = 0, r.tags = &parts.tags),              \
      INVALID_ARGUMENT, "tags: 1 samples, 1 keys, 0 values")                                                           \
    X(insert_placement, insert_samples, insert_request, r.placement = (Tq__V1__PlacementPolicy)9, INVALID_ARGUMENT,    \
      "placement: 9")                                                                                                  \
    X(insert_near, insert_samples, insert_request,                                                                     \
      (r.placement = TQ__V1__PLACEMENT_POLICY__PLACEMENT_POLICY_LOCAL_FIRST, r.near = 17), INVALID_ARGUMENT,           \
      "near: unit 17")                                                                                                 \
    X(insert_conflict, insert_samples, insert_request,                                                                 \
      (parts.field[0].dtype = TQ__V1__DATA_TYPE__DATA_TYPE_BOOL, r.n_fields = 1, r.fields = parts.fields),             \
      FAILED_PRECONDITION, "field x: dtype 1")                                                                         \
    X(insert_sealed, insert_samples, insert_request, r.partition = (char *)"sealed", FAILED_PRECONDITION, "sealed")    \
    X(notify_no_samples, notify_produced, notify_request, r.samples = NULL, INVALID_ARGUMENT, "samples: missing")      \
    X(notify_no_indexes, notify_produced, notify_request, parts.samples.message.indexes = NULL, INVALID_ARGUMENT,      \
      "samples.indexes: none")                                                                                         \
    X(notify_columns, notify_produced, notify_request, parts.samples.runs.n_count = 0, INVALID_ARGUMENT,               \
      "samples.indexes.count: 0 entries, expected 1")                                                                  \
    X(notify_empty_run, notify_produced, notify_request, parts.samples.count = 0, INVALID_ARGUMENT,                    \
      "samples.indexes.count[0]: 0")                                                                                   \
    X(notify_long_run, notify_produced, notify_request, parts.samples.count = UINT64_MAX, INVALID_ARGUMENT,            \
      "samples.indexes.count[0]")                                                                                      \
    X(notify_wrap, notify_produced, notify_request, parts.samples.start = UINT64_MAX - 3, INVALID_ARGUMENT,            \
      "samples.indexes.start[0]")                                                                                      \
    X(notify_no_generation, notify_produced, notify_request, parts.samples.message.n_generation = 0, INVALID_ARGUMENT, \
      "samples.generation: 0 entries, expected 8 or 1")                                                                \
    X(notify_generation_0, notify_produced, notify_request, parts.samples.generation = 0, INVALID_ARGUMENT,            \
      "samples.generation[0]: 0")                                                                                      \
    X(notify_units, notify_produced, notify_request,                                                                   \
      (parts.samples.message.n_unit = 3, parts.samples.message.unit = parts.numbers), INVALID_ARGUMENT,                \
      "samples.unit: 3 entries")                                                                                       \
    X(notify_unit_0, notify_produced, notify_request,                                                                  \
      (parts.samples.message.n_unit = 1, parts.samples.message.unit = parts.numbers), INVALID_ARGUMENT,                \
      "samples.unit[0]: 0")                                                                                            \
    X(notify_wrong_unit, notify_produced, notify_request,                                                              \
      (parts.numbers[0] = 9, parts.samples.message.n_unit = 1, parts.samples.message.unit = parts.numbers),            \
      FAILED_PRECONDITION, "samples.unit[0]: 9")                                                                       \
    X(notify_unknown, notify_produced, notify_request, parts.samples.start = 5000000, NOT_FOUND, "index 5000000")      \
    X(notify_part_unknown, notify_produced, notify_request, parts.samples.count = 2000, NOT_FOUND, "no such sample")   \
    X(notify_later, notify_produced, notify_request, parts.samples.generation = 2, NOT_FOUND, "generation 2")          \
    X(notify_elsewhere, notify_produced, notify_request, parts.samples.message.partition = (char *)"nowhere",          \
      NOT_FOUND, "partition: nowhere")                                                                                 \
    X(notify_no_fields, notify_produced, notify_request, r.n_fields = 0, INVALID_ARGUMENT, "fields: none")             \
    X(notify_same_fields, notify_produced, notify_request, parts.field[1].name = (char *)"x", INVALID_ARGUMENT,        \
      "x is named twice")                                                                                              \
    X(notify_slash, notify_produced, notify_request, parts.field[1].name = (char *)"a/b", INVALID_ARGUMENT, "'/'")     \
    X(notify_layout, notify_produced, notify_request, parts.field[1].layout = (Tq__V1__Layout)7, INVALID_ARGUMENT,     \
      "field y: layout 7")                                                                                             \
    X(notify_layout_0, notify_produced, notify_request, parts.field[1].layout = TQ__V1__LAYOUT__LAYOUT_UNSPECIFIED,    \
      INVALID_ARGUMENT, "field y: layout 0")                                                                           \
    X(notify_dtype, notify_produced, notify_request, parts.field[1].dtype = (Tq__V1__DataType)-1, INVALID_ARGUMENT,    \
      "field y: dtype -1")                                                                                             \
    X(notify_dtype_0, notify_produced, notify_request,                                                                 \
      parts.field[1].dtype = TQ__V1__DATA_TYPE__DATA_TYPE_UNSPECIFIED, INVALID_ARGUMENT, "field y: dtype 0")           \
    X(notify_opaque_dtype, notify_produced, notify_request, parts.field[1].layout = TQ__V1__LAYOUT__LAYOUT_OPAQUE,     \
      INVALID_ARGUMENT, "opaque")                                                                                      \
    X(notify_conflict, notify_produced, notify_request, parts.field[0].dtype = TQ__V1__DATA_TYPE__DATA_TYPE_BOOL,      \
      FAILED_PRECONDITION, "field x: dtype 1, expected 7")                                                             \
    X(notify_rank, notify_produced, notify_request, (parts.field[1].n_shape = 9, parts.field[1].shape = parts.sizes),  \
      INVALID_ARGUMENT, "field y: 9 dimensions")                                                                       \
    X(notify_shape, notify_produced, notify_request,                                                                   \
      (parts.sizes[0] = parts.sizes[1] = UINT64_C(1) << 33, parts.field[1].n_shape = 2,                                \
       parts.field[1].shape = parts.sizes),                                                                            \
      INVALID_ARGUMENT, "field y: shape[1]")                                                                           \
    X(notify_content_type, notify_produced, notify_request, parts.field[1].content_type = (char *)"text/plain",        \
      INVALID_ARGUMENT, "content type")                                                                                \
    X(notify_shapes, notify_produced, notify_request, (r.n_shapes = 1, r.shapes = parts.shapes), INVALID_ARGUMENT,     \
      "shapes: 1 entries, expected none or 2")                                                                         \
    X(notify_sizes, notify_produced, notify_request,                                                                   \
      (r.n_fields = 1, r.fields = parts.fields + 1, parts.field[1].layout = TQ__V1__LAYOUT__LAYOUT_JAGGED,             \
       parts.shape.rank = 2, parts.shape.n_size = 15, parts.shape.size = parts.sizes, r.n_shapes = 1,                  \
       r.shapes = parts.shapes),                                                                                       \
      INVALID_ARGUMENT, "15 sizes, expected 8 samples of rank 2")                                                      \
    X(notify_bytes, notify_produced, notify_request, (r.n_bytes = 3, r.bytes = parts.sizes), INVALID_ARGUMENT,         \
      "bytes: 3 entries, expected 8 or 1")                                                                             \
    X(notify_tag, notify_produced, notify_request, (parts.tag_key = (char *)"", r.tags = &parts.tags),                 \
      INVALID_ARGUMENT, "tags.key: empty")                                                                             \
    X(fetch_no_partition, fetch_batch, fetch_request, r.partition = (char *)"", INVALID_ARGUMENT, "partition: empty")  \
    X(fetch_no_task, fetch_batch, fetch_request, r.task = (char *)"", INVALID_ARGUMENT, "task: empty")                 \
    X(fetch_no_fields, fetch_batch, fetch_request, r.n_fields = 0, INVALID_ARGUMENT, "fields: 0")                      \
    X(fetch_same_fields, fetch_batch, fetch_request, (r.n_fields = 2, parts.names[1] = (char *)"x"), INVALID_ARGUMENT, \
      "x is named twice")                                                                                              \
    X(fetch_none, fetch_batch, fetch_request, r.batch_size = 0, INVALID_ARGUMENT, "batch_size: 0")                     \
    X(fetch_many, fetch_batch, fetch_request, r.batch_size = UINT32_MAX, INVALID_ARGUMENT, "batch_size: 4294967295")   \
    X(fetch_wait, fetch_batch, fetch_request, r.max_wait_ms = 3600001, INVALID_ARGUMENT, "max_wait_ms: 3600001")       \
    X(fetch_lease, fetch_batch, fetch_request, r.mode = TQ__V1__FETCH_MODE__FETCH_MODE_LEASE, UNIMPLEMENTED, "LEASE")  \
    X(fetch_mode, fetch_batch, fetch_request, r.mode = (Tq__V1__FetchMode)5, INVALID_ARGUMENT, "mode: 5")              \
    X(fetch_lease_ms, fetch_batch, fetch_request, r.lease_ms = 5, INVALID_ARGUMENT, "lease_ms: 5")                     \
    X(fetch_sampler, fetch_batch, fetch_request, (parts.sampler.name = (char *)"best", r.sampler = &parts.sampler),    \
      INVALID_ARGUMENT, "sampler.name: best")                                                                          \
    X(fetch_planned, fetch_batch, fetch_request,                                                                       \
      (parts.sampler.name = (char *)"priority", r.sampler = &parts.sampler), UNIMPLEMENTED, "sampler.name: priority")  \
    X(fetch_rank, fetch_batch, fetch_request, (parts.sampler.dp_size = 2, r.sampler = &parts.sampler), UNIMPLEMENTED,  \
      "dp_size: 2")                                                                                                    \
    X(fetch_weight, fetch_batch, fetch_request, (parts.sampler.weight_tag = (char *)"w", r.sampler = &parts.sampler),  \
      INVALID_ARGUMENT, "weight_tag")                                                                                  \
    X(fetch_group_0, fetch_batch, fetch_request, (parts.sampler.name = (char *)"group_n", r.sampler = &parts.sampler), \
      INVALID_ARGUMENT, "group_size: 0")                                                                               \
    X(fetch_group_3, fetch_batch, fetch_request,                                                                       \
      (parts.sampler.name = (char *)"group_n", parts.sampler.group_size = 3, r.sampler = &parts.sampler),              \
      INVALID_ARGUMENT, "batch_size: 4, expected a multiple")                                                          \
    X(fetch_group_idle, fetch_batch, fetch_request, (parts.sampler.group_size = 3, r.sampler = &parts.sampler),        \
      INVALID_ARGUMENT, "group_size: 3, expected 0")                                                                   \
    X(describe_unknown, describe_partition, describe_request, r.partition = (char *)"nowhere", NOT_FOUND, "nowhere")   \
    X(describe_no_name, describe_partition, describe_request, r.partition = (char *)"", INVALID_ARGUMENT, "partition") \
    X(describe_sample, describe_partition, describe_request,                                                           \
      (parts.samples.start = 900000, r.samples = &parts.samples.message), NOT_FOUND, "index 900000")                   \
    X(describe_fields, describe_partition, describe_request,                                                           \
      (r.n_fields = 2, r.fields = parts.names, parts.names[1] = parts.names[0]), INVALID_ARGUMENT, "twice")            \
    X(seal_unknown, seal_partition, seal_request, r.partition = (char *)"nowhere", NOT_FOUND, "nowhere")               \
    X(seal_no_name, seal_partition, seal_request, r.partition = (char *)"", INVALID_ARGUMENT, "partition")             \
    X(clear_no_samples, clear_samples, clear_request, r.samples = NULL, INVALID_ARGUMENT, "samples: missing")          \
    X(clear_no_generation, clear_samples, clear_request, parts.samples.message.n_generation = 0, INVALID_ARGUMENT,     \
      "samples.generation")                                                                                            \
    X(clear_long, clear_samples, clear_request, parts.samples.count = 1048577, INVALID_ARGUMENT, "count[0]: 1048577")  \
    X(clear_no_name, clear_partition, clear_partition_request, r.partition = (char *)"", INVALID_ARGUMENT,             \
      "partition")                                                                                                     \
    X(consumption_no_task, get_consumption, consumption_request, r.task = (char *)"", INVALID_ARGUMENT, "task")        \
    X(consumption_no_name, get_consumption, consumption_request, r.partition = (char *)"", INVALID_ARGUMENT,           \
      "partition")                                                                                                     \
    X(reset_unknown, reset_consumption, reset_request, r.partition = (char *)"nowhere", NOT_FOUND, "nowhere")          \
    X(reset_no_name, reset_consumption, reset_request, r.partition = (char *)"", INVALID_ARGUMENT, "partition")        \
    X(production_no_fields, get_production, production_request, r.n_fields = 0, INVALID_ARGUMENT, "fields: 0")         \
    X(production_same, get_production, production_request, parts.names[1] = parts.names[0], INVALID_ARGUMENT, "twice") \
    X(tags_no_samples, set_tags, tags_request, r.samples = NULL, INVALID_ARGUMENT, "samples: missing")                 \
    X(tags_stale, set_tags, tags_request, parts.samples.generation = 7, NOT_FOUND, "generation 7")                     \
    X(tags_far, set_tags, tags_request, parts.tag_sample = 8, INVALID_ARGUMENT, "tags.sample[0]: 8")                   \
    X(tags_large, set_tags, tags_request, (parts.tag_value.len = 65537, parts.tag_value.data = big_value),             \
      INVALID_ARGUMENT, "tags.value[0]: 65537")                                                                        \
    X(keys_none, resolve_keys, keys_request, r.n_key = 0, INVALID_ARGUMENT, "key: 0")                                  \
    X(keys_same, resolve_keys, keys_request, parts.keys[1] = parts.keys[0], INVALID_ARGUMENT, "twice")                 \
    X(keys_control, resolve_keys, keys_request, parts.keys[1] = (char *)"\x01", INVALID_ARGUMENT, "control")           \
    X(keys_sealed, resolve_keys, keys_request, (r.partition = (char *)"sealed", r.create = true), FAILED_PRECONDITION, \
      "sealed")                                                                                                        \
    X(list_prefix, list_keys, list_request, r.prefix = (char *)"\xff", INVALID_ARGUMENT, "prefix")                     \
    X(register_no_name, register_unit, register_request, r.name = (char *)"", INVALID_ARGUMENT, "name")                \
    X(register_address, register_unit, register_request, r.address = (char *)"here", INVALID_ARGUMENT,                 \
      "address: here")                                                                                                 \
    X(register_epoch, register_unit, register_request, r.epoch = 0, INVALID_ARGUMENT, "epoch: 0")                      \
    X(register_held, register_unit, register_request,                                                                  \
      (parts.samples.generation = 0, r.n_held = 1, r.held = parts.held), INVALID_ARGUMENT, "held.generation[0]: 0")    \
    X(register_held_last, register_unit, register_request,                                                             \
      (parts.samples.generation = UINT32_MAX, r.n_held = 1, r.held = parts.held), INVALID_ARGUMENT, "held: index")     \
    X(register_taken, register_unit, register_request, r.name = (char *)"unit-1", ALREADY_EXISTS, "unit-1")            \
    X(drain_unknown, drain_unit, drain_request, r.unit = 99, NOT_FOUND, "unit: 99")                                    \
    X(drain_0, drain_unit, drain_request, r.unit = 0, NOT_FOUND, "unit: 0")                                            \
    X(config_version, set_config, config_request, r.expect_version = 5, ABORTED, "expect_version: 5")                  \
    X(planned_ack, ack_lease, ack_request, r.lease = 1, UNIMPLEMENTED, "leases")                                       \
    X(planned_extend, extend_lease, extend_request, r.lease = 1, UNIMPLEMENTED, "leases")                              \
    X(planned_release, release_lease, release_request, r.lease = 1, UNIMPLEMENTED, "leases")                           \
    X(planned_dead, list_dead_letters, dead_request, (void)r, UNIMPLEMENTED, "dead letters")                           \
    X(planned_save, save_controller_checkpoint, save_request, (void)r, UNIMPLEMENTED, "checkpoints")                   \
    X(planned_load, load_controller_checkpoint, load_request, (void)r, UNIMPLEMENTED, "checkpoints")

static uint8_t big_value[65537];

#define SIMPLE(name, Type, INIT, fill)                                                                                 \
    static Tq__V1__##Type name(void)                                                                                   \
    {                                                                                                                  \
        Tq__V1__##Type request = TQ__V1__##INIT##__INIT;                                                               \
        fill;                                                                                                          \
        return request;                                                                                                \
    }
SIMPLE(describe_request, DescribePartitionRequest, DESCRIBE_PARTITION_REQUEST, request.partition = (char *)"p")
SIMPLE(seal_request, SealPartitionRequest, SEAL_PARTITION_REQUEST, request.partition = (char *)"p")
SIMPLE(clear_request, ClearSamplesRequest, CLEAR_SAMPLES_REQUEST, request.samples = &parts.samples.message)
SIMPLE(clear_partition_request, ClearPartitionRequest, CLEAR_PARTITION_REQUEST, request.partition = (char *)"p")
SIMPLE(consumption_request, GetConsumptionRequest, GET_CONSUMPTION_REQUEST,
       (request.partition = (char *)"p", request.task = (char *)"t"))
SIMPLE(reset_request, ResetConsumptionRequest, RESET_CONSUMPTION_REQUEST, request.partition = (char *)"p")
SIMPLE(production_request, GetProductionRequest, GET_PRODUCTION_REQUEST,
       (request.partition = (char *)"p", request.n_fields = 2, request.fields = parts.names))
SIMPLE(tags_request, SetTagsRequest, SET_TAGS_REQUEST,
       (request.samples = &parts.samples.message, request.tags = &parts.tags))
SIMPLE(keys_request, ResolveKeysRequest, RESOLVE_KEYS_REQUEST,
       (request.partition = (char *)"p", request.n_key = 2, request.key = parts.keys, parts.keys[0] = (char *)"k0",
        parts.keys[1] = (char *)"k1"))
SIMPLE(list_request, ListKeysRequest, LIST_KEYS_REQUEST, request.partition = (char *)"p")
SIMPLE(drain_request, DrainUnitRequest, DRAIN_UNIT_REQUEST, request.unit = 1)
SIMPLE(config_request, SetConfigRequest, SET_CONFIG_REQUEST, request.config.len = 0)
SIMPLE(ack_request, AckLeaseRequest, ACK_LEASE_REQUEST, (void)request)
SIMPLE(extend_request, ExtendLeaseRequest, EXTEND_LEASE_REQUEST, (void)request)
SIMPLE(release_request, ReleaseLeaseRequest, RELEASE_LEASE_REQUEST, (void)request)
SIMPLE(dead_request, ListDeadLettersRequest, LIST_DEAD_LETTERS_REQUEST, (void)request)
SIMPLE(save_request, SaveControllerCheckpointRequest, SAVE_CONTROLLER_CHECKPOINT_REQUEST, (void)request)
SIMPLE(load_request, LoadControllerCheckpointRequest, LOAD_CONTROLLER_CHECKPOINT_REQUEST, (void)request)

/* ---- nothing changed: everything that can be asked, packed ---- */

struct picture {
    uint8_t bytes[16384];
    size_t len;
};

static void append(struct picture *picture, const ProtobufCMessage *message)
{
    size_t len = protobuf_c_message_get_packed_size(message);
    assert_true(picture->len + len <= sizeof(picture->bytes));
    picture->len += protobuf_c_message_pack(message, picture->bytes + picture->len);
}

static void take_picture(struct picture *picture)
{
    struct tq_reply reply;
    Tq__V1__ListPartitionsRequest list = TQ__V1__LIST_PARTITIONS_REQUEST__INIT;
    Tq__V1__GetConsumptionRequest consumption = consumption_request();
    Tq__V1__GetConfigRequest config = TQ__V1__GET_CONFIG_REQUEST__INIT;
    Tq__V1__DescribePartitionRequest describe = describe_request();
    picture->len = 0;
    assert_int_equal(tq_v1_controller_list_partitions(served.channel, &list, NULL, &reply), TQ_OK);
    append(picture, reply.message);
    tq_reply_drop(&reply);
    assert_int_equal(tq_v1_controller_get_consumption(served.channel, &consumption, NULL, &reply), TQ_OK);
    append(picture, reply.message);
    tq_reply_drop(&reply);
    assert_int_equal(tq_v1_controller_get_config(served.channel, &config, NULL, &reply), TQ_OK);
    append(picture, reply.message);
    tq_reply_drop(&reply);
    describe.want_keys = describe.want_tags = true;
    for (unsigned i = 0; i < 2; i++) {
        describe.partition = i == 0 ? (char *)"p" : (char *)"sealed";
        assert_int_equal(tq_v1_controller_describe_partition(served.channel, &describe, NULL, &reply), TQ_OK);
        append(picture, reply.message);
        tq_reply_drop(&reply);
    }
}

/* ---- running ---- */

#define RUNNER(name, method, make, spoil, status, text)                                                                \
    static void call_##name(struct tq_reply *reply)                                                                    \
    {                                                                                                                  \
        __typeof__(make()) r = make();                                                                                 \
        spoil;                                                                                                         \
        (void)tq_v1_controller_##method(served.channel, &r, NULL, reply);                                              \
    }
CASES(RUNNER)

struct refusal {
    const char *name;
    void (*call)(struct tq_reply *reply);
    tq_status status;
    const char *text;
};

static void every_refusal_says_what_is_wrong_and_changes_nothing(void **state)
{
#define ROW(name, method, make, spoil, status, text) { #name, call_##name, TQ_##status, text },
    static const struct refusal refusals[] = { CASES(ROW) };
    static struct picture before, after;
    (void)state;
    set_up_parts();
    take_picture(&before);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *refusal = &refusals[i];
        struct tq_reply reply;
        set_up_parts();
        refusal->call(&reply);
        if (reply.error.status != refusal->status || strstr(reply.error.message, refusal->text) == NULL)
            fail_msg("%s: %s \"%s\", expected %s with \"%s\"", refusal->name, tq_status_name(reply.error.status),
                     reply.error.message, tq_status_name(refusal->status), refusal->text);
        tq_reply_drop(&reply);
        take_picture(&after);
        if (before.len != after.len || memcmp(before.bytes, after.bytes, before.len) != 0)
            fail_msg("%s: refused, but something changed", refusal->name);
    }
    print_message("%zu refusals\n", sizeof(refusals) / sizeof(refusals[0]));
}

static int open_served(void **state)
{
    Tq__V1__InsertSamplesRequest request;
    Tq__V1__SealPartitionRequest seal = seal_request();
    struct tq_reply reply;
    (void)state;
    memset(long_name, 'n', LONG);
    served_open(&served, 2);
    first = served_insert(&served, "p", 8, 0);
    served_notify(&served, "p", first, 4, "x");
    set_up_parts();
    request = insert_request();
    request.count = 1;
    parts.keys[0] = (char *)"known";
    request.n_key = 1;
    request.key = parts.keys;
    assert_int_equal(tq_v1_controller_insert_samples(served.channel, &request, NULL, &reply), TQ_OK);
    tq_reply_drop(&reply);
    served_insert(&served, "sealed", 1, 0);
    seal.partition = (char *)"sealed";
    assert_int_equal(tq_v1_controller_seal_partition(served.channel, &seal, NULL, &reply), TQ_OK);
    tq_reply_drop(&reply);
    return 0;
}

static int close_served(void **state)
{
    (void)state;
    served_close(&served);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(
        every_refusal_says_what_is_wrong_and_changes_nothing, open_served, close_served) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

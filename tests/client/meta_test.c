/* Metas: what comes out of a controller's batch, that a batch with disagreeing columns is refused, and that selecting
 * and joining never touch their sources. */
#include "client/meta.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/field_wire.h"
#include "client/samples_wire.h"
#include "tests/support/cmocka_all.h"
#include "transport/base/crc32c.h"

enum { N = 5 };

/* A batch of five samples on two units, with everything that a batch can have. */
struct sample_batch {
    Tq__V1__Batch batch;
    Tq__V1__Samples samples;
    Tq__V1__IndexRuns runs;
    Tq__V1__Tags tags;
    Tq__V1__Field field;
    Tq__V1__Field *fields[1];
    Tq__V1__Unit unit[2];
    Tq__V1__Unit *units[2];
    uint64_t start[2], count[2], group[N], shape[1];
    uint32_t generation[N], unit_of[N], tag_sample[3];
    char *keys[N], *tag_key[3];
    ProtobufCBinaryData tag_value[3];
    protobuf_c_boolean ready[1];
};

static void make_units(struct sample_batch *b)
{
    for (uint32_t u = 0; u < 2; u++) {
        tq__v1__unit__init(&b->unit[u]);
        b->unit[u].unit = u + 1;
        b->unit[u].name = u == 0 ? "left" : "right";
        b->unit[u].address = "tcp://127.0.0.1:1";
        b->unit[u].epoch = 77;
        b->units[u] = &b->unit[u];
    }
    b->batch.n_units = 2;
    b->batch.units = b->units;
}

static void make_tags(struct sample_batch *b)
{
    static char *keys[3] = { "late", "early", "other" };
    static uint8_t bytes[3][1] = { { 'L' }, { 'E' }, { 'O' } };
    const uint32_t samples[3] = { 4, 0, 4 }; /* in no order */
    for (size_t t = 0; t < 3; t++) {
        b->tag_sample[t] = samples[t];
        b->tag_key[t] = keys[t];
        b->tag_value[t] = (ProtobufCBinaryData){ 1, bytes[t] };
    }
    tq__v1__tags__init(&b->tags);
    b->tags.n_sample = b->tags.n_key = b->tags.n_value = 3;
    b->tags.sample = b->tag_sample;
    b->tags.key = b->tag_key;
    b->tags.value = b->tag_value;
    b->batch.tags = &b->tags;
}

static void make_batch(struct sample_batch *b)
{
    static char *keys[N] = { "k0", "k1", "k2", "k3", "k4" };
    memset(b, 0, sizeof(*b));
    tq__v1__batch__init(&b->batch);
    tq__v1__samples__init(&b->samples);
    tq__v1__index_runs__init(&b->runs);
    tq__v1__field__init(&b->field);
    b->start[0] = 10, b->count[0] = 3, b->start[1] = 2, b->count[1] = 2;
    b->runs = (Tq__V1__IndexRuns){ b->runs.base, 2, b->start, 2, b->count };
    for (uint32_t i = 0; i < N; i++) {
        b->generation[i] = i;
        b->unit_of[i] = 1 + i % 2;
        b->group[i] = 100 + i / 2;
        b->keys[i] = keys[i];
    }
    b->samples.partition = "p";
    b->samples.indexes = &b->runs;
    b->samples.n_generation = b->samples.n_unit = N;
    b->samples.generation = b->generation;
    b->samples.unit = b->unit_of;
    b->field.name = "x";
    b->field.layout = TQ__V1__LAYOUT__LAYOUT_DENSE;
    b->field.dtype = TQ__V1__DATA_TYPE__DATA_TYPE_FLOAT32;
    b->shape[0] = 4;
    b->field.shape = b->shape;
    b->field.n_shape = 1;
    b->fields[0] = &b->field;
    b->ready[0] = true;
    b->batch.samples = &b->samples;
    b->batch.n_fields = 1;
    b->batch.fields = b->fields;
    b->batch.n_ready = 1;
    b->batch.ready = b->ready;
    b->batch.n_group = b->batch.n_key = N;
    b->batch.group = b->group;
    b->batch.key = b->keys;
    make_units(b);
    make_tags(b);
}

static struct tq_meta *make_meta(void)
{
    struct sample_batch b;
    struct tq_meta *meta = NULL;
    make_batch(&b);
    assert_int_equal(tq_meta_from_wire(&b.batch, &meta, NULL), TQ_OK);
    return meta;
}

static void a_batch_becomes_a_meta(void **state)
{
    (void)state;
    struct tq_meta *meta = make_meta();
    const uint64_t indexes[N] = { 10, 11, 12, 2, 3 };
    assert_int_equal(tq_meta_count(meta), N);
    assert_string_equal(tq_meta_partition(meta), "p");
    for (size_t i = 0; i < N; i++) {
        char key[8];
        snprintf(key, sizeof(key), "k%zu", i);
        assert_int_equal(tq_meta_index(meta, i), indexes[i]);
        assert_int_equal(tq_meta_generation(meta, i), i);
        assert_int_equal(tq_meta_unit(meta, i), 1 + i % 2);
        assert_int_equal(tq_meta_group(meta, i), 100 + i / 2);
        assert_string_equal(tq_meta_key(meta, i), key);
        assert_true(tq_meta_ready(meta, i));
    }
    struct tq_bytes value;
    assert_true(tq_meta_tag(meta, 4, "late", &value));
    assert_int_equal(value.ptr[0], 'L');
    assert_true(tq_meta_tag(meta, 4, "other", &value));
    assert_true(tq_meta_tag(meta, 0, "early", &value));
    assert_false(tq_meta_tag(meta, 1, "early", &value));
    assert_int_equal(tq_meta_n_fields(meta), 1);
    assert_string_equal(tq_meta_field(meta, 0), "x");
    tq_meta_drop(meta);
}

static void samples_go_back_to_the_wire_as_runs(void **state)
{
    (void)state;
    struct tq_meta *meta = make_meta();
    struct tq_arena *arena = tq_arena_open(NULL, SIZE_MAX);
    Tq__V1__Samples *samples = tq_samples_to_wire(arena, meta, NULL, N);
    assert_int_equal(samples->indexes->n_start, 2);
    assert_int_equal(samples->indexes->start[0], 10);
    assert_int_equal(samples->indexes->count[0], 3);
    assert_int_equal(samples->n_generation, N);
    const size_t one_unit[2] = { 0, 2 };
    samples = tq_samples_to_wire(arena, meta, one_unit, 2);
    assert_int_equal(samples->indexes->n_start, 2);
    assert_int_equal(samples->n_unit, 1);
    assert_int_equal(samples->unit[0], 1);
    tq_arena_close(arena);
    tq_meta_drop(meta);
}

/* ---- columns that disagree ---- */

static void refuses(struct sample_batch *b, const char *fragment)
{
    struct tq_meta *meta = NULL;
    struct tq_error err = { 0 };
    assert_int_equal(tq_meta_from_wire(&b->batch, &meta, &err), TQ_INTERNAL);
    assert_null(meta);
    assert_string_equal(err.reason, "BAD_ANSWER");
    if (strstr(err.message, fragment) == NULL)
        fail_msg("message \"%s\" does not say \"%s\"", err.message, fragment);
    make_batch(b);
}

static void a_batch_with_disagreeing_columns_is_refused(void **state)
{
    (void)state;
    struct sample_batch b;
    make_batch(&b);
    b.batch.samples = NULL;
    refuses(&b, "no batch");
    b.runs.n_count = 1;
    refuses(&b, "2 starts, 1 counts");
    b.count[1] = UINT64_MAX;
    refuses(&b, "index run 1");
    b.start[1] = UINT64_MAX;
    refuses(&b, "index run 1");
    b.count[1] = 3;
    refuses(&b, "6 samples, but 5 generations");
    b.samples.n_generation = 4;
    refuses(&b, "4 generations");
    b.samples.n_unit = 0;
    refuses(&b, "0 units");
    b.batch.n_ready = 2;
    refuses(&b, "2 ready");
    b.batch.n_group = 4;
    refuses(&b, "4 groups");
    b.batch.n_key = 1;
    refuses(&b, "1 keys");
    b.tags.n_value = 2;
    refuses(&b, "2 values");
    b.tag_sample[1] = N;
    refuses(&b, "sample 5 of 5");
    b.field.dtype = (Tq__V1__DataType)99;
    refuses(&b, "data type 99");
    b.field.layout = (Tq__V1__Layout)7;
    refuses(&b, "layout 7");
    b.shape[0] = UINT64_MAX;
    refuses(&b, "field x");
    b.field.name = "a/b";
    refuses(&b, "'/'");
}

/* ---- select and concat ---- */

static uint32_t fold(uint32_t crc, const char *text)
{
    return tq_crc32c_extend(crc, text == NULL ? "" : text, text == NULL ? 0 : strlen(text));
}

/* Everything that a caller can see of a meta. */
static uint32_t hash(const struct tq_meta *meta)
{
    static const char *const tags[3] = { "late", "early", "other" };
    uint32_t crc = fold(TQ_CRC32C_EMPTY, tq_meta_partition(meta));
    for (size_t i = 0; i < tq_meta_count(meta); i++) {
        const uint64_t row[5] = { tq_meta_index(meta, i), tq_meta_generation(meta, i), tq_meta_unit(meta, i),
                                  tq_meta_group(meta, i), tq_meta_ready(meta, i) };
        crc = tq_crc32c_extend(crc, row, sizeof(row));
        crc = fold(crc, tq_meta_key(meta, i));
        for (size_t t = 0; t < 3; t++) {
            struct tq_bytes value;
            if (tq_meta_tag(meta, i, tags[t], &value))
                crc = tq_crc32c_extend(fold(crc, tags[t]), value.ptr, value.len);
        }
    }
    for (size_t f = 0; f < tq_meta_n_fields(meta); f++)
        crc = fold(crc, tq_meta_field(meta, f));
    return crc;
}

static void splitting_and_joining_gives_the_same_and_leaves_the_parent(void **state)
{
    (void)state;
    struct tq_meta *parent = make_meta();
    uint32_t before = hash(parent);
    for (unsigned seed = 0; seed < 200; seed++) {
        size_t positions[N] = { 0, 1, 2, 3, 4 }, cut = seed % (N + 1);
        struct tq_meta *parts[2] = { 0 }, *whole = NULL;
        assert_int_equal(tq_meta_select(parent, positions, cut, &parts[0], NULL), TQ_OK);
        assert_int_equal(tq_meta_select(parent, positions + cut, N - cut, &parts[1], NULL), TQ_OK);
        assert_int_equal(tq_meta_concat((const struct tq_meta *const *)parts, 2, &whole, NULL), TQ_OK);
        assert_int_equal(hash(whole), before);
        for (size_t p = 0; p < 2; p++) { /* an edit of a part must not show anywhere else */
            for (size_t i = 0; i < parts[p]->n; i++)
                parts[p]->indexes[i] = 999;
            tq_meta_drop(parts[p]);
        }
        assert_int_equal(hash(whole), before);
        assert_int_equal(hash(parent), before);
        tq_meta_drop(whole);
    }
    tq_meta_drop(parent);
}

static void selection_keeps_order_and_repetition(void **state)
{
    (void)state;
    struct tq_meta *meta = make_meta(), *picked = NULL;
    const size_t positions[4] = { 4, 0, 4, 2 }, outside[1] = { N };
    struct tq_bytes value;
    struct tq_error err;
    assert_int_equal(tq_meta_select(meta, positions, 4, &picked, NULL), TQ_OK);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(tq_meta_index(picked, i), tq_meta_index(meta, positions[i]));
    assert_true(tq_meta_tag(picked, 2, "late", &value));
    assert_false(tq_meta_tag(picked, 3, "late", &value));
    tq_meta_drop(picked);
    assert_int_equal(tq_meta_select(meta, outside, 1, &picked, &err), TQ_OUT_OF_RANGE);
    assert_non_null(strstr(err.message, "positions[0] is 5"));
    tq_meta_drop(meta);
}

static void metas_that_do_not_belong_together_are_not_joined(void **state)
{
    (void)state;
    struct tq_meta *a = make_meta(), *b = make_meta(), *joined = NULL;
    const struct tq_meta *pair[2] = { a, b };
    struct tq_error err;
    b->partition = "q";
    assert_int_equal(tq_meta_concat(pair, 2, &joined, &err), TQ_INVALID_ARGUMENT);
    b->partition = "p";
    b->fields[0].dtype = TQ_DTYPE_INT64;
    assert_int_equal(tq_meta_concat(pair, 2, &joined, &err), TQ_INVALID_ARGUMENT);
    b->fields[0].name = "y";
    assert_int_equal(tq_meta_concat(pair, 2, &joined, &err), TQ_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "no field x"));
    b->n_fields = 0;
    assert_int_equal(tq_meta_concat(pair, 2, &joined, &err), TQ_INVALID_ARGUMENT);
    assert_int_equal(tq_meta_concat(pair, 0, &joined, &err), TQ_INVALID_ARGUMENT);
    tq_meta_drop(a);
    tq_meta_drop(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_becomes_a_meta),
        cmocka_unit_test(samples_go_back_to_the_wire_as_runs),
        cmocka_unit_test(a_batch_with_disagreeing_columns_is_refused),
        cmocka_unit_test(splitting_and_joining_gives_the_same_and_leaves_the_parent),
        cmocka_unit_test(selection_keeps_order_and_repetition),
        cmocka_unit_test(metas_that_do_not_belong_together_are_not_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

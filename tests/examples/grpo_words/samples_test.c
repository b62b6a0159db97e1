#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "examples/grpo_words/samples.h"

#include "tests/support/cmocka_all.h"

enum { COUNT = 40, COLUMNS = 8 };

/* Samples as they are before they travel, and all their columns as one batch that a test may spoil. */
struct fixture {
    struct samples sent;
    struct samples received;
    struct samples_pack *packs[3];
    struct tq_column columns[COLUMNS];
    struct tq_batch batch;
};

static void columns_take(struct fixture *f, const struct tq_batch *batch)
{
    for (size_t i = 0; i < batch->n_columns; i++) {
        assert_true(f->batch.n_columns < COLUMNS);
        f->columns[f->batch.n_columns++] = batch->columns[i];
    }
}

static int fixture_open(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    float *weights = malloc(POLICY_WEIGHTS * sizeof(*weights));
    struct dice dice;
    assert_true(f != NULL && weights != NULL);
    assert_true(samples_open(&f->sent, COUNT) && samples_open(&f->received, COUNT));
    policy_init(weights);
    dice_init(&dice, 10);
    for (size_t i = 0; i < COUNT; i++) {
        struct sample *sample = &f->sent.rows[f->sent.count++];
        memcpy(sample->completion.prompt, "str", 3);
        sample->completion.prompt_length = i % 2 == 0 ? 2 : 3;
        completion_draw(&sample->completion, weights, 1, &dice);
        sample->version = (int64_t)i - 3;
        sample->reward = (float)i / 2;
        for (uint32_t at = 0; at < sample->completion.length; at++)
            sample->reference_log_probs[at] = -dice_unit(&dice);
    }
    free(weights);
    for (size_t i = 0; i < 3; i++)
        assert_non_null(f->packs[i] = samples_pack_open(COUNT));
    f->batch = (struct tq_batch){ .n_samples = COUNT, .columns = f->columns };
    columns_take(f, samples_pack_rollout(f->packs[0], &f->sent));
    columns_take(f, samples_pack_reward(f->packs[1], &f->sent));
    columns_take(f, samples_pack_reference(f->packs[2], &f->sent));
    *state = f;
    return 0;
}

static int fixture_close(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < 3; i++)
        samples_pack_close(f->packs[i]);
    samples_close(&f->sent);
    samples_close(&f->received);
    free(f);
    return 0;
}

static struct tq_column *column_of(struct fixture *f, const char *name)
{
    for (size_t i = 0; i < f->batch.n_columns; i++)
        if (strcmp(f->columns[i].name, name) == 0)
            return &f->columns[i];
    fail_msg("no column %s", name);
    return NULL;
}

static void check_equal(const struct sample *sent, const struct sample *received)
{
    const struct completion *a = &sent->completion;
    const struct completion *b = &received->completion;
    const size_t length = a->length;
    assert_int_equal(a->prompt_length, b->prompt_length);
    assert_memory_equal(a->prompt, b->prompt, a->prompt_length);
    assert_int_equal(a->length, b->length);
    assert_memory_equal(a->tokens, b->tokens, length * sizeof(a->tokens[0]));
    assert_memory_equal(a->logits, b->logits, length * sizeof(a->logits[0]));
    assert_memory_equal(a->log_probs, b->log_probs, length * sizeof(a->log_probs[0]));
    assert_memory_equal(sent->reference_log_probs, received->reference_log_probs, length * sizeof(float));
    assert_int_equal(sent->version, received->version);
    assert_true(sent->reward == received->reward);
}

static void every_field_comes_back_as_it_went(void **state)
{
    struct fixture *f = *state;
    struct tq_error err = { 0 };
    assert_int_equal(f->batch.n_columns, COLUMNS);
    assert_int_equal(samples_unpack(&f->received, &f->batch, &err), TQ_OK);
    assert_int_equal(f->received.count, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        check_equal(&f->sent.rows[i], &f->received.rows[i]);
}

static void columns_have_the_layout_that_is_promised(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(column_of(f, "prompt")->layout, TQ_OPAQUE);
    assert_string_equal(column_of(f, "prompt")->content_type, "text/plain");
    assert_int_equal(column_of(f, "tokens")->layout, TQ_JAGGED);
    assert_int_equal(column_of(f, "mask")->layout, TQ_DENSE);
    assert_int_equal(column_of(f, "mask")->values.shape[0], COUNT);
    assert_int_equal(column_of(f, "mask")->values.shape[1], COMPLETION_MAX);
    assert_int_equal(column_of(f, "logits")->rank, 2);
    assert_int_equal(column_of(f, "logits")->sizes[1], POLICY_VOCAB);
    assert_int_equal(column_of(f, "reward")->values.ndim, 1);
    int64_t tokens = 0;
    for (size_t i = 0; i < COUNT; i++)
        tokens += f->sent.rows[i].completion.length;
    assert_int_equal(column_of(f, "tokens")->values.shape[0], tokens);
    assert_int_equal(column_of(f, "logits")->values.shape[0], tokens * POLICY_VOCAB);
}

static void part_of_the_fields_is_enough(void **state)
{
    struct fixture *f = *state;
    const struct tq_column few[] = { *column_of(f, "tokens"), *column_of(f, "prompt") };
    const struct tq_batch batch = { .n_samples = COUNT, .columns = few, .n_columns = 2 };
    struct tq_error err = { 0 };
    assert_int_equal(samples_unpack(&f->received, &batch, &err), TQ_OK);
    assert_int_equal(f->received.rows[5].completion.length, f->sent.rows[5].completion.length);
    assert_true(f->received.rows[5].reward == 0);
}

/* Refused with this text; nothing else is asked of the rows. */
static void check_refused(struct fixture *f, const char *expected)
{
    struct tq_error err = { 0 };
    assert_int_equal(samples_unpack(&f->received, &f->batch, &err), TQ_DATA_LOSS);
    if (strstr(err.message, expected) == NULL)
        fail_msg("'%s' does not say '%s'", err.message, expected);
}

static void a_column_of_another_kind_is_refused_by_name(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *name;
        DLDataType type;
    } kinds[] = { { "tokens", { kDLInt, 64, 1 } }, { "mask", { kDLInt, 8, 1 } }, { "reward", { kDLFloat, 64, 1 } } };
    for (size_t i = 0; i < 3; i++) {
        struct tq_column *column = column_of(f, kinds[i].name);
        const DLDataType kept = column->values.dtype;
        column->values.dtype = kinds[i].type;
        check_refused(f, kinds[i].name);
        column->values.dtype = kept;
    }
    column_of(f, "logits")->layout = TQ_DENSE;
    check_refused(f, "field logits: layout 1");
    column_of(f, "logits")->layout = TQ_JAGGED;
    column_of(f, "prompt")->name = "question";
    check_refused(f, "field prompt is missing");
    column_of(f, "question")->name = "prompt";
}

static void lengths_that_disagree_are_refused(void **state)
{
    struct fixture *f = *state;
    int64_t sizes[2 * COUNT];
    const char *names[] = { "log_probs", "reference_log_probs", "logits", "tokens", "prompt" };
    for (size_t i = 0; i < 5; i++) {
        struct tq_column *column = column_of(f, names[i]);
        const int64_t *kept = column->sizes;
        static const int64_t wrong[] = { -1, 0, COMPLETION_MAX + 1, INT64_MAX };
        for (size_t w = 0; w < 4; w++) {
            memcpy(sizes, kept, COUNT * column->rank * sizeof(*sizes));
            sizes[4 * column->rank] = wrong[w];
            column->sizes = sizes;
            check_refused(f, "sample 4");
        }
        column->sizes = kept;
    }
    struct tq_column *logits = column_of(f, "logits");
    logits->rank = 1;
    check_refused(f, "field logits");
    logits->rank = 2;
    int64_t shape[] = { COUNT, COMPLETION_MAX - 1 };
    struct tq_column *mask = column_of(f, "mask");
    int64_t *kept = mask->values.shape;
    mask->values.shape = shape;
    check_refused(f, "field mask");
    mask->values.shape = kept;
}

static void values_that_cannot_be_are_refused(void **state)
{
    struct fixture *f = *state;
    uint8_t *mask = column_of(f, "mask")->values.data;
    mask[3 * COMPLETION_MAX] ^= 1;
    check_refused(f, "sample 3: the mask");
    mask[3 * COMPLETION_MAX] ^= 1;

    int32_t *tokens = column_of(f, "tokens")->values.data;
    tokens[0] += POLICY_VOCAB;
    check_refused(f, "sample 0: prompt or tokens");
    tokens[0] -= POLICY_VOCAB;

    float *log_probs = column_of(f, "log_probs")->values.data;
    float kept = log_probs[0];
    log_probs[0] = kept + 0.01f;
    check_refused(f, "sample 0, token 0: log-probability");
    log_probs[0] = NAN;
    check_refused(f, "sample 0, token 0: log-probability");
    log_probs[0] = kept;

    float *rewards = column_of(f, "reward")->values.data;
    kept = rewards[7];
    rewards[7] = INFINITY;
    check_refused(f, "sample 7: reward or reference");
    rewards[7] = kept;

    struct tq_error err = { 0 };
    assert_int_equal(samples_unpack(&f->received, &f->batch, &err), TQ_OK);
}

static void more_samples_than_there_is_room_for_are_refused(void **state)
{
    struct fixture *f = *state;
    struct samples small;
    struct tq_error err = { 0 };
    assert_true(samples_open(&small, COUNT - 1));
    assert_int_equal(samples_unpack(&small, &f->batch, &err), TQ_RESOURCE_EXHAUSTED);
    samples_close(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_comes_back_as_it_went),
        cmocka_unit_test(columns_have_the_layout_that_is_promised),
        cmocka_unit_test(part_of_the_fields_is_enough),
        cmocka_unit_test(a_column_of_another_kind_is_refused_by_name),
        cmocka_unit_test(lengths_that_disagree_are_refused),
        cmocka_unit_test(values_that_cannot_be_are_refused),
        cmocka_unit_test(more_samples_than_there_is_room_for_are_refused),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}

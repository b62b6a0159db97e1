#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "examples/grpo_words/learner.h"

#include "tests/support/cmocka_all.h"

enum { COMPLETIONS = 6 };

/* Not normalised, so that the letters which nobody drew have a derivative that can be measured too. */
static const float advantages[COMPLETIONS] = { 2.5f, -0.5f, -1, 1.7f, 0.9f, 1.2f };

struct fixture {
    float *reference;
    struct completion completions[COMPLETIONS]; /* drawn by the reference */
    float reference_log_probs[COMPLETIONS][COMPLETION_MAX];
};

static int fixture_open(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->reference = malloc(POLICY_WEIGHTS * sizeof(float));
    assert_non_null(f->reference);
    policy_init(f->reference);
    struct dice dice;
    dice_init(&dice, 9);
    for (size_t i = 0; i < COMPLETIONS; i++) {
        memcpy(f->completions[i].prompt, "th", 2);
        f->completions[i].prompt_length = 2;
        completion_draw(&f->completions[i], f->reference, 1, &dice);
        completion_log_probs(&f->completions[i], f->reference, 1, f->reference_log_probs[i]);
    }
    *state = f;
    return 0;
}

static int fixture_close(void **state)
{
    struct fixture *f = *state;
    free(f->reference);
    free(f);
    return 0;
}

static struct learner *open_learner(double learning_rate, const float *weights)
{
    const struct learner_opts opts = {
        .grpo = { .clip = 0.2, .kl_weight = 0.05 },
        .learning_rate = learning_rate,
        .temperature = 1,
    };
    struct learner *learner = learner_open(&opts, weights);
    assert_non_null(learner);
    return learner;
}

static void add_all(struct learner *learner, const struct fixture *f)
{
    for (size_t i = 0; i < COMPLETIONS; i++)
        learner_add(learner, &f->completions[i], f->reference_log_probs[i], advantages[i]);
}

/* The mean over completions of the mean over tokens of the loss: what a step is to bring down. */
static double objective(const struct fixture *f, const float *weights)
{
    const struct grpo_opts opts = { .clip = 0.2, .kl_weight = 0.05 };
    double sum = 0;
    for (size_t i = 0; i < COMPLETIONS; i++) {
        const struct completion *completion = &f->completions[i];
        for (uint32_t at = 0; at < completion->length; at++) {
            const struct policy_rows rows = completion_rows(completion, at);
            const struct grpo_token token = {
                .token = completion->tokens[at],
                .old_log_prob = completion->log_probs[at],
                .reference_log_prob = f->reference_log_probs[i][at],
                .advantage = advantages[i],
            };
            float logits[POLICY_VOCAB];
            double ignored[POLICY_VOCAB];
            policy_logits(weights, &rows, 1, logits);
            sum += grpo_token_loss(&opts, &token, logits, ignored).loss / completion->length;
        }
    }
    return sum / COMPLETIONS;
}

static void a_step_lowers_the_objective(void **state)
{
    const struct fixture *f = *state;
    struct learner *learner = open_learner(0.005, f->reference);
    double before = objective(f, learner_weights(learner));
    for (size_t step = 0; step < 5; step++) {
        add_all(learner, f);
        learner_step(learner);
        const double after = objective(f, learner_weights(learner));
        assert_true(after < before);
        before = after;
    }
    learner_close(learner);
}

/* Adam's first step moves each weight by the learning rate against the sign of its derivative, so it shows the
 * derivative of the whole objective by a weight, through rows that many tokens share. */
static void the_first_step_goes_against_the_derivative_of_each_weight(void **state)
{
    const struct fixture *f = *state;
    struct learner *learner = open_learner(0.01, f->reference);
    const struct policy_rows rows = completion_rows(&f->completions[0], 0);
    unsigned compared = 0;
    add_all(learner, f);
    learner_step(learner);
    for (size_t feature = 0; feature < POLICY_FEATURES; feature++)
        for (size_t token = 0; token < POLICY_VOCAB; token++) {
            const size_t at = rows.row[feature] * POLICY_VOCAB + token;
            const float kept = f->reference[at];
            const float moved = learner_weights(learner)[at] - kept;
            f->reference[at] = kept + 0x1p-8f;
            const double above = objective(f, f->reference);
            f->reference[at] = kept - 0x1p-8f;
            const double derivative = (above - objective(f, f->reference)) / (2 * 0x1p-8);
            f->reference[at] = kept;
            if (fabs(derivative) < 0.003)
                continue; /* the floor under Adam's denominator shows */
            assert_true(fabs(moved + copysign(0.01, derivative)) < 0.0005);
            compared++;
        }
    assert_true(compared > 20);
    learner_close(learner);
}

static void rows_that_nobody_used_stay_as_they_are(void **state)
{
    const struct fixture *f = *state;
    struct learner *learner = open_learner(0.1, f->reference);
    unsigned changed = 0;
    add_all(learner, f);
    learner_step(learner);
    for (size_t row = 0; row < POLICY_ROWS; row++)
        changed += memcmp(learner_weights(learner) + row * POLICY_VOCAB, f->reference + row * POLICY_VOCAB,
                          POLICY_VOCAB * sizeof(float)) != 0;
    assert_in_range(changed, POLICY_FEATURES, COMPLETIONS * COMPLETION_MAX * POLICY_FEATURES);
    learner_close(learner);
}

static void a_step_forgets_what_was_added(void **state)
{
    const struct fixture *f = *state;
    struct learner *learner = open_learner(0.1, f->reference);
    float *after = malloc(POLICY_WEIGHTS * sizeof(*after));
    assert_non_null(after);
    add_all(learner, f);
    assert_int_equal(learner_step(learner).completions, COMPLETIONS);
    memcpy(after, learner_weights(learner), POLICY_WEIGHTS * sizeof(*after));
    const struct learner_report empty = learner_step(learner);
    assert_int_equal(empty.completions, 0);
    assert_true(empty.loss == 0 && empty.kl == 0);
    assert_memory_equal(after, learner_weights(learner), POLICY_WEIGHTS * sizeof(*after));
    free(after);
    learner_close(learner);
}

static void learning_rate_zero_changes_no_weight(void **state)
{
    const struct fixture *f = *state;
    struct learner *learner = open_learner(0, f->reference);
    for (size_t step = 0; step < 3; step++) {
        add_all(learner, f);
        learner_step(learner);
    }
    assert_memory_equal(f->reference, learner_weights(learner), POLICY_WEIGHTS * sizeof(float));
    learner_close(learner);
}

static void the_report_counts_what_it_saw(void **state)
{
    const struct fixture *f = *state;
    struct learner *learner = open_learner(0.1, f->reference);
    uint32_t tokens = 0;
    for (size_t i = 0; i < COMPLETIONS; i++)
        tokens += f->completions[i].length;
    add_all(learner, f);
    const struct learner_report first = learner_step(learner);
    assert_int_equal(first.tokens, tokens);
    assert_true(fabs(first.kl) < 1e-9 && first.clipped == 0); /* the policy still is the reference */
    add_all(learner, f);
    const struct learner_report second = learner_step(learner);
    assert_true(second.kl > 1e-6 && second.clipped > 0); /* a step of 0.1 on four rows is a long way */
    learner_close(learner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_lowers_the_objective),
        cmocka_unit_test(the_first_step_goes_against_the_derivative_of_each_weight),
        cmocka_unit_test(rows_that_nobody_used_stay_as_they_are),
        cmocka_unit_test(a_step_forgets_what_was_added),
        cmocka_unit_test(learning_rate_zero_changes_no_weight),
        cmocka_unit_test(the_report_counts_what_it_saw),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}

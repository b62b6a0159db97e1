#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "examples/grpo_words/grpo.h"

#include "tests/support/cmocka_all.h"

static const struct grpo_opts opts = { .clip = 0.2, .kl_weight = 0.07 };

static double log_prob_of(const float logits[POLICY_VOCAB], int32_t token)
{
    double log_probs[POLICY_VOCAB];
    policy_log_softmax(logits, log_probs);
    return log_probs[token];
}

static void random_logits(struct dice *dice, float logits[POLICY_VOCAB])
{
    for (size_t i = 0; i < POLICY_VOCAB; i++)
        logits[i] = 4 * dice_unit(dice) - 2;
}

/* A token whose ratio to the policy that drew it is `ratio`, and whose reference is `reference` times as likely. */
static struct grpo_token token_with(const float logits[POLICY_VOCAB], int32_t token, double ratio, double reference,
                                    double advantage)
{
    const double log_prob = log_prob_of(logits, token);
    return (struct grpo_token){
        .token = token,
        .old_log_prob = log_prob - log(ratio),
        .reference_log_prob = log_prob + log(reference),
        .advantage = advantage,
    };
}

static double loss_at(const struct grpo_token *token, const float logits[POLICY_VOCAB])
{
    double ignored[POLICY_VOCAB];
    return grpo_token_loss(&opts, token, logits, ignored).loss;
}

/* Compares the gradient with central differences of the loss, logit by logit. */
static void check_gradient(const struct grpo_token *token, const float logits[POLICY_VOCAB])
{
    const float step = 0x1p-9f;
    double gradient[POLICY_VOCAB];
    grpo_token_loss(&opts, token, logits, gradient);
    for (size_t i = 0; i < POLICY_VOCAB; i++) {
        float moved[POLICY_VOCAB];
        memcpy(moved, logits, sizeof(moved));
        moved[i] = logits[i] + step;
        const float above = moved[i];
        const double loss_above = loss_at(token, moved);
        moved[i] = logits[i] - step;
        const double difference = (loss_above - loss_at(token, moved)) / ((double)above - (double)moved[i]);
        if (fabs(difference - gradient[i]) > 1e-4 * (1 + fabs(gradient[i])))
            fail_msg("logit %zu: gradient %.8f, by differences %.8f", i, gradient[i], difference);
    }
}

static void the_gradient_is_that_of_the_loss(void **state)
{
    (void)state;
    /* On each side of both edges of the clip, away from the kinks themselves, where no derivative exists. */
    static const double ratios[] = { 0.5, 0.77, 0.83, 1, 1.17, 1.23, 2 };
    static const double references[] = { 0.2, 1, 3 };
    static const double advantages[] = { -1.5, 0, 2.5 };
    struct dice dice;
    dice_init(&dice, 6);
    for (size_t r = 0; r < sizeof(ratios) / sizeof(*ratios); r++)
        for (size_t q = 0; q < 3; q++)
            for (size_t a = 0; a < 3; a++) {
                float logits[POLICY_VOCAB];
                random_logits(&dice, logits);
                const int32_t drawn = (int32_t)dice_below(&dice, POLICY_VOCAB);
                const struct grpo_token token = token_with(logits, drawn, ratios[r], references[q], advantages[a]);
                check_gradient(&token, logits);
            }
}

/* The part of the gradient that the advantage makes, by the drawn token's logit. */
static double push(const float logits[POLICY_VOCAB], double ratio, double advantage, bool *clipped)
{
    const struct grpo_token token = token_with(logits, 3, ratio, 1, advantage);
    double gradient[POLICY_VOCAB];
    *clipped = grpo_token_loss(&opts, &token, logits, gradient).clipped;
    return -gradient[3];
}

static void the_clip_stops_a_move_that_has_gone_far_enough_and_no_other(void **state)
{
    (void)state;
    float logits[POLICY_VOCAB];
    bool clipped = false;
    struct dice dice;
    dice_init(&dice, 7);
    random_logits(&dice, logits);
    assert_true(fabs(push(logits, 1.3, 1, &clipped)) < 1e-12 && clipped);
    assert_true(fabs(push(logits, 0.7, -1, &clipped)) < 1e-12 && clipped);
    assert_true(push(logits, 1.1, 1, &clipped) > 0.1 && !clipped);
    assert_true(push(logits, 0.9, -1, &clipped) < -0.1 && !clipped);
    assert_true(push(logits, 0.7, 1, &clipped) > 0.1 && !clipped); /* too far, but the way back is open */
    assert_true(push(logits, 1.3, -1, &clipped) < -0.1 && !clipped);
}

static void the_divergence_is_zero_at_the_reference_and_positive_elsewhere(void **state)
{
    (void)state;
    static const double references[] = { 0.01, 0.5, 0.999, 1.001, 2, 100 };
    float logits[POLICY_VOCAB];
    double gradient[POLICY_VOCAB];
    struct dice dice;
    dice_init(&dice, 8);
    random_logits(&dice, logits);
    struct grpo_token token = token_with(logits, 3, 1, 1, 0);
    assert_true(fabs(grpo_token_loss(&opts, &token, logits, gradient).kl) < 1e-12);
    for (size_t i = 0; i < sizeof(references) / sizeof(*references); i++) {
        token = token_with(logits, 3, 1, references[i], 0);
        const double kl = grpo_token_loss(&opts, &token, logits, gradient).kl;
        assert_true(kl > 0);
        assert_true(fabs(kl - (references[i] - log(references[i]) - 1)) < 1e-9 * (1 + kl));
        /* It pulls towards the reference: descending the gradient raises what the reference finds more likely. */
        assert_true(references[i] > 1 ? gradient[3] < 0 : gradient[3] > 0);
    }
}

static void advantages_are_normalised_within_the_group(void **state)
{
    (void)state;
    static const float rewards[] = { 1, 0, 0, 0, 1, 0, 0, 0.5f };
    enum { COUNT = sizeof(rewards) / sizeof(*rewards) };
    float advantages[COUNT];
    double sum = 0;
    double squares = 0;
    grpo_advantages(rewards, COUNT, advantages);
    for (size_t i = 0; i < COUNT; i++) {
        sum += advantages[i];
        squares += advantages[i] * advantages[i];
    }
    assert_true(fabs(sum) < 1e-5);
    assert_true(fabs(squares / COUNT - 1) < 1e-5);
    assert_true(advantages[0] > 0 && advantages[0] == advantages[4] && advantages[1] < 0);
}

static void equal_rewards_teach_nothing(void **state)
{
    (void)state;
    static const float rewards[][4] = { { 0, 0, 0, 0 }, { 1, 1, 1, 1 }, { 0.1f, 0.1f, 0.1f, 0.1f } };
    for (size_t i = 0; i < 3; i++) {
        float advantages[4] = { 9, 9, 9, 9 };
        grpo_advantages(rewards[i], 4, advantages);
        for (size_t k = 0; k < 4; k++)
            assert_true(advantages[k] == 0);
    }
    float alone = 9;
    grpo_advantages((const float[]){ 1 }, 1, &alone);
    assert_true(alone == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_that_of_the_loss),
        cmocka_unit_test(the_clip_stops_a_move_that_has_gone_far_enough_and_no_other),
        cmocka_unit_test(the_divergence_is_zero_at_the_reference_and_positive_elsewhere),
        cmocka_unit_test(advantages_are_normalised_within_the_group),
        cmocka_unit_test(equal_rewards_teach_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "examples/grpo_words/policy.h"

#include "tests/support/cmocka_all.h"

static struct policy_rows rows_of(const char *word)
{
    uint8_t text[POLICY_TEXT_MAX];
    const size_t length = strlen(word);
    for (size_t i = 0; i < length; i++)
        text[i] = (uint8_t)(word[i] - 'a');
    return policy_rows_for(text, length);
}

/* Which of the four rows two texts share, as bits. */
static unsigned shared_rows(const char *left, const char *right)
{
    const struct policy_rows a = rows_of(left);
    const struct policy_rows b = rows_of(right);
    unsigned shared = 0;
    for (unsigned feature = 0; feature < POLICY_FEATURES; feature++)
        shared |= (a.row[feature] == b.row[feature] ? 1u : 0) << feature;
    return shared;
}

static void texts_share_rows_as_far_as_they_agree(void **state)
{
    (void)state;
    assert_int_equal(shared_rows("cat", "cat"), 0xf);
    assert_int_equal(shared_rows("cat", "rat"), 0x3);   /* same length and last two letters */
    assert_int_equal(shared_rows("xcat", "ycat"), 0x7); /* and the last three */
    assert_int_equal(shared_rows("cat", "xcat"), 0x6);  /* another length */
    assert_int_equal(shared_rows("cat", "cot"), 0x1);   /* length and last letter only */
    assert_int_equal(shared_rows("ca", "aca"), 0x2);    /* the beginning of the text counts as a letter */
    assert_int_equal(shared_rows("cat", "dog"), 0);
}

static void rows_stay_inside_the_table_and_their_part_of_it(void **state)
{
    (void)state;
    uint8_t text[POLICY_TEXT_MAX];
    struct dice dice;
    dice_init(&dice, 3);
    for (size_t i = 0; i < 20000; i++) {
        const size_t length = dice_below(&dice, POLICY_TEXT_MAX + 1);
        for (size_t at = 0; at < length; at++)
            text[at] = (uint8_t)(i % 2 == 0 ? 25 : dice_below(&dice, 26));
        const struct policy_rows rows = policy_rows_for(text, length);
        assert_true(rows.row[0] < POLICY_ROWS_LAST);
        assert_in_range(rows.row[1], POLICY_ROWS_LAST, POLICY_ROWS_LAST + POLICY_ROWS_PAIR - 1);
        assert_in_range(rows.row[2], POLICY_ROWS_LAST + POLICY_ROWS_PAIR, POLICY_ROWS - POLICY_ROWS_TEXT - 1);
        assert_in_range(rows.row[3], POLICY_ROWS - POLICY_ROWS_TEXT, POLICY_ROWS - 1);
    }
}

static void an_untrained_policy_ends_with_probability_three_tenths(void **state)
{
    (void)state;
    float *weights = malloc(POLICY_WEIGHTS * sizeof(*weights));
    assert_non_null(weights);
    policy_init(weights);
    const struct policy_rows rows = rows_of("qu");
    float logits[POLICY_VOCAB];
    double log_probs[POLICY_VOCAB];
    policy_logits(weights, &rows, 1, logits);
    policy_log_softmax(logits, log_probs);
    assert_true(fabs(exp(log_probs[POLICY_END]) - 0.3) < 0.002);
    for (size_t letter = 0; letter < POLICY_END; letter++)
        assert_true(fabs(exp(log_probs[letter]) - 0.7 / 26) < 0.001);
    free(weights);
}

static void logits_are_the_sum_of_four_rows_over_the_temperature(void **state)
{
    (void)state;
    float *weights = calloc(POLICY_WEIGHTS, sizeof(*weights));
    assert_non_null(weights);
    const struct policy_rows rows = rows_of("qu");
    for (size_t feature = 0; feature < POLICY_FEATURES; feature++)
        weights[rows.row[feature] * POLICY_VOCAB + 4] = (float)(1u << feature);
    float logits[POLICY_VOCAB];
    policy_logits(weights, &rows, 2, logits);
    for (size_t token = 0; token < POLICY_VOCAB; token++)
        assert_true(logits[token] == (token == 4 ? 7.5f : 0));
    free(weights);
}

static void log_softmax_adds_up_to_one_even_for_huge_logits(void **state)
{
    (void)state;
    float logits[POLICY_VOCAB];
    double log_probs[POLICY_VOCAB];
    double sum = 0;
    for (size_t token = 0; token < POLICY_VOCAB; token++)
        logits[token] = 5000 + (float)token;
    policy_log_softmax(logits, log_probs);
    for (size_t token = 0; token < POLICY_VOCAB; token++)
        sum += exp(log_probs[token]);
    assert_true(fabs(sum - 1) < 1e-12);
    assert_true(fabs(log_probs[26] - log_probs[25] - 1) < 1e-9);
}

static void tokens_are_drawn_as_often_as_their_probability_says(void **state)
{
    (void)state;
    enum { DRAWS = 40000 };
    float logits[POLICY_VOCAB];
    double log_probs[POLICY_VOCAB];
    unsigned drawn[POLICY_VOCAB] = { 0 };
    for (size_t token = 0; token < POLICY_VOCAB; token++)
        logits[token] = (float)(token % 5);
    policy_log_softmax(logits, log_probs);
    struct dice dice;
    dice_init(&dice, 4);
    for (size_t i = 0; i < DRAWS; i++)
        drawn[policy_draw(logits, &dice)]++;
    for (size_t token = 0; token < POLICY_VOCAB; token++) {
        const double expected = DRAWS * exp(log_probs[token]);
        assert_true(fabs(drawn[token] - expected) < 4.5 * sqrt(expected));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_share_rows_as_far_as_they_agree),
        cmocka_unit_test(rows_stay_inside_the_table_and_their_part_of_it),
        cmocka_unit_test(an_untrained_policy_ends_with_probability_three_tenths),
        cmocka_unit_test(logits_are_the_sum_of_four_rows_over_the_temperature),
        cmocka_unit_test(log_softmax_adds_up_to_one_even_for_huge_logits),
        cmocka_unit_test(tokens_are_drawn_as_often_as_their_probability_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

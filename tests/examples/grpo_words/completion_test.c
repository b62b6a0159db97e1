#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "examples/grpo_words/completion.h"

#include "tests/support/cmocka_all.h"

/* `written` is what the policy added; '.' is the end. */
static struct completion make(const char *prompt, const char *written)
{
    struct completion completion = { .prompt_length = (uint32_t)strlen(prompt), .length = (uint32_t)strlen(written) };
    memcpy(completion.prompt, prompt, completion.prompt_length);
    for (uint32_t i = 0; i < completion.length; i++)
        completion.tokens[i] = written[i] == '.' ? POLICY_END : written[i] - 'a';
    return completion;
}

static float *some_weights(uint64_t seed)
{
    float *weights = malloc(POLICY_WEIGHTS * sizeof(*weights));
    assert_non_null(weights);
    policy_init(weights);
    struct dice dice;
    dice_init(&dice, seed);
    for (size_t i = 0; i < POLICY_WEIGHTS; i++)
        weights[i] += dice_unit(&dice) - 0.5f;
    return weights;
}

static void what_is_drawn_is_sane_and_carries_its_log_probabilities(void **state)
{
    (void)state;
    float *weights = some_weights(1);
    unsigned full = 0;
    struct dice dice;
    dice_init(&dice, 2);
    for (size_t i = 0; i < 2000; i++) {
        struct completion completion = make(i % 2 == 0 ? "th" : "str", "");
        float again[COMPLETION_MAX];
        completion_draw(&completion, weights, 1.5f, &dice);
        assert_true(completion_is_sane(&completion));
        completion_log_probs(&completion, weights, 1.5f, again);
        for (uint32_t at = 0; at < completion.length; at++) {
            double log_probs[POLICY_VOCAB];
            policy_log_softmax(completion.logits[at], log_probs);
            assert_true(again[at] == completion.log_probs[at]);
            assert_true((float)log_probs[completion.tokens[at]] == completion.log_probs[at]);
        }
        full += completion.tokens[completion.length - 1] != POLICY_END;
    }
    assert_in_range(full, 1, 1000); /* some run out of room, most say that they are done */
    free(weights);
}

static void equal_seeds_write_equal_text(void **state)
{
    (void)state;
    float *weights = some_weights(1);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct completion first = make("th", "");
        struct completion again = make("th", "");
        struct dice dice;
        dice_init(&dice, seed);
        completion_draw(&first, weights, 1, &dice);
        dice_init(&dice, seed);
        completion_draw(&again, weights, 1, &dice);
        assert_memory_equal(&first, &again, sizeof(first));
    }
    free(weights);
}

static void other_weights_give_other_log_probabilities(void **state)
{
    (void)state;
    float *weights = some_weights(1);
    float *others = some_weights(2);
    struct completion completion = make("th", "e.");
    float log_probs[COMPLETION_MAX];
    float of_others[COMPLETION_MAX];
    completion_log_probs(&completion, weights, 1, log_probs);
    completion_log_probs(&completion, others, 1, of_others);
    assert_true(log_probs[0] < 0 && of_others[0] < 0);
    assert_true(fabsf(log_probs[0] - of_others[0]) > 1e-3f);
    free(weights);
    free(others);
}

static void each_insane_completion_is_refused(void **state)
{
    (void)state;
    assert_true(completion_is_sane(&(struct completion){ 0 }) == false);
    struct completion completion = make("th", "e.");
    assert_true(completion_is_sane(&completion));
    completion.tokens[0] = POLICY_END; /* text after the end */
    assert_false(completion_is_sane(&completion));
    completion.tokens[0] = -1;
    assert_false(completion_is_sane(&completion));
    completion.tokens[0] = POLICY_VOCAB;
    assert_false(completion_is_sane(&completion));
    completion = make("th", "ey"); /* neither ended nor out of room */
    assert_false(completion_is_sane(&completion));
    completion = make("th", "eeeeeeee");
    assert_true(completion_is_sane(&completion));
    completion.length = COMPLETION_MAX + 1;
    assert_false(completion_is_sane(&completion));
    completion = make("t", "e.");
    assert_false(completion_is_sane(&completion));
    completion = make("tH", "e.");
    assert_false(completion_is_sane(&completion));
    completion = make("th", "e.");
    completion.prompt_length = PROMPT_LONGEST + 1;
    assert_false(completion_is_sane(&completion));
}

static void text_is_prompt_and_letters_without_the_end(void **state)
{
    (void)state;
    char text[POLICY_TEXT_MAX + 1];
    struct completion completion = make("str", "eam.");
    assert_int_equal(completion_text(&completion, text), 6);
    assert_string_equal(text, "stream");
    completion = make("str", "eamlined");
    assert_int_equal(completion_text(&completion, text), 11);
    assert_string_equal(text, "streamlined");
}

static float reward_of(const struct vocabulary *words, const char *prompt, const char *written)
{
    const struct completion completion = make(prompt, written);
    return completion_reward(&completion, words);
}

static void only_a_finished_word_with_a_letter_of_its_own_is_rewarded(void **state)
{
    (void)state;
    struct vocabulary *words = NULL;
    char why[200] = "";
    if (!vocabulary_open(VOCABULARY_PATH, &words, why, sizeof(why)))
        fail_msg("%s (package wamerican)", why);
    assert_true(reward_of(words, "str", "eam.") == 1);
    assert_true(reward_of(words, "ca", "t.") == 1);
    assert_true(reward_of(words, "cat", ".") == 0);
    assert_true(reward_of(words, "st", "q.") == 0);
    assert_true(reward_of(words, "st", "ream.") == 1);
    assert_true(reward_of(words, "st", "reamline") == 0); /* no room for the end */
    vocabulary_close(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_drawn_is_sane_and_carries_its_log_probabilities),
        cmocka_unit_test(equal_seeds_write_equal_text),
        cmocka_unit_test(other_weights_give_other_log_probabilities),
        cmocka_unit_test(each_insane_completion_is_refused),
        cmocka_unit_test(text_is_prompt_and_letters_without_the_end),
        cmocka_unit_test(only_a_finished_word_with_a_letter_of_its_own_is_rewarded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Whole training runs in one process: rollout, reward, reference and trainer as function calls, with the rollout as
 * many steps behind the trainer as it is when they are processes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "examples/grpo_words/curve.h"
#include "examples/grpo_words/learner.h"
#include "tests/support/cmocka_all.h"

enum {
    STEPS = 120,
    GROUPS = 32,
    GROUP_SIZE = 8,
    STALE_STEPS = 2,
    VERSIONS = STALE_STEPS + 1,
};

struct run {
    const struct vocabulary *words;
    struct dice dice;
    float *reference;
    float *versions[VERSIONS]; /* the last ones published, in turn */
    struct learner *learner;
    struct curve rewards;
};

static float *copy_weights(const float *weights)
{
    float *copy = malloc(POLICY_WEIGHTS * sizeof(*copy));
    assert_non_null(copy);
    memcpy(copy, weights, POLICY_WEIGHTS * sizeof(*copy));
    return copy;
}

static void run_open(struct run *run, const struct vocabulary *words, double learning_rate, uint64_t seed)
{
    const struct learner_opts opts = {
        .grpo = { .clip = 0.2, .kl_weight = 0.01 },
        .learning_rate = learning_rate,
        .temperature = 1,
    };
    *run = (struct run){ .words = words };
    dice_init(&run->dice, seed);
    curve_init(&run->rewards);
    run->reference = malloc(POLICY_WEIGHTS * sizeof(float));
    assert_non_null(run->reference);
    policy_init(run->reference);
    for (size_t i = 0; i < VERSIONS; i++)
        run->versions[i] = copy_weights(run->reference);
    run->learner = learner_open(&opts, run->reference);
    assert_non_null(run->learner);
}

static void run_close(struct run *run)
{
    learner_close(run->learner);
    for (size_t i = 0; i < VERSIONS; i++)
        free(run->versions[i]);
    free(run->reference);
    curve_fini(&run->rewards);
}

/* Draws, judges and adds one group; returns its mean reward. */
static double run_group(struct run *run, const float *weights)
{
    struct completion group[GROUP_SIZE] = { 0 };
    float rewards[GROUP_SIZE];
    float advantages[GROUP_SIZE];
    double sum = 0;
    char prompt[PROMPT_LONGEST];
    const size_t length = vocabulary_draw_prompt(run->words, &run->dice, prompt);
    for (size_t i = 0; i < GROUP_SIZE; i++) {
        memcpy(group[i].prompt, prompt, length);
        group[i].prompt_length = (uint32_t)length;
        completion_draw(&group[i], weights, 1, &run->dice);
        rewards[i] = completion_reward(&group[i], run->words);
        sum += rewards[i];
    }
    grpo_advantages(rewards, GROUP_SIZE, advantages);
    for (size_t i = 0; i < GROUP_SIZE; i++) {
        float reference_log_probs[COMPLETION_MAX];
        completion_log_probs(&group[i], run->reference, 1, reference_log_probs);
        learner_add(run->learner, &group[i], reference_log_probs, advantages[i]);
    }
    return sum / GROUP_SIZE;
}

static void run_all(struct run *run)
{
    for (size_t step = 0; step < STEPS; step++) {
        float *version = run->versions[step % VERSIONS]; /* the oldest: written STALE_STEPS + 1 steps ago */
        double sum = 0;
        for (size_t group = 0; group < GROUPS; group++)
            sum += run_group(run, version);
        learner_step(run->learner);
        memcpy(version, learner_weights(run->learner), POLICY_WEIGHTS * sizeof(float));
        assert_true(curve_add(&run->rewards, sum / GROUPS));
    }
}

static void check_runs(const struct vocabulary *words, double learning_rate, double factor, bool expected)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct run run;
        run_open(&run, words, learning_rate, seed);
        run_all(&run);
        const double first = curve_first_tenth(&run.rewards);
        const double last = curve_last_tenth(&run.rewards);
        print_message("learning rate %g, seed %u: first tenth %.3f, last tenth %.3f\n", learning_rate, (unsigned)seed,
                      first, last);
        assert_true(first > 0.01 && first < 0.15); /* else "twice as much" would mean little */
        assert_true(curve_has_grown(&run.rewards, factor) == expected);
        run_close(&run);
    }
}

static void rewards_grow_many_times(void **state)
{
    check_runs(*state, 0.1, 4, true);
}

static void without_a_learning_rate_they_do_not_double(void **state)
{
    check_runs(*state, 0, 2, false);
}

static int words_open(void **state)
{
    struct vocabulary *words = NULL;
    char why[200] = "";
    if (!vocabulary_open(VOCABULARY_PATH, &words, why, sizeof(why)))
        print_error("%s (package wamerican)\n", why);
    *state = words;
    return words == NULL;
}

static int words_close(void **state)
{
    vocabulary_close(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rewards_grow_many_times),
        cmocka_unit_test(without_a_learning_rate_they_do_not_double),
    };
    return cmocka_run_group_tests(tests, words_open, words_close);
}

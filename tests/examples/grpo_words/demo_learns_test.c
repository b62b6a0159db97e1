/* The demo as its users run it, shortened: daemons, four workers, two storage units. Three seeds learn; without a
 * learning rate the same assertion fails, although everything else went well. */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "examples/grpo_words/curve.h"

#include "tests/support/cmocka_all.h"

enum { STEPS = 100, LEARNED = 0, NOT_LEARNED = 3, PATH_BYTES = 512 };

static char folder[] = "/tmp/grpo_words_demo_XXXXXX";

static int folder_open(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int folder_close(void **state)
{
    (void)state;
    static const char *const files[] = { "controller.log", "unit-shared.log", "unit-tcp.log",
                                         "trainer.log",    "reference.log",   "reward.log",
                                         "rollout.log",    "rewards.txt",     "reward.svg" };
    char path[PATH_BYTES];
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
        unlink(path);
    }
    return rmdir(folder);
}

/* The exit status of a run. It ends by itself within its time limit. */
static int run_demo(const char *learning_rate, unsigned seed)
{
    const char *programs = getenv("TQ_BIN_DIR");
    char program[PATH_BYTES];
    char output[PATH_BYTES];
    char seed_text[32];
    char steps_text[32];
    char rate_text[32];
    assert_non_null(programs);
    snprintf(program, sizeof(program), "%s/grpo_words", programs);
    snprintf(output, sizeof(output), "--output=%s", folder);
    snprintf(seed_text, sizeof(seed_text), "--seed=%u", seed);
    snprintf(steps_text, sizeof(steps_text), "--steps=%d", STEPS);
    snprintf(rate_text, sizeof(rate_text), "--learning-rate=%s", learning_rate);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* ends in order when the test is killed */
        execl(program, program, "run", output, seed_text, steps_text, rate_text, "--groups=64", "--time-limit-s=80",
              (char *)NULL);
        _exit(127);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The curve that the run has written down; its judgement of it is not asked. */
static void read_curve(struct curve *curve)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "%s/rewards.txt", folder);
    FILE *file = fopen(path, "r");
    unsigned step = 0;
    double reward = 0;
    assert_non_null(file);
    curve_init(curve);
    while (fscanf(file, "%u %lf", &step, &reward) == 2) {
        assert_true(reward >= 0 && reward <= 1);
        assert_true(curve_add(curve, reward));
        assert_int_equal(step, curve->count);
    }
    assert_true(feof(file));
    fclose(file);
}

static void check_run(const char *learning_rate, unsigned seed, bool doubles)
{
    struct curve curve;
    const int status = run_demo(learning_rate, seed);
    if (status != (doubles ? LEARNED : NOT_LEARNED))
        fail_msg("learning rate %s, seed %u: exit status %d", learning_rate, seed, status);
    read_curve(&curve);
    assert_int_equal(curve.count, STEPS);
    print_message("learning rate %s, seed %u: first tenth %.3f, last tenth %.3f\n", learning_rate, seed,
                  curve_first_tenth(&curve), curve_last_tenth(&curve));
    assert_true(curve_first_tenth(&curve) > 0.01);
    assert_true(curve_has_grown(&curve, 2) == doubles);
    curve_fini(&curve);
}

static void the_reward_doubles_with_each_of_three_seeds(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 3; seed++)
        check_run("0.1", seed, true);
}

static void without_a_learning_rate_it_does_not(void **state)
{
    (void)state;
    check_run("0", 1, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reward_doubles_with_each_of_three_seeds),
        cmocka_unit_test(without_a_learning_rate_it_does_not),
    };
    return cmocka_run_group_tests(tests, folder_open, folder_close);
}

/* grpo_words: reinforcement learning over tq. Without a subcommand it runs everything; the others are the stages. */
#include <stdio.h>
#include <string.h>

#include "examples/grpo_words/run.h"
#include "examples/grpo_words/workers.h"

static const struct {
    const char *name;
    worker_run_fn *run;
} workers[] = {
    { "rollout", rollout_run },
    { "reward", reward_run },
    { "reference", reference_run },
    { "trainer", trainer_run },
};

static int usage(void)
{
    puts("usage: grpo_words [run|rollout|reward|reference|trainer] [--SETTING=VALUE ...]\n"
         "Without a subcommand, or with `run`, starts controller, storage units and the four workers.\n"
         "Exit status: 0 learned, 1 failed, 2 wrong argument, 3 the reward did not double.\n");
    settings_help(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    const int first = argc > 1 && argv[1][0] != '-' ? 2 : 1;
    const char *command = first == 2 ? argv[1] : "run";
    struct settings settings;
    char why[200];
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0)
            return usage();
    if (!settings_parse(&settings, argc - first, argv + first, why, sizeof(why))) {
        fprintf(stderr, "grpo_words: %s\n", why);
        return 2;
    }
    if (strcmp(command, "run") == 0)
        return run_all(&settings);
    for (size_t i = 0; i < sizeof(workers) / sizeof(*workers); i++)
        if (strcmp(command, workers[i].name) == 0)
            return worker_main(command, &settings, workers[i].run);
    fprintf(stderr, "grpo_words: unknown subcommand '%.60s': expected run, rollout, reward, reference or trainer\n",
            command);
    return 2;
}

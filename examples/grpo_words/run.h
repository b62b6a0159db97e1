/* run.h: a whole run: starts everybody, shows progress, draws the curve, judges. Threads: call it on the only one. */
#ifndef GRPO_WORDS_RUN_H
#define GRPO_WORDS_RUN_H

#include "examples/grpo_words/settings.h"

/* Exit statuses besides 2 for a wrong argument. */
enum {
    RUN_LEARNED = 0,
    RUN_FAILED = 1,      /* somebody died, or bytes did not move over both engines */
    RUN_NOT_LEARNED = 3, /* all went well, but the reward did not double */
};

/* Writes reward.svg, rewards.txt and the logs into settings->output. Returns an exit status. */
int run_all(const struct settings *settings);

#endif

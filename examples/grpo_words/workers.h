/* workers.h: the four stages of the loop, each run by worker_main in a process of its own.
 *
 *   rollout ---- prompt, tokens, mask, logits, log_probs, version ----> samples
 *   samples ---- prompt, tokens ----> reward ---- reward ----> samples
 *   samples ---- prompt, tokens, mask ----> reference ---- reference_log_probs ----> samples
 *   samples ---- complete groups with every field ----> trainer ---- weights ----> rollout
 *
 * The samples of a step go through a partition of their own, which the rollout seals and the trainer clears. Everybody
 * knows how many chunks a step has, and so when the run is over. */
#ifndef GRPO_WORDS_WORKERS_H
#define GRPO_WORDS_WORKERS_H

#include "examples/grpo_words/worker.h"

/* Draws groups of completions with the newest weights, never more than `staleness` versions behind. */
tq_status rollout_run(struct worker *worker, struct tq_error *err);
/* Says whether a completion is a word. */
tq_status reward_run(struct worker *worker, struct tq_error *err);
/* Adds how likely the frozen reference finds each token. */
tq_status reference_run(struct worker *worker, struct tq_error *err);
/* Learns from complete groups as they become ready, clears them, publishes weights. Prints a line a step.
 */
tq_status trainer_run(struct worker *worker, struct tq_error *err);

#endif

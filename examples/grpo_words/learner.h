/* learner.h: turns judged completions into better weights: sums gradients, then takes one Adam step on the rows that
 * were touched (Kingma, Ba 2014, arXiv 1412.6980). A row that no completion used keeps its weights and its moments.
 * Owns: weights, gradient and moments, about 37 MB. Threads: one. */
#ifndef GRPO_WORDS_LEARNER_H
#define GRPO_WORDS_LEARNER_H

#include <stdint.h>

#include "examples/grpo_words/completion.h"
#include "examples/grpo_words/grpo.h"

struct learner_opts {
    struct grpo_opts grpo;
    double learning_rate; /* 0: the weights never change */
    float temperature;    /* the one that the completions were drawn with */
};

/* What one step has seen; means over its tokens unless said otherwise. */
struct learner_report {
    uint32_t completions; /* how many, not a mean */
    uint32_t tokens;      /* how many, not a mean */
    double loss;
    double kl;      /* k3 estimate of the divergence from the reference */
    double clipped; /* share of tokens whose gradient the clip removed */
};

struct learner;

/* Starts from a copy of `weights`. NULL when there is no memory. */
struct learner *learner_open(const struct learner_opts *opts, const float weights[POLICY_WEIGHTS]);
/* NULL is allowed. */
void learner_close(struct learner *learner);
/* The weights of today; borrowed, and changed by the next step. */
const float *learner_weights(const struct learner *learner);
/* Adds the gradient of one completion, which must be sane: the mean over its tokens. `reference_log_probs` has a value
 * for each token. */
void learner_add(struct learner *learner, const struct completion *completion, const float *reference_log_probs,
                 float advantage);
/* Moves the weights against the mean gradient of what was added since the last step, then forgets it. */
struct learner_report learner_step(struct learner *learner);

#endif

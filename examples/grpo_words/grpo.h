/* grpo.h: the objective of Group Relative Policy Optimization and its exact gradient with respect to the logits.
 *
 * For one token with probability ratio r = exp(log_prob - old_log_prob) and advantage A the loss is
 *     - min(r A, clip(r, 1 - clip, 1 + clip) A) + kl_weight * (q - log q - 1),   q = exp(reference_log_prob - log_prob)
 * The first term is the clipped objective of PPO (Schulman et al. 2017, arXiv 1707.06347). Advantages are the rewards
 * of completions of one prompt, normalised within this group, and the second term is the estimate "k3" of the KL
 * divergence to a reference policy (Shao et al. 2024, DeepSeekMath, arXiv 2402.03300; k3: Schulman, Approximating KL
 * Divergence, 2020). It is never negative.
 *
 * Owns: nothing. Threads: any. */
#ifndef GRPO_WORDS_GRPO_H
#define GRPO_WORDS_GRPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "examples/grpo_words/policy.h"

struct grpo_opts {
    double clip;      /* e.g. 0.2 */
    double kl_weight; /* e.g. 0.01 */
};

/* What is known about one drawn token besides the logits of today's policy. */
struct grpo_token {
    int32_t token;
    double old_log_prob;       /* under the policy that drew it */
    double reference_log_prob; /* under the frozen reference */
    double advantage;
};

struct grpo_loss {
    double loss;
    double kl; /* the k3 term, not yet weighted */
    bool clipped;
};

/* advantages[i] = (rewards[i] - mean) / standard deviation over the group; all zero when all rewards are equal, because
 * then nothing can be learned from comparing. */
void grpo_advantages(const float *rewards, size_t count, float *advantages);
/* The loss of one token and, in `gradient`, its derivative by each of today's logits. */
struct grpo_loss grpo_token_loss(const struct grpo_opts *opts, const struct grpo_token *token,
                                 const float logits[POLICY_VOCAB], double gradient[POLICY_VOCAB]);

#endif

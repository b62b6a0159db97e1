#include "examples/grpo_words/grpo.h"

#include <assert.h>
#include <math.h>

/* Below this the rewards of a group differ by rounding only. */
static const double same_reward = 1e-6;

void grpo_advantages(const float *rewards, size_t count, float *advantages)
{
    double mean = 0;
    double square = 0;
    for (size_t i = 0; i < count; i++)
        mean += rewards[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        square += (rewards[i] - mean) * (rewards[i] - mean) / (double)count;
    const double deviation = sqrt(square);
    for (size_t i = 0; i < count; i++)
        advantages[i] = deviation < same_reward ? 0 : (float)((rewards[i] - mean) / deviation);
}

static double clamp(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

struct grpo_loss grpo_token_loss(const struct grpo_opts *opts, const struct grpo_token *token,
                                 const float logits[POLICY_VOCAB], double gradient[POLICY_VOCAB])
{
    assert(token->token >= 0 && token->token < POLICY_VOCAB);
    double log_probs[POLICY_VOCAB];
    policy_log_softmax(logits, log_probs);
    const double log_prob = log_probs[token->token];

    const double ratio = exp(log_prob - token->old_log_prob);
    const double plain = ratio * token->advantage;
    const double clipped = clamp(ratio, 1 - opts->clip, 1 + opts->clip) * token->advantage;
    const double log_q = token->reference_log_prob - log_prob;
    const double kl = expm1(log_q) - log_q;

    /* By log_prob: r A where the plain term is the smaller one, nothing where the clipped one is; and 1 - q. */
    const double by_log_prob = -(plain <= clipped ? plain : 0) - opts->kl_weight * expm1(log_q);
    for (int32_t i = 0; i < POLICY_VOCAB; i++)
        gradient[i] = by_log_prob * ((i == token->token ? 1 : 0) - exp(log_probs[i]));
    return (struct grpo_loss){
        .loss = -fmin(plain, clipped) + opts->kl_weight * kl,
        .kl = kl,
        .clipped = clipped < plain,
    };
}

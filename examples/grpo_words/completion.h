/* completion.h: one prompt with what the policy made of it, drawn by the rollout, judged by reward and reference.
 * Owns: nothing; struct completion is plain data. Threads: any. */
#ifndef GRPO_WORDS_COMPLETION_H
#define GRPO_WORDS_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "examples/grpo_words/policy.h"
#include "examples/grpo_words/vocabulary.h"

enum { COMPLETION_MAX = 8 }; /* tokens, the end included */

_Static_assert(PROMPT_LONGEST + COMPLETION_MAX <= POLICY_TEXT_MAX, "the policy can read what it has written");

struct completion {
    char prompt[PROMPT_LONGEST]; /* letters, no terminator */
    uint32_t prompt_length;
    uint32_t length; /* tokens: 1 to COMPLETION_MAX; the last one is POLICY_END unless the room ended first */
    int32_t tokens[COMPLETION_MAX];
    float logits[COMPLETION_MAX][POLICY_VOCAB]; /* of the policy that drew it, divided by the temperature */
    float log_probs[COMPLETION_MAX];            /* of each drawn token under these logits */
};

/* Draws tokens after the prompt, which is set already, until the end or until there is no room. */
void completion_draw(struct completion *completion, const float weights[POLICY_WEIGHTS], float temperature,
                     struct dice *dice);
/* Whether prompt, tokens and lengths are within their ranges. Ask it of a completion that came off the network before
 * anything else; the functions below assert it. */
bool completion_is_sane(const struct completion *completion);
/* The rows that gave token `at` its logits. */
struct policy_rows completion_rows(const struct completion *completion, uint32_t at);
/* The log-probability of each token under other weights. */
void completion_log_probs(const struct completion *completion, const float weights[POLICY_WEIGHTS], float temperature,
                          float log_probs[COMPLETION_MAX]);
/* Prompt and letters as text, without the end; always terminated. Returns the length. */
size_t completion_text(const struct completion *completion, char text[POLICY_TEXT_MAX + 1]);
/* 1 when the policy added at least one letter, said itself that it is done, and the whole is a word; else 0. */
float completion_reward(const struct completion *completion, const struct vocabulary *words);

#endif

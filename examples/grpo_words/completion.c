#include "examples/grpo_words/completion.h"

#include <assert.h>

/* Prompt and the first `count` tokens as the policy reads them. None of these tokens is the end. */
static size_t text_before(const struct completion *completion, uint32_t count, uint8_t text[POLICY_TEXT_MAX])
{
    size_t length = 0;
    for (uint32_t i = 0; i < completion->prompt_length; i++)
        text[length++] = (uint8_t)(completion->prompt[i] - 'a');
    for (uint32_t i = 0; i < count; i++)
        text[length++] = (uint8_t)completion->tokens[i];
    return length;
}

void completion_draw(struct completion *completion, const float weights[POLICY_WEIGHTS], float temperature,
                     struct dice *dice)
{
    uint32_t at = 0;
    do {
        const struct policy_rows rows = completion_rows(completion, at);
        double log_probs[POLICY_VOCAB];
        policy_logits(weights, &rows, temperature, completion->logits[at]);
        policy_log_softmax(completion->logits[at], log_probs);
        const uint8_t token = policy_draw(completion->logits[at], dice);
        completion->tokens[at] = token;
        completion->log_probs[at] = (float)log_probs[token];
    } while (completion->tokens[at++] != POLICY_END && at < COMPLETION_MAX);
    completion->length = at;
}

bool completion_is_sane(const struct completion *completion)
{
    if (completion->prompt_length < PROMPT_SHORTEST || completion->prompt_length > PROMPT_LONGEST ||
        completion->length < 1 || completion->length > COMPLETION_MAX)
        return false;
    for (uint32_t i = 0; i < completion->prompt_length; i++)
        if (completion->prompt[i] < 'a' || completion->prompt[i] > 'z')
            return false;
    for (uint32_t i = 0; i < completion->length; i++) {
        const int32_t highest = i + 1 == completion->length ? POLICY_END : POLICY_END - 1;
        if (completion->tokens[i] < 0 || completion->tokens[i] > highest)
            return false;
    }
    return completion->length == COMPLETION_MAX || completion->tokens[completion->length - 1] == POLICY_END;
}

struct policy_rows completion_rows(const struct completion *completion, uint32_t at)
{
    uint8_t text[POLICY_TEXT_MAX];
    return policy_rows_for(text, text_before(completion, at, text));
}

void completion_log_probs(const struct completion *completion, const float weights[POLICY_WEIGHTS], float temperature,
                          float log_probs[COMPLETION_MAX])
{
    assert(completion_is_sane(completion));
    for (uint32_t at = 0; at < completion->length; at++) {
        const struct policy_rows rows = completion_rows(completion, at);
        float logits[POLICY_VOCAB];
        double all[POLICY_VOCAB];
        policy_logits(weights, &rows, temperature, logits);
        policy_log_softmax(logits, all);
        log_probs[at] = (float)all[completion->tokens[at]];
    }
}

size_t completion_text(const struct completion *completion, char text[POLICY_TEXT_MAX + 1])
{
    assert(completion_is_sane(completion));
    uint8_t letters[POLICY_TEXT_MAX];
    const bool ended = completion->tokens[completion->length - 1] == POLICY_END;
    const uint32_t count = completion->length - (ended ? 1 : 0);
    const size_t length = text_before(completion, count, letters);
    for (size_t i = 0; i < length; i++)
        text[i] = (char)('a' + letters[i]);
    text[length] = '\0';
    return length;
}

float completion_reward(const struct completion *completion, const struct vocabulary *words)
{
    char text[POLICY_TEXT_MAX + 1];
    const size_t length = completion_text(completion, text);
    const bool ended = completion->tokens[completion->length - 1] == POLICY_END;
    const bool added = length > completion->prompt_length;
    return ended && added && vocabulary_has(words, text, length) ? 1.0f : 0.0f;
}

#include "examples/grpo_words/policy.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* log(0.3 / 0.7 * 26): the end against 26 equal letters. */
static const float end_logit = 2.41f;

void policy_init(float weights[POLICY_WEIGHTS])
{
    memset(weights, 0, POLICY_WEIGHTS * sizeof(*weights));
    for (size_t row = 0; row < POLICY_ROWS_LAST; row++)
        weights[row * POLICY_VOCAB + POLICY_END] = end_logit;
}

/* The letter `back` places before the end of the text; before its beginning stands POLICY_END. */
static uint32_t letter_back(const uint8_t *text, size_t length, size_t back)
{
    return back <= length ? text[length - back] : POLICY_END;
}

/* FNV-1a, folded to the number of rows. */
static uint32_t text_hash(const uint8_t *text, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ text[i]) * 16777619u;
    return (hash ^ hash >> 16) & (POLICY_ROWS_TEXT - 1);
}

struct policy_rows policy_rows_for(const uint8_t *text, size_t length)
{
    assert(length <= POLICY_TEXT_MAX);
    const uint32_t last = letter_back(text, length, 1);
    const uint32_t pair = letter_back(text, length, 2) * POLICY_VOCAB + last;
    const uint32_t triple = letter_back(text, length, 3) * POLICY_ROWS_PAIR + pair;
    return (struct policy_rows){ {
        (uint32_t)length * POLICY_VOCAB + last,
        POLICY_ROWS_LAST + pair,
        POLICY_ROWS_LAST + POLICY_ROWS_PAIR + triple,
        POLICY_ROWS_LAST + POLICY_ROWS_PAIR + POLICY_ROWS_TRIPLE + text_hash(text, length),
    } };
}

void policy_logits(const float weights[POLICY_WEIGHTS], const struct policy_rows *rows, float temperature,
                   float logits[POLICY_VOCAB])
{
    assert(temperature > 0);
    for (size_t token = 0; token < POLICY_VOCAB; token++)
        logits[token] = 0;
    for (size_t feature = 0; feature < POLICY_FEATURES; feature++) {
        const float *row = weights + (size_t)rows->row[feature] * POLICY_VOCAB;
        for (size_t token = 0; token < POLICY_VOCAB; token++)
            logits[token] += row[token];
    }
    for (size_t token = 0; token < POLICY_VOCAB; token++)
        logits[token] /= temperature;
}

void policy_log_softmax(const float logits[POLICY_VOCAB], double log_probs[POLICY_VOCAB])
{
    double highest = logits[0];
    for (size_t token = 1; token < POLICY_VOCAB; token++)
        highest = fmax(highest, logits[token]);
    double sum = 0;
    for (size_t token = 0; token < POLICY_VOCAB; token++)
        sum += exp(logits[token] - highest);
    const double log_sum = highest + log(sum);
    for (size_t token = 0; token < POLICY_VOCAB; token++)
        log_probs[token] = logits[token] - log_sum;
}

uint8_t policy_draw(const float logits[POLICY_VOCAB], struct dice *dice)
{
    double log_probs[POLICY_VOCAB];
    policy_log_softmax(logits, log_probs);
    double left = dice_unit(dice);
    for (uint8_t token = 0; token + 1 < POLICY_VOCAB; token++) {
        left -= exp(log_probs[token]);
        if (left < 0)
            return token;
    }
    return POLICY_VOCAB - 1; /* also where rounding leaves a crumb */
}

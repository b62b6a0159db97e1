/* policy.h: the trainable character policy: given the text so far, how likely is each next letter, or the end.
 *
 * It is log-linear: the logits of the next token are the sum of four rows of one table of weights, chosen by
 *   0. the length of the text and its last letter,
 *   1. its last two letters,
 *   2. its last three letters,
 *   3. a hash of the whole text.
 * Rows 0 to 2 are shared by many texts and learn fast; row 3 can hold what is true of one text only. The sum makes the
 * gradient exact and simple: each of the four rows gets the gradient of the logits.
 *
 * Owns: nothing. Weights are a dense float array [POLICY_ROWS][POLICY_VOCAB] in the caller's memory, so they can be a
 * tensor that came off the network. Threads: any; nothing is written but what the caller passes. */
#ifndef GRPO_WORDS_POLICY_H
#define GRPO_WORDS_POLICY_H

#include <stddef.h>
#include <stdint.h>

#include "examples/grpo_words/dice.h"

enum {
    POLICY_END = 26,   /* the token that ends a completion; a to z are 0 to 25 */
    POLICY_VOCAB = 27, /* letters and the end */
    POLICY_TEXT_MAX = 15,
    POLICY_FEATURES = 4,
    POLICY_ROWS_LAST = (POLICY_TEXT_MAX + 1) * POLICY_VOCAB,
    POLICY_ROWS_PAIR = POLICY_VOCAB * POLICY_VOCAB,
    POLICY_ROWS_TRIPLE = POLICY_ROWS_PAIR * POLICY_VOCAB,
    POLICY_ROWS_TEXT = 1 << 16,
    POLICY_ROWS = POLICY_ROWS_LAST + POLICY_ROWS_PAIR + POLICY_ROWS_TRIPLE + POLICY_ROWS_TEXT,
    POLICY_WEIGHTS = POLICY_ROWS * POLICY_VOCAB, /* 2,332,260 floats, 9.3 MB */
};

/* The rows whose sum gives the logits. */
struct policy_rows {
    uint32_t row[POLICY_FEATURES];
};

/* Weights that know nothing: every letter is as likely as any other, the end comes with probability 0.3. */
void policy_init(float weights[POLICY_WEIGHTS]);
/* The rows for a text of `length` letters (0 to 25 each; at most POLICY_TEXT_MAX of them). */
struct policy_rows policy_rows_for(const uint8_t *text, size_t length);
/* The logits of the next token, divided by the temperature (above zero). */
void policy_logits(const float weights[POLICY_WEIGHTS], const struct policy_rows *rows, float temperature,
                   float logits[POLICY_VOCAB]);
/* Draws a token by the probabilities that the logits give. */
uint8_t policy_draw(const float logits[POLICY_VOCAB], struct dice *dice);

/* Log-softmax of the logits, in double: log_probs may be summed and subtracted without loss that matters. */
void policy_log_softmax(const float logits[POLICY_VOCAB], double log_probs[POLICY_VOCAB]);

#endif

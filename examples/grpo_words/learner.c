#include "examples/grpo_words/learner.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const float momentum_decay = 0.9f;
static const float square_decay = 0.99f;
/* Well above the gradient of the KL term alone, so that a row whose groups all agree drifts back slowly; well below
 * that of a token which decided a reward. */
static const float square_floor = 1e-4f;

struct learner {
    struct learner_opts opts;
    float *weights;
    float *gradient; /* sum over the completions added; zero outside touched rows */
    float *momentum;
    float *square;
    uint32_t *row_steps;    /* steps that used the row: each row has its own bias correction */
    uint32_t *touched_rows; /* no two equal */
    bool *row_touched;
    uint32_t touched_count;
    struct learner_report sums; /* since the last step */
};

struct learner *learner_open(const struct learner_opts *opts, const float weights[POLICY_WEIGHTS])
{
    struct learner *learner = calloc(1, sizeof(*learner));
    if (learner == NULL)
        return NULL;
    learner->opts = *opts;
    learner->weights = malloc(POLICY_WEIGHTS * sizeof(float));
    learner->gradient = calloc(POLICY_WEIGHTS, sizeof(float));
    learner->momentum = calloc(POLICY_WEIGHTS, sizeof(float));
    learner->square = calloc(POLICY_WEIGHTS, sizeof(float));
    learner->row_steps = calloc(POLICY_ROWS, sizeof(uint32_t));
    learner->touched_rows = calloc(POLICY_ROWS, sizeof(uint32_t));
    learner->row_touched = calloc(POLICY_ROWS, sizeof(bool));
    if (learner->weights == NULL || learner->gradient == NULL || learner->momentum == NULL || learner->square == NULL ||
        learner->row_steps == NULL || learner->touched_rows == NULL || learner->row_touched == NULL) {
        learner_close(learner);
        return NULL;
    }
    memcpy(learner->weights, weights, POLICY_WEIGHTS * sizeof(float));
    return learner;
}

void learner_close(struct learner *learner)
{
    if (learner == NULL)
        return;
    free(learner->weights);
    free(learner->gradient);
    free(learner->momentum);
    free(learner->square);
    free(learner->row_steps);
    free(learner->touched_rows);
    free(learner->row_touched);
    free(learner);
}

const float *learner_weights(const struct learner *learner)
{
    return learner->weights;
}

static void gradient_add(struct learner *learner, const struct policy_rows *rows, const double *by_logit, double scale)
{
    for (size_t feature = 0; feature < POLICY_FEATURES; feature++) {
        const uint32_t row = rows->row[feature];
        float *sum = learner->gradient + (size_t)row * POLICY_VOCAB;
        for (size_t token = 0; token < POLICY_VOCAB; token++)
            sum[token] += (float)(by_logit[token] * scale);
        if (!learner->row_touched[row]) {
            learner->row_touched[row] = true;
            learner->touched_rows[learner->touched_count++] = row;
        }
    }
}

void learner_add(struct learner *learner, const struct completion *completion, const float *reference_log_probs,
                 float advantage)
{
    assert(completion_is_sane(completion));
    const float temperature = learner->opts.temperature;
    const double scale = 1.0 / (completion->length * (double)temperature);
    for (uint32_t at = 0; at < completion->length; at++) {
        const struct grpo_token token = {
            .token = completion->tokens[at],
            .old_log_prob = completion->log_probs[at],
            .reference_log_prob = reference_log_probs[at],
            .advantage = advantage,
        };
        const struct policy_rows rows = completion_rows(completion, at);
        float logits[POLICY_VOCAB];
        double by_logit[POLICY_VOCAB];
        policy_logits(learner->weights, &rows, temperature, logits);
        const struct grpo_loss loss = grpo_token_loss(&learner->opts.grpo, &token, logits, by_logit);
        gradient_add(learner, &rows, by_logit, scale);
        learner->sums.loss += loss.loss;
        learner->sums.kl += loss.kl;
        learner->sums.clipped += loss.clipped ? 1 : 0;
    }
    learner->sums.tokens += completion->length;
    learner->sums.completions++;
}

static void row_step(struct learner *learner, uint32_t row)
{
    const uint32_t step = ++learner->row_steps[row];
    const float momentum_scale = 1 / (1 - powf(momentum_decay, (float)step));
    const float square_scale = 1 / (1 - powf(square_decay, (float)step));
    const float mean = 1 / (float)learner->sums.completions;
    const float rate = (float)learner->opts.learning_rate;
    const size_t first = (size_t)row * POLICY_VOCAB;
    for (size_t i = first; i < first + POLICY_VOCAB; i++) {
        const float gradient = learner->gradient[i] * mean;
        learner->momentum[i] += (1 - momentum_decay) * (gradient - learner->momentum[i]);
        learner->square[i] += (1 - square_decay) * (gradient * gradient - learner->square[i]);
        learner->weights[i] -=
            rate * learner->momentum[i] * momentum_scale / (sqrtf(learner->square[i] * square_scale) + square_floor);
        learner->gradient[i] = 0;
    }
    learner->row_touched[row] = false;
}

struct learner_report learner_step(struct learner *learner)
{
    for (uint32_t i = 0; i < learner->touched_count; i++)
        row_step(learner, learner->touched_rows[i]);
    learner->touched_count = 0;

    struct learner_report report = learner->sums;
    const double tokens = report.tokens > 0 ? report.tokens : 1;
    report.loss /= tokens;
    report.kl /= tokens;
    report.clipped /= tokens;
    learner->sums = (struct learner_report){ 0 };
    return report;
}

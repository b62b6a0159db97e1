#include <stdlib.h>

#include "examples/grpo_words/stage.h"
#include "examples/grpo_words/weights.h"
#include "examples/grpo_words/workers.h"

static const char *const reads[] = { "prompt", "tokens", "mask" };

struct reference {
    float *weights;
    float temperature;
};

static void compare(void *state, struct sample *sample)
{
    const struct reference *reference = state;
    completion_log_probs(&sample->completion, reference->weights, reference->temperature, sample->reference_log_probs);
}

tq_status reference_run(struct worker *worker, struct tq_error *err)
{
    struct reference reference = {
        .weights = malloc(POLICY_WEIGHTS * sizeof(float)),
        .temperature = (float)worker->settings->temperature,
    };
    const struct stage stage = {
        .reads = reads,
        .n_reads = sizeof(reads) / sizeof(*reads),
        .work = compare,
        .state = &reference,
        .pack = samples_pack_reference,
    };
    int64_t version = 0;
    if (reference.weights == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "no memory for the reference's weights");
    tq_status status = weights_receive(worker, REFERENCE_PARTITION, reference.weights, &version, err);
    if (status == TQ_OK)
        status = stage_run(worker, &stage, err);
    free(reference.weights);
    return status;
}

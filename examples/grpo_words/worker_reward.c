#include "examples/grpo_words/stage.h"
#include "examples/grpo_words/workers.h"

static const char *const reads[] = { "prompt", "tokens" };

static void judge(void *state, struct sample *sample)
{
    const struct vocabulary *words = state;
    sample->reward = completion_reward(&sample->completion, words);
}

tq_status reward_run(struct worker *worker, struct tq_error *err)
{
    struct vocabulary *words = NULL;
    char why[TQ_MESSAGE_MAX];
    if (!vocabulary_open(worker->settings->words, &words, why, sizeof(why)))
        return tq_fail(err, TQ_NOT_FOUND, NULL, "%s", why);
    const struct stage stage = {
        .reads = reads,
        .n_reads = sizeof(reads) / sizeof(*reads),
        .work = judge,
        .state = words,
        .pack = samples_pack_reward,
    };
    const tq_status status = stage_run(worker, &stage, err);
    vocabulary_close(words);
    return status;
}

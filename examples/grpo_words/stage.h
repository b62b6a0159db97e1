/* stage.h: a worker that adds one field to every sample of a run: fetch a chunk, get what it reads, work on each
 * sample, put the result to the same samples. Owns: its samples while it runs. Threads: one. */
#ifndef GRPO_WORDS_STAGE_H
#define GRPO_WORDS_STAGE_H

#include "examples/grpo_words/samples.h"
#include "examples/grpo_words/worker.h"

struct stage {
    const char *const *reads; /* fields; prompt and tokens are among them */
    size_t n_reads;
    /* Fills in what the stage adds. */
    void (*work)(void *state, struct sample *sample);
    void *state;
    /* The columns to put: one of the functions of samples.h. */
    const struct tq_batch *(*pack)(struct samples_pack *pack, const struct samples *samples);
};

/* Returns when every sample of every step went through. */
TQ_MUST_CHECK tq_status stage_run(struct worker *worker, const struct stage *stage, struct tq_error *err);

#endif

/* progress.h: how far a run is, for people: one line that is written over at a terminal, a line now and then elsewhere.
 * Owns: nothing. Threads: one. */
#ifndef GRPO_WORDS_PROGRESS_H
#define GRPO_WORDS_PROGRESS_H

#include "examples/grpo_words/report.h"

struct progress {
    FILE *out;
    bool is_terminal;
    uint64_t steps; /* of the whole run */
    int64_t begin_ns;
    int64_t next_ns; /* nothing is shown before */
    bool line_open;
};

void progress_init(struct progress *progress, uint64_t steps, FILE *out);
/* Shows the last step when it is time again, or when it is the last of all. */
void progress_show(struct progress *progress, const struct report *report);
/* Ends a line that would be written over. */
void progress_finish(struct progress *progress);

#endif

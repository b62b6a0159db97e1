/* cast.h: everybody who takes part in a run, as children of the launcher: a controller, two storage units, four
 * workers.
 *
 * Owns: the processes; cast_stop ends them all. Threads: one, which should have no signal handlers for SIGCHLD. */
#ifndef GRPO_WORDS_CAST_H
#define GRPO_WORDS_CAST_H

#include "examples/grpo_words/child.h"
#include "examples/grpo_words/settings.h"

enum cast_role {
    CAST_CONTROLLER,
    CAST_UNIT_SHARED, /* bulk over shared memory: remote reads */
    CAST_UNIT_TCP,    /* bulk over TCP: rendezvous */
    CAST_TRAINER,
    CAST_REFERENCE,
    CAST_REWARD,
    CAST_ROLLOUT,
    CAST_COUNT,
    CAST_FIRST_WORKER = CAST_TRAINER,
};

enum { CAST_ADDRESS_BYTES = 200, CAST_WHY_BYTES = 600 };

struct cast {
    struct child children[CAST_COUNT];
    char programs[CHILD_PATH_BYTES]; /* the folder of this program, where the daemons lie too */
    char controller[CAST_ADDRESS_BYTES];
    char why[CAST_WHY_BYTES]; /* after a failure: one line, and the end of the log that explains it */
};

/* Starts the daemons, waiting for each to be ready, then the workers. Logs go to settings->output. False: see why;
 * cast_stop is still needed. */
bool cast_start(struct cast *cast, const struct settings *settings);
/* Reads what the workers write until every one of them has ended well. False when one did not, when a daemon ended,
 * when `interrupt` (a descriptor) became readable, or after `time_limit_ms`. */
bool cast_wait(struct cast *cast, int interrupt, int64_t time_limit_ms, child_line_fn *each, void *user);
/* Ends whoever is left, workers first. False when a daemon had to be killed or did not end well. */
bool cast_stop(struct cast *cast);

#endif

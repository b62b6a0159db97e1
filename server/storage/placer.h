/* server/storage/placer.h: a thread that finds memory for large puts, so that the loop never waits while the system
 * hands out pages. Owns: its thread. Threads: post on the loop; jobs run on the placer's thread, in order. */
#ifndef TQ_STORAGE_PLACER_H
#define TQ_STORAGE_PLACER_H

#include <pthread.h>
#include <stdbool.h>

#include "tq/status.h"
#include "transport/base/list.h"

/* Embedded in what it is about. */
struct tq_placer_job {
    struct tq_list node;
    void (*run)(void *user);
    void *user;
};

struct tq_placer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct tq_list jobs; /* under lock */
    bool is_closing;     /* under lock */
    bool has_thread;
};

/* Fails with RESOURCE_EXHAUSTED. */
TQ_MUST_CHECK tq_status tq_placer_open(struct tq_placer *placer, struct tq_error *err);
void tq_placer_post(struct tq_placer *placer, struct tq_placer_job *job);
/* Runs what was posted, then ends. A zeroed placer is allowed. */
void tq_placer_close(struct tq_placer *placer);

#endif

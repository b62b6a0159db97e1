#include "server/storage/placer.h"

#include <string.h>

#include "transport/base/assert.h"

/* The next job; NULL: closing, and none is left. */
static struct tq_placer_job *wait_for_job(struct tq_placer *placer)
{
    pthread_mutex_lock(&placer->lock);
    while (tq_list_empty(&placer->jobs) && !placer->is_closing)
        pthread_cond_wait(&placer->changed, &placer->lock);
    struct tq_list *node = tq_list_take_head(&placer->jobs);
    pthread_mutex_unlock(&placer->lock);
    return node != NULL ? tq_container_of(node, struct tq_placer_job, node) : NULL;
}

static void *work(void *user)
{
    struct tq_placer_job *job;
    pthread_setname_np(pthread_self(), "tq-placer");
    while ((job = wait_for_job(user)) != NULL)
        job->run(job->user); /* the job may be gone afterwards */
    return NULL;
}

tq_status tq_placer_open(struct tq_placer *placer, struct tq_error *err)
{
    pthread_mutex_init(&placer->lock, NULL);
    pthread_cond_init(&placer->changed, NULL);
    tq_list_init(&placer->jobs);
    int failed = pthread_create(&placer->thread, NULL, work, placer);
    if (failed != 0)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "THREADS", "no thread to find memory: %s", strerror(failed));
    placer->has_thread = true;
    return TQ_OK;
}

void tq_placer_post(struct tq_placer *placer, struct tq_placer_job *job)
{
    pthread_mutex_lock(&placer->lock);
    TQ_ASSERT(!placer->is_closing);
    tq_list_add_tail(&placer->jobs, &job->node);
    pthread_cond_signal(&placer->changed);
    pthread_mutex_unlock(&placer->lock);
}

void tq_placer_close(struct tq_placer *placer)
{
    if (placer->jobs.next == NULL) /* never opened */
        return;
    pthread_mutex_lock(&placer->lock);
    placer->is_closing = true;
    pthread_cond_signal(&placer->changed);
    pthread_mutex_unlock(&placer->lock);
    if (placer->has_thread)
        pthread_join(placer->thread, NULL);
    pthread_cond_destroy(&placer->changed);
    pthread_mutex_destroy(&placer->lock);
}

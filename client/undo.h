/* client/undo.h: takes back samples that were made for a put which then failed: bytes first, then the table.
 * Owns: itself. Its answers arrive on the runtime's driver thread; its units are let go by the next undo or by close,
 * because closing a channel is nothing for the driver. Threads: any. */
#ifndef TQ_CLIENT_UNDO_H
#define TQ_CLIENT_UNDO_H

#include <pthread.h>

#include "client/meta.h"

struct tq_client;
struct tq_undo;

struct tq_undos {
    pthread_mutex_t lock;
    pthread_cond_t quiet;  /* running became 0 */
    size_t running;        /* under lock */
    struct tq_undo *ended; /* under lock */
};

void tq_undos_init(struct tq_undos *undos);
/* Waits for those that run: each ends by its own short deadline. */
void tq_undos_fini(struct tq_undos *undos);

/* Best effort and without waiting: the samples never became ready, so what is left behind is only unused room. */
void tq_undo_start(struct tq_client *client, const struct tq_meta *meta);

#endif

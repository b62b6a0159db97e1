/* transport/base/mailbox.h: many threads post, one thread takes. The poster learns whether it must wake the taker: only
 * when the box was empty, so that a burst costs one wake-up. Owns: the eventfd, not the letters. Threads: post from
 * any, take from the owner. */
#ifndef TQ_BASE_MAILBOX_H
#define TQ_BASE_MAILBOX_H

#include <pthread.h>
#include <stdbool.h>

#include "transport/base/list.h"
#include "transport/base/seam.h"

struct tq_mailbox {
    pthread_mutex_t lock;
    struct tq_list letters; /* under lock */
    bool closed;            /* under lock */
    int wake_fd;            /* eventfd, readable while letters wait or after tq_mailbox_wake; -1 before open */
};

/* Fails with RESOURCE_EXHAUSTED (no descriptor). */
TQ_MUST_CHECK tq_status tq_mailbox_open(struct tq_mailbox *box, struct tq_error *err);
/* The letters must have been taken. A zeroed or failed box is allowed. */
void tq_mailbox_close(struct tq_mailbox *box);

/* Appends the node. False when the box is shut: the letter stays the caller's. */
TQ_MUST_CHECK bool tq_mailbox_post(struct tq_mailbox *box, struct tq_list *letter);
/* Moves all letters to `out` (initialised here), in order, and clears the wake signal. */
void tq_mailbox_take_all(struct tq_mailbox *box, struct tq_list *out);
/* Refuses letters from now on. */
void tq_mailbox_shut(struct tq_mailbox *box);
/* Makes wake_fd readable without a letter. */
void tq_mailbox_wake(struct tq_mailbox *box);

#endif

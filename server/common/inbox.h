/* server/common/inbox.h: how other threads (bulk thread, driver, senders of inline frames) hand work to the loop of a
 * server. A letter is embedded in what it is about, so that posting allocates nothing and cannot fail; a letter that
 * the loop can no longer take is kept until close and taken there. Owns: nothing of the letters. Threads: post from
 * any; close after the server is closed. */
#ifndef TQ_SERVER_INBOX_H
#define TQ_SERVER_INBOX_H

#include <pthread.h>

#include "tq/rpc.h"
#include "transport/base/list.h"

/* Zero it, set `take` and `user`. One letter is in at most one inbox, once. */
struct tq_letter {
    struct tq_list node;
    void (*take)(void *user); /* on the loop thread, or in tq_inbox_close */
    void *user;
};

struct tq_inbox {
    pthread_mutex_t lock;
    struct tq_server *server; /* under lock; NULL: the loop takes no more */
    struct tq_list letters;   /* under lock */
    bool is_announced;        /* under lock: the loop will look */
};

void tq_inbox_init(struct tq_inbox *inbox, struct tq_server *server);
void tq_inbox_post(struct tq_inbox *inbox, struct tq_letter *letter);
/* From now on letters wait for tq_inbox_take_all. Call it before the server is closed. */
void tq_inbox_shut(struct tq_inbox *inbox);
/* Takes what waits, on this thread. Only when the loop is gone. */
void tq_inbox_take_all(struct tq_inbox *inbox);
/* Nothing may wait. A zeroed inbox is allowed. */
void tq_inbox_fini(struct tq_inbox *inbox);

#endif

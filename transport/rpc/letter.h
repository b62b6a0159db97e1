/* transport/rpc/letter.h: what other threads put into a server's mailbox: an answer, a function to run.
 * Owns: nothing. Threads: written by one, read on the loop thread. */
#ifndef TQ_RPC_LETTER_H
#define TQ_RPC_LETTER_H

#include "transport/base/list.h"

struct tq_letter {
    struct tq_list node;
    void (*read)(void *server, struct tq_letter *letter); /* loop thread; the letter is the reader's */
};

#endif

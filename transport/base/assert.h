/* transport/base/assert.h: checks of our own promises, on in every build. Never used on bytes from a peer, a file or a
 * command line: those are answered with a status.
 * Owns: nothing. Threads: any. */
#ifndef TQ_BASE_ASSERT_H
#define TQ_BASE_ASSERT_H

#include "tq/status.h"

/* Prints the broken promise to stderr and aborts. */
__attribute__((noreturn, cold)) void tq_assert_failed(const char *file, int line, const char *function,
                                                      const char *promise);

#define TQ_ASSERT(promise)                                                                                             \
    do {                                                                                                               \
        if (__builtin_expect(!(promise), 0))                                                                           \
            tq_assert_failed(__FILE__, __LINE__, __func__, #promise);                                                  \
    } while (0)

#endif

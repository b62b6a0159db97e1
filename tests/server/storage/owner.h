/* tests/server/storage/owner.h: a process that only exposes memory, so that a test can stop or kill it while a unit
 * reads from it. The test program starts itself again for it. Owns: nothing. Threads: the test's. */
#ifndef TQ_TESTS_OWNER_H
#define TQ_TESTS_OWNER_H

#include "tests/server/storage/child.h"
#include "tests/server/storage/writer.h"

/* main() of the owner: exposes `bytes` bytes, says how, waits to be ended. Returns an exit code. */
int owner_main(const char *transport, const char *bytes);

struct owner {
    struct child child;
    uint8_t address[2048], key[1024], ticket[256];
    size_t address_len;
    struct tq_region region;
};

/* transport: "auto" or "tcp". */
void owner_start(struct owner *owner, const char *transport, uint64_t bytes);

/* A put whose bytes lie with the owner: n cells of `len` bytes each, one opaque column "x". The future is to be waited
 * for and dropped. */
struct tq_future *owner_put_start(struct writer *writer, const struct owner *owner, const struct rows *rows,
                                  uint64_t len, int64_t deadline_ns);

#endif

/* tests/transport/bulk/pair.h: this process and a peer, each with a bulk runtime, and the reads that most tests do.
 * Owns: both. Threads: the test's. */
#ifndef TQ_TESTS_BULK_PAIR_H
#define TQ_TESTS_BULK_PAIR_H

#include "tests/transport/bulk/peer.h"

struct pair {
    struct tq_bulk *bulk;
    struct peer peer;
};

/* "posix" or "tcp" for each. */
void pair_start(struct pair *pair, const char *mine, const char *theirs);
void pair_stop(struct pair *pair);
/* For after the peer was killed. */
void pair_stop_alone(struct pair *pair);

/* A block or an exposure of the peer, filled from `seed`. */
void pair_make(struct pair *pair, enum peer_op op, size_t len, uint64_t version, uint64_t seed,
               struct peer_answer *out_answer);
/* Reads `len` bytes of the frame; by the default deadline of 10 s. */
tq_status pair_read(struct pair *pair, const struct peer_region *from, uint64_t version, size_t len,
                    enum tq_bulk_engine engine, uint8_t *into, struct tq_bulk_result *out_result, uint32_t *out_crc);
/* The next transfer works: reads a fresh exposure of 1 MiB by rendezvous. */
void pair_check_next(struct pair *pair);

struct later {
    struct pair *pair;
    struct tq_region region;
    struct peer_region packed;
    struct tq_bulk_range range;
    struct tq_bulk_result result;
    int64_t begun_ns, ended_ns;
    int done_fd;
};

/* A read that goes on while the test does other things. */
void later_start(struct later *later, struct pair *pair, const struct peer_region *from, uint64_t version, size_t len,
                 enum tq_bulk_engine engine, uint8_t *into, int64_t timeout_ms);
/* Waits at most `ms`; fails the test when it has not ended by then. Returns its status. */
tq_status later_wait(struct later *later, int ms);

#endif

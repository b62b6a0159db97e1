/* tests/transport/bulk/peer.h: a second process with a bulk runtime of its own, ordered about over a socket pair. It is
 * this test program, started again before UCX is: UCX does not survive fork().
 * Owns: the child. Threads: the test's. */
#ifndef TQ_TESTS_BULK_PEER_H
#define TQ_TESTS_BULK_PEER_H

#include <sys/types.h>

#include "tq/bulk.h"

enum { PEER_KEY_MAX = 400, PEER_ADDRESS_MAX = 1200 };

/* A region as it travels between the processes. */
struct peer_region {
    uint64_t id, base, length, frame;
    uint32_t kind, key_len;
    uint8_t key[PEER_KEY_MAX];
    uint8_t ticket[16];
};

enum peer_op {
    PEER_BLOCK,    /* len, version, seed: a block of the arena; answers with its region; handle: its number */
    PEER_FREE,     /* handle */
    PEER_PUBLISH,  /* handle, version */
    PEER_SPOIL,    /* handle, at: flips a bit of the payload behind the version's back */
    PEER_EXPOSE,   /* len, seed: heap; answers with its region; handle: its number */
    PEER_UNEXPOSE, /* handle, ms; len in the answer: milliseconds that it took */
    PEER_READ,     /* region, len, version, ms, engine: reads it; answers with status, digest and bytes by engine */
    PEER_STATS,
    PEER_ADDRESS,
    PEER_FDS,
};

struct peer_order {
    enum peer_op op;
    uint64_t len, version, seed, handle, at, ms;
    enum tq_bulk_engine engine;
    struct peer_region region;
    uint32_t address_len;
    uint8_t address[PEER_ADDRESS_MAX];
};

struct peer_answer {
    tq_status status;
    uint64_t handle, len;
    uint32_t crc32c;
    struct peer_region region;
    struct tq_bulk_result result;
    struct tq_bulk_stats stats;
    uint32_t address_len;
    uint8_t address[PEER_ADDRESS_MAX];
};

struct peer {
    pid_t pid;
    int wire;
    struct tq_bytes address;
    uint8_t address_bytes[PEER_ADDRESS_MAX];
};

/* In main, first: runs the peer's side and exits when this process was started as one. */
void peer_main(int argc, char **argv);

/* `mode`: "posix" or "tcp". */
void peer_start(struct peer *peer, const char *mode);
void peer_order(struct peer *peer, const struct peer_order *order, struct peer_answer *out_answer);
/* The two halves of it, for orders that take long. */
void peer_send(struct peer *peer, const struct peer_order *order);
void peer_hear(struct peer *peer, struct peer_answer *out_answer);
/* Waits for its end; it must be a clean one. */
void peer_stop(struct peer *peer);
/* Kills and reaps it. */
void peer_kill(struct peer *peer);

/* The bytes of a seed, and their check. */
void peer_fill(uint8_t *bytes, size_t len, uint64_t seed);
bool peer_is_filled(const uint8_t *bytes, size_t len, uint64_t seed);
struct tq_region peer_region(const struct peer_region *from);
void peer_region_pack(const struct tq_region *from, uint64_t frame, struct peer_region *out_region);
int peer_count_fds(void);

#endif

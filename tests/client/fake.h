/* tests/client/fake.h: a controller and two storage units in this process, at one address, inline bytes only, that keep
 * what they get and lie when told to.
 * Owns: its server. Threads: handlers run on the server's loop; counters may be read from any thread. */
#ifndef TQ_TESTS_CLIENT_FAKE_H
#define TQ_TESTS_CLIENT_FAKE_H

#include <stdatomic.h>

#include "tq/bytes.h"
#include "tq/rpc.h"
#include "tq/v1/storage.pb-c.h"
#include "transport/base/arena.h"

enum { FAKE_UNITS = 2, FAKE_CELLS_MAX = 4096 };

/* What a Get is about to answer: change anything. The bytes of region 0 are `bytes`, writable. */
struct fake_answer {
    Tq__V1__GetResponse *response;
    uint8_t *bytes;
    size_t n_bytes;
    struct tq_arena *arena; /* for longer columns */
};

struct fake_cell {
    const char *field;
    uint64_t index;
    Tq__V1__Field declaration;
    Tq__V1__Shapes shapes; /* of this cell */
    uint8_t *bytes;
    size_t len;
};

struct fake {
    struct tq_runtime *runtime;
    struct tq_server *server;
    struct tq_arena *arena;
    struct fake_cell cells[FAKE_CELLS_MAX]; /* loop thread */
    size_t n_cells;
    uint64_t next_index;
    /* Lies: set before a call. */
    atomic_int wrong_put_digests; /* so many puts answer a wrong digest */
    atomic_int short_put_digests; /* puts leave the last digest out */
    atomic_int fail_unit;         /* puts of this unit are refused */
    atomic_int fail_get_unit;     /* gets from this unit are refused */
    atomic_int hold_unit;         /* puts of this unit are never answered */
    void (*_Atomic lie)(struct fake_answer *answer);
    struct tq_bytes bulk; /* address that the units are said to have */
    /* What happened. */
    atomic_int inserts, puts, gets, notifies, unit_clears, table_clears, pins /* answered */, releases;
};

void fake_open(struct fake *fake);
void fake_close(struct fake *fake);
const char *fake_address(const struct fake *fake);

#endif

/* tests/server/storage/fake_engine.h: plain memory that counts what is out and can refuse. */
#ifndef TQ_TESTS_FAKE_ENGINE_H
#define TQ_TESTS_FAKE_ENGINE_H

#include "server/storage/engine.h"

struct fake_engine {
    size_t places, bytes; /* out now */
    size_t refuse_at;     /* the nth allocation from now fails, once; 0: none */
    uint64_t last_published;
};

struct tq_engine fake_engine(struct fake_engine *fake);

#endif

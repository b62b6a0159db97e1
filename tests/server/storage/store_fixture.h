/* tests/server/storage/store_fixture.h: a store over a fake engine, with counted allocations that can be made to fail,
 * and one-line puts of one opaque field in partition "p". */
#ifndef TQ_TESTS_STORE_FIXTURE_H
#define TQ_TESTS_STORE_FIXTURE_H

#include "server/storage/store.h"
#include "tests/server/storage/fake_engine.h"

struct fixture {
    struct fake_engine fake;
    struct tq_store store;
    struct tq_seam seam;
    size_t fail_at; /* the nth allocation fails, once; 0: none */
    size_t out;     /* allocations that have not come back */
};

int open_fixture(void **state);
int close_fixture(void **state);
tq_status open_put(struct fixture *f, const char *partition, const char *field, const uint64_t *index,
                   const uint32_t *generation, size_t n, const uint64_t *lengths, struct tq_put *put,
                   struct tq_error *err);
tq_status open_one(struct fixture *f, const char *field, uint64_t index, uint32_t generation, uint64_t len,
                   struct tq_put *put, struct tq_error *err);
tq_status put_one(struct fixture *f, const char *field, uint64_t index, uint32_t generation, uint64_t len, int value,
                  struct tq_error *err);
struct tq_frame *peek_cell(struct fixture *f, const char *field, uint64_t index, uint32_t generation);
struct tq_clear_counts clear_one(struct fixture *f, uint64_t index, uint32_t generation, const char *field);

#endif

/* tests/server/storage/writer.h: a client made of stubs and tq_bulk_read only, so that the tests of the unit do not
 * lean on the client library: puts columns, gets them, compares digests. */
#ifndef TQ_TESTS_WRITER_H
#define TQ_TESTS_WRITER_H

#include "tq/bulk.h"
#include "tq/v1/storage.tq.h"

struct writer {
    struct tq_runtime *runtime;
    struct tq_channel *channel;
    struct tq_bulk *bulk;
    int64_t put_deadline_ns; /* 0: the default */
};

/* Opens everything; asserts that it works. */
void writer_open(struct writer *writer, const char *address, enum tq_bulk_mode mode, bool tcp_only);
void writer_close(struct writer *writer);

/* One column of n samples, packed one after the other. */
struct packed {
    const char *name;
    Tq__V1__Layout layout;
    Tq__V1__DataType dtype;
    size_t rank;
    const uint64_t *shape; /* dense: rank; jagged: n * rank */
    const char *content_type;
    const uint8_t *bytes;
    const uint64_t *lengths; /* n */
};

/* Which samples. */
struct rows {
    const char *partition;
    uint64_t first;
    size_t n;
    uint32_t generation;
};

/* How the bytes travel. BY_ARENA: from a block of the writer's arena; one sample only. */
enum way { BY_FRAMES, BY_BULK, BY_ARENA };

/* Puts one column; on success the digests have been compared. *out_response lives in *reply, to be dropped. */
tq_status writer_put(struct writer *writer, const struct rows *rows, const struct packed *column, enum way way,
                     struct tq_reply *reply);

/* A column that came back. */
struct fetched {
    struct tq_reply reply;
    const Tq__V1__GetResponse *response;
    uint8_t *bytes; /* packed, freed by fetched_drop */
    uint64_t total;
    uint64_t engine_bytes[TQ_ENGINE_COUNT];
};

/* Gets one field and reads its bytes, whatever way they take; digests have been compared. The pin is not released. */
tq_status writer_get(struct writer *writer, const struct rows *rows, const char *field, struct fetched *out,
                     struct tq_error *err);
/* The answer only. */
tq_status writer_get_answer(struct writer *writer, const struct rows *rows, const char *field, struct fetched *out);
/* Reads the bytes that an answer names. */
tq_status writer_read(struct writer *writer, struct fetched *fetched, struct tq_error *err);
void writer_release(struct writer *writer, uint64_t pin);
void fetched_drop(struct fetched *fetched);

tq_status writer_clear(struct writer *writer, const struct rows *rows);
/* One figure of GetMetrics. */
double writer_metric(struct writer *writer, const char *name);
/* Waits until the metric has the value; fails the test after 15 s. */
void writer_await_metric(struct writer *writer, const char *name, double value);

#endif

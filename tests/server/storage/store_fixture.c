#include "tests/server/storage/store_fixture.h"

#include <stdlib.h>
#include <string.h>

static void *counting_alloc(void *self, size_t len)
{
    struct fixture *f = self;
    if (f->fail_at > 0 && --f->fail_at == 0)
        return NULL;
    f->out++;
    return calloc(1, len);
}

static void counting_free(void *self, void *memory)
{
    ((struct fixture *)self)->out--;
    free(memory);
}

static struct tq_storage_limits small_limits(void)
{
    struct tq_storage_limits limits = {
#define INITIAL(name, initial, min, max, help) .name = (initial),
        TQ_STORAGE_LIMITS(INITIAL)
#undef INITIAL
    };
    return limits;
}

int open_fixture(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    f->seam = *tq_seam_system();
    f->seam.self = f;
    f->seam.alloc = counting_alloc;
    f->seam.free = counting_free;
    struct tq_engine engine = fake_engine(&f->fake);
    struct tq_storage_limits limits = small_limits();
    tq_store_init(&f->store, &engine, &limits, &f->seam);
    *state = f;
    return 0;
}

int close_fixture(void **state)
{
    struct fixture *f = *state;
    tq_store_fini(&f->store);
    int leaked = (int)(f->out + f->fake.places);
    free(f);
    return leaked;
}

/* One opaque field of every sample. */
tq_status open_put(struct fixture *f, const char *partition, const char *field, const uint64_t *index,
                   const uint32_t *generation, size_t n, const uint64_t *lengths, struct tq_put *put,
                   struct tq_error *err)
{
    const struct tq_declaration declaration = { .name = field, .layout = TQ_CELLS_OPAQUE, .content_type = "" };
    const uint64_t *no_sizes = NULL;
    const struct tq_put_plan plan = { .samples = { partition, index, generation, n },
                                      .fields = &declaration,
                                      .n_fields = 1,
                                      .lengths = lengths,
                                      .sizes = &no_sizes };
    tq_status status = tq_put_open(&f->store, &plan, put, err);
    if (status == TQ_OK && (status = tq_put_place(&f->store, put, err)) != TQ_OK)
        tq_put_close(&f->store, put);
    return status;
}

tq_status open_one(struct fixture *f, const char *field, uint64_t index, uint32_t generation, uint64_t len,
                   struct tq_put *put, struct tq_error *err)
{
    return open_put(f, "p", field, &index, &generation, 1, &len, put, err);
}

tq_status put_one(struct fixture *f, const char *field, uint64_t index, uint32_t generation, uint64_t len, int value,
                  struct tq_error *err)
{
    struct tq_put put;
    tq_status status = open_one(f, field, index, generation, len, &put, err);
    if (status != TQ_OK)
        return status;
    memset(put.frames[0]->ptr, value, len);
    status = tq_put_commit(&f->store, &put, err);
    tq_put_close(&f->store, &put);
    return status;
}

struct tq_frame *peek_cell(struct fixture *f, const char *field, uint64_t index, uint32_t generation)
{
    struct tq_sample *sample;
    const struct tq_name *name = tq_names_peek(&f->store.names, field);
    if (name == NULL || tq_store_find(&f->store, "p", index, generation, &sample, NULL) != TQ_OK)
        return NULL;
    return tq_sample_cell(sample, name);
}

struct tq_clear_counts clear_one(struct fixture *f, uint64_t index, uint32_t generation, const char *field)
{
    struct tq_clear_counts counts = { 0 };
    const struct tq_named_samples samples = { "p", &index, &generation, 1 };
    tq_store_clear(&f->store, &samples, &field, field != NULL, &counts);
    return counts;
}

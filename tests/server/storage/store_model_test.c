/* The table of a unit under random operations agrees with a naive model. */
#include <stdlib.h>

#include "tests/server/storage/store_fixture.h"
#include "tests/support/cmocka_all.h"

enum { INDEXES = 24, FIELDS = 5, PINS = 8, PUTS = 4, STEPS = 100000 };

struct model_cell {
    bool there;
    uint64_t len;
    uint8_t value;
};

struct model {
    struct {
        bool there;
        uint32_t generation;
        uint32_t dead; /* generations below are dead */
        struct model_cell cells[FIELDS];
    } samples[INDEXES];
    struct {
        struct tq_frame *frame; /* NULL: free */
        uint8_t value;
        uint64_t len;
    } pins[PINS];
    struct {
        bool open;
        struct tq_put put;
        uint64_t index, len;
        uint32_t generation;
        unsigned field;
        uint8_t value;
    } puts[PUTS];
    uint64_t random;
};

static const char *const field_names[FIELDS] = { "a", "b", "c", "d", "e" };

static uint32_t next_random(struct model *m, uint32_t below)
{
    m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((m->random >> 33) % below);
}

static bool may_take(const struct model *m, uint64_t index, uint32_t generation)
{
    return generation >= m->samples[index].dead &&
           !(m->samples[index].there && m->samples[index].generation > generation);
}

static void model_open(struct fixture *f, struct model *m, unsigned slot)
{
    uint64_t index = next_random(m, INDEXES);
    uint32_t generation = m->samples[index].dead + next_random(m, 3);
    generation -= generation > 0 ? next_random(m, 2) : 0;
    uint64_t len = next_random(m, 3) == 0 ? next_random(m, 20000) : next_random(m, 300);
    unsigned field = next_random(m, FIELDS);
    struct tq_put put;
    struct tq_error err;
    tq_status status = open_one(f, field_names[field], index, generation, len, &put, &err);
    bool fits = f->store.used_bytes + f->store.reserved_bytes - (status == TQ_OK ? len : 0) + len <=
                f->store.limits.budget_bytes;
    if (!may_take(m, index, generation))
        assert_int_equal(status, TQ_FAILED_PRECONDITION);
    else
        assert_int_equal(status, fits ? TQ_OK : TQ_RESOURCE_EXHAUSTED);
    if (status != TQ_OK)
        return;
    m->puts[slot].open = true;
    m->puts[slot].put = put;
    m->puts[slot].index = index;
    m->puts[slot].generation = generation;
    m->puts[slot].len = len;
    m->puts[slot].field = field;
    m->puts[slot].value = (uint8_t)next_random(m, 256);
    memset(put.frames[0]->ptr, m->puts[slot].value, len);
}

static void model_end(struct fixture *f, struct model *m, unsigned slot)
{
    uint64_t index = m->puts[slot].index;
    uint32_t generation = m->puts[slot].generation;
    m->puts[slot].open = false;
    if (next_random(m, 5) > 0) {
        bool takes = may_take(m, index, generation);
        tq_status status = tq_put_commit(&f->store, &m->puts[slot].put, NULL);
        assert_int_equal(status, takes ? TQ_OK : TQ_FAILED_PRECONDITION);
        if (takes) {
            if (!m->samples[index].there || m->samples[index].generation < generation)
                memset(m->samples[index].cells, 0, sizeof(m->samples[index].cells));
            m->samples[index].there = true;
            m->samples[index].generation = generation;
            m->samples[index].cells[m->puts[slot].field] =
                (struct model_cell){ true, m->puts[slot].len, m->puts[slot].value };
        }
    }
    tq_put_close(&f->store, &m->puts[slot].put);
}

static void model_clear(struct fixture *f, struct model *m)
{
    uint64_t index = next_random(m, INDEXES);
    uint32_t generation = m->samples[index].generation + next_random(m, 3);
    generation -= generation > 0;
    bool is_stale = m->samples[index].there && m->samples[index].generation > generation;
    bool is_match = m->samples[index].there && m->samples[index].generation == generation;
    if (next_random(m, 2) == 0) {
        struct tq_clear_counts counts = clear_one(f, index, generation, NULL);
        assert_int_equal(counts.stale, is_stale);
        assert_int_equal(counts.removed, is_match);
        if (!is_stale) {
            m->samples[index].there = false;
            if (m->samples[index].dead < generation + 1)
                m->samples[index].dead = generation + 1;
        }
        return;
    }
    unsigned field = next_random(m, FIELDS);
    struct model_cell *cell = &m->samples[index].cells[field];
    struct tq_clear_counts counts = clear_one(f, index, generation, field_names[field]);
    assert_int_equal(counts.removed, is_match && cell->there);
    if (!is_stale && !is_match)
        m->samples[index].there = false;
    if (!is_match)
        return;
    cell->there = false;
    bool has_more = false;
    for (unsigned other = 0; other < FIELDS; other++)
        has_more = has_more || m->samples[index].cells[other].there;
    m->samples[index].there = has_more;
}

static void check_bytes(const struct tq_frame *frame, uint64_t len, uint8_t value)
{
    assert_int_equal(frame->len, len);
    for (uint64_t i = 0; i < len; i += 1 + len / 7)
        assert_int_equal(frame->ptr[i], value);
}

static void model_read(struct fixture *f, struct model *m)
{
    uint64_t index = next_random(m, INDEXES);
    unsigned field = next_random(m, FIELDS);
    const struct model_cell *cell = &m->samples[index].cells[field];
    struct tq_frame *frame = peek_cell(f, field_names[field], index, m->samples[index].generation);
    assert_int_equal(frame != NULL, m->samples[index].there && cell->there);
    if (frame == NULL)
        return;
    check_bytes(frame, cell->len, cell->value);
    unsigned pin = next_random(m, PINS);
    if (m->pins[pin].frame != NULL) {
        check_bytes(m->pins[pin].frame, m->pins[pin].len, m->pins[pin].value);
        tq_frame_drop(&f->store, m->pins[pin].frame);
    }
    m->pins[pin].frame = tq_frame_hold(frame);
    m->pins[pin].len = cell->len;
    m->pins[pin].value = cell->value;
}

static void model_end_all(struct fixture *f, struct model *m)
{
    for (unsigned pin = 0; pin < PINS; pin++)
        tq_frame_drop(&f->store, m->pins[pin].frame);
    for (unsigned slot = 0; slot < PUTS; slot++)
        tq_put_close(&f->store, &m->puts[slot].put);
    uint64_t bytes = 0;
    for (unsigned i = 0; i < INDEXES; i++)
        for (unsigned field = 0; field < FIELDS; field++)
            if (m->samples[i].there && m->samples[i].cells[field].there)
                bytes += m->samples[i].cells[field].len;
    assert_int_equal(f->store.used_bytes, bytes);
}

static void random_operations_agree_with_a_model(void **state)
{
    struct fixture *f = *state;
    struct model *m = calloc(1, sizeof(*m));
    m->random = tq_seam_random64(NULL);
    print_message("seed %llu\n", (unsigned long long)m->random);
    f->store.limits.budget_bytes = 150000;
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned slot = next_random(m, PUTS);
        switch (next_random(m, 4)) {
        case 0:
        case 1:
            if (m->puts[slot].open)
                model_end(f, m, slot);
            else
                model_open(f, m, slot);
            break;
        case 2:
            model_clear(f, m);
            break;
        default:
            model_read(f, m);
        }
    }
    model_end_all(f, m);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_operations_agree_with_a_model, open_fixture, close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The table of a unit: all-or-nothing puts, generations, budgets, pins; and random operations against a naive model. */
#include "server/storage/store.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/server/storage/fake_engine.h"
#include "tests/support/cmocka_all.h"

struct fixture {
    struct fake_engine fake;
    struct tq_store store;
    struct tq_seam seam;
    size_t fail_at; /* the nth allocation fails, once; 0: none */
    size_t out;     /* allocations that have not come back */
};

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

static int open_fixture(void **state)
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

static int close_fixture(void **state)
{
    struct fixture *f = *state;
    tq_store_fini(&f->store);
    int leaked = (int)(f->out + f->fake.places);
    free(f);
    return leaked;
}

/* One opaque field of every sample. */
static tq_status open_put(struct fixture *f, const char *partition, const char *field, const uint64_t *index,
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
    return tq_put_open(&f->store, &plan, put, err);
}

static tq_status open_one(struct fixture *f, const char *field, uint64_t index, uint32_t generation, uint64_t len,
                          struct tq_put *put, struct tq_error *err)
{
    return open_put(f, "p", field, &index, &generation, 1, &len, put, err);
}

static tq_status put_one(struct fixture *f, const char *field, uint64_t index, uint32_t generation, uint64_t len,
                         int value, struct tq_error *err)
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

static struct tq_frame *peek_cell(struct fixture *f, const char *field, uint64_t index, uint32_t generation)
{
    struct tq_sample *sample;
    const struct tq_name *name = tq_names_peek(&f->store.names, field);
    if (name == NULL || tq_store_find(&f->store, "p", index, generation, &sample, NULL) != TQ_OK)
        return NULL;
    return tq_sample_cell(sample, name);
}

static struct tq_clear_counts clear_one(struct fixture *f, uint64_t index, uint32_t generation, const char *field)
{
    struct tq_clear_counts counts = { 0 };
    const struct tq_named_samples samples = { "p", &index, &generation, 1 };
    tq_store_clear(&f->store, &samples, &field, field != NULL, &counts);
    return counts;
}

static void a_put_is_visible_after_its_commit_only(void **state)
{
    struct fixture *f = *state;
    struct tq_put put;
    assert_int_equal(open_one(f, "a", 5, 1, 10000, &put, NULL), TQ_OK);
    assert_null(peek_cell(f, "a", 5, 1));
    assert_int_equal(f->store.reserved_bytes, 10000);
    memset(put.frames[0]->ptr, 7, 10000);
    assert_int_equal(tq_put_commit(&f->store, &put, NULL), TQ_OK);
    tq_put_close(&f->store, &put);
    const struct tq_frame *frame = peek_cell(f, "a", 5, 1);
    assert_non_null(frame);
    assert_int_equal(frame->version, f->fake.last_published);
    assert_int_equal(f->store.reserved_bytes, 0);
    assert_int_equal(f->store.used_bytes, 10000);
}

static void an_abandoned_put_gives_everything_back(void **state)
{
    struct fixture *f = *state;
    struct tq_put put;
    assert_int_equal(open_one(f, "a", 5, 1, 10000, &put, NULL), TQ_OK);
    tq_put_close(&f->store, &put);
    tq_put_close(&f->store, &put); /* twice does no harm */
    assert_int_equal(f->store.reserved_bytes, 0);
    assert_int_equal(f->store.reserved_samples, 0);
    assert_int_equal(f->store.reserved_cells, 0);
    assert_int_equal(f->fake.bytes, 0);
    assert_null(tq_names_peek(&f->store.names, "a"));
    assert_null(tq_names_peek(&f->store.names, "p"));
}

static void budgets_refuse_before_memory_is_taken(void **state)
{
    struct fixture *f = *state;
    struct tq_error err;
    struct tq_put put;
    f->store.limits.budget_bytes = 10000;
    f->store.limits.budget_samples = 2;
    f->store.limits.budget_cells = 3;
    assert_int_equal(open_one(f, "a", 1, 1, 10001, &put, &err), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(err.reason, "BUDGET_BYTES");
    assert_int_equal(err.retry_after_ms, 0); /* never will it fit */
    assert_int_equal(put_one(f, "a", 1, 1, 6000, 1, NULL), TQ_OK);
    assert_int_equal(open_one(f, "a", 2, 1, 4001, &put, &err), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(err.message, "4001 bytes wanted, 6000 of the budget of 10000 are taken");
    assert_true(err.retry_after_ms > 0);
    assert_int_equal(put_one(f, "a", 2, 1, 0, 1, NULL), TQ_OK);
    assert_int_equal(open_one(f, "a", 3, 1, 0, &put, &err), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(err.reason, "BUDGET_SAMPLES");
    assert_int_equal(put_one(f, "b", 2, 1, 0, 1, NULL), TQ_OK);
    assert_int_equal(open_one(f, "c", 2, 1, 0, &put, &err), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(err.reason, "BUDGET_CELLS");
    assert_int_equal(f->fake.bytes, 6000);
    assert_int_equal(clear_one(f, 1, 1, NULL).freed_bytes, 6000);
    assert_int_equal(put_one(f, "a", 3, 1, 10000, 1, NULL), TQ_OK);
}

static void overwriting_makes_a_new_frame_and_leaves_the_pinned_one(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(put_one(f, "a", 5, 1, 5000, 1, NULL), TQ_OK);
    struct tq_frame *pinned = tq_frame_hold(peek_cell(f, "a", 5, 1));
    assert_int_equal(put_one(f, "a", 5, 1, 6000, 2, NULL), TQ_OK);
    const struct tq_frame *frame = peek_cell(f, "a", 5, 1);
    assert_ptr_not_equal(frame, pinned);
    assert_true(frame->version > pinned->version);
    assert_int_equal(pinned->ptr[4999], 1);
    assert_int_equal(frame->ptr[5999], 2);
    assert_int_equal(f->store.used_bytes, 11000); /* a pinned frame is still memory */
    assert_int_equal(f->store.cells, 1);
    tq_frame_drop(&f->store, pinned);
    assert_int_equal(f->store.used_bytes, 6000);
}

static void generations_rule_puts_and_clears(void **state)
{
    struct fixture *f = *state;
    struct tq_error err;
    assert_int_equal(put_one(f, "a", 5, 3, 100, 1, NULL), TQ_OK);
    assert_int_equal(put_one(f, "a", 5, 2, 100, 1, &err), TQ_FAILED_PRECONDITION);
    assert_string_equal(err.reason, "STALE_GENERATION");
    assert_int_equal(clear_one(f, 5, 2, NULL).stale, 1);
    assert_non_null(peek_cell(f, "a", 5, 3));
    assert_null(peek_cell(f, "a", 5, 2));
    /* A newer one ends the cells of the old. */
    assert_int_equal(put_one(f, "b", 5, 4, 50, 1, NULL), TQ_OK);
    assert_null(peek_cell(f, "a", 5, 4));
    assert_non_null(peek_cell(f, "b", 5, 4));
    assert_int_equal(f->store.used_bytes, 50);
    assert_int_equal(clear_one(f, 5, 4, NULL).removed, 1);
    assert_int_equal(clear_one(f, 5, 4, NULL).absent, 1);
    assert_int_equal(put_one(f, "a", 5, 4, 1, 1, &err), TQ_FAILED_PRECONDITION);
    assert_int_equal(put_one(f, "a", 5, 5, 1, 1, NULL), TQ_OK);
}

static void a_put_does_not_bring_back_what_was_cleared_under_it(void **state)
{
    struct fixture *f = *state;
    struct tq_error err;
    struct tq_put put;
    assert_int_equal(open_one(f, "a", 5, 1, 9000, &put, NULL), TQ_OK);
    assert_int_equal(clear_one(f, 5, 1, NULL).absent, 1);
    assert_int_equal(tq_put_commit(&f->store, &put, &err), TQ_FAILED_PRECONDITION);
    assert_string_equal(err.reason, "STALE_GENERATION");
    tq_put_close(&f->store, &put);
    assert_null(peek_cell(f, "a", 5, 1));
    assert_int_equal(f->fake.bytes, 0);
    tq_cleared_forget(&f->store.cleared);
    assert_int_equal(put_one(f, "a", 5, 1, 1, 1, NULL), TQ_OK);
}

static void a_refused_put_of_many_changes_nothing(void **state)
{
    struct fixture *f = *state;
    struct tq_error err;
    struct tq_put put;
    const uint64_t index[3] = { 1, 2, 3 };
    const uint32_t generation[3] = { 1, 1, 1 };
    const uint64_t lengths[3] = { 5000, 5000, 5000 };
    assert_int_equal(put_one(f, "a", 2, 9, 10, 3, NULL), TQ_OK);
    assert_int_equal(open_put(f, "p", "a", index, generation, 3, lengths, &put, &err), TQ_FAILED_PRECONDITION);
    assert_int_equal(tq_store_samples(&f->store), 1);
    assert_int_equal(f->store.used_bytes, 10);
    assert_int_equal(clear_one(f, 2, 9, NULL).removed, 1);
    for (size_t nth = 1; nth <= 3; nth++) {
        f->fake.refuse_at = nth;
        const uint32_t newer[3] = { 1, 10, 1 };
        assert_int_equal(open_put(f, "p", "a", index, newer, 3, lengths, &put, &err), TQ_RESOURCE_EXHAUSTED);
        assert_int_equal(f->fake.bytes, 0);
        assert_int_equal(f->store.reserved_bytes + f->store.reserved_cells + f->store.reserved_samples, 0);
    }
}

static void a_sample_keeps_its_partition(void **state)
{
    struct fixture *f = *state;
    struct tq_error err;
    struct tq_put put;
    struct tq_sample *sample;
    const uint64_t index = 5;
    const uint32_t generation = 1;
    const uint64_t len = 1;
    assert_int_equal(put_one(f, "a", 5, 1, 1, 1, NULL), TQ_OK);
    assert_int_equal(open_put(f, "q", "a", &index, &generation, 1, &len, &put, &err), TQ_FAILED_PRECONDITION);
    assert_string_equal(err.reason, "OTHER_PARTITION");
    assert_int_equal(tq_store_find(&f->store, "q", 5, 1, &sample, &err), TQ_NOT_FOUND);
    const struct tq_named_samples elsewhere = { "q", &index, &generation, 1 };
    struct tq_clear_counts counts = { 0 };
    tq_store_clear(&f->store, &elsewhere, NULL, 0, &counts);
    assert_int_equal(counts.absent, 1);
    assert_non_null(peek_cell(f, "a", 5, 1));
    assert_int_equal(put_one(f, "b", 5, 1, 1, 1, NULL), TQ_OK); /* and takes further cells */
}

static void clearing_the_last_field_removes_the_sample(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(put_one(f, "a", 5, 1, 10, 1, NULL), TQ_OK);
    assert_int_equal(put_one(f, "b", 5, 1, 20, 1, NULL), TQ_OK);
    assert_int_equal(clear_one(f, 5, 1, "a").freed_bytes, 10);
    assert_int_equal(clear_one(f, 5, 1, "a").absent, 1);
    assert_int_equal(tq_store_samples(&f->store), 1);
    assert_int_equal(clear_one(f, 5, 1, "b").removed, 1);
    assert_int_equal(tq_store_samples(&f->store), 0);
    assert_int_equal(put_one(f, "a", 5, 1, 10, 1, NULL), TQ_OK); /* clearing fields does not end a generation */
}

/* Fails each allocation in turn: the table is as before, and nothing is lost. */
static void every_failed_allocation_is_survived(void **state)
{
    struct fixture *f = *state;
    tq_status status = TQ_RESOURCE_EXHAUSTED;
    size_t nth = 0;
    assert_int_equal(put_one(f, "old", 1, 1, 10, 1, NULL), TQ_OK);
    size_t out = f->out;
    while (status != TQ_OK) {
        f->fail_at = ++nth;
        const uint64_t index[2] = { 1, 2 };
        const uint32_t generation[2] = { 1, 1 };
        const uint64_t lengths[2] = { 3, 9000 };
        struct tq_put put;
        status = open_put(f, "p", "new", index, generation, 2, lengths, &put, NULL);
        if (status == TQ_OK) {
            status = tq_put_commit(&f->store, &put, NULL);
            tq_put_close(&f->store, &put);
        }
        if (status != TQ_OK) {
            assert_int_equal(status, TQ_RESOURCE_EXHAUSTED);
            assert_int_equal(tq_store_samples(&f->store), 1);
            assert_int_equal(f->store.used_bytes, 10);
            assert_int_equal(f->store.reserved_bytes + f->store.reserved_cells + f->store.reserved_samples, 0);
            assert_in_range(f->out, out, out + 1); /* a row may keep the room that it got */
        }
        assert_in_range(nth, 1, 100);
    }
    f->fail_at = 0;
    assert_true(nth > 8);
    assert_int_equal(f->store.used_bytes, 10 + 3 + 9000);
}

static void the_oldest_of_the_cleared_are_forgotten_first(void **state)
{
    struct fixture *f = *state;
    struct tq_cleared cleared;
    tq_cleared_init(&cleared, 300, &f->seam);
    for (uint64_t index = 0; index < 400; index++)
        tq_cleared_add(&cleared, index, 2);
    assert_false(tq_cleared_has(&cleared, 99, 2));
    assert_true(tq_cleared_has(&cleared, 100, 2));
    assert_true(tq_cleared_has(&cleared, 399, 0));
    assert_false(tq_cleared_has(&cleared, 399, 3));
    tq_cleared_add(&cleared, 399, 7);
    assert_true(tq_cleared_has(&cleared, 399, 7));
    assert_true(tq_map_count(&cleared.dead) <= 300);
    tq_cleared_fini(&cleared);
}

/* ---- against a naive model ---- */

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

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_put_is_visible_after_its_commit_only),
        STORE_TEST(an_abandoned_put_gives_everything_back),
        STORE_TEST(budgets_refuse_before_memory_is_taken),
        STORE_TEST(overwriting_makes_a_new_frame_and_leaves_the_pinned_one),
        STORE_TEST(generations_rule_puts_and_clears),
        STORE_TEST(a_put_does_not_bring_back_what_was_cleared_under_it),
        STORE_TEST(a_refused_put_of_many_changes_nothing),
        STORE_TEST(a_sample_keeps_its_partition),
        STORE_TEST(clearing_the_last_field_removes_the_sample),
        STORE_TEST(every_failed_allocation_is_survived),
        STORE_TEST(the_oldest_of_the_cleared_are_forgotten_first),
        STORE_TEST(random_operations_agree_with_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

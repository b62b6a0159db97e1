/* Pins: what they hold, what they cost, and how many cells one session may hold with them. */
#include "server/storage/pins.h"

#include "tests/server/storage/store_fixture.h"
#include "tests/support/cmocka_all.h"

enum { CELLS = 1000, SESSION = 11, OTHER = 12 };

struct gauge {
    struct fixture *fixture;
    size_t largest; /* allocation */
};

static void *measured_alloc(void *self, size_t len)
{
    struct gauge *gauge = self;
    if (len > gauge->largest)
        gauge->largest = len;
    return gauge->fixture->seam.alloc(gauge->fixture, len);
}

static void measured_free(void *self, void *memory)
{
    struct gauge *gauge = self;
    gauge->fixture->seam.free(gauge->fixture, memory);
}

static struct tq_frame *some_frame(struct fixture *f, uint64_t index)
{
    assert_int_equal(put_one(f, "a", index, 1, 5000, 1, NULL), TQ_OK);
    return peek_cell(f, "a", index, 1);
}

static void a_pin_takes_memory_for_the_cells_that_it_holds(void **state)
{
    struct fixture *f = *state;
    struct gauge gauge = { f, 0 };
    struct tq_seam seam = f->seam;
    struct tq_frame *frames[CELLS] = { [CELLS - 1] = some_frame(f, 1) };
    struct tq_pins pins;
    uint64_t pin = 0;
    seam.self = &gauge;
    seam.alloc = measured_alloc;
    seam.free = measured_free;
    f->store.seam = &seam;
    tq_pins_init(&pins, &f->store);
    assert_int_equal(tq_pins_add(&pins, SESSION, frames, CELLS, &pin, NULL), TQ_OK);
    assert_true(gauge.largest < CELLS); /* bytes: less than one a cell that was asked for */
    assert_int_equal(frames[CELLS - 1]->holds, 2);
    assert_true(tq_pins_release(&pins, SESSION, pin));
    assert_int_equal(frames[CELLS - 1]->holds, 1);
    tq_pins_fini(&pins);
    f->store.seam = &f->seam;
}

static void the_cells_that_one_session_pins_are_bounded(void **state)
{
    struct fixture *f = *state;
    struct tq_frame *frame = some_frame(f, 1), *frames[4] = { frame, NULL, frame, frame };
    struct tq_pins pins;
    struct tq_error err;
    uint64_t first = 0, pin = 0;
    f->store.limits.session_pinned_cells = 5;
    tq_pins_init(&pins, &f->store);
    assert_int_equal(tq_pins_add(&pins, SESSION, frames, 4, &first, &err), TQ_OK);
    assert_int_equal(tq_pins_add(&pins, SESSION, frames, 3, &pin, &err), TQ_OK);
    assert_int_equal(tq_pins_add(&pins, SESSION, frames, 1, &pin, &err), TQ_RESOURCE_EXHAUSTED);
    assert_string_equal(err.reason, "SESSION_PINNED_CELLS");
    assert_int_equal(tq_pins_add(&pins, OTHER, frames, 4, &pin, &err), TQ_OK); /* each has its own */
    assert_true(tq_pins_release(&pins, SESSION, first));
    assert_int_equal(tq_pins_add(&pins, SESSION, frames, 4, &pin, &err), TQ_OK);
    tq_pins_end_session(&pins, SESSION);
    tq_pins_end_session(&pins, OTHER);
    assert_int_equal(frame->holds, 1);
    f->store.limits.session_pinned_cells = 2;
    assert_int_equal(tq_pins_add(&pins, SESSION, frames, 4, &pin, &err), TQ_RESOURCE_EXHAUSTED);
    assert_int_equal(tq_map_count(&pins.by_session), 0); /* a refused one leaves nothing behind */
    tq_pins_fini(&pins);
}

#define PINS_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PINS_TEST(a_pin_takes_memory_for_the_cells_that_it_holds),
        PINS_TEST(the_cells_that_one_session_pins_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

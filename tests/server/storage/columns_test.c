/* A column comes back as it was declared; cells that were declared differently come back as the least that holds them.
 */
#include "server/storage/columns.h"

#include "tests/server/storage/store_fixture.h"
#include "tests/support/cmocka_all.h"

enum { INT64 = TQ__V1__DATA_TYPE__DATA_TYPE_INT64, FLOAT32 = TQ__V1__DATA_TYPE__DATA_TYPE_FLOAT32 };

/* Puts one cell of field "x" of sample `index`. */
static struct tq_frame *put_cell(struct fixture *f, uint64_t index, struct tq_declaration declaration, uint64_t len,
                                 const uint64_t *sizes)
{
    const uint32_t generation = 1;
    declaration.name = "x";
    if (declaration.content_type == NULL)
        declaration.content_type = "";
    const struct tq_put_plan plan = { .samples = { "p", &index, &generation, 1 },
                                      .fields = &declaration,
                                      .n_fields = 1,
                                      .lengths = &len,
                                      .sizes = &sizes };
    struct tq_put put;
    assert_int_equal(tq_put_open(&f->store, &plan, &put, NULL), TQ_OK);
    assert_int_equal(tq_put_commit(&f->store, &put, NULL), TQ_OK);
    tq_put_close(&f->store, &put);
    return peek_cell(f, "x", index, 1);
}

static const uint64_t two[] = { 2, 3 }, other[] = { 4, 1 }, none[] = { 0, 9 };
static const struct tq_declaration dense = { .layout = TQ_CELLS_DENSE, .dtype = INT64, .rank = 2, .shape = two };
static const struct tq_declaration dense_other = {
    .layout = TQ_CELLS_DENSE, .dtype = INT64, .rank = 2, .shape = other
};
static const struct tq_declaration jagged = { .layout = TQ_CELLS_JAGGED, .dtype = INT64, .rank = 2 };
static const struct tq_declaration text = { .layout = TQ_CELLS_OPAQUE, .content_type = "text/plain" };
static const struct tq_declaration image = { .layout = TQ_CELLS_OPAQUE, .content_type = "image/png" };

static void equal_declarations_come_back_as_they_were(void **state)
{
    struct fixture *f = *state;
    struct tq_frame *const frames[] = { put_cell(f, 1, dense, 48, NULL), put_cell(f, 2, dense, 48, NULL) };
    struct tq_column_out column;
    assert_ptr_equal(frames[0]->schema, frames[1]->schema);
    assert_int_equal(tq_column_open(&f->store, frames, 2, &column, NULL), TQ_OK);
    assert_int_equal(column.field.layout, TQ_CELLS_DENSE);
    assert_int_equal(column.field.n_shape, 2);
    assert_memory_equal(column.field.shape, two, sizeof(two));
    assert_int_equal(column.shapes.n_size, 0);
    tq_column_close(&f->store, &column);
}

static void tensors_of_several_shapes_become_jagged(void **state)
{
    struct fixture *f = *state;
    struct tq_frame *const frames[] = { put_cell(f, 1, dense, 48, NULL), put_cell(f, 2, dense_other, 32, NULL),
                                        put_cell(f, 3, jagged, 0, none) };
    static const uint64_t sizes[] = { 2, 3, 4, 1, 0, 9 };
    struct tq_column_out column;
    assert_int_equal(tq_column_open(&f->store, frames, 3, &column, NULL), TQ_OK);
    assert_int_equal(column.field.layout, TQ_CELLS_JAGGED);
    assert_int_equal(column.field.n_shape, 0);
    assert_int_equal(column.shapes.rank, 2);
    assert_int_equal(column.shapes.n_size, 6);
    assert_memory_equal(column.shapes.size, sizes, sizeof(sizes));
    tq_column_close(&f->store, &column);
}

static void opaque_cells_of_several_types_become_bytes(void **state)
{
    struct fixture *f = *state;
    struct tq_frame *const frames[] = { put_cell(f, 1, text, 1, NULL), put_cell(f, 2, image, 1, NULL) };
    struct tq_column_out column;
    assert_int_equal(tq_column_open(&f->store, frames, 2, &column, NULL), TQ_OK);
    assert_string_equal(column.field.content_type, "application/octet-stream");
    tq_column_close(&f->store, &column);
}

static void what_makes_no_column_is_refused(void **state)
{
    struct fixture *f = *state;
    const struct tq_declaration floats = { .layout = TQ_CELLS_DENSE, .dtype = FLOAT32, .rank = 2, .shape = two };
    const struct tq_declaration flat = { .layout = TQ_CELLS_JAGGED, .dtype = INT64, .rank = 1 };
    struct tq_frame *const others[] = { put_cell(f, 2, floats, 24, NULL), put_cell(f, 3, flat, 16, two),
                                        put_cell(f, 4, text, 1, NULL) };
    struct tq_frame *first = put_cell(f, 1, dense, 48, NULL);
    for (size_t i = 0; i < 3; i++) {
        struct tq_frame *const frames[] = { first, others[i] };
        struct tq_column_out column;
        struct tq_error err;
        assert_int_equal(tq_column_open(&f->store, frames, 2, &column, &err), TQ_FAILED_PRECONDITION);
        assert_string_equal(err.reason, "MIXED_FIELD");
        assert_non_null(strstr(err.message, "field 'x': sample 0 of the request has layout 1, type 9, rank 2"));
        tq_column_close(&f->store, &column);
    }
}

#define COLUMN_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        COLUMN_TEST(equal_declarations_come_back_as_they_were),
        COLUMN_TEST(tensors_of_several_shapes_become_jagged),
        COLUMN_TEST(opaque_cells_of_several_types_become_bytes),
        COLUMN_TEST(what_makes_no_column_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

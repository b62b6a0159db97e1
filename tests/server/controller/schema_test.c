#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "server/controller/schema.h"

#include "tests/support/cmocka_all.h"

static const struct tq_cell_schema unknown = { 0 };
static const struct tq_cell_schema dense4 = { .layout = TQ_CELLS_DENSE, .dtype = 12, .rank = 1, .shape = { 4 } };
static const struct tq_cell_schema dense6 = { .layout = TQ_CELLS_DENSE, .dtype = 12, .rank = 1, .shape = { 6 } };
static const struct tq_cell_schema dense2x2 = { .layout = TQ_CELLS_DENSE, .dtype = 12, .rank = 2, .shape = { 2, 2 } };
static const struct tq_cell_schema dense_int = { .layout = TQ_CELLS_DENSE, .dtype = 7, .rank = 1, .shape = { 4 } };
static const struct tq_cell_schema jagged1 = { .layout = TQ_CELLS_JAGGED, .dtype = 12, .rank = 1 };
static const struct tq_cell_schema jagged = { .layout = TQ_CELLS_JAGGED, .dtype = 12 };
static const struct tq_cell_schema text = { .layout = TQ_CELLS_OPAQUE, .content_type = "text/plain" };
static const struct tq_cell_schema json = { .layout = TQ_CELLS_OPAQUE, .content_type = "application/json" };
static const struct tq_cell_schema blob = { .layout = TQ_CELLS_OPAQUE };
static const struct tq_cell_schema only_type = { .dtype = 7 };

struct row {
    const struct tq_cell_schema *have, *claim, *want; /* want NULL: refused */
};

static void claims_merge_by_the_table(void **state)
{
    static const struct row rows[] = {
        { &unknown, &dense4, &dense4 },  { &unknown, &text, &text },
        { &dense4, &dense4, &dense4 },   { &dense4, &dense6, &jagged1 },
        { &dense4, &dense2x2, NULL },    { &dense4, &dense_int, NULL },
        { &dense4, &jagged1, &jagged1 }, { &dense4, &jagged, &jagged1 },
        { &jagged1, &dense6, &jagged1 }, { &jagged1, &dense2x2, NULL },
        { &jagged, &dense4, &jagged1 },  { &jagged1, &jagged1, &jagged1 },
        { &dense4, &text, NULL },        { &text, &dense4, NULL },
        { &text, &text, &text },         { &text, &json, NULL },
        { &text, &blob, &text },         { &blob, &text, &text },
        { &only_type, &dense4, NULL },   { &only_type, &dense_int, &dense_int },
        { &dense4, &unknown, &dense4 },  { &dense_int, &only_type, &dense_int },
        { &dense4, &only_type, NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tq_cell_schema out = { .dtype = 99 };
        struct tq_error err;
        tq_status status = tq_cell_schema_merge(rows[i].have, rows[i].claim, "f", &out, &err);
        if (rows[i].want == NULL) {
            assert_int_equal(status, TQ_FAILED_PRECONDITION);
            assert_string_equal(err.reason, "SCHEMA_CONFLICT");
            assert_non_null(strstr(err.message, "field f"));
            assert_int_equal(out.dtype, 99);
        } else {
            if (status != TQ_OK)
                fail_msg("row %zu: %s", i, err.message);
            assert_memory_equal(&out, rows[i].want, sizeof(out));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(claims_merge_by_the_table) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

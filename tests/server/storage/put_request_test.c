/* Each bad put is refused with a message that names field, value and what was expected, before anything is reserved. */
#include "server/storage/put_request.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/server/storage/fake_engine.h"
#include "tests/support/cmocka_all.h"

enum { INLINE_BYTES = 24 };

/* A good request: samples 10, 11 of "p"; dense "d" (float32 [2]) and jagged "j" (int64) in region 1, opaque "o" inline.
 */
struct message {
    Tq__V1__PutRequest request;
    Tq__V1__Samples samples;
    Tq__V1__IndexRuns indexes;
    Tq__V1__Field field[3], *fields[3];
    Tq__V1__Shapes shape[3], *shapes[3];
    Tq__V1__CellRuns cells;
    Tq__V1__Regions source;
    uint64_t start[4], count[4], dense_shape[9], sizes[4];
    uint32_t generation[4], unit[4];
    uint32_t cell_region[8], cell_count[8];
    uint64_t cell_offset[8], cell_length[8], cell_stride[8];
    uint64_t id[2], base[2], length[2];
    uint32_t kind[2];
    ProtobufCBinaryData key[2], ticket[2];
};

static void fill_columns(struct message *m)
{
    for (size_t f = 0; f < 3; f++) {
        tq__v1__field__init(&m->field[f]);
        tq__v1__shapes__init(&m->shape[f]);
        m->fields[f] = &m->field[f];
        m->shapes[f] = &m->shape[f];
    }
    m->field[0].name = (char *)"d";
    m->field[0].layout = TQ__V1__LAYOUT__LAYOUT_DENSE;
    m->field[0].dtype = TQ__V1__DATA_TYPE__DATA_TYPE_FLOAT32;
    m->dense_shape[0] = 2;
    m->field[0].n_shape = 1;
    m->field[0].shape = m->dense_shape;
    m->field[1].name = (char *)"j";
    m->field[1].layout = TQ__V1__LAYOUT__LAYOUT_JAGGED;
    m->field[1].dtype = TQ__V1__DATA_TYPE__DATA_TYPE_INT64;
    m->sizes[0] = 3;
    m->shape[1].rank = 1;
    m->shape[1].n_size = 2;
    m->shape[1].size = m->sizes;
    m->field[2].name = (char *)"o";
    m->field[2].layout = TQ__V1__LAYOUT__LAYOUT_OPAQUE;
    m->field[2].content_type = (char *)"text/plain";
    m->request.n_fields = m->request.n_shapes = 3;
    m->request.fields = m->fields;
    m->request.shapes = m->shapes;
}

static void fill_cells(struct message *m)
{
    static const struct {
        uint32_t region, count;
        uint64_t offset, length, stride;
    } runs[4] = { { 1, 2, 0, 8, 8 }, { 1, 1, 16, 24, 0 }, { 1, 1, 40, 0, 0 }, { 0, 2, 0, 12, 12 } };
    tq__v1__cell_runs__init(&m->cells);
    for (size_t i = 0; i < 4; i++) {
        m->cell_region[i] = runs[i].region;
        m->cell_count[i] = runs[i].count;
        m->cell_offset[i] = runs[i].offset;
        m->cell_length[i] = runs[i].length;
        m->cell_stride[i] = runs[i].stride;
    }
    m->cells.n_region = m->cells.n_offset = m->cells.n_length = m->cells.n_stride = m->cells.n_count = 4;
    m->cells.region = m->cell_region;
    m->cells.offset = m->cell_offset;
    m->cells.length = m->cell_length;
    m->cells.stride = m->cell_stride;
    m->cells.count = m->cell_count;
    m->request.cells = &m->cells;
}

static void fill_source(struct message *m)
{
    tq__v1__regions__init(&m->source);
    m->source.address = (ProtobufCBinaryData){ 4, (uint8_t *)"addr" };
    m->source.n_id = m->source.n_kind = m->source.n_start = m->source.n_length = m->source.n_key = m->source.n_ticket =
        1;
    m->id[0] = 99;
    m->kind[0] = TQ_REGION_HEAP;
    m->length[0] = 40;
    m->source.id = m->id;
    m->source.kind = m->kind;
    m->source.start = m->base;
    m->source.length = m->length;
    m->source.key = m->key;
    m->source.ticket = m->ticket;
    m->request.source = &m->source;
}

static void fill(struct message *m)
{
    *m = (struct message){ 0 };
    tq__v1__put_request__init(&m->request);
    tq__v1__samples__init(&m->samples);
    tq__v1__index_runs__init(&m->indexes);
    m->start[0] = 10;
    m->count[0] = 2;
    m->generation[0] = 1;
    m->indexes.n_start = m->indexes.n_count = m->samples.n_generation = 1;
    m->indexes.start = m->start;
    m->indexes.count = m->count;
    m->samples.partition = (char *)"p";
    m->samples.indexes = &m->indexes;
    m->samples.generation = m->generation;
    m->samples.unit = m->unit;
    m->request.samples = &m->samples;
    fill_columns(m);
    fill_cells(m);
    fill_source(m);
}

static struct tq_store open_store(struct fake_engine *fake)
{
    struct tq_store store;
    const struct tq_engine engine = fake_engine(fake);
    const struct tq_storage_limits limits = {
#define INITIAL(name, initial, min, max, help) .name = (initial),
        TQ_STORAGE_LIMITS(INITIAL)
#undef INITIAL
    };
    tq_store_init(&store, &engine, &limits, NULL);
    return store;
}

static void a_good_request_is_written_out(void **state)
{
    struct fake_engine fake = { 0 };
    struct tq_store store = open_store(&fake);
    struct message m;
    struct tq_put_request request;
    (void)state;
    fill(&m);
    assert_int_equal(tq_put_request_open(&store, &m.request, INLINE_BYTES, &request, NULL), TQ_OK);
    assert_int_equal(request.n_cells, 6);
    assert_int_equal(request.n_bulk, 3); /* the empty cell needs no read */
    assert_int_equal(request.bulk_bytes, 40);
    assert_int_equal(request.sources[1].offset, 8);
    assert_int_equal(request.sources[5].offset, 12);
    assert_int_equal(request.plan.samples.index[1], 11);
    assert_ptr_equal(request.plan.sizes[1], m.sizes);
    tq_put_request_close(&store, &request);
    tq_store_fini(&store);
}

/* ---- one thing wrong at a time ---- */

#define LONG_NAME                                                                                                      \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
    "aaaaaa"                                                                                                           \
    "aaaaaaaaaaaaaaaaaa"

/* mistake, what the message says */
#define MISTAKES(X)                                                                                                    \
    X(m->request.samples = NULL, "samples: missing")                                                                   \
    X(m->samples.indexes = NULL, "samples.indexes: empty; expected at least one sample")                               \
    X(m->indexes.n_count = 0, "samples.indexes: 1 starts, 0 counts")                                                   \
    X(m->count[0] = 0, "samples.indexes[0]: 0 from 10 on")                                                             \
    X(m->start[0] = UINT64_MAX, "samples.indexes[0]: 2 from 18446744073709551615 on")                                  \
    X(m->count[0] = UINT64_C(1) << 40, "samples.indexes: more than 262144 samples")                                    \
    X((m->indexes.n_start = m->indexes.n_count = 2, m->start[1] = 11, m->count[1] = 1),                                \
      "samples.indexes: 11 occurs twice")                                                                              \
    X(m->samples.n_generation = 0, "samples.generation: 0 entries; expected 1 or 2")                                   \
    X(m->samples.n_generation = 3, "samples.generation: 3 entries; expected 1 or 2")                                   \
    X(m->samples.n_unit = 3, "samples.unit: 3 entries; expected 1 or 2")                                               \
    X(m->samples.partition = (char *)"", "samples.partition: '': 0 bytes; expected 1 to 128")                          \
    X(m->samples.partition = (char *)LONG_NAME, "samples.partition: '")                                                \
    X(m->samples.partition = (char *)"a\nb", "samples.partition: byte 0x0a at 1")                                      \
    X(m->samples.partition = (char *)"a\xc0\x80", "samples.partition: byte 0xc0 at 1")                                 \
    X(m->samples.partition = (char *)"\xed\xa0\x80", "samples.partition: byte 0xed at 0")                              \
    X(m->samples.partition = (char *)"\xf4\x90\x80\x80", "samples.partition: byte 0xf4 at 0")                          \
    X(m->samples.partition = (char *)"\xe2\x82", "samples.partition: byte 0xe2 at 0")                                  \
    X(m->request.n_fields = 0, "fields: empty")                                                                        \
    X(m->request.n_fields = 2, "shapes: 3 of them; expected 2, one a field")                                           \
    X(m->request.n_shapes = 2, "shapes: 2 of them; expected 3, one a field")                                           \
    X(m->request.n_shapes = 0, "shapes of 'j': rank 0; expected 1 to 8")                                               \
    X(m->field[1].name = (char *)"d", "fields: 'd' occurs twice")                                                      \
    X(m->field[1].name = (char *)"", "fields[1]: '': 0 bytes")                                                         \
    X(m->field[1].name = (char *)"a/b", "fields[1]: 'a/b': a field's name has no '/'")                                 \
    X(m->field[0].layout = 0, "fields['d'].layout: 0; expected 1 dense, 2 jagged or 3 opaque")                         \
    X(m->field[0].layout = 9, "fields['d'].layout: 9;")                                                                \
    X(m->field[0].layout = -1, "fields['d'].layout: 4294967295;")                                                      \
    X(m->field[0].dtype = 0, "fields['d'].dtype: 0; expected an element type")                                         \
    X(m->field[0].dtype = 18, "fields['d'].dtype: 18;")                                                                \
    X(m->field[0].dtype = -3, "fields['d'].dtype: 4294967293;")                                                        \
    X(m->field[0].content_type = (char *)"x", "fields['d'].content_type: 'x'; expected none")                          \
    X(m->field[0].n_shape = 9, "fields['d'].shape: 9;")                                                                \
    X((m->field[0].n_shape = 2, m->dense_shape[0] = m->dense_shape[1] = UINT64_C(1) << 32),                            \
      "fields['d'].shape: 2; expected a product below 2^64")                                                           \
    X((m->field[1].n_shape = 1, m->field[1].shape = m->dense_shape), "fields['j'].shape: 1; expected none")            \
    X(m->field[2].dtype = 4, "fields['o'].dtype: 4; expected none")                                                    \
    X((m->field[2].n_shape = 1, m->field[2].shape = m->dense_shape), "fields['o'].shape: 1; expected none")            \
    X(m->field[2].content_type = (char *)"a\tb", "fields['o'].content_type: byte 0x09")                                \
    X(m->shape[0].rank = 1, "shapes of 'd': 0 sizes; expected none")                                                   \
    X(m->shape[1].rank = 9, "shapes of 'j': rank 9; expected 1 to 8")                                                  \
    X(m->shape[1].rank = 2, "shapes of 'j': 2 sizes; expected 4: 2 samples of rank 2")                                 \
    X(m->shape[1].n_size = 1, "shapes of 'j': 1 sizes; expected 2")                                                    \
    X(m->sizes[0] = 4, "cells.length of 'j', sample 10: 24 bytes; type and shape make 32")                             \
    X(m->sizes[1] = UINT64_MAX, "shapes of 'j', sample 11: the product exceeds 2^64")                                  \
    X(m->dense_shape[0] = 3, "cells.length of 'd', sample 10: 8 bytes; type and shape make 12")                        \
    X(m->request.cells = NULL, "cells: missing")                                                                       \
    X(m->cells.n_offset = 3, "cells: 4 region, 3 offset, 4 length, 4 stride, 4 count")                                 \
    X(m->cells.n_length = 5, "cells: 4 region, 4 offset, 5 length")                                                    \
    X(m->cells.n_stride = 0, "4 length, 0 stride, 4 count")                                                            \
    X(m->cells.n_count = 3, "4 stride, 3 count")                                                                       \
    X(m->cells.n_region = 3, "cells: 3 region, 4 offset")                                                              \
    X(m->cell_region[2] = 2, "cells.region[2]: 2; expected at most 1")                                                 \
    X(m->cell_count[0] = 0, "cells.count[0]: 0; expected 1 to 6")                                                      \
    X(m->cell_count[3] = 3, "cells.count[3]: 3; expected 1 to 2")                                                      \
    X((m->cells.n_region = m->cells.n_offset = m->cells.n_length = m->cells.n_stride = m->cells.n_count = 3),          \
      "cells.count: 4 cells; expected 6")                                                                              \
    X(m->cell_offset[1] = 17, "cells[1]: 1 cells of 24 bytes from 17, 0 apart, leave region 1 of 40 bytes")            \
    X(m->cell_offset[2] = 41, "cells[2]: 1 cells of 0 bytes from 41")                                                  \
    X(m->cell_offset[1] = UINT64_MAX - 8, "cells[1]: ")                                                                \
    X(m->cell_stride[0] = UINT64_MAX,                                                                                  \
      "cells[0]: 2 cells of 8 bytes from 0, 18446744073709551615 apart, leave region 1")                               \
    X(m->cell_length[3] = UINT64_MAX, "cells[3]: ")                                                                    \
    X(m->cell_length[3] = 11, "cells of region 0: 22 bytes; the inline frames have 24")                                \
    X(m->cell_stride[3] = 13, "cells[3]: 2 cells of 12 bytes from 0, 13 apart, leave region 0 of 24 bytes")            \
    X(m->request.source = NULL, "cells.region[0]: 1; expected at most 0")                                              \
    X(m->source.n_kind = 0, "source: 1 id, 0 kind, 1 start, 1 length, 1 key, 1 ticket; expected as many")              \
    X(m->source.n_start = 2, "source: 1 id, 1 kind, 2 start")                                                          \
    X(m->source.n_length = 0, "0 length, 1 key")                                                                       \
    X(m->source.n_key = 0, "0 key, 1 ticket")                                                                          \
    X(m->source.n_ticket = 2, "1 key, 2 ticket")                                                                       \
    X(m->source.n_id = 0, "source: 0 id, 1 kind")                                                                      \
    X(m->source.address.len = 0, "source.address: empty")                                                              \
    X(m->kind[0] = 3, "source.kind[0]: 3; expected 1, arena, or 2, heap")                                              \
    X(m->id[0] = 0, "source.id[0]: 0")                                                                                 \
    X(m->length[0] = 39, "leave region 1 of 39 bytes")                                                                 \
    X(m->request.parser = (char *)"url", "parser: 'url' is not known; known: none")                                    \
    X(m->request.parser_arguments.len = 3, "parser_arguments: 3 bytes")

#define MISTAKE_ENUM(mistake, says) 1 +
enum { N_MISTAKES = MISTAKES(MISTAKE_ENUM) 0 };

static const char *make_mistake(struct message *m, size_t which)
{
    size_t at = 0;
#define MISTAKE_MAKE(mistake, says)                                                                                    \
    if (at++ == which) {                                                                                               \
        (void)(mistake);                                                                                               \
        return says;                                                                                                   \
    }
    MISTAKES(MISTAKE_MAKE)
#undef MISTAKE_MAKE
    return NULL;
}

static void every_mistake_is_named(void **state)
{
    struct fake_engine fake = { 0 };
    struct tq_store store = open_store(&fake);
    (void)state;
    for (size_t which = 0; which < N_MISTAKES; which++) {
        struct message m;
        struct tq_put_request request;
        struct tq_error err;
        fill(&m);
        const char *says = make_mistake(&m, which);
        tq_status status = tq_put_request_open(&store, &m.request, INLINE_BYTES, &request, &err);
        if (status != TQ_INVALID_ARGUMENT || strstr(err.message, says) == NULL)
            fail_msg("mistake %zu: %s '%s'; expected '%s'", which, tq_status_name(status),
                     status != TQ_OK ? err.message : "", says);
        assert_null(request.lengths);
        assert_int_equal(store.reserved_bytes, 0);
    }
    assert_int_equal(fake.places, 0);
    tq_store_fini(&store);
}

static void too_many_cells_are_refused_before_they_are_written_out(void **state)
{
    struct fake_engine fake = { 0 };
    struct tq_store store = open_store(&fake);
    struct message m;
    struct tq_put_request request;
    struct tq_error err;
    (void)state;
    fill(&m);
    m.count[0] = 100000; /* of three fields */
    m.sizes[0] = 0;
    m.request.n_fields = 3;
    m.field[1].layout = TQ__V1__LAYOUT__LAYOUT_OPAQUE;
    m.field[1].dtype = 0;
    m.shape[1].rank = 0;
    m.shape[1].n_size = 0;
    assert_int_equal(tq_put_request_open(&store, &m.request, INLINE_BYTES, &request, &err), TQ_INVALID_ARGUMENT);
    assert_string_equal(err.message, "3 fields of 100000 samples: expected at most 262144 cells; put fewer");
    tq_store_fini(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_request_is_written_out),
        cmocka_unit_test(every_mistake_is_named),
        cmocka_unit_test(too_many_cells_are_refused_before_they_are_written_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

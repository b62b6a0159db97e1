#include "tests/client/fake.h"

#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tq/init.h"
#include "tq/v1/controller.tq.h"
#include "tq/v1/health.tq.h"
#include "tq/v1/storage.tq.h"
#include "transport/base/crc32c.h"

enum { FIRST_UNIT = 7, GENERATION = 3 };

static void *array(struct fake *fake, size_t count, size_t size)
{
    void *memory = tq_arena_alloc(fake->arena, count * size);
    assert_non_null(memory);
    return memory;
}

/* ---- health, controller ---- */

static void check(void *state, const Tq__V1__CheckRequest *request, struct tq_server_call *call)
{
    (void)state;
    (void)request;
    Tq__V1__CheckResponse response = TQ__V1__CHECK_RESPONSE__INIT;
    response.status = TQ__V1__HEALTH_STATUS__HEALTH_STATUS_SERVING;
    tq_v1_health_check_answer(call, &response);
}

/* Samples go to the units in turn. */
static void insert(void *state, const Tq__V1__InsertSamplesRequest *request, struct tq_server_call *call)
{
    struct fake *fake = state;
    uint64_t start = fake->next_index, count = request->count;
    uint32_t generation = GENERATION, *units = array(fake, count, sizeof(*units));
    Tq__V1__Unit unit[FAKE_UNITS], *list[FAKE_UNITS];
    for (uint32_t u = 0; u < FAKE_UNITS; u++) {
        tq__v1__unit__init(&unit[u]);
        unit[u].unit = FIRST_UNIT + u;
        unit[u].name = "fake";
        unit[u].address = (char *)(uintptr_t)fake_address(fake);
        unit[u].epoch = tq_runtime_epoch(fake->runtime);
        unit[u].state = TQ__V1__UNIT_STATE__UNIT_STATE_SERVING;
        unit[u].bulk = (ProtobufCBinaryData){ fake->bulk.len, (uint8_t *)(uintptr_t)fake->bulk.ptr };
        list[u] = &unit[u];
    }
    for (uint32_t i = 0; i < count; i++)
        units[i] = FIRST_UNIT + i % FAKE_UNITS;
    fake->next_index += count;
    Tq__V1__IndexRuns runs = TQ__V1__INDEX_RUNS__INIT;
    runs.n_start = runs.n_count = 1;
    runs.start = &start;
    runs.count = &count;
    Tq__V1__Samples samples = TQ__V1__SAMPLES__INIT;
    samples.partition = request->partition;
    samples.indexes = &runs;
    samples.n_generation = 1;
    samples.generation = &generation;
    samples.n_unit = count;
    samples.unit = units;
    Tq__V1__Batch batch = TQ__V1__BATCH__INIT;
    batch.samples = &samples;
    batch.n_units = FAKE_UNITS;
    batch.units = list;
    Tq__V1__InsertSamplesResponse response = TQ__V1__INSERT_SAMPLES_RESPONSE__INIT;
    response.batch = &batch;
    atomic_fetch_add(&fake->inserts, 1);
    tq_v1_controller_insert_samples_answer(call, &response);
}

static void notify(void *state, const Tq__V1__NotifyProducedRequest *request, struct tq_server_call *call)
{
    struct fake *fake = state;
    (void)request;
    Tq__V1__NotifyProducedResponse response = TQ__V1__NOTIFY_PRODUCED_RESPONSE__INIT;
    atomic_fetch_add(&fake->notifies, 1);
    tq_v1_controller_notify_produced_answer(call, &response);
}

static void clear_samples(void *state, const Tq__V1__ClearSamplesRequest *request, struct tq_server_call *call)
{
    struct fake *fake = state;
    (void)request;
    Tq__V1__ClearSamplesResponse response = TQ__V1__CLEAR_SAMPLES_RESPONSE__INIT;
    atomic_fetch_add(&fake->table_clears, 1);
    tq_v1_controller_clear_samples_answer(call, &response);
}

/* ---- storage: put ---- */

static uint64_t index_at(const Tq__V1__IndexRuns *runs, size_t k)
{
    for (size_t r = 0; r < runs->n_start; r++) {
        if (k < runs->count[r])
            return runs->start[r] + k;
        k -= (size_t)runs->count[r];
    }
    fail_msg("sample %zu is in no run", k);
    return 0;
}

static size_t count_of(const Tq__V1__IndexRuns *runs)
{
    size_t n = 0;
    for (size_t r = 0; r < runs->n_count; r++)
        n += (size_t)runs->count[r];
    return n;
}

static uint8_t *join_frames(struct fake *fake, const struct tq_server_call *call, size_t *out_len)
{
    size_t n, len = 0;
    const struct tq_bytes *frames = tq_server_call_frames(call, &n);
    for (size_t f = 0; f < n; f++)
        len += frames[f].len;
    uint8_t *bytes = array(fake, len + 1, 1);
    *out_len = 0;
    for (size_t f = 0; f < n; f++) {
        memcpy(bytes + *out_len, frames[f].ptr, frames[f].len);
        *out_len += frames[f].len;
    }
    return bytes;
}

static Tq__V1__Field copy_field(struct fake *fake, const Tq__V1__Field *field)
{
    Tq__V1__Field copy = *field;
    copy.name = tq_arena_copy(fake->arena, field->name, strlen(field->name) + 1);
    copy.content_type = tq_arena_copy(fake->arena, field->content_type, strlen(field->content_type) + 1);
    copy.shape = tq_arena_copy(fake->arena, field->shape, field->n_shape * sizeof(*field->shape));
    return copy;
}

static struct fake_cell *find_cell(struct fake *fake, const char *field, uint64_t index)
{
    for (size_t c = 0; c < fake->n_cells; c++)
        if (fake->cells[c].index == index && strcmp(fake->cells[c].field, field) == 0)
            return &fake->cells[c];
    return NULL;
}

static void keep_cell(struct fake *fake, const Tq__V1__PutRequest *request, size_t f, size_t k, const uint8_t *bytes,
                      size_t len)
{
    uint64_t index = index_at(request->samples->indexes, k);
    struct fake_cell *cell = find_cell(fake, request->fields[f]->name, index);
    if (cell == NULL) {
        assert_true(fake->n_cells < FAKE_CELLS_MAX);
        cell = &fake->cells[fake->n_cells++];
    }
    cell->declaration = copy_field(fake, request->fields[f]);
    cell->field = cell->declaration.name;
    cell->index = index;
    cell->bytes = tq_arena_copy(fake->arena, bytes, len);
    cell->len = len;
    const Tq__V1__Shapes *shapes = request->shapes[f];
    tq__v1__shapes__init(&cell->shapes);
    cell->shapes.rank = shapes->rank;
    cell->shapes.n_size = shapes->rank;
    cell->shapes.size =
        tq_arena_copy(fake->arena, shapes->size + k * shapes->rank, shapes->rank * sizeof(*shapes->size));
}

static void keep_all(struct fake *fake, const Tq__V1__PutRequest *request, const uint8_t *bytes, size_t n_bytes,
                     uint32_t *digests)
{
    size_t n = count_of(request->samples->indexes), cell = 0;
    const Tq__V1__CellRuns *runs = request->cells;
    for (size_t r = 0; r < runs->n_count; r++)
        for (uint64_t i = 0; i < runs->count[r]; i++, cell++) {
            uint64_t offset = runs->offset[r] + i * runs->stride[r];
            assert_int_equal(runs->region[r], 0);
            assert_true(offset + runs->length[r] <= n_bytes);
            keep_cell(fake, request, cell / n, cell % n, bytes + offset, (size_t)runs->length[r]);
            digests[cell] = tq_crc32c(bytes + offset, (size_t)runs->length[r]);
        }
    assert_int_equal(cell, n * request->n_fields);
}

static void give_up(void *user, tq_status why)
{
    tq_server_fail(user, why, NULL, "nobody waits any more");
}

static void put(void *state, const Tq__V1__PutRequest *request, struct tq_server_call *call)
{
    struct fake *fake = state;
    size_t n_bytes, n_cells = count_of(request->samples->indexes) * request->n_fields;
    atomic_fetch_add(&fake->puts, 1);
    int unit = (int)request->samples->unit[0];
    if (unit == atomic_load(&fake->fail_unit)) {
        tq_server_fail(call, TQ_RESOURCE_EXHAUSTED, "BUDGET_BYTES", "no room");
        return;
    }
    if (unit == atomic_load(&fake->hold_unit)) {
        tq_server_call_on_gone(call, give_up, call);
        return;
    }
    uint8_t *bytes = join_frames(fake, call, &n_bytes);
    Tq__V1__PutResponse response = TQ__V1__PUT_RESPONSE__INIT;
    response.n_digest = n_cells;
    response.digest = array(fake, n_cells, sizeof(*response.digest));
    response.stored_bytes = n_bytes;
    response.engine = 3;
    keep_all(fake, request, bytes, n_bytes, response.digest);
    if (atomic_load(&fake->wrong_put_digests) > 0) {
        atomic_fetch_sub(&fake->wrong_put_digests, 1);
        response.digest[n_cells - 1] ^= 1;
    }
    if (atomic_load(&fake->short_put_digests) > 0)
        response.n_digest--;
    tq_v1_storage_put_answer(call, &response);
}

/* ---- storage: get ---- */

static Tq__V1__Cells *make_cells(struct fake *fake, size_t n)
{
    Tq__V1__Cells *cells = array(fake, 1, sizeof(*cells));
    tq__v1__cells__init(cells);
    cells->n_region = cells->n_frame = cells->n_length = cells->n_version = cells->n_digest = n;
    cells->region = array(fake, n, sizeof(*cells->region));
    cells->frame = array(fake, n, sizeof(*cells->frame));
    cells->length = array(fake, n, sizeof(*cells->length));
    cells->version = array(fake, n, sizeof(*cells->version));
    cells->digest = array(fake, n, sizeof(*cells->digest));
    return cells;
}

static void describe_field(struct fake *fake, const Tq__V1__GetRequest *request, size_t f, Tq__V1__GetResponse *out)
{
    size_t n = count_of(request->samples->indexes);
    const struct fake_cell *first = find_cell(fake, request->fields[f], index_at(request->samples->indexes, 0));
    Tq__V1__Shapes *shapes = array(fake, 1, sizeof(*shapes));
    tq__v1__shapes__init(shapes);
    shapes->rank = first->shapes.rank;
    shapes->n_size = n * shapes->rank;
    shapes->size = array(fake, shapes->n_size, sizeof(*shapes->size));
    for (size_t k = 0; k < n; k++) {
        const struct fake_cell *cell = find_cell(fake, request->fields[f], index_at(request->samples->indexes, k));
        memcpy(shapes->size + k * shapes->rank, cell->shapes.size, shapes->rank * sizeof(*shapes->size));
    }
    out->fields[f] = array(fake, 1, sizeof(*out->fields[f]));
    *out->fields[f] = copy_field(fake, &first->declaration);
    out->shapes[f] = shapes;
}

/* Each cell has three bytes of distance to the next. */
static uint8_t *gather(struct fake *fake, const Tq__V1__GetRequest *request, Tq__V1__Cells *cells, size_t *out_len)
{
    size_t n = count_of(request->samples->indexes), len = 0;
    for (int pass = 0;; pass++) {
        uint8_t *bytes = pass == 0 ? NULL : array(fake, len + 1, 1);
        len = 0;
        for (size_t c = 0; c < cells->n_length; c++) {
            const struct fake_cell *cell =
                find_cell(fake, request->fields[c / n], index_at(request->samples->indexes, c % n));
            cells->frame[c] = len;
            cells->length[c] = cell->len;
            cells->digest[c] = tq_crc32c(cell->bytes, cell->len);
            if (bytes != NULL)
                memcpy(bytes + len, cell->bytes, cell->len);
            len += cell->len + 3;
        }
        *out_len = len;
        if (bytes != NULL)
            return bytes;
    }
}

static void get(void *state, const Tq__V1__GetRequest *request, struct tq_server_call *call)
{
    struct fake *fake = state;
    size_t n = count_of(request->samples->indexes);
    atomic_fetch_add(&fake->gets, 1);
    if ((int)request->samples->unit[0] == atomic_load(&fake->fail_get_unit)) {
        tq_server_fail(call, TQ_NOT_FOUND, NULL, "no such samples");
        return;
    }
    for (size_t f = 0; f < request->n_fields; f++)
        for (size_t k = 0; k < n; k++)
            if (find_cell(fake, request->fields[f], index_at(request->samples->indexes, k)) == NULL) {
                tq_server_fail(call, TQ_NOT_FOUND, NULL, "no field %s", request->fields[f]);
                return;
            }
    Tq__V1__GetResponse response = TQ__V1__GET_RESPONSE__INIT;
    response.n_fields = response.n_shapes = request->n_fields;
    response.fields = array(fake, request->n_fields, sizeof(*response.fields));
    response.shapes = array(fake, request->n_fields, sizeof(*response.shapes));
    for (size_t f = 0; f < request->n_fields; f++)
        describe_field(fake, request, f, &response);
    response.cells = make_cells(fake, n * request->n_fields);
    struct fake_answer answer = { .response = &response, .arena = fake->arena };
    answer.bytes = gather(fake, request, response.cells, &answer.n_bytes);
    void (*lie)(struct fake_answer *) = fake->lie;
    if (lie != NULL)
        lie(&answer);
    if (response.pin != 0)
        atomic_fetch_add(&fake->pins, 1);
    struct tq_bytes frame = { answer.bytes, answer.n_bytes };
    tq_v1_storage_get_answer_frames(call, &response, &frame, 1, NULL, NULL);
}

static void clear(void *state, const Tq__V1__ClearRequest *request, struct tq_server_call *call)
{
    struct fake *fake = state;
    (void)request;
    Tq__V1__ClearResponse response = TQ__V1__CLEAR_RESPONSE__INIT;
    atomic_fetch_add(&fake->unit_clears, 1);
    tq_v1_storage_clear_answer(call, &response);
}

static void release(void *state, const Tq__V1__ReleaseRequest *request, struct tq_server_call *call)
{
    struct fake *fake = state;
    atomic_fetch_add(&fake->releases, (int)request->n_pin);
    Tq__V1__ReleaseResponse response = TQ__V1__RELEASE_RESPONSE__INIT;
    tq_v1_storage_release_answer(call, &response);
}

static const struct tq_v1_health_ops health_ops = { .check = check };
static const struct tq_v1_controller_ops controller_ops = {
    .insert_samples = insert,
    .notify_produced = notify,
    .clear_samples = clear_samples,
};
static const struct tq_v1_storage_ops storage_ops = { .put = put, .get = get, .clear = clear, .release = release };

void fake_open(struct fake *fake)
{
    struct tq_error err;
    struct tq_server_opts opts = { .listen = "tcp://127.0.0.1:0" };
    memset(fake, 0, sizeof(*fake));
    fake->arena = tq_arena_open(NULL, SIZE_MAX);
    fake->next_index = 1000;
    assert_int_equal(tq_init(&err), TQ_OK);
    assert_int_equal(tq_runtime_open(NULL, &fake->runtime, &err), TQ_OK);
    assert_int_equal(tq_server_open(fake->runtime, &opts, &fake->server, &err), TQ_OK);
    assert_int_equal(tq_v1_health_add(fake->server, &health_ops, fake, &err), TQ_OK);
    assert_int_equal(tq_v1_controller_add(fake->server, &controller_ops, fake, &err), TQ_OK);
    assert_int_equal(tq_v1_storage_add(fake->server, &storage_ops, fake, &err), TQ_OK);
    assert_int_equal(tq_server_start(fake->server, &err), TQ_OK);
}

void fake_close(struct fake *fake)
{
    tq_server_close(fake->server);
    tq_runtime_close(fake->runtime);
    tq_arena_close(fake->arena);
}

const char *fake_address(const struct fake *fake)
{
    return tq_server_address(fake->server);
}

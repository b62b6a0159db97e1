/* A PutRequest of a peer, from its bytes to the table. What is accepted lies inside what the peer named, is stored with
 * the lengths that it declared, and gives everything back when it is cleared. Input: two bytes, how many inline bytes
 * come along; the rest is the message. */
#include <stdlib.h>

#include "server/storage/put_request.h"
#include "tests/server/storage/fake_engine.h"
#include "transport/base/assert.h"
#include "transport/rpc/body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Small, so that budgets are met as well. */
static struct tq_storage_limits fuzz_limits(void)
{
    struct tq_storage_limits limits = {
#define INITIAL(name, initial, min, max, help) .name = (initial),
        TQ_STORAGE_LIMITS(INITIAL)
#undef INITIAL
    };
    limits.request_cells = 2048;
    limits.budget_bytes = UINT64_C(1) << 18;
    limits.budget_samples = 512;
    return limits;
}

static void check_sources(const struct tq_put_request *request, uint64_t inline_bytes)
{
    uint64_t used_inline = 0;
    for (size_t c = 0; c < request->n_cells; c++) {
        const struct tq_cell_source *source = &request->sources[c];
        TQ_ASSERT(source->region <= request->n_regions);
        uint64_t region = source->region == 0 ? inline_bytes : request->regions[source->region - 1].length;
        TQ_ASSERT(source->offset <= region && request->lengths[c] <= region - source->offset);
        used_inline += source->region == 0 ? request->lengths[c] : 0;
    }
    TQ_ASSERT(used_inline == inline_bytes);
    TQ_ASSERT(request->n_cells == request->plan.n_fields * request->samples.named.count);
}

static void check_stored(const struct tq_store *store, const struct tq_put_request *request)
{
    const struct tq_named_samples *samples = &request->samples.named;
    for (size_t c = 0; c < request->n_cells; c++) {
        size_t i = c % samples->count;
        struct tq_sample *sample = NULL;
        TQ_ASSERT(tq_store_find(store, samples->partition, samples->index[i], samples->generation[i], &sample, NULL) ==
                  TQ_OK);
        const struct tq_name *name = tq_names_peek(&store->names, request->fields[c / samples->count].name);
        TQ_ASSERT(name != NULL);
        const struct tq_frame *frame = tq_sample_cell(sample, name);
        TQ_ASSERT(frame != NULL && frame->len == request->lengths[c] && frame->version != 0);
    }
}

static void store_it(struct tq_store *store, const struct tq_put_request *request)
{
    struct tq_put put;
    struct tq_clear_counts counts = { 0 };
    if (tq_put_open(store, &request->plan, &put, NULL) != TQ_OK) {
        TQ_ASSERT(store->reserved_bytes == 0 && store->reserved_cells == 0 && store->reserved_samples == 0);
        return;
    }
    TQ_ASSERT(store->reserved_bytes <= store->limits.budget_bytes);
    TQ_ASSERT(tq_put_place(store, &put, NULL) == TQ_OK && tq_put_commit(store, &put, NULL) == TQ_OK);
    tq_put_close(store, &put);
    check_stored(store, request);
    tq_store_clear(store, &request->samples.named, NULL, 0, &counts);
    TQ_ASSERT(counts.removed == request->samples.named.count && store->used_bytes == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ProtobufCMessage *message;
    struct tq_put_request request;
    struct fake_engine fake = { 0 };
    struct tq_store store;
    if (size < 2)
        return 0;
    uint64_t inline_bytes = data[0] | (uint64_t)data[1] << 8;
    struct tq_arena *arena = tq_arena_open(NULL, 0);
    TQ_ASSERT(arena != NULL);
    const struct tq_engine engine = fake_engine(&fake);
    const struct tq_storage_limits limits = fuzz_limits();
    tq_store_init(&store, &engine, &limits, NULL);
    if (tq_body_decode(arena, &tq__v1__put_request__descriptor, (struct tq_bytes){ data + 2, size - 2 },
                       (struct tq_body_limits){ 0 }, &message, NULL) == TQ_OK &&
        tq_put_request_open(&store, (const Tq__V1__PutRequest *)message, inline_bytes, &request, NULL) == TQ_OK) {
        check_sources(&request, inline_bytes);
        store_it(&store, &request);
        tq_put_request_close(&store, &request);
    }
    tq_store_fini(&store);
    TQ_ASSERT(fake.places == 0);
    tq_arena_close(arena);
    return 0;
}

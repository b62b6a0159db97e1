#include "tests/server/storage/owner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/common/hex.h"
#include "tests/support/cmocka_all.h"
#include "tq/init.h"

static void print_hex(const char *name, struct tq_bytes bytes)
{
    printf("%s ", name);
    for (size_t i = 0; i < bytes.len; i++)
        printf("%02x", bytes.ptr[i]);
    printf("\n");
}

int owner_main(const char *transport, const char *text)
{
    const struct tq_bulk_opts opts = { .mode = TQ_BULK_REQUIRED, .tcp_only = strcmp(transport, "tcp") == 0 };
    struct tq_error err;
    struct tq_bulk *bulk;
    struct tq_exposure *exposure;
    struct tq_region region;
    uint64_t bytes = strtoull(text, NULL, 10);
    uint8_t *memory = malloc(bytes);
    if (memory == NULL || tq_init(&err) != TQ_OK || tq_bulk_open(&opts, &bulk, &err) != TQ_OK)
        return 1;
    memset(memory, 0x5a, bytes);
    if (tq_bulk_expose(bulk, memory, bytes, &exposure, &err) != TQ_OK)
        return 1;
    tq_exposure_region(exposure, &region);
    print_hex("address", tq_bulk_address(bulk));
    print_hex("key", region.key);
    print_hex("ticket", region.ticket);
    printf("region %" PRIu64 " %u %" PRIu64 " %" PRIu64 "\n", region.id, region.kind, region.base, region.length);
    fflush(stdout);
    return pause(); /* the test ends us */
}

static size_t read_hex(struct owner *owner, const char *name, uint8_t *out, size_t cap)
{
    char line[4200];
    assert_true(child_read_line(&owner->child, line, sizeof(line)));
    size_t skip = strlen(name) + 1;
    size_t len = strlen(line + skip) / 2;
    assert_memory_equal(line, name, skip - 1);
    assert_true(len <= cap && tq_hex_parse(line + skip, out, len));
    return len;
}

void owner_start(struct owner *owner, const char *transport, uint64_t bytes)
{
    char text[24], line[200];
    snprintf(text, sizeof(text), "%" PRIu64, bytes);
    const char *const args[] = { "owner", transport, text, NULL };
    *owner = (struct owner){ 0 };
    child_start(&owner->child, "/proc/self/exe", args);
    owner->address_len = read_hex(owner, "address", owner->address, sizeof(owner->address));
    owner->region.key = (struct tq_bytes){ owner->key, read_hex(owner, "key", owner->key, sizeof(owner->key)) };
    owner->region.ticket =
        (struct tq_bytes){ owner->ticket, read_hex(owner, "ticket", owner->ticket, sizeof(owner->ticket)) };
    assert_true(child_read_line(&owner->child, line, sizeof(line)));
    assert_int_equal(sscanf(line, "region %" SCNu64 " %" SCNu32 " %" SCNu64 " %" SCNu64, &owner->region.id,
                            &owner->region.kind, &owner->region.base, &owner->region.length),
                     4);
}

struct tq_future *owner_put_start(struct writer *writer, const struct owner *owner, const struct rows *rows,
                                  uint64_t len, int64_t deadline_ns)
{
    Tq__V1__PutRequest request = TQ__V1__PUT_REQUEST__INIT;
    Tq__V1__Samples samples = TQ__V1__SAMPLES__INIT;
    Tq__V1__IndexRuns indexes = TQ__V1__INDEX_RUNS__INIT;
    Tq__V1__Field field = TQ__V1__FIELD__INIT;
    Tq__V1__Field *fields = &field;
    Tq__V1__CellRuns cells = TQ__V1__CELL_RUNS__INIT;
    Tq__V1__Regions source = TQ__V1__REGIONS__INIT;
    uint64_t start = rows->first, count = rows->n, zero = 0;
    uint32_t generation = rows->generation, one = 1, run = (uint32_t)rows->n;
    struct tq_region region = owner->region;
    ProtobufCBinaryData key = { region.key.len, (uint8_t *)region.key.ptr };
    ProtobufCBinaryData ticket = { region.ticket.len, (uint8_t *)region.ticket.ptr };
    indexes.n_start = indexes.n_count = samples.n_generation = 1;
    indexes.start = &start;
    indexes.count = &count;
    samples.partition = (char *)rows->partition;
    samples.indexes = &indexes;
    samples.generation = &generation;
    field.name = (char *)"x";
    field.layout = TQ__V1__LAYOUT__LAYOUT_OPAQUE;
    cells.n_region = cells.n_offset = cells.n_length = cells.n_stride = cells.n_count = 1;
    cells.region = &one;
    cells.offset = &zero;
    cells.length = cells.stride = &len;
    cells.count = &run;
    source.address = (ProtobufCBinaryData){ owner->address_len, (uint8_t *)owner->address };
    source.n_id = source.n_kind = source.n_start = source.n_length = source.n_key = source.n_ticket = 1;
    source.id = &region.id;
    source.kind = &region.kind;
    source.start = &region.base;
    source.length = &region.length;
    source.key = &key;
    source.ticket = &ticket;
    request.samples = &samples;
    request.n_fields = 1;
    request.fields = &fields;
    request.cells = &cells;
    request.source = &source;
    return tq_v1_storage_put_start(writer->channel, &request, &(struct tq_call_opts){ .deadline_ns = deadline_ns });
}

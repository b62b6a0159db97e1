/* BulkRead messages from any reader at the owner's core, over a real arena: nothing is sent that was not published,
 * every hold is dropped. */
#include <stdlib.h>
#include <string.h>

#include "transport/bulk/owner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(holds)                                                                                                   \
    do {                                                                                                               \
        if (!(holds))                                                                                                  \
            abort();                                                                                                   \
    } while (0)

enum { LEN = 1000 };

static struct tq_memory memory;
static struct tq_block block;
static struct tq_owner owner;

static tq_status hold(void *self, const struct tq_claim *claim, const uint8_t **out_ptr, struct tq_hold *out_hold,
                      struct tq_error *err)
{
    (void)self;
    struct tq_claim mine = *claim;
    struct tq_region region;
    CHECK(tq_memory_region(&memory, block.region, &region));
    if (claim->region == 0) /* the fuzzer cannot guess these three */
        mine.region = region.id;
    if (claim->ticket.len == 0)
        mine.ticket = region.ticket;
    if (claim->frame == 0)
        mine.frame = block.frame;
    return tq_memory_hold(&memory, &mine, out_ptr, out_hold, err);
}

static void drop(void *self, struct tq_hold *held)
{
    (void)self;
    tq_memory_drop(&memory, held);
}

static bool is_wanted(void *self, const struct tq_hold *held)
{
    (void)self;
    return tq_memory_is_wanted(&memory, held);
}

static tq_status open_caller(void *self, struct tq_caller *caller, const tq_wire_BulkAddress *reader, void *from,
                             struct tq_error *err)
{
    (void)self;
    (void)from;
    (void)err;
    CHECK(caller->process == reader->process && caller->link != 0);
    return TQ_OK;
}

static tq_status send_piece(void *self, struct tq_send *send, struct tq_error *err)
{
    (void)self;
    (void)err;
    if (send->hold.chunk != NULL) {
        CHECK(send->payload >= block.ptr && send->length <= LEN);
        CHECK(send->payload + send->length <= block.ptr + LEN);
    } else {
        CHECK(send->length == 0);
    }
    tq_owner_sent(&owner, send, TQ_OK);
    return TQ_OK;
}

static void close_caller(void *self, struct tq_caller *caller)
{
    (void)self;
    tq_owner_closed(&owner, caller);
}

static void gone(void *self, struct tq_caller *caller)
{
    (void)self;
    (void)caller;
}

static void set_up(void)
{
    const struct tq_memory_opts opts = { .seam = tq_seam_system(), .extent_bytes = 1 << 20 };
    tq_memory_init(&memory, &opts);
    CHECK(tq_memory_alloc(&memory, LEN, &block, NULL) == TQ_OK);
    tq_block_publish(&block, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tq_owner_port port = { NULL, hold, drop, is_wanted, open_caller, send_piece, close_caller, gone };
    if (memory.seam == NULL)
        set_up();
    tq_owner_init(&owner, tq_seam_system(), &port);
    tq_owner_asked(&owner, (struct tq_bytes){ data, size }, NULL);
    tq_owner_asked(&owner, (struct tq_bytes){ data, size }, NULL);
    tq_owner_close_all(&owner);
    tq_owner_fini(&owner);
    struct tq_chunk *chunk = block.extent_;
    CHECK(chunk->holds == 0);
    return 0;
}

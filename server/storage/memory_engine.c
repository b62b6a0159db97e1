#include "server/storage/memory_engine.h"

static tq_status memory_alloc(void *self, size_t len, struct tq_place *out_place, struct tq_error *err)
{
    return tq_bulk_alloc(self, len, &out_place->block, err);
}

static void memory_free(void *self, struct tq_place *place)
{
    tq_bulk_free(self, &place->block);
}

static void memory_publish(void *self, const struct tq_place *place, uint64_t version)
{
    (void)self;
    tq_block_publish(&place->block, version);
}

static bool memory_region(void *self, const struct tq_place *place, struct tq_region *out_region)
{
    return tq_bulk_region(self, place->block.region, out_region);
}

struct tq_engine tq_memory_engine(struct tq_bulk *bulk)
{
    return (struct tq_engine){
        .self = bulk, .alloc = memory_alloc, .free = memory_free, .publish = memory_publish, .region = memory_region
    };
}

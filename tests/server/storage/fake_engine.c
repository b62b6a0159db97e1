#include "tests/server/storage/fake_engine.h"

#include <stdlib.h>

static tq_status fake_alloc(void *self, size_t len, struct tq_place *out_place, struct tq_error *err)
{
    struct fake_engine *fake = self;
    if (fake->refuse_at > 0 && --fake->refuse_at == 0)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "refused by the test");
    out_place->block = (struct tq_block){ .ptr = malloc(len), .len = len, .region = 77 };
    fake->places++;
    fake->bytes += len;
    return TQ_OK;
}

static void fake_free(void *self, struct tq_place *place)
{
    struct fake_engine *fake = self;
    if (place->block.ptr == NULL)
        return;
    fake->places--;
    fake->bytes -= place->block.len;
    free(place->block.ptr);
    *place = (struct tq_place){ 0 };
}

static void fake_publish(void *self, const struct tq_place *place, uint64_t version)
{
    (void)place;
    ((struct fake_engine *)self)->last_published = version;
}

static bool fake_region(void *self, const struct tq_place *place, struct tq_region *out_region)
{
    (void)self;
    *out_region = (struct tq_region){ .id = place->block.region, .kind = TQ_REGION_ARENA };
    return true;
}

struct tq_engine fake_engine(struct fake_engine *fake)
{
    return (struct tq_engine){
        .self = fake, .alloc = fake_alloc, .free = fake_free, .publish = fake_publish, .region = fake_region
    };
}

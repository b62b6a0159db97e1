#include "server/storage/frame.h"

#include <string.h>

#include "server/storage/store.h"
#include "transport/base/assert.h"
#include "transport/base/crc32c.h"

bool tq_frame_is_placed(const struct tq_frame *frame)
{
    return frame->place.block.ptr != NULL;
}

static struct tq_frame *make(struct tq_store *store, struct tq_schema *schema, uint64_t len, bool is_small)
{
    size_t sizes_bytes = tq_schema_sizes(schema) * sizeof(uint64_t);
    size_t small_bytes = is_small ? (size_t)len : 0;
    struct tq_frame *frame = tq_seam_alloc(store->seam, sizeof(*frame) + sizes_bytes + small_bytes);
    if (frame != NULL && is_small)
        frame->ptr = (uint8_t *)frame->sizes + sizes_bytes;
    return frame;
}

tq_status tq_frame_open(struct tq_store *store, struct tq_schema *schema, uint64_t len, const uint64_t *sizes,
                        struct tq_frame **out_frame, struct tq_error *err)
{
    struct tq_frame *frame = make(store, schema, len, len < TQ_SMALL_CELL_BYTES);
    if (frame == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "no memory for a cell of %llu bytes",
                       (unsigned long long)len);
    if (tq_schema_sizes(schema) > 0)
        memcpy(frame->sizes, sizes, tq_schema_sizes(schema) * sizeof(uint64_t));
    frame->schema = tq_schema_hold(schema);
    frame->len = len;
    frame->holds = 1;
    frame->digest = TQ_CRC32C_EMPTY;
    *out_frame = frame;
    return TQ_OK;
}

tq_status tq_frame_place(const struct tq_store *store, struct tq_frame *frame, struct tq_error *err)
{
    if (frame->ptr != NULL) /* a small one */
        return TQ_OK;
    tq_status status = store->engine.alloc(store->engine.self, (size_t)frame->len, &frame->place, err);
    if (status == TQ_OK)
        frame->ptr = frame->place.block.ptr;
    return status;
}

void tq_frame_publish(struct tq_store *store, struct tq_frame *frame)
{
    TQ_ASSERT(frame->version == 0 && frame->ptr != NULL);
    frame->version = ++store->last_version;
    if (tq_frame_is_placed(frame))
        store->engine.publish(store->engine.self, &frame->place, frame->version);
    store->reserved_bytes -= frame->len;
    store->reserved_cells--;
    store->used_bytes += frame->len;
    store->frames++;
}

struct tq_frame *tq_frame_hold(struct tq_frame *frame)
{
    frame->holds++;
    return frame;
}

void tq_frame_free_place(struct tq_store *store, struct tq_frame *frame)
{
    if (tq_frame_is_placed(frame))
        store->engine.free(store->engine.self, &frame->place);
}

void tq_frame_drop(struct tq_store *store, struct tq_frame *frame)
{
    if (frame == NULL || --frame->holds > 0)
        return;
    if (frame->version != 0) {
        store->used_bytes -= frame->len;
        store->frames--;
    } else {
        store->reserved_bytes -= frame->len;
        store->reserved_cells--;
    }
    tq_frame_free_place(store, frame);
    tq_schema_drop(&store->schemas, frame->schema);
    tq_seam_free(store->seam, frame);
}

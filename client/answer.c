#include "client/answer.h"

#include <string.h>

#include "client/column.h"
#include "client/field_wire.h"
#include "tq/v1/storage.tq.h"

void tq_answer_drop(struct tq_answer *answer)
{
    tq_reply_drop(&answer->reply);
    answer->message = NULL;
}

static tq_status check_fields(struct tq_answer *answer, struct tq_arena *arena, const char *const *names,
                              size_t n_fields, struct tq_error *err)
{
    const Tq__V1__GetResponse *message = answer->message;
    if (message->n_fields != n_fields)
        return tq_fail_answer(err, "%zu fields; asked for %zu", message->n_fields, n_fields);
    answer->fields = tq_arena_array(arena, n_fields, sizeof(*answer->fields));
    answer->ranks = tq_arena_array(arena, n_fields, sizeof(*answer->ranks));
    if (answer->fields == NULL || answer->ranks == NULL)
        return tq_fail_no_memory(err);
    for (size_t f = 0; f < n_fields; f++) {
        if (strcmp(message->fields[f]->name, names[f]) != 0)
            return tq_fail_answer(err, "field %zu is %.128s; asked for %s", f, message->fields[f]->name, names[f]);
        tq_status status = tq_field_from_wire(message->fields[f], &answer->fields[f], err);
        if (status != TQ_OK)
            return status;
    }
    return TQ_OK;
}

static tq_status check_columns(const struct tq_answer *answer, size_t n_fields, struct tq_error *err)
{
    const Tq__V1__GetResponse *message = answer->message;
    const Tq__V1__Cells *cells = message->cells;
    size_t n_cells = n_fields * answer->n;
    if (message->n_shapes != n_fields)
        return tq_fail_answer(err, "%zu shapes for %zu fields", message->n_shapes, n_fields);
    if (cells == NULL)
        return tq_fail_answer(err, "no cells");
    if (cells->n_region != n_cells || cells->n_frame != n_cells || cells->n_length != n_cells ||
        cells->n_version != n_cells || cells->n_digest != n_cells)
        return tq_fail_answer(err,
                              "cells: %zu regions, %zu frames, %zu lengths, %zu versions, %zu digests; "
                              "expected %zu of each",
                              cells->n_region, cells->n_frame, cells->n_length, cells->n_version, cells->n_digest,
                              n_cells);
    return TQ_OK;
}

static tq_status check_regions(struct tq_answer *answer, struct tq_arena *arena, struct tq_error *err)
{
    const Tq__V1__Regions *wire = answer->message->source;
    size_t n = wire == NULL ? 0 : wire->n_id;
    if (n > 0 &&
        (wire->n_kind != n || wire->n_start != n || wire->n_length != n || wire->n_key != n || wire->n_ticket != n))
        return tq_fail_answer(err, "regions: %zu ids, %zu kinds, %zu bases, %zu lengths, %zu keys, %zu tickets", n,
                              wire->n_kind, wire->n_start, wire->n_length, wire->n_key, wire->n_ticket);
    answer->regions = tq_arena_array(arena, n, sizeof(*answer->regions));
    if (answer->regions == NULL)
        return tq_fail_no_memory(err);
    for (size_t r = 0; r < n; r++) {
        if (wire->kind[r] != TQ_REGION_ARENA && wire->kind[r] != TQ_REGION_HEAP)
            return tq_fail_answer(err, "region %zu is of kind %u", r + 1, wire->kind[r]);
        answer->regions[r] = (struct tq_region){ .id = wire->id[r],
                                                 .kind = wire->kind[r],
                                                 .base = wire->start[r],
                                                 .length = wire->length[r],
                                                 .key = { wire->key[r].data, wire->key[r].len },
                                                 .ticket = { wire->ticket[r].data, wire->ticket[r].len } };
    }
    answer->n_regions = n;
    return TQ_OK;
}

static tq_status check_shapes(struct tq_answer *answer, size_t f, struct tq_error *err)
{
    const Tq__V1__Shapes *shapes = answer->message->shapes[f];
    if (answer->fields[f].layout != TQ_JAGGED)
        return TQ_OK;
    if (shapes->rank < 1 || shapes->rank > TQ_SAMPLE_DIMS_MAX || shapes->n_size != answer->n * shapes->rank)
        return tq_fail_answer(err, "field %s: rank %u and %zu sizes for %zu samples", answer->fields[f].name,
                              shapes->rank, shapes->n_size, answer->n);
    answer->ranks[f] = shapes->rank;
    return TQ_OK;
}

/* The length that type and shape give a cell; false when they give none. Opaque cells have any length. */
static bool expected_length(const struct tq_answer *answer, size_t f, size_t k, uint64_t claimed, uint64_t *out_bytes)
{
    const struct tq_field *field = &answer->fields[f];
    if (field->layout == TQ_OPAQUE)
        return *out_bytes = claimed, true;
    if (field->layout == TQ_DENSE)
        return tq_field_cell_bytes(field, out_bytes);
    struct tq_field sample = *field;
    sample.n_dims = answer->ranks[f];
    sample.shape = answer->message->shapes[f]->size + k * answer->ranks[f];
    for (size_t d = 0; d < sample.n_dims; d++)
        if (sample.shape[d] > INT64_MAX)
            return false;
    return tq_field_cell_bytes(&sample, out_bytes);
}

static bool is_inside(const struct tq_answer *answer, uint32_t region, uint64_t frame, uint64_t length)
{
    if (region > answer->n_regions)
        return false;
    uint64_t end = region == 0 ? tq_frames_bytes(&answer->frames) : answer->regions[region - 1].length;
    return frame <= end && length <= end - frame;
}

static tq_status check_field_cells(const struct tq_answer *answer, size_t f, struct tq_error *err)
{
    const Tq__V1__Cells *cells = answer->message->cells;
    for (size_t k = 0; k < answer->n; k++) {
        size_t c = f * answer->n + k;
        uint64_t expected;
        if (!expected_length(answer, f, k, cells->length[c], &expected) || cells->length[c] != expected)
            return tq_fail_answer(err, "field %s: cell %zu has %llu bytes, which is not what its type and shape say",
                                  answer->fields[f].name, k, (unsigned long long)cells->length[c]);
        if (!is_inside(answer, cells->region[c], cells->frame[c], cells->length[c]))
            return tq_fail_answer(err, "field %s: cell %zu, bytes %llu + %llu, is not inside region %u",
                                  answer->fields[f].name, k, (unsigned long long)cells->frame[c],
                                  (unsigned long long)cells->length[c], cells->region[c]);
        if (cells->region[c] != 0 && cells->length[c] > 0 && cells->version[c] == 0)
            return tq_fail_answer(err, "field %s: cell %zu has version 0", answer->fields[f].name, k);
    }
    return TQ_OK;
}

tq_status tq_answer_check(struct tq_answer *answer, struct tq_arena *arena, const char *const *fields, size_t n_fields,
                          struct tq_error *err)
{
    answer->message = tq_v1_storage_get_response(&answer->reply);
    if (answer->message == NULL)
        return tq_fail_answer(err, "the answer is no GetResponse");
    if (!tq_frames_init(&answer->frames, arena, answer->reply.frames, answer->reply.n_frames))
        return tq_fail_no_memory(err);
    tq_status status = check_fields(answer, arena, fields, n_fields, err);
    if (status == TQ_OK)
        status = check_columns(answer, n_fields, err);
    if (status == TQ_OK)
        status = check_regions(answer, arena, err);
    for (size_t f = 0; f < n_fields && status == TQ_OK; f++) {
        status = check_shapes(answer, f, err);
        if (status == TQ_OK)
            status = check_field_cells(answer, f, err);
    }
    return status;
}

#include "client/samples_wire.h"

#include <string.h>

#include "client/field_wire.h"

static size_t at(const size_t *positions, size_t i)
{
    return positions == NULL ? i : positions[i];
}

static bool fill_runs(struct tq_arena *arena, const struct tq_meta *meta, const size_t *positions, size_t n,
                      Tq__V1__IndexRuns *runs)
{
    size_t n_runs = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || meta->indexes[at(positions, i)] != meta->indexes[at(positions, i - 1)] + 1)
            n_runs++;
    runs->start = tq_arena_array(arena, n_runs, sizeof(*runs->start));
    runs->count = tq_arena_array(arena, n_runs, sizeof(*runs->count));
    if (runs->start == NULL || runs->count == NULL)
        return false;
    runs->n_start = runs->n_count = n_runs;
    size_t run = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t index = meta->indexes[at(positions, i)];
        if (i > 0 && index == meta->indexes[at(positions, i - 1)] + 1) {
            runs->count[run - 1]++;
        } else {
            runs->start[run] = index;
            runs->count[run++] = 1;
        }
    }
    return true;
}

/* A column of n numbers; one entry when all are equal. */
static uint32_t *pick_numbers(struct tq_arena *arena, const uint32_t *numbers, const size_t *positions, size_t n,
                              size_t *out_n)
{
    bool equal = true;
    for (size_t i = 1; i < n && equal; i++)
        equal = numbers[at(positions, i)] == numbers[at(positions, 0)];
    *out_n = equal && n > 0 ? 1 : n;
    uint32_t *picked = tq_arena_array(arena, *out_n, sizeof(*picked));
    for (size_t i = 0; picked != NULL && i < *out_n; i++)
        picked[i] = numbers[at(positions, i)];
    return picked;
}

Tq__V1__Samples *tq_samples_to_wire(struct tq_arena *arena, const struct tq_meta *meta, const size_t *positions,
                                    size_t n)
{
    Tq__V1__Samples *samples = tq_arena_alloc(arena, sizeof(*samples));
    Tq__V1__IndexRuns *runs = tq_arena_alloc(arena, sizeof(*runs));
    if (samples == NULL || runs == NULL)
        return NULL;
    tq__v1__samples__init(samples);
    tq__v1__index_runs__init(runs);
    samples->partition = tq_arena_text(arena, meta->partition);
    samples->indexes = runs;
    samples->generation = pick_numbers(arena, meta->generations, positions, n, &samples->n_generation);
    samples->unit = pick_numbers(arena, meta->units, positions, n, &samples->n_unit);
    bool made = samples->partition != NULL && samples->generation != NULL && samples->unit != NULL &&
                fill_runs(arena, meta, positions, n, runs);
    return made ? samples : NULL;
}

Tq__V1__Tags *tq_tags_to_wire(struct tq_arena *arena, const struct tq_tag *tags, size_t n_tags, size_t n)
{
    Tq__V1__Tags *wire = tq_arena_alloc(arena, sizeof(*wire));
    if (wire == NULL)
        return NULL;
    tq__v1__tags__init(wire);
    size_t total = n * n_tags;
    wire->n_sample = wire->n_key = wire->n_value = total;
    wire->sample = tq_arena_array(arena, total, sizeof(*wire->sample));
    wire->key = tq_arena_array(arena, total, sizeof(*wire->key));
    wire->value = tq_arena_array(arena, total, sizeof(*wire->value));
    if (wire->sample == NULL || wire->key == NULL || wire->value == NULL)
        return NULL;
    for (size_t i = 0; i < total; i++) {
        const struct tq_tag *tag = &tags[i % n_tags];
        wire->sample[i] = (uint32_t)(i / n_tags);
        wire->key[i] = (char *)(uintptr_t)tag->key;
        wire->value[i] = (ProtobufCBinaryData){ tag->value.len, (uint8_t *)(uintptr_t)tag->value.ptr };
    }
    return wire;
}

tq_status tq_runs_count(const Tq__V1__IndexRuns *runs, size_t *out_n, struct tq_error *err)
{
    uint64_t n = 0;
    if (runs != NULL && runs->n_start != runs->n_count)
        return tq_fail_answer(err, "index runs: %zu starts, %zu counts", runs->n_start, runs->n_count);
    for (size_t r = 0; runs != NULL && r < runs->n_count; r++) {
        if (runs->count[r] > TQ_META_SAMPLES_MAX || runs->start[r] > UINT64_MAX - runs->count[r])
            return tq_fail_answer(err, "index run %zu: start %llu, count %llu", r, (unsigned long long)runs->start[r],
                                  (unsigned long long)runs->count[r]);
        n += runs->count[r];
        if (n > TQ_META_SAMPLES_MAX)
            return tq_fail_answer(err, "index runs stand for more than %d samples", TQ_META_SAMPLES_MAX);
    }
    *out_n = (size_t)n;
    return TQ_OK;
}

#include "server/controller/placement.h"

#include <inttypes.h>
#include <string.h>

#include "transport/base/assert.h"

enum { ONE = 1 << 16, MOST_OWED = 2 << 16 };

static bool takes_samples(const struct tq_unit *unit)
{
    return unit->state == TQ_UNIT_SERVING && unit->bulk_unchanged < 2;
}

static uint64_t used_bytes(const struct tq_unit *unit)
{
    return unit->bytes > unit->reported_bytes ? unit->bytes : unit->reported_bytes;
}

static uint64_t used_samples(const struct tq_unit *unit)
{
    return unit->samples > unit->reported_samples ? unit->samples : unit->reported_samples;
}

/* How many more samples of this size fit. */
static uint64_t room(const struct tq_unit *unit, uint64_t sample_bytes)
{
    uint64_t fit = UINT64_MAX;
    if (unit->budget_samples > 0)
        fit = unit->budget_samples > used_samples(unit) ? unit->budget_samples - used_samples(unit) : 0;
    if (unit->budget_bytes > 0) {
        uint64_t left = unit->budget_bytes > used_bytes(unit) ? unit->budget_bytes - used_bytes(unit) : 0;
        uint64_t by_bytes = sample_bytes > 0 ? left / sample_bytes : (left > 0 ? UINT64_MAX : 0);
        fit = by_bytes < fit ? by_bytes : fit;
    }
    return fit;
}

static double part(uint64_t used, uint64_t budget)
{
    return budget == 0 || used >= budget ? 1.0 : (double)used / (double)budget;
}

/* The used part of its budgets, the scarcer one. Unlimited units are measured by the fullest of them. */
static double load(const struct tq_unit *unit, uint64_t most_bytes, uint64_t most_samples)
{
    double bytes = part(used_bytes(unit), unit->budget_bytes > 0 ? unit->budget_bytes : most_bytes);
    double samples = part(used_samples(unit), unit->budget_samples > 0 ? unit->budget_samples : most_samples);
    if (unit->budget_bytes == 0 && unit->budget_samples == 0)
        return most_bytes == 0 ? samples : bytes;
    if (unit->budget_bytes == 0)
        return samples;
    return unit->budget_samples == 0 || bytes > samples ? bytes : samples;
}

/* weight[i]: 0 for a unit that gets nothing, else ONE..2 * ONE. Returns their sum. */
static uint64_t weigh(const struct tq_units *units, const struct tq_place *place, uint32_t *weight)
{
    uint64_t most_bytes = 0, most_samples = 0, sum = 0;
    double fullest = 0;
    for (uint32_t i = 0; i < units->n; i++) {
        most_bytes = used_bytes(units->by_number[i]) > most_bytes ? used_bytes(units->by_number[i]) : most_bytes;
        most_samples =
            used_samples(units->by_number[i]) > most_samples ? used_samples(units->by_number[i]) : most_samples;
    }
    for (uint32_t i = 0; i < units->n; i++) {
        const struct tq_unit *unit = units->by_number[i];
        weight[i] = takes_samples(unit) && room(unit, place->sample_bytes) >= place->chunk;
        double full = load(unit, most_bytes, most_samples);
        fullest = weight[i] > 0 && full > fullest ? full : fullest;
    }
    for (uint32_t i = 0; i < units->n; i++) {
        if (weight[i] == 0)
            continue;
        weight[i] = ONE + (uint32_t)(ONE * (fullest - load(units->by_number[i], most_bytes, most_samples)));
        sum += weight[i];
    }
    return sum;
}

static void give(const struct tq_place *place, const struct tq_unit *unit, uint64_t chunks, uint32_t *runs,
                 uint64_t *left)
{
    uint64_t fit = room(unit, place->sample_bytes) / place->chunk - runs[unit->number - 1] / place->chunk;
    if (chunks > fit)
        chunks = fit;
    if (chunks > *left)
        chunks = *left;
    runs[unit->number - 1] += (uint32_t)(chunks * place->chunk);
    *left -= chunks;
}

/* The unit with a weight that is owed most and has room; NULL when none has. */
static struct tq_unit *most_owed(const struct tq_units *units, const struct tq_place *place, const uint32_t *weight,
                                 const uint32_t *runs)
{
    struct tq_unit *most = NULL;
    for (uint32_t i = 0; i < units->n; i++) {
        struct tq_unit *unit = units->by_number[i];
        bool fits = weight[i] > 0 && room(unit, place->sample_bytes) - runs[i] >= place->chunk;
        if (fits && (most == NULL || unit->carry > most->carry))
            most = unit;
    }
    return most;
}

/* Shares `left` chunks by weight; what does not divide goes to whom the most is owed, and the debts are carried on. */
static uint64_t share(struct tq_units *units, const struct tq_place *place, const uint32_t *weight, uint64_t sum,
                      uint64_t left, uint32_t *runs)
{
    uint64_t chunks = left;
    for (uint32_t i = 0; i < units->n; i++) {
        struct tq_unit *unit = units->by_number[i];
        if (weight[i] == 0)
            continue;
        uint32_t before = runs[i];
        unit->carry += (int64_t)(chunks * ONE * weight[i] / sum);
        give(place, unit, unit->carry > 0 ? (uint64_t)unit->carry / ONE : 0, runs, &left);
        unit->carry -= (int64_t)((runs[i] - before) / place->chunk) * ONE;
    }
    for (struct tq_unit *unit; left > 0 && (unit = most_owed(units, place, weight, runs)) != NULL;) {
        /* Beyond one chunk each, only those with room are left: no fairness to keep. */
        give(place, unit, 1 + left / units->n, runs, &left);
        unit->carry -= ONE;
    }
    for (uint32_t i = 0; i < units->n; i++) { /* a debt never grows beyond what a request leaves over */
        struct tq_unit *unit = units->by_number[i];
        unit->carry = unit->carry > MOST_OWED ? MOST_OWED : unit->carry < -MOST_OWED ? -MOST_OWED : unit->carry;
    }
    return left;
}

static tq_status check_near(const struct tq_units *units, const struct tq_place *place, struct tq_error *err)
{
    if (place->policy == TQ_PLACE_LOCAL_FIRST && tq_unit_find(units, place->near) == NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "NEAR", "near: unit %u, expected 1..%u with LOCAL_FIRST", place->near,
                       units->n);
    if (place->policy != TQ_PLACE_LOCAL_FIRST && place->near != 0)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "NEAR", "near: unit %u, expected 0 without LOCAL_FIRST", place->near);
    return TQ_OK;
}

static tq_status no_room(const struct tq_units *units, const struct tq_place *place, struct tq_error *err)
{
    for (uint32_t i = 0; i < units->n; i++)
        if (takes_samples(units->by_number[i]))
            return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "BUDGET_UNITS",
                           "count: %u samples of %" PRIu64 " bytes, expected what fits into the units' budgets",
                           place->n, place->sample_bytes);
    return tq_fail(err, TQ_UNAVAILABLE, "NO_UNIT", "no storage unit serves: %u registered, expected one that is alive",
                   units->n);
}

tq_status tq_place(struct tq_units *units, const struct tq_place *place, uint32_t *out_runs, struct tq_error *err)
{
    TQ_ASSERT(place->chunk > 0 && place->n % place->chunk == 0);
    tq_status status = check_near(units, place, err);
    if (status != TQ_OK)
        return status;
    memset(out_runs, 0, units->n * sizeof(*out_runs));
    if (place->policy == TQ_PLACE_HASH)
        return tq_place_by_index(units, 0) != 0 ? TQ_OK : no_room(units, place, err);
    uint64_t left = place->n / place->chunk;
    const struct tq_unit *near = place->policy == TQ_PLACE_LOCAL_FIRST ? tq_unit_find(units, place->near) : NULL;
    if (near != NULL && takes_samples(near))
        give(place, near, left, out_runs, &left);
    if (left == 0)
        return TQ_OK;
    uint32_t *weight = tq_seam_alloc_array(units->seam, units->n, sizeof(*weight));
    if (weight == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "MEMORY", "no memory to place %u samples", place->n);
    uint64_t sum = weigh(units, place, weight);
    if (sum > 0)
        left = share(units, place, weight, sum, left, out_runs);
    tq_seam_free(units->seam, weight);
    return left == 0 ? TQ_OK : no_room(units, place, err);
}

uint32_t tq_place_by_index(const struct tq_units *units, uint64_t index)
{
    uint64_t serving = 0;
    for (uint32_t i = 0; i < units->n; i++)
        serving += takes_samples(units->by_number[i]);
    if (serving == 0)
        return 0;
    uint64_t at = index % serving;
    for (uint32_t i = 0;; i++)
        if (takes_samples(units->by_number[i]) && at-- == 0)
            return units->by_number[i]->number;
}

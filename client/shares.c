#include "client/shares.h"

#include "client/field_wire.h"

/* Which unit_infos entry holds each sample. */
static tq_status assign(const struct tq_meta *meta, uint32_t *slots, size_t *counts, struct tq_error *err)
{
    for (size_t i = 0; i < meta->n; i++) {
        if (i > 0 && meta->units[i] == meta->units[i - 1]) {
            slots[i] = slots[i - 1];
        } else {
            const struct tq_unit_info *info = tq_meta_find_unit(meta, meta->units[i]);
            if (info == NULL)
                return tq_fail_answer(err, "sample %llu is on unit %u, which was not told",
                                      (unsigned long long)meta->indexes[i], meta->units[i]);
            slots[i] = (uint32_t)(info - meta->unit_infos);
        }
        counts[slots[i]]++;
    }
    return TQ_OK;
}

static bool make_shares(struct tq_shares *shares, struct tq_client *client, struct tq_arena *arena,
                        const struct tq_meta *meta, const size_t *counts, struct tq_share **by_slot)
{
    shares->share = tq_arena_array(arena, meta->n_unit_infos, sizeof(*shares->share));
    if (shares->share == NULL)
        return false;
    for (size_t u = 0; u < meta->n_unit_infos; u++) {
        if (counts[u] == 0)
            continue;
        struct tq_share *share = by_slot[u] = &shares->share[shares->n++];
        share->info = &meta->unit_infos[u];
        share->inline_only = !tq_bulk_reaches(client->bulk, share->info->bulk);
        share->positions = tq_arena_array(arena, counts[u], sizeof(*share->positions));
        if (share->positions == NULL)
            return false;
    }
    return true;
}

static tq_status hold_units(struct tq_shares *shares, bool skip_lost, struct tq_error *err)
{
    size_t kept = 0;
    for (size_t s = 0; s < shares->n; s++) {
        struct tq_share share = shares->share[s];
        if (share.info->lost && skip_lost)
            continue;
        if (share.info->lost)
            return tq_fail(err, TQ_UNAVAILABLE, "UNIT_LOST", "unit %u (%s) is lost; it holds %zu of the samples",
                           share.info->number, share.info->name, share.n);
        shares->share[s].unit = NULL;
        tq_status status = tq_units_hold(shares->units, share.info, &share.unit, err);
        if (status != TQ_OK)
            return status;
        shares->share[kept++] = share;
    }
    shares->n = kept;
    return TQ_OK;
}

static tq_status init(struct tq_shares *shares, struct tq_client *client, struct tq_arena *arena,
                      const struct tq_meta *meta, bool skip_lost, struct tq_error *err)
{
    *shares = (struct tq_shares){ .units = &client->units };
    uint32_t *slots = tq_arena_array(arena, meta->n, sizeof(*slots));
    size_t *counts = tq_arena_array(arena, meta->n_unit_infos, sizeof(*counts));
    struct tq_share **by_slot = tq_arena_array(arena, meta->n_unit_infos, sizeof(struct tq_share *));
    if (slots == NULL || counts == NULL || by_slot == NULL)
        return tq_fail_no_memory(err);
    tq_status status = assign(meta, slots, counts, err);
    if (status != TQ_OK)
        return status;
    if (!make_shares(shares, client, arena, meta, counts, by_slot))
        return tq_fail_no_memory(err);
    for (size_t i = 0; i < meta->n; i++) {
        struct tq_share *share = by_slot[slots[i]];
        share->positions[share->n++] = i;
    }
    return hold_units(shares, skip_lost, err);
}

tq_status tq_shares_init(struct tq_shares *shares, struct tq_client *client, struct tq_arena *arena,
                         const struct tq_meta *meta, struct tq_error *err)
{
    return init(shares, client, arena, meta, false, err);
}

tq_status tq_shares_init_serving(struct tq_shares *shares, struct tq_client *client, struct tq_arena *arena,
                                 const struct tq_meta *meta, struct tq_error *err)
{
    return init(shares, client, arena, meta, true, err);
}

void tq_shares_fini(struct tq_shares *shares)
{
    for (size_t s = 0; s < shares->n; s++)
        tq_units_drop(shares->units, shares->share[s].unit);
    shares->n = 0;
}

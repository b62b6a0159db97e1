#include "client/units.h"

#include <string.h>

#include "transport/base/assert.h"
#include "transport/base/seam.h"

void tq_units_init(struct tq_units *units, struct tq_runtime *runtime, uint32_t sockets)
{
    *units = (struct tq_units){ .runtime = runtime, .sockets = sockets };
    pthread_mutex_init(&units->lock, NULL);
}

static void close_unit(struct tq_unit *unit)
{
    tq_channel_close(unit->channel);
    tq_seam_free(NULL, unit);
}

void tq_units_fini(struct tq_units *units)
{
    for (struct tq_unit *unit = units->list; unit != NULL;) {
        struct tq_unit *next = unit->next;
        TQ_ASSERT(unit->holds == 1);
        close_unit(unit);
        unit = next;
    }
    units->list = NULL;
    pthread_mutex_destroy(&units->lock);
}

static tq_status open_unit(struct tq_units *units, const struct tq_unit_info *info, struct tq_unit **out_unit,
                           struct tq_error *err)
{
    if (info->address[0] == '\0')
        return tq_fail(err, TQ_UNAVAILABLE, "UNIT_LOST", "unit %u has no address", info->number);
    struct tq_unit *unit = tq_seam_alloc(NULL, sizeof(*unit));
    if (unit == NULL)
        return tq_fail_no_memory(err);
    struct tq_channel_opts opts = { .sockets = units->sockets, .expect_epoch = info->epoch };
    tq_status status = tq_channel_open(units->runtime, info->address, &opts, &unit->channel, err);
    if (status != TQ_OK) {
        tq_seam_free(NULL, unit);
        return status;
    }
    unit->number = info->number;
    unit->epoch = info->epoch;
    unit->holds = 1;
    tq_channel_keep(unit->channel); /* pins of a long read must outlive it */
    *out_unit = unit;
    return TQ_OK;
}

/* The entry of this life of the unit; entries of its other lives leave the list. Those that nobody holds are chained
 * at *out_dead, to be closed without the lock. */
static struct tq_unit *find_locked(struct tq_units *units, const struct tq_unit_info *info, struct tq_unit **out_dead)
{
    struct tq_unit *found = NULL;
    for (struct tq_unit **link = &units->list; *link != NULL;) {
        struct tq_unit *unit = *link;
        bool same = unit->number == info->number && unit->epoch == info->epoch &&
                    strcmp(tq_channel_address(unit->channel), info->address) == 0;
        if (same)
            found = unit;
        if (same || unit->number != info->number) {
            link = &unit->next;
            continue;
        }
        *link = unit->next;
        unit->next = NULL;
        if (--unit->holds == 0) {
            unit->next = *out_dead;
            *out_dead = unit;
        }
    }
    return found;
}

static void close_all(struct tq_unit *unit)
{
    while (unit != NULL) {
        struct tq_unit *next = unit->next;
        close_unit(unit);
        unit = next;
    }
}

tq_status tq_units_hold(struct tq_units *units, const struct tq_unit_info *info, struct tq_unit **out_unit,
                        struct tq_error *err)
{
    struct tq_unit *dead = NULL;
    tq_status status = TQ_OK;
    pthread_mutex_lock(&units->lock);
    struct tq_unit *unit = find_locked(units, info, &dead);
    if (unit == NULL) {
        status = open_unit(units, info, &unit, err); /* returns at once: the first call dials */
        if (unit != NULL) {
            unit->next = units->list;
            units->list = unit;
        }
    }
    if (unit != NULL)
        unit->holds++;
    pthread_mutex_unlock(&units->lock);
    close_all(dead);
    if (status == TQ_OK)
        *out_unit = unit;
    return status;
}

void tq_units_drop(struct tq_units *units, struct tq_unit *unit)
{
    if (unit == NULL)
        return;
    pthread_mutex_lock(&units->lock);
    bool last = --unit->holds == 0;
    pthread_mutex_unlock(&units->lock);
    if (last)
        close_unit(unit);
}

#include "tests/server/controller/world.h"

#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <string.h>

void world_open(struct world *world, const struct tq_controller_limits *limits, uint32_t units)
{
    world_open_on(world, tq_seam_system(), limits, units);
}

void world_open_on(struct world *world, const struct tq_seam *seam, const struct tq_controller_limits *limits,
                   uint32_t units)
{
    struct tq_controller_limits filled = { 0 };
    memset(world, 0, sizeof(*world));
    if (limits != NULL)
        filled = *limits;
    assert_int_equal(tq_controller_limits_fill(&filled, &world->err), TQ_OK);
    world->now_ns = 1000 * WORLD_MS;
    tq_table_init(&world->table, seam, &filled, 1000 * WORLD_MS, world->now_ns);
    for (uint32_t i = 0; i < units; i++) {
        char name[16];
        snprintf(name, sizeof(name), "u%u", i + 1);
        assert_int_equal(world_join(world, name, 1, 0), i + 1);
    }
}

void world_close(struct world *world)
{
    tq_table_fini(&world->table);
}

uint32_t world_join(struct world *world, const char *name, uint64_t epoch, uint64_t budget_bytes)
{
    struct tq_unit_claim claim = {
        .name = name, .address = "tcp://127.0.0.1:1", .host = "h", .epoch = epoch, .budget_bytes = budget_bytes
    };
    struct tq_unit *unit;
    assert_int_equal(tq_table_join(&world->table, &claim, NULL, 0, NULL, &unit, &world->err), TQ_OK);
    return unit->number;
}

void world_advance(struct world *world, int64_t ms, bool heartbeats)
{
    for (int64_t step; ms > 0; ms -= step) {
        step = ms < 500 ? ms : 500;
        world->now_ns += step * WORLD_MS;
        tq_table_tick(&world->table, world->now_ns);
        for (uint32_t i = 0; heartbeats && i < world->table.units.n; i++) {
            const struct tq_unit *unit = world->table.units.by_number[i];
            (void)tq_unit_heartbeat(&world->table.units, unit->number, unit->epoch, 0, 0, 0);
        }
    }
    tq_fetch_expire(&world->table, world->now_ns);
}

static void note(struct world *world, const struct tq_partition *partition, const uint32_t *slots, uint32_t n)
{
    assert_true(n <= WORLD_MAX);
    world->n = n;
    for (uint32_t i = 0; i < n; i++) {
        const struct tq_row *row = tq_partition_row(partition, slots[i]);
        world->refs[i] = (struct tq_sample_ref){ row->index, row->generation };
        world->units[i] = row->unit;
        world->groups[i] = tq_group_id(partition, slots[i]);
    }
}

tq_status world_insert(struct world *world, const char *partition, uint32_t n, uint32_t group_size)
{
    struct tq_insertion insertion = { .partition = partition, .n = n, .group_size = group_size };
    struct tq_partition *found;
    static uint32_t slots[WORLD_MAX];
    assert_true(n <= WORLD_MAX);
    tq_status status = tq_table_insert(&world->table, &insertion, &found, slots, &world->err);
    if (status == TQ_OK)
        note(world, found, slots, n);
    return status;
}

static uint32_t split(char *fields, char **names)
{
    uint32_t n = 0;
    char *rest = fields;
    for (char *name; (name = strsep(&rest, ",")) != NULL; names[n++] = name)
        assert_true(n < 8);
    return n;
}

tq_status world_produce(struct world *world, const char *partition, const struct tq_sample_ref *refs, uint32_t n,
                        const char *fields, uint64_t *cells)
{
    char text[128], *names[8];
    struct tq_field_claim claims[8] = { 0 };
    uint64_t made = 0;
    snprintf(text, sizeof(text), "%s", fields);
    uint32_t n_fields = split(text, names);
    for (uint32_t i = 0; i < n_fields; i++)
        claims[i] =
            (struct tq_field_claim){ .name = names[i], .schema = { .layout = TQ_CELLS_DENSE, .dtype = 7, .rank = 0 } };
    struct tq_production production = {
        .partition = partition, .samples = refs, .n = n, .fields = claims, .n_fields = n_fields
    };
    tq_status status = tq_table_produce(&world->table, &production, &made, &world->err);
    if (cells != NULL)
        *cells = made;
    return status;
}

void world_park(struct world *world, struct world_waiter *waiter, const char *partition, const char *task,
                const char *fields, uint32_t batch_size, uint32_t group_size, int64_t wait_ms, bool polling)
{
    memset(waiter, 0, sizeof(*waiter));
    snprintf(waiter->fields, sizeof(waiter->fields), "%s", fields);
    waiter->waiter.want = (struct tq_want){ .partition = partition,
                                            .task = task,
                                            .fields = waiter->names,
                                            .n_fields = split(waiter->fields, waiter->names),
                                            .batch_size = batch_size,
                                            .sampler = group_size > 0 ? &tq_sampler_group_n : &tq_sampler_sequential,
                                            .group_size = group_size,
                                            .polling = polling };
    tq_fetch_start(&world->table, &waiter->waiter, world->now_ns, world->now_ns + wait_ms * WORLD_MS);
}

unsigned world_take_done(struct world *world)
{
    unsigned n = 0;
    for (struct tq_waiter *waiter; (waiter = tq_fetch_take_done(&world->table)) != NULL; n++)
        tq_container_of(waiter, struct world_waiter, waiter)->ended = ++world->n_ended;
    return n;
}

void world_drop(struct world *world, struct world_waiter *waiter)
{
    tq_fetch_cancel(&world->table, &waiter->waiter);
    tq_waiter_fini(&world->table, &waiter->waiter);
}

tq_status world_fetch(struct world *world, const char *partition, const char *task, const char *fields,
                      uint32_t batch_size, uint32_t group_size)
{
    struct world_waiter waiter;
    world_park(world, &waiter, partition, task, fields, batch_size, group_size, 0, true);
    assert_int_equal(waiter.waiter.state, TQ_WAITER_DONE);
    while (tq_fetch_take_done(&world->table) != &waiter.waiter)
        ;
    world->err = waiter.waiter.error;
    world->n = 0;
    world->remainder = waiter.waiter.remainder;
    if (waiter.waiter.n > 0)
        note(world, waiter.waiter.partition, waiter.waiter.slots, waiter.waiter.n);
    tq_waiter_fini(&world->table, &waiter.waiter);
    return world->err.status;
}

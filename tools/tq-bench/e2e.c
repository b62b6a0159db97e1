/* The whole: put, get_meta, get and clear of batches between a client, a controller and two units, all processes of
 * their own, against a copy of the same bytes in the same pieces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/cluster.h"
#include "tools/tq-bench/bench.h"
#include "tools/tq-bench/e2e.h"
#include "tq/client.h"

enum { UNITS = 2, TINY_ROUNDS = 300 };

/* samples, fields, bytes of a cell, put and get of TransferQueue 0.1.10 on this class of machine (GB/s; 0: not
 * recorded) */
static const struct e2e_case cases[] = {
    { 64, 1, 64 << 10, 0.11, 0.19 }, { 64, 1, 1 << 20, 1.2, 1.3 }, { 256, 4, 64 << 10, 0, 0 },
    { 512, 8, 64 << 10, 2.0, 1.1 },  { 1024, 9, 32 << 10, 0, 0 },  { 256, 4, 1 << 20, 3.1, 2.2 },
};

static int fail(const char *what, const struct tq_error *err)
{
    fprintf(stderr, "tq-bench: e2e: %s: %s: %s\n", what, tq_status_name(err->status), err->message);
    return 1;
}

/* ---- rows ---- */

static void add_gbps(struct report *report, const struct e2e_case *c, const char *mode, const char *op,
                     const struct report_rounds *rounds, double target, double reference)
{
    char name[64], json[256], size[32];
    e2e_size_name(c->cell_bytes, size, sizeof(size));
    snprintf(name, sizeof(name), "%s%s %zux%zux%s", mode, op, c->samples, c->fields, size);
    snprintf(json, sizeof(json),
             "\"op\": \"%s\", \"bulk\": \"%s\", \"samples\": %zu, \"fields\": %zu, \"cell_bytes\": %zu, "
             "\"transferqueue\": %.2f",
             op, mode[0] == '\0' ? "auto" : "off", c->samples, c->fields, c->cell_bytes, reference);
    report_add(report, name, json, "GB/s", rounds)->target = target;
}

static void add_ms(struct report *report, const struct e2e_case *c, const char *mode, const char *op,
                   struct report_rounds *rounds)
{
    char name[64], json[256], size[32];
    e2e_size_name(c->cell_bytes, size, sizeof(size));
    snprintf(name, sizeof(name), "%s%s %zux%zux%s", mode, op, c->samples, c->fields, size);
    snprintf(json, sizeof(json), "\"op\": \"%s\", \"samples\": %zu, \"fields\": %zu, \"cell_bytes\": %zu", op,
             c->samples, c->fields, c->cell_bytes);
    report_add_single(report, name, json, "ms", report_median(rounds->ours, rounds->n))->lower_is_better = true;
}

/* ---- measuring ---- */

static int run_case(const struct bench *bench, struct tq_client *client, struct e2e_floor *floor,
                    const struct e2e_case *c, const char *mode)
{
    struct report_rounds put = { .n = 0 }, get_meta = { .n = 0 }, get = { .n = 0 }, clear = { .n = 0 };
    struct tq_error err = { 0 };
    struct e2e_batch batch;
    if (!e2e_batch_open(&batch, c))
        return fail("batch", &(struct tq_error){ .status = TQ_RESOURCE_EXHAUSTED });
    double gigabytes = (double)(c->samples * c->fields * c->cell_bytes) / 1e9;
    int status = 0;
    for (unsigned round = 0; round <= bench->rounds && status == 0; round++) { /* the first warms up */
        struct e2e_times times;
        double floor_gbps = e2e_floor_gbps(floor, c->cell_bytes);
        if (e2e_once(client, &batch, c, &times, &err) != TQ_OK)
            status = fail("round", &err);
        if (round == 0 || status != 0)
            continue;
        report_round(&put, gigabytes / times.put, floor_gbps);
        report_round(&get, gigabytes / times.get, floor_gbps);
        report_round(&get_meta, times.get_meta * 1e3, 0);
        report_round(&clear, times.clear * 1e3, 0);
    }
    e2e_batch_close(&batch);
    if (status != 0)
        return status;
    bool bulk = mode[0] == '\0';
    add_gbps(bench->report, c, mode, "put", &put, bulk ? 0.55 : 0, c->reference_put);
    add_gbps(bench->report, c, mode, "get", &get, bulk ? 0.85 : 0, c->reference_get);
    add_ms(bench->report, c, mode, "get_meta", &get_meta);
    add_ms(bench->report, c, mode, "clear", &clear);
    return 0;
}

static int run_tiny(const struct bench *bench, struct tq_client *client)
{
    static const struct e2e_case tiny = { 1, 1, 64, 0, 0 };
    static double ms[TINY_ROUNDS];
    struct tq_error err = { 0 };
    struct e2e_batch batch;
    if (!e2e_batch_open(&batch, &tiny))
        return fail("batch", &(struct tq_error){ .status = TQ_RESOURCE_EXHAUSTED });
    int status = 0;
    for (size_t i = 0; i < TINY_ROUNDS && status == 0; i++) {
        struct e2e_times times;
        if (e2e_once(client, &batch, &tiny, &times, &err) != TQ_OK)
            status = fail("tiny put", &err);
        ms[i] = times.put * 1e3;
    }
    e2e_batch_close(&batch);
    if (status != 0)
        return status;
    double median = report_median(ms, TINY_ROUNDS);
    report_add_single(bench->report, "one tiny sample put, p50", "\"op\": \"put\", \"transferqueue\": 19", "ms", median)
        ->lower_is_better = true;
    report_add_single(bench->report, "one tiny sample put, p99", "\"op\": \"put\"", "ms",
                      report_quantile(ms, TINY_ROUNDS, 0.99))
        ->lower_is_better = true;
    return 0;
}

static int run_client(const struct bench *bench, const char *controller, enum tq_bulk_mode bulk,
                      struct e2e_floor *floor)
{
    struct tq_client *client = NULL;
    struct tq_error err = { 0 };
    struct tq_client_opts opts = {
        .controller = controller, .name = "tq-bench", .bulk = bulk, .receive_cache_bytes = (size_t)2 << 30
    };
    if (tq_client_open(&opts, &client, &err) != TQ_OK)
        return fail("client", &err);
    bool off = bulk == TQ_BULK_OFF;
    int status = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) && status == 0; i++)
        if (!off || i == 1 || i == 3) /* without bulk two cases tell the story */
            status = run_case(bench, client, floor, &cases[i], off ? "inline " : "");
    if (status == 0 && !off)
        status = run_tiny(bench, client);
    tq_client_close(client);
    return status;
}

static void print_reference(void)
{
    printf(
        "TransferQueue 0.1.10, recorded on this class of machine (put / get GB/s): 4 MiB 0.11 / 0.19; 64 MiB of 1 MiB "
        "cells 1.2 / 1.3; 256 MiB of 64 KiB cells 2.0 / 1.1; 1 GiB of 1 MiB cells 3.1 / 2.2; one tiny sample put 19 "
        "ms; get_meta 594 a second\n");
}

int bench_e2e(const struct bench *bench)
{
    struct cluster cluster = { 0 };
    struct e2e_floor floor;
    struct tq_error err = { 0 };
    tq_status opened = cluster_open(&cluster, &err);
    for (size_t u = 0; u < UNITS && opened == TQ_OK; u++)
        opened = cluster_add_unit(&cluster, &(struct cluster_unit_opts){ .memory = "2GiB" }, &err);
    int status = opened == TQ_OK ? 0 : fail("daemons", &err);
    if (status == 0 && !e2e_floor_open(&floor))
        status = fail("floor", &(struct tq_error){ .status = TQ_RESOURCE_EXHAUSTED });
    if (status == 0) {
        status = run_client(bench, cluster.controller.address, TQ_BULK_AUTO, &floor);
        if (status == 0)
            status = run_client(bench, cluster.controller.address, TQ_BULK_OFF, &floor);
        e2e_floor_close(&floor);
        print_reference();
    }
    return cluster_close(&cluster) ? status : 1;
}

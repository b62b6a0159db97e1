#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tq-bench/e2e.h"

enum { FLOOR_BYTES = 512 << 20 };

void e2e_size_name(size_t bytes, char *name, size_t room)
{
    if (bytes >= 1 << 20)
        snprintf(name, room, "%zuMiB", bytes >> 20);
    else if (bytes >= 1 << 10)
        snprintf(name, room, "%zuKiB", bytes >> 10);
    else
        snprintf(name, room, "%zuB", bytes);
}

/* ---- batches ---- */

static bool fill_column(struct e2e_batch *batch, size_t f, const struct e2e_case *c)
{
    struct tq_column *column = &batch->columns[f];
    size_t bytes = c->samples * c->cell_bytes;
    uint8_t *values = malloc(bytes);
    if (values == NULL)
        return false;
    for (size_t i = 0; i < bytes; i++)
        values[i] = (uint8_t)(i * 31 + (i >> 12) + f);
    snprintf(batch->names[f], sizeof(batch->names[f]), "field_%zu", f);
    *column = (struct tq_column){ .name = batch->names[f],
                                  .layout = TQ_DENSE,
                                  .values = { .data = values,
                                              .device = { kDLCPU, 0 },
                                              .ndim = 2,
                                              .dtype = { kDLUInt, 8, 1 },
                                              .shape = batch->shape } };
    return true;
}

bool e2e_batch_open(struct e2e_batch *batch, const struct e2e_case *c)
{
    *batch = (struct e2e_batch){ .shape = { (int64_t)c->samples, (int64_t)c->cell_bytes } };
    batch->columns = calloc(c->fields, sizeof(*batch->columns));
    batch->names = calloc(c->fields, sizeof(*batch->names));
    batch->batch = (struct tq_batch){ c->samples, batch->columns, c->fields };
    bool filled = batch->columns != NULL && batch->names != NULL;
    for (size_t f = 0; f < c->fields && filled; f++)
        filled = fill_column(batch, f, c);
    if (!filled)
        e2e_batch_close(batch);
    return filled;
}

void e2e_batch_close(struct e2e_batch *batch)
{
    for (size_t f = 0; batch->columns != NULL && f < batch->batch.n_columns; f++)
        free(batch->columns[f].values.data);
    free(batch->columns);
    free(batch->names);
    *batch = (struct e2e_batch){ .columns = NULL };
}

/* ---- a round ---- */

static double seconds_since(int64_t *mark_ns)
{
    int64_t now_ns = tq_now_ns();
    double seconds = (double)(now_ns - *mark_ns) / 1e9;
    *mark_ns = now_ns;
    return seconds;
}

static tq_status fetch(struct tq_client *client, const char *partition, const struct e2e_batch *batch,
                       struct tq_meta **out_meta, struct tq_error *err)
{
    size_t n_fields = batch->batch.n_columns;
    const char **fields = calloc(n_fields, sizeof(*fields));
    if (fields == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "no memory");
    for (size_t f = 0; f < n_fields; f++)
        fields[f] = batch->names[f];
    struct tq_fetch fetch = { .partition = partition,
                              .task = "bench",
                              .fields = fields,
                              .n_fields = n_fields,
                              .batch_size = (uint32_t)batch->batch.n_samples };
    tq_status status = tq_client_fetch(client, &fetch, NULL, out_meta, err);
    free(fields);
    return status;
}

tq_status e2e_once(struct tq_client *client, const struct e2e_batch *batch, const struct e2e_case *c,
                   struct e2e_times *out_times, struct tq_error *err)
{
    static unsigned number;
    char partition[32];
    struct tq_meta *put_meta = NULL, *meta = NULL;
    struct tq_data *data = NULL;
    snprintf(partition, sizeof(partition), "bench_%u", number++);
    int64_t mark_ns = tq_now_ns();
    tq_status status = tq_client_put(client, partition, &batch->batch, NULL, NULL, &put_meta, err);
    out_times->put = seconds_since(&mark_ns);
    if (status == TQ_OK)
        status = fetch(client, partition, batch, &meta, err);
    out_times->get_meta = seconds_since(&mark_ns);
    if (status == TQ_OK)
        status = tq_client_get(client, meta, NULL, 0, NULL, &data, err);
    out_times->get = seconds_since(&mark_ns);
    if (status == TQ_OK && (tq_data_batch(data)->n_columns != c->fields ||
                            tq_column_cell(&tq_data_batch(data)->columns[0], 0).len != c->cell_bytes))
        status = tq_fail(err, TQ_DATA_LOSS, NULL, "another batch came back");
    tq_data_drop(data);
    mark_ns = tq_now_ns();
    if (status == TQ_OK)
        status = tq_client_clear_partition(client, partition, NULL, err);
    out_times->clear = seconds_since(&mark_ns);
    tq_meta_drop(meta);
    tq_meta_drop(put_meta);
    return status;
}

/* ---- the floor ---- */

bool e2e_floor_open(struct e2e_floor *floor)
{
    floor->from = malloc(FLOOR_BYTES);
    floor->to = malloc(FLOOR_BYTES);
    if (floor->from == NULL || floor->to == NULL) {
        e2e_floor_close(floor);
        return false;
    }
    memset(floor->from, 1, FLOOR_BYTES);
    memset(floor->to, 2, FLOOR_BYTES);
    return true;
}

void e2e_floor_close(struct e2e_floor *floor)
{
    free(floor->from);
    free(floor->to);
}

double e2e_floor_gbps(const struct e2e_floor *floor, size_t piece_bytes)
{
    int64_t mark_ns = tq_now_ns();
    for (size_t at = 0; at < FLOOR_BYTES; at += piece_bytes)
        memcpy(floor->to + at, floor->from + at, piece_bytes < FLOOR_BYTES - at ? piece_bytes : FLOOR_BYTES - at);
    return FLOOR_BYTES / 1e9 / seconds_since(&mark_ns);
}

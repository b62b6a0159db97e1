/* tq get: the samples of a partition, by ascending index, into a file of columns; prints what they are as one line of
 * JSON. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/dtype.h"
#include "client/files/table_file.h"
#include "tools/tq/command.h"

static struct {
    const char *partition, *controller, *fields, *output;
} options;

static const struct tq_flag rows[] = {
    { .kind = TQ_FLAG_TEXT,
      .name = "partition",
      .into = &options.partition,
      .value = "NAME",
      .help = "whose samples; required" },
    { .kind = TQ_FLAG_TEXT,
      .name = "fields",
      .into = &options.fields,
      .value = "A,B,...",
      .help = "which columns; required" },
    { .kind = TQ_FLAG_TEXT,
      .name = "output",
      .into = &options.output,
      .value = "FILE",
      .help = ".safetensors or .npy (-o FILE); without it nothing is written" },
    { .kind = TQ_FLAG_TEXT,
      .name = "controller",
      .into = &options.controller,
      .initial = "tcp://127.0.0.1:7600",
      .value = "ADDRESS",
      .help = "of the controller" },
};

static const struct tq_flags flags = {
    .program = "tq get",
    .summary = "Reads all samples of a partition; consumption does not change.",
    .flags = rows,
    .n_flags = sizeof(rows) / sizeof(rows[0]),
};

/* ---- samples by index ---- */

static int by_index(const void *a, const void *b, void *user)
{
    const struct tq_meta *meta = user;
    uint64_t left = tq_meta_index(meta, *(const size_t *)a), right = tq_meta_index(meta, *(const size_t *)b);
    return left < right ? -1 : left > right;
}

static tq_status sort_samples(struct tq_meta **meta, struct tq_error *err)
{
    size_t n = tq_meta_count(*meta);
    size_t *positions = calloc(n + 1, sizeof(*positions));
    if (positions == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, "NO_MEMORY", "out of memory");
    for (size_t i = 0; i < n; i++)
        positions[i] = i;
    qsort_r(positions, n, sizeof(*positions), by_index, *meta);
    struct tq_meta *sorted = NULL;
    tq_status status = tq_meta_select(*meta, positions, n, &sorted, err);
    free(positions);
    if (status != TQ_OK)
        return status;
    tq_meta_drop(*meta);
    *meta = sorted;
    return TQ_OK;
}

static tq_status read_partition(struct tq_client *client, const char *const *fields, size_t n_fields,
                                struct tq_data **out_data, struct tq_error *err)
{
    struct tq_meta *meta = NULL;
    tq_status status = tq_client_force_fetch(client, options.partition, fields, n_fields, NULL, &meta, err);
    if (status == TQ_OK && tq_meta_count(meta) == 0)
        status = tq_fail(err, TQ_NOT_FOUND, NULL, "partition %s has no samples", options.partition);
    if (status == TQ_OK)
        status = sort_samples(&meta, err);
    if (status == TQ_OK)
        status = tq_client_get(client, meta, fields, n_fields, NULL, out_data, err);
    tq_meta_drop(meta);
    return status;
}

/* ---- output ---- */

static json_t *describe(const struct tq_column *column)
{
    static const char *const layouts[] = { [TQ_DENSE] = "dense", [TQ_JAGGED] = "jagged", [TQ_OPAQUE] = "opaque" };
    size_t bytes = tq_dtype_bytes(column->values.dtype);
    json_t *shape = json_array();
    for (int d = 0; d < column->values.ndim; d++)
        bytes *= (size_t)column->values.shape[d];
    for (int d = 1; d < column->values.ndim; d++)
        json_array_append_new(shape, json_integer(column->values.shape[d]));
    return json_pack("{s:s, s:s, s:s, s:o, s:I}", "name", column->name, "layout", layouts[column->layout], "dtype",
                     tq_dtype_name(tq_dtype_from_dlpack(column->values.dtype)), "shape", shape, "bytes",
                     (json_int_t)bytes);
}

static int print_batch(const struct tq_batch *batch)
{
    json_t *fields = json_array();
    for (size_t c = 0; c < batch->n_columns; c++)
        json_array_append_new(fields, describe(&batch->columns[c]));
    json_t *line = json_pack("{s:s, s:I, s:o}", "partition", options.partition, "samples", (json_int_t)batch->n_samples,
                             "fields", fields);
    int failed = line == NULL || json_dumpf(line, stdout, JSON_COMPACT) != 0 || putchar('\n') == EOF;
    json_decref(line);
    return failed;
}

static int get(const char *command, const char *const *fields, size_t n_fields)
{
    struct tq_client *client = NULL;
    struct tq_data *data = NULL;
    struct tq_error err = { 0 };
    tq_status status = tq_command_client(options.controller, &client, &err);
    if (status == TQ_OK)
        status = read_partition(client, fields, n_fields, &data, &err);
    if (status == TQ_OK && options.output != NULL)
        status = tq_table_file_write(options.output, tq_data_batch(data), &err);
    int code = status == TQ_OK ? print_batch(tq_data_batch(data)) : tq_command_fail(command, &err);
    tq_data_drop(data);
    tq_client_close(client);
    return code;
}

int tq_command_get(int argc, char **argv)
{
    size_t n_fields;
    struct tq_error err = { 0 };
    int code = tq_command_parse(&flags, argc, argv, NULL);
    if (code < 0)
        code = tq_command_check_controller(argv[0], options.controller);
    if (code >= 0)
        return code;
    if (options.partition == NULL)
        return tq_command_usage(argv[0], "--partition is missing");
    if (options.output != NULL && tq_table_file_check_name(options.output, &err) != TQ_OK)
        return tq_command_usage(argv[0], "--output: %s", err.message);
    char **fields = tq_command_split(options.fields, &n_fields);
    if (fields == NULL)
        return tq_command_usage(argv[0], "--fields is missing");
    code = get(argv[0], (const char *const *)fields, n_fields);
    free(fields);
    return code;
}

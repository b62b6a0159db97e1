/* tq put: a file of columns becomes samples of a partition; prints their indexes as one line of JSON. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/files/table_file.h"
#include "tools/tq/command.h"

static struct {
    const char *partition, *controller, *keys;
    uint64_t group_size;
} options;

static const struct tq_flag rows[] = {
    { .kind = TQ_FLAG_TEXT,
      .name = "partition",
      .into = &options.partition,
      .value = "NAME",
      .help = "where the samples go; required" },
    { .kind = TQ_FLAG_TEXT,
      .name = "controller",
      .into = &options.controller,
      .initial = "tcp://127.0.0.1:7600",
      .value = "ADDRESS",
      .help = "of the controller" },
    { .kind = TQ_FLAG_NUMBER,
      .name = "group-size",
      .into = &options.group_size,
      .initial = "0",
      .max = 1048576,
      .help = "so many consecutive samples are a group; 0: none" },
    { .kind = TQ_FLAG_TEXT,
      .name = "keys",
      .into = &options.keys,
      .value = "A,B,...",
      .help = "a key for each sample" },
};

static const struct tq_flags flags = {
    .program = "tq put",
    .summary = "Stores the rows of a .safetensors or .npy file as samples; the leading dimension is the sample.",
    .flags = rows,
    .n_flags = sizeof(rows) / sizeof(rows[0]),
    .operands = "FILE",
};

static int print_indexes(const struct tq_meta *meta)
{
    json_t *indexes = json_array();
    for (size_t i = 0; i < tq_meta_count(meta); i++)
        json_array_append_new(indexes, json_integer((json_int_t)tq_meta_index(meta, i)));
    json_t *line = json_pack("{s:s, s:o}", "partition", tq_meta_partition(meta), "indexes", indexes);
    int failed = line == NULL || json_dumpf(line, stdout, JSON_COMPACT) != 0 || putchar('\n') == EOF;
    json_decref(line);
    return failed;
}

static tq_status put(const struct tq_batch *batch, const struct tq_insert *insert, struct tq_meta **out_meta,
                     struct tq_client **out_client, struct tq_error *err)
{
    tq_status status = tq_command_client(options.controller, out_client, err);
    return status == TQ_OK ? tq_client_put(*out_client, options.partition, batch, insert, NULL, out_meta, err) : status;
}

static int put_file(const char *command, const struct tq_batch *batch)
{
    size_t n_keys;
    struct tq_client *client = NULL;
    struct tq_meta *meta = NULL;
    struct tq_error err = { 0 };
    char **keys = tq_command_split(options.keys, &n_keys);
    struct tq_insert insert = { .keys = (const char *const *)keys, .group_size = (uint32_t)options.group_size };
    int code = 0;
    if (n_keys > 0 && n_keys != batch->n_samples)
        code = tq_command_usage(command, "--keys: %zu keys; the file has %zu samples", n_keys, batch->n_samples);
    else if (put(batch, &insert, &meta, &client, &err) != TQ_OK)
        code = tq_command_fail(command, &err);
    else
        code = print_indexes(meta);
    tq_meta_drop(meta);
    tq_client_close(client);
    free(keys);
    return code;
}

int tq_command_put(int argc, char **argv)
{
    int n_operands = 0;
    struct tq_table_file file;
    struct tq_error err = { 0 };
    int code = tq_command_parse(&flags, argc, argv, &n_operands);
    if (code < 0)
        code = tq_command_check_controller(argv[0], options.controller);
    if (code >= 0)
        return code;
    if (options.partition == NULL)
        return tq_command_usage(argv[0], "--partition is missing");
    if (n_operands != 1)
        return tq_command_usage(argv[0], "%d files; expected one", n_operands);
    if (tq_table_file_check_name(argv[1], &err) != TQ_OK)
        return tq_command_usage(argv[0], "%s", err.message);
    if (tq_table_file_read(argv[1], &file, &err) != TQ_OK)
        return tq_command_fail(argv[0], &err);
    code = put_file(argv[0], &file.batch);
    tq_table_file_drop(&file);
    return code;
}

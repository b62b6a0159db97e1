/* tq-storage: a storage unit as a process. */
#include <stdlib.h>
#include <string.h>

#include "server/common/daemon.h"
#include "server/common/hex.h"
#include "tools/tq-storage/options.h"
#include "tq/server.h"
#include "transport/base/log.h"

static struct tq_storage_options options;

static const struct tq_flag rows[] = {
#define ROW(kind_, type, member, name_, initial_, min_, max_, choices_, value_, help_)                                 \
    { .kind = TQ_FLAG_##kind_,                                                                                         \
      .name = (name_),                                                                                                 \
      .into = &options.member,                                                                                         \
      .initial = (initial_),                                                                                           \
      .min = (min_),                                                                                                   \
      .max = (max_),                                                                                                   \
      .choices = (choices_),                                                                                           \
      .value = (value_),                                                                                               \
      .help = (help_) },
    TQ_STORAGE_OPTIONS(ROW)
};

static const struct tq_flags flags = {
    .program = "tq-storage",
    .summary = "Holds samples of reinforcement-learning data: a storage unit of tq.",
    .flags = rows,
    .n_flags = sizeof(rows) / sizeof(rows[0]),
};

static enum tq_bulk_mode bulk_mode(void)
{
    if (strcmp(options.bulk, "off") == 0)
        return TQ_BULK_OFF;
    return strcmp(options.bulk, "required") == 0 ? TQ_BULK_REQUIRED : TQ_BULK_AUTO;
}

static tq_status open_unit(void *self, struct tq_error *err)
{
    struct tq_storage_opts opts = { .listen = options.listen,
                                    .advertise = options.advertise,
                                    .controller = options.controller,
                                    .name = options.name,
                                    .insecure = options.insecure,
                                    .memory_bytes = options.memory,
                                    .max_samples = options.max_samples,
                                    .bulk = bulk_mode(),
                                    .tcp_only = strcmp(options.bulk_transport, "tcp") == 0,
                                    .devices = options.bulk_devices };
    if (options.cluster_id != NULL && !tq_hex_parse(options.cluster_id, opts.cluster_id, sizeof(opts.cluster_id)))
        return tq_fail(err, TQ_INVALID_ARGUMENT, "FLAG", "--cluster-id: '%s': expected 32 hexadecimal digits",
                       options.cluster_id);
    return tq_storage_open(&opts, self, err);
}

static const char *address(void *self)
{
    return tq_storage_address(*(struct tq_storage **)self);
}

static void drain(void *self, int64_t deadline_ns)
{
    tq_storage_drain(*(struct tq_storage **)self, deadline_ns);
}

static void close_unit(void *self)
{
    tq_storage_close(*(struct tq_storage **)self);
}

int main(int argc, char **argv)
{
    static const struct tq_daemon_ops ops = { open_unit, address, drain, close_unit };
    struct tq_storage *unit = NULL;
    enum tq_log_level level;
    int code;
    if (!tq_daemon_flags(&flags, argc, argv, &code))
        return code;
    if (tq_log_parse_level(options.log_level, &level))
        tq_log_set_level(level);
    const struct tq_daemon daemon = { .name = "tq-storage", .ops = &ops, .self = &unit, .drain_ms = options.drain_ms };
    return tq_daemon_run(&daemon);
}

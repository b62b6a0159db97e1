/* tq-controller: the controller as a process. */
#include "server/common/daemon.h"
#include "server/common/hex.h"
#include "tools/tq-controller/options.h"
#include "tq/server.h"
#include "transport/base/log.h"

static struct tq_controller_options options;

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
    TQ_CONTROLLER_OPTIONS(ROW)
};

static const struct tq_flags flags = {
    .program = "tq-controller",
    .summary = "Knows which samples exist, where they are and who has consumed them: the controller of tq.",
    .flags = rows,
    .n_flags = sizeof(rows) / sizeof(rows[0]),
};

static tq_status open_controller(void *self, struct tq_error *err)
{
    struct tq_controller_opts opts = { .listen = options.listen,
                                       .advertise = options.advertise,
                                       .name = options.name,
                                       .insecure = options.insecure,
                                       .heartbeat_ms = (uint32_t)options.heartbeat_ms };
    if (options.config != NULL)
        return tq_fail(err, TQ_INVALID_ARGUMENT, "FLAG",
                       "--config: '%s': no configuration file is read yet, expected flags or TQ_ variables",
                       options.config);
    if (options.cluster_id != NULL && !tq_hex_parse(options.cluster_id, opts.cluster_id, sizeof(opts.cluster_id)))
        return tq_fail(err, TQ_INVALID_ARGUMENT, "FLAG", "--cluster-id: '%s': expected 32 hexadecimal digits",
                       options.cluster_id);
    return tq_controller_open(&opts, self, err);
}

static const char *address(void *self)
{
    return tq_controller_address(*(struct tq_controller **)self);
}

static void drain(void *self, int64_t deadline_ns)
{
    tq_controller_drain(*(struct tq_controller **)self, deadline_ns);
}

static void close_controller(void *self)
{
    tq_controller_close(*(struct tq_controller **)self);
}

int main(int argc, char **argv)
{
    static const struct tq_daemon_ops ops = { open_controller, address, drain, close_controller };
    struct tq_controller *controller = NULL;
    enum tq_log_level level;
    int code;
    if (!tq_daemon_flags(&flags, argc, argv, &code))
        return code;
    if (tq_log_parse_level(options.log_level, &level))
        tq_log_set_level(level);
    const struct tq_daemon daemon = {
        .name = "tq-controller", .ops = &ops, .self = &controller, .drain_ms = options.drain_ms
    };
    return tq_daemon_run(&daemon);
}

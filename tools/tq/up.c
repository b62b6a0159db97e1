/* tq up: a controller and storage units as children, in the foreground.
 *
 *     controller started -> ready -> units started -> all registered -> "ready ADDRESS" -> serving
 *     a signal: units end, then the controller; exit 0.  A child that ends by itself: the others end; exit 1. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "server/common/addresses.h"
#include "server/common/daemon.h"
#include "tools/tq/children.h"
#include "tools/tq/command.h"
#include "tools/tq/roster.h"
#include "tq/init.h"

enum { MAX_UNITS = 64, START_MS = 30000, GRACE_MS = 3000, ASK_MS = 20 };

static struct {
    uint64_t units, memory, tcp_units, drain_ms;
    const char *listen, *bulk, *log_level;
    bool insecure;
} options;

static const struct tq_flag rows[] = {
    { .kind = TQ_FLAG_NUMBER,
      .name = "units",
      .into = &options.units,
      .initial = "2",
      .min = 1,
      .max = MAX_UNITS,
      .value = "N",
      .help = "storage units" },
    { .kind = TQ_FLAG_BYTES,
      .name = "memory",
      .into = &options.memory,
      .initial = "1GiB",
      .min = 1 << 16,
      .max = UINT64_C(1) << 46,
      .value = "BYTES",
      .help = "payload that each unit holds at most" },
    { .kind = TQ_FLAG_TEXT,
      .name = "listen",
      .into = &options.listen,
      .initial = "tcp://127.0.0.1:7600",
      .value = "ADDRESS",
      .help = "of the controller; units take free ports of the same host" },
    { .kind = TQ_FLAG_NUMBER,
      .name = "tcp-units",
      .into = &options.tcp_units,
      .initial = "0",
      .max = MAX_UNITS,
      .value = "N",
      .help = "so many of the units move bytes over TCP, as between machines" },
    { .kind = TQ_FLAG_CHOICE,
      .name = "bulk",
      .into = &options.bulk,
      .initial = "auto",
      .choices = "auto|off|required",
      .help = "whether tensor bytes go over UCX" },
    { .kind = TQ_FLAG_SWITCH,
      .name = "insecure",
      .into = &options.insecure,
      .initial = "false",
      .help = "allow other than loopback and unix sockets: trusted networks only" },
    { .kind = TQ_FLAG_CHOICE,
      .name = "log-level",
      .into = &options.log_level,
      .initial = "warn",
      .choices = "debug|info|warn|error|off",
      .help = "of the children, to stderr" },
    { .kind = TQ_FLAG_NUMBER,
      .name = "drain-ms",
      .into = &options.drain_ms,
      .initial = "5000",
      .max = 600000,
      .value = "MS",
      .help = "how long running calls may take after SIGTERM" },
};

static const struct tq_flags flags = {
    .program = "tq up",
    .summary = "Runs a controller and storage units on this machine until SIGTERM or SIGINT.",
    .flags = rows,
    .n_flags = sizeof(rows) / sizeof(rows[0]),
};

struct up {
    int signals;
    struct tq_child controller;
    struct tq_child units[MAX_UNITS];
    size_t n_units; /* started */
    bool is_told;   /* a signal came */
    char address[300];
};

static tq_status fail_child(const struct tq_child *child, int code, struct tq_error *err)
{
    return tq_fail(err, TQ_UNAVAILABLE, NULL, "%s ended with exit code %d", child->name, code);
}

/* Looks at everything once, for `wait_ms` at most. CANCELLED after a signal, UNAVAILABLE when a child has ended. */
static tq_status look(struct up *up, int wait_ms, struct tq_error *err)
{
    struct pollfd entries[2 + MAX_UNITS] = { { .fd = up->signals, .events = POLLIN },
                                             { .fd = up->controller.handle, .events = POLLIN } };
    struct signalfd_siginfo info;
    int code;
    for (size_t i = 0; i < up->n_units; i++)
        entries[2 + i] = (struct pollfd){ .fd = up->units[i].handle, .events = POLLIN };
    if (poll(entries, (nfds_t)(2 + up->n_units), wait_ms) < 0 && errno != EINTR)
        return tq_fail(err, TQ_INTERNAL, NULL, "poll: %s", strerror(errno));
    if (read(up->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        up->is_told = true;
        return tq_fail(err, TQ_CANCELLED, NULL, "signal %u", info.ssi_signo);
    }
    if (tq_child_reap(&up->controller, &code))
        return fail_child(&up->controller, code, err);
    for (size_t i = 0; i < up->n_units; i++)
        if (tq_child_reap(&up->units[i], &code))
            return fail_child(&up->units[i], code, err);
    return TQ_OK;
}

/* Waits for "ready ADDRESS" of a child; *out_address points into it. */
static tq_status await_ready(struct up *up, struct tq_child *child, const char **out_address, struct tq_error *err)
{
    int64_t deadline_ns = tq_deadline_after_ms(START_MS);
    while (!child->has_line) {
        struct pollfd entry = { .fd = child->out, .events = POLLIN };
        poll(&entry, 1, ASK_MS);
        (void)tq_child_read(child);
        tq_status status = look(up, 0, err);
        if (status != TQ_OK)
            return status;
        if (tq_now_ns() > deadline_ns)
            return tq_fail(err, TQ_DEADLINE_EXCEEDED, NULL, "%s is not ready after %d ms", child->name, START_MS);
    }
    if (strncmp(child->line, "ready ", 6) != 0)
        return tq_fail(err, TQ_INTERNAL, NULL, "%s said '%s'; expected ready ADDRESS", child->name, child->line);
    *out_address = child->line + 6;
    return TQ_OK;
}

static tq_status start_controller(struct up *up, struct tq_error *err)
{
    const char *const args[] = {
        "--listen", options.listen, "--log-level", options.log_level, options.insecure ? "--insecure" : NULL, NULL
    };
    const char *address = "";
    tq_status status = tq_child_start(&up->controller, "controller", "tq-controller", args, err);
    if (status == TQ_OK)
        status = await_ready(up, &up->controller, &address, err);
    if (status == TQ_OK)
        snprintf(up->address, sizeof(up->address), "%s", address);
    return status;
}

/* "tcp://HOST:0" of the controller's host; for a unix socket the loopback. */
static void unit_listen(char *out, size_t cap)
{
    const char *colon = strrchr(options.listen, ':');
    if (strncmp(options.listen, "tcp://", 6) == 0 && colon > options.listen + 5)
        snprintf(out, cap, "%.*s:0", (int)(colon - options.listen), options.listen);
    else
        snprintf(out, cap, "tcp://127.0.0.1:0");
}

static tq_status start_unit(struct up *up, size_t i, struct tq_error *err)
{
    char name[32], memory[32], listen[300], drain_ms[32];
    snprintf(name, sizeof(name), "unit-%zu", i + 1);
    snprintf(memory, sizeof(memory), "%llu", (unsigned long long)options.memory);
    snprintf(drain_ms, sizeof(drain_ms), "%llu", (unsigned long long)options.drain_ms);
    unit_listen(listen, sizeof(listen));
    bool is_tcp = i + options.tcp_units >= options.units; /* the last ones */
    const char *const args[] = { "--listen",
                                 listen,
                                 "--controller",
                                 up->address,
                                 "--name",
                                 name,
                                 "--memory",
                                 memory,
                                 "--bulk",
                                 options.bulk,
                                 "--bulk-transport",
                                 is_tcp ? "tcp" : "auto",
                                 "--drain-ms",
                                 drain_ms,
                                 "--log-level",
                                 options.log_level,
                                 options.insecure ? "--insecure" : NULL,
                                 NULL };
    up->n_units++;
    return tq_child_start(&up->units[i], name, "tq-storage", args, err);
}

static tq_status start_units(struct up *up, struct tq_error *err)
{
    const char *address;
    tq_status status = TQ_OK;
    for (size_t i = 0; i < options.units && status == TQ_OK; i++)
        status = start_unit(up, i, err);
    for (size_t i = 0; i < up->n_units && status == TQ_OK; i++)
        status = await_ready(up, &up->units[i], &address, err);
    return status;
}

/* Serving means that the controller places samples with every unit. */
static tq_status await_registered(struct up *up, struct tq_error *err)
{
    struct tq_roster *roster;
    int64_t deadline_ns = tq_deadline_after_ms(START_MS);
    tq_status status = tq_roster_open(up->address, &roster, err);
    uint32_t serving = 0;
    while (status == TQ_OK && serving < options.units) {
        status = look(up, ASK_MS, err);
        if (status == TQ_OK)
            status = tq_roster_serving(roster, deadline_ns, &serving, err);
        if (status == TQ_OK && serving < options.units && tq_now_ns() > deadline_ns)
            status = tq_fail(err, TQ_DEADLINE_EXCEEDED, NULL, "%u of %llu units are registered after %d ms", serving,
                             (unsigned long long)options.units, START_MS);
    }
    tq_roster_close(roster);
    return status;
}

static bool end_all(struct up *up)
{
    int64_t deadline_ns = tq_deadline_after_ms((int64_t)options.drain_ms + GRACE_MS);
    for (size_t i = 0; i < up->n_units; i++)
        tq_child_signal(&up->units[i], SIGTERM);
    bool willing = tq_children_wait(up->units, up->n_units, deadline_ns);
    tq_child_signal(&up->controller, SIGTERM);
    return tq_children_wait(&up->controller, 1, deadline_ns + (int64_t)GRACE_MS * 1000000) && willing;
}

static tq_status serve(struct up *up, struct tq_error *err)
{
    tq_status status = start_controller(up, err);
    if (status == TQ_OK)
        status = start_units(up, err);
    if (status == TQ_OK)
        status = await_registered(up, err);
    if (status == TQ_OK) {
        printf("ready %s\n", up->address);
        fflush(stdout);
    }
    while (status == TQ_OK)
        status = look(up, -1, err);
    return status;
}

int tq_command_up(int argc, char **argv)
{
    int code = tq_command_parse(&flags, argc, argv, NULL);
    if (code >= 0)
        return code;
    if (options.tcp_units > options.units)
        return tq_command_usage(argv[0], "--tcp-units: '%llu': expected at most --units: %llu",
                                (unsigned long long)options.tcp_units, (unsigned long long)options.units);
    struct tq_error err = { 0 };
    if (tq_address_check_listen("--listen", options.listen, options.insecure, &err) != TQ_OK)
        return tq_command_usage(argv[0], "%s", err.message);
    struct up up = { .signals = tq_daemon_signals(), .controller = { .handle = -1, .out = -1 } };
    tq_status status = up.signals >= 0 ? tq_init(&err) : tq_fail(&err, TQ_RESOURCE_EXHAUSTED, NULL, "no signalfd");
    if (status == TQ_OK)
        (void)serve(&up, &err);
    bool willing = end_all(&up);
    close(up.signals);
    if (up.is_told && willing)
        return EXIT_SUCCESS;
    return tq_command_fail(argv[0], &err);
}

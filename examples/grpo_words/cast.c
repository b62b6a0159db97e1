#include "examples/grpo_words/cast.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tq/bytes.h"

enum { READY_MS = 20000, GRACE_MS = 10000, TURN_MS = 200, ARGV_MAX = SETTINGS_ARGUMENTS_MAX + 4 };

static const char *const names[CAST_COUNT] = {
    [CAST_CONTROLLER] = "controller", [CAST_UNIT_SHARED] = "unit-shared", [CAST_UNIT_TCP] = "unit-tcp",
    [CAST_TRAINER] = "trainer",       [CAST_REFERENCE] = "reference",     [CAST_REWARD] = "reward",
    [CAST_ROLLOUT] = "rollout",
};

__attribute__((format(printf, 2, 3))) static bool fail_with(struct cast *cast, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(cast->why, sizeof(cast->why), format, arguments);
    va_end(arguments);
    return false;
}

/* Says what happened to a child, with the last of what it logged. */
static bool fail_with_log(struct cast *cast, const struct child *child, const char *what)
{
    char tail[400] = "";
    const int log = open(child->log, O_RDONLY | O_CLOEXEC);
    if (log >= 0) {
        const off_t end = lseek(log, 0, SEEK_END);
        const off_t begin = end > (off_t)sizeof(tail) - 1 ? end - ((off_t)sizeof(tail) - 1) : 0;
        const ssize_t got = pread(log, tail, sizeof(tail) - 1, begin);
        tail[got > 0 ? got : 0] = '\0';
        close(log);
    }
    return fail_with(cast, "%s: %s; the end of %s:\n%s", child->name, what, child->log, tail);
}

static bool start(struct cast *cast, enum cast_role role, const struct settings *settings, char *const *argv)
{
    struct child *child = &cast->children[role];
    char log[CHILD_PATH_BYTES];
    if ((size_t)snprintf(log, sizeof(log), "%s/%s.log", settings->output, child->name) >= sizeof(log))
        return fail_with(cast, "--output: '%.60s...' is too long", settings->output);
    if (!child_start(child, argv, log))
        return fail_with(cast, "cannot start %s: %s", argv[0], strerror(errno));
    return true;
}

static bool ready_line(void *user, struct child *child, const char *line)
{
    (void)child;
    char *address = user;
    if (strncmp(line, "ready ", 6) == 0)
        snprintf(address, CAST_ADDRESS_BYTES, "%s", line + 6);
    return true;
}

static bool wait_ready(struct cast *cast, enum cast_role role, char address[CAST_ADDRESS_BYTES])
{
    struct child *child = &cast->children[role];
    const int64_t deadline_ns = tq_deadline_after_ms(READY_MS);
    address[0] = '\0';
    while (tq_now_ns() < deadline_ns) {
        struct pollfd wait = { .fd = child->lines, .events = POLLIN };
        poll(&wait, 1, TURN_MS);
        if (!child_read(child, ready_line, address))
            return fail_with_log(cast, child, "wrote what nobody understands");
        if (address[0] != '\0')
            return true;
        if (child_has_ended(child))
            return fail_with_log(cast, child, "ended before it was ready");
    }
    return fail_with_log(cast, child, "was not ready in time");
}

static bool start_controller(struct cast *cast, const struct settings *settings)
{
    char program[CHILD_PATH_BYTES + 32];
    snprintf(program, sizeof(program), "%s/tq-controller", cast->programs);
    char *argv[] = { program, (char[]){ "--listen=tcp://127.0.0.1:0" }, NULL };
    return start(cast, CAST_CONTROLLER, settings, argv) && wait_ready(cast, CAST_CONTROLLER, cast->controller);
}

static bool start_unit(struct cast *cast, enum cast_role role, const struct settings *settings)
{
    char program[CHILD_PATH_BYTES + 32];
    char controller[CAST_ADDRESS_BYTES + 32];
    char transport[64];
    char address[CAST_ADDRESS_BYTES];
    snprintf(program, sizeof(program), "%s/tq-storage", cast->programs);
    snprintf(controller, sizeof(controller), "--controller=%s", cast->controller);
    snprintf(transport, sizeof(transport), "--bulk-transport=%s", role == CAST_UNIT_TCP ? "tcp" : "auto");
    char *argv[] = { program,
                     (char[]){ "--listen=tcp://127.0.0.1:0" },
                     controller,
                     (char[]){ "--memory=512MiB" },
                     (char[]){ "--bulk=required" },
                     transport,
                     NULL };
    return start(cast, role, settings, argv) && wait_ready(cast, role, address);
}

static bool start_worker(struct cast *cast, enum cast_role role, const struct settings *settings)
{
    struct settings worker = *settings;
    struct settings_arguments arguments;
    char program[CHILD_PATH_BYTES + 32];
    char subcommand[32];
    char *argv[ARGV_MAX] = { program, subcommand };
    worker.controller = cast->controller;
    if (!settings_print(&worker, &arguments))
        return fail_with(cast, "a setting is too long to hand to the workers");
    snprintf(program, sizeof(program), "%s/grpo_words", cast->programs);
    snprintf(subcommand, sizeof(subcommand), "%s", names[role]);
    for (size_t i = 0; i < arguments.count; i++)
        argv[2 + i] = arguments.text[i];
    return start(cast, role, settings, argv);
}

/* The folder that this program lies in. */
static bool find_programs(struct cast *cast)
{
    const ssize_t length = readlink("/proc/self/exe", cast->programs, sizeof(cast->programs) - 1);
    if (length <= 0 || (size_t)length >= sizeof(cast->programs) - 1)
        return fail_with(cast, "cannot tell where this program lies: %s", strerror(errno));
    cast->programs[length] = '\0';
    *strrchr(cast->programs, '/') = '\0';
    return true;
}

bool cast_start(struct cast *cast, const struct settings *settings)
{
    cast->why[0] = '\0';
    for (int role = 0; role < CAST_COUNT; role++)
        child_init(&cast->children[role], names[role]);
    if (!find_programs(cast) || !start_controller(cast, settings) || !start_unit(cast, CAST_UNIT_SHARED, settings) ||
        !start_unit(cast, CAST_UNIT_TCP, settings))
        return false;
    for (enum cast_role role = CAST_FIRST_WORKER; role < CAST_COUNT; role++)
        if (!start_worker(cast, role, settings))
            return false;
    return true;
}

static bool ignore_line(void *user, struct child *child, const char *line)
{
    (void)user;
    (void)child;
    (void)line;
    return true;
}

/* Reads and looks after one child. *running tells whether it is a worker that goes on. */
static bool attend(struct cast *cast, enum cast_role role, child_line_fn *each, void *user, bool *running)
{
    struct child *child = &cast->children[role];
    const bool is_worker = role >= CAST_FIRST_WORKER;
    char end[40];
    const bool ended = child_has_ended(child); /* asked first: what it wrote before is read below */
    if (!child_read(child, is_worker ? each : ignore_line, user))
        return fail_with_log(cast, child, "wrote what nobody understands");
    *running = is_worker && !ended;
    if (!ended || (is_worker && WIFEXITED(child->wait_status) && WEXITSTATUS(child->wait_status) == 0))
        return true;
    return fail_with_log(cast, child, child_describe_end(child, end, sizeof(end)));
}

/* Waits for a line, an end or the interrupt. True: the interrupt. */
static bool wait_for_news(const struct cast *cast, int interrupt)
{
    struct pollfd waits[1 + 2 * CAST_COUNT] = { { .fd = interrupt, .events = POLLIN } };
    nfds_t count = 1;
    for (int role = 0; role < CAST_COUNT; role++) {
        const struct child *child = &cast->children[role];
        if (child->lines >= 0)
            waits[count++] = (struct pollfd){ .fd = child->lines, .events = POLLIN };
        if (child->pid != 0)
            waits[count++] = (struct pollfd){ .fd = child->pidfd, .events = POLLIN };
    }
    return poll(waits, count, TURN_MS) > 0 && waits[0].revents != 0;
}

bool cast_wait(struct cast *cast, int interrupt, int64_t time_limit_ms, child_line_fn *each, void *user)
{
    const int64_t deadline_ns = tq_deadline_after_ms(time_limit_ms);
    for (bool any_running = true; any_running;) {
        if (wait_for_news(cast, interrupt))
            return fail_with(cast, "interrupted");
        if (tq_now_ns() >= deadline_ns)
            return fail_with(cast, "not done after %lld s", (long long)time_limit_ms / 1000);
        any_running = false;
        for (enum cast_role role = 0; role < CAST_COUNT; role++) {
            bool running = false;
            if (!attend(cast, role, each, user, &running))
                return false;
            any_running = any_running || running;
        }
    }
    return true;
}

bool cast_stop(struct cast *cast)
{
    bool well = true;
    for (int role = CAST_COUNT - 1; role >= 0; role--) {
        struct child *child = &cast->children[role];
        const bool is_daemon = role < CAST_FIRST_WORKER && child->pid != 0;
        const bool went = child_stop(child, is_daemon ? GRACE_MS : 0);
        char end[40];
        if (is_daemon && (!went || !WIFEXITED(child->wait_status) || WEXITSTATUS(child->wait_status) != 0)) {
            well = false;
            if (cast->why[0] == '\0')
                fail_with_log(cast, child, went ? child_describe_end(child, end, sizeof(end)) : "did not drain");
        }
    }
    return well;
}

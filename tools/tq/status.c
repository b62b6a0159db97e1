/* tq status: what the controller and its units say about themselves, for people or as JSON (proto3 mapping: 64-bit
 * numbers are strings). Exit code 1 when something is not well. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/tq/command.h"
#include "tq/init.h"
#include "tq/v1/controller.tq.h"
#include "tq/v1/health.tq.h"

static struct {
    const char *controller;
    bool json;
    uint64_t timeout_ms;
} options;

static const struct tq_flag rows[] = {
    { .kind = TQ_FLAG_TEXT,
      .name = "controller",
      .into = &options.controller,
      .initial = "tcp://127.0.0.1:7600",
      .value = "ADDRESS",
      .help = "of the controller" },
    { .kind = TQ_FLAG_SWITCH, .name = "json", .into = &options.json, .initial = "false", .help = "for programs" },
    { .kind = TQ_FLAG_NUMBER,
      .name = "timeout-ms",
      .into = &options.timeout_ms,
      .initial = "5000",
      .min = 1,
      .max = 3600000,
      .value = "MS",
      .help = "how long to wait for the controller, and again for its units" },
};

static const struct tq_flags flags = {
    .program = "tq status",
    .summary = "Shows units, partitions, samples, bytes and health.",
    .flags = rows,
    .n_flags = sizeof(rows) / sizeof(rows[0]),
};

/* What one server says of itself. */
struct health {
    struct tq_channel *channel;
    struct tq_future *future;
    struct tq_reply reply;
};

struct status {
    struct tq_runtime *runtime;
    struct health controller;
    struct tq_reply units_reply, partitions_reply;
    const Tq__V1__ListUnitsResponse *units;
    const Tq__V1__ListPartitionsResponse *partitions;
    struct health *unit_health; /* one a unit */
};

static const char *health_of(const struct health *health)
{
    const Tq__V1__CheckResponse *response = tq_v1_health_check_response(&health->reply);
    if (response == NULL)
        return tq_status_name(health->reply.error.status);
    switch (response->status) {
    case TQ__V1__HEALTH_STATUS__HEALTH_STATUS_SERVING:
        return "SERVING";
    case TQ__V1__HEALTH_STATUS__HEALTH_STATUS_DRAINING:
        return "DRAINING";
    case TQ__V1__HEALTH_STATUS__HEALTH_STATUS_SICK:
        return "SICK";
    default:
        return "?";
    }
}

static bool is_well(const struct health *health)
{
    const Tq__V1__CheckResponse *response = tq_v1_health_check_response(&health->reply);
    return response != NULL && response->status == TQ__V1__HEALTH_STATUS__HEALTH_STATUS_SERVING;
}

static const char *state_name(Tq__V1__UnitState state)
{
    switch (state) {
    case TQ__V1__UNIT_STATE__UNIT_STATE_SERVING:
        return "SERVING";
    case TQ__V1__UNIT_STATE__UNIT_STATE_DRAINING:
        return "DRAINING";
    case TQ__V1__UNIT_STATE__UNIT_STATE_LOST:
        return "LOST";
    default:
        return "?";
    }
}

/* ---- asking ---- */

static tq_status ask_controller(struct status *status, int64_t deadline_ns, struct tq_error *err)
{
    const Tq__V1__CheckRequest check = TQ__V1__CHECK_REQUEST__INIT;
    const Tq__V1__ListUnitsRequest units = TQ__V1__LIST_UNITS_REQUEST__INIT;
    const Tq__V1__ListPartitionsRequest partitions = TQ__V1__LIST_PARTITIONS_REQUEST__INIT;
    const struct tq_call_opts opts = { .deadline_ns = deadline_ns };
    struct tq_channel *channel = status->controller.channel;
    struct tq_reply *reply = &status->controller.reply;
    if (tq_v1_health_check(channel, &check, &opts, reply) == TQ_OK) {
        reply = &status->units_reply;
        if (tq_v1_controller_list_units(channel, &units, &opts, reply) == TQ_OK) {
            reply = &status->partitions_reply;
            (void)tq_v1_controller_list_partitions(channel, &partitions, &opts, reply);
        }
    }
    status->units = tq_v1_controller_list_units_response(&status->units_reply);
    status->partitions = tq_v1_controller_list_partitions_response(&status->partitions_reply);
    *err = reply->error;
    return reply->error.status;
}

/* All at once: the slowest decides, not the sum. A unit that does not answer is shown so. */
static tq_status ask_units(struct status *status, int64_t deadline_ns, struct tq_error *err)
{
    const Tq__V1__CheckRequest check = TQ__V1__CHECK_REQUEST__INIT;
    const struct tq_call_opts opts = { .deadline_ns = deadline_ns };
    size_t n = status->units->n_units;
    status->unit_health = calloc(n + 1, sizeof(*status->unit_health));
    if (status->unit_health == NULL)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "no memory for %zu units", n);
    for (size_t i = 0; i < n; i++) {
        struct health *health = &status->unit_health[i];
        tq_status opened = tq_channel_open(status->runtime, status->units->units[i]->address, NULL, &health->channel,
                                           &health->reply.error);
        if (opened == TQ_OK)
            health->future = tq_v1_health_check_start(health->channel, &check, &opts);
    }
    for (size_t i = 0; i < n; i++)
        if (status->unit_health[i].future != NULL)
            (void)tq_future_wait(status->unit_health[i].future, &status->unit_health[i].reply);
    return TQ_OK;
}

static tq_status ask(struct status *status, struct tq_error *err)
{
    const struct tq_runtime_opts runtime = { .name = "tq status", .role = TQ_ROLE_TOOL };
    tq_status result = tq_init(err);
    if (result == TQ_OK)
        result = tq_runtime_open(&runtime, &status->runtime, err);
    if (result == TQ_OK)
        result = tq_channel_open(status->runtime, options.controller, NULL, &status->controller.channel, err);
    if (result == TQ_OK)
        result = ask_controller(status, tq_deadline_after_ms((int64_t)options.timeout_ms), err);
    if (result == TQ_OK)
        result = ask_units(status, tq_deadline_after_ms((int64_t)options.timeout_ms), err);
    return result;
}

static void close_health(struct health *health)
{
    tq_future_drop(health->future);
    tq_reply_drop(&health->reply);
    tq_channel_close(health->channel);
}

static void close_status(struct status *status)
{
    for (size_t i = 0; status->unit_health != NULL && i < status->units->n_units; i++)
        close_health(&status->unit_health[i]);
    free(status->unit_health);
    close_health(&status->controller);
    tq_reply_drop(&status->units_reply);
    tq_reply_drop(&status->partitions_reply);
    tq_runtime_close(status->runtime);
}

/* ---- showing ---- */

/* "1.5 GiB"; `text` holds at least 32 bytes. */
static const char *human(uint64_t bytes, char *text)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1024;
        unit++;
    }
    snprintf(text, 32, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

static void show_text(const struct status *status)
{
    char used[32], budget[32];
    const Tq__V1__CheckResponse *check = tq_v1_health_check_response(&status->controller.reply);
    const Tq__V1__ListUnitsResponse *units = status->units;
    const Tq__V1__ListPartitionsResponse *partitions = status->partitions;
    printf("controller %s  %s  version %s  up %" PRIu64 " s\n", options.controller, health_of(&status->controller),
           check->version, check->uptime_ms / 1000);
    printf("\n%zu units\n", units->n_units);
    for (size_t i = 0; i < units->n_units; i++)
        printf("  %3u  %-20s %-9s %-9s %10s of %-10s %9" PRIu64 " samples  %s\n", units->units[i]->unit,
               units->units[i]->name, state_name(units->units[i]->state), health_of(&status->unit_health[i]),
               human(units->used_bytes[i], used), human(units->budget_bytes[i], budget), units->samples[i],
               units->units[i]->address);
    printf("\n%zu partitions\n", partitions->n_partition);
    for (size_t i = 0; i < partitions->n_partition; i++)
        printf("  %-30s %9" PRIu64 " samples  %9" PRIu64 " produced%s\n", partitions->partition[i],
               partitions->samples[i], partitions->produced[i], partitions->sealed[i] ? "  sealed" : "");
}

static json_t *json_u64(uint64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    return json_string(text);
}

static json_t *json_units(const struct status *status)
{
    const Tq__V1__ListUnitsResponse *units = status->units;
    json_t *list = json_array();
    for (size_t i = 0; i < units->n_units; i++) {
        const Tq__V1__Unit *unit = units->units[i];
        json_array_append_new(
            list, json_pack("{s:I, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:I}", "unit", (json_int_t)unit->unit, "name",
                            unit->name, "address", unit->address, "state", state_name(unit->state), "health",
                            health_of(&status->unit_health[i]), "usedBytes", json_u64(units->used_bytes[i]),
                            "budgetBytes", json_u64(units->budget_bytes[i]), "samples", json_u64(units->samples[i]),
                            "heartbeatAgeMs", (json_int_t)units->heartbeat_age_ms[i]));
    }
    return list;
}

static json_t *json_partitions(const struct status *status)
{
    const Tq__V1__ListPartitionsResponse *partitions = status->partitions;
    json_t *list = json_array();
    for (size_t i = 0; i < partitions->n_partition; i++)
        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:b}", "partition", partitions->partition[i], "samples",
                                              json_u64(partitions->samples[i]), "produced",
                                              json_u64(partitions->produced[i]), "sealed", (int)partitions->sealed[i]));
    return list;
}

static int show_json(const struct status *status)
{
    const Tq__V1__CheckResponse *check = tq_v1_health_check_response(&status->controller.reply);
    json_t *root =
        json_pack("{s:{s:s, s:s, s:s, s:o}, s:o, s:o}", "controller", "address", options.controller, "health",
                  health_of(&status->controller), "version", check->version, "uptimeMs", json_u64(check->uptime_ms),
                  "units", json_units(status), "partitions", json_partitions(status));
    int failed = root == NULL || json_dumpf(root, stdout, JSON_INDENT(2)) != 0 || putchar('\n') == EOF;
    json_decref(root);
    return failed;
}

/* The columns come from a peer: unequal ones are not to be walked. */
static tq_status check_columns(const struct status *status, struct tq_error *err)
{
    const Tq__V1__ListUnitsResponse *units = status->units;
    const Tq__V1__ListPartitionsResponse *partitions = status->partitions;
    size_t n = units->n_units;
    size_t p = partitions->n_partition;
    if (units->n_used_bytes == n && units->n_budget_bytes == n && units->n_samples == n &&
        units->n_heartbeat_age_ms == n && partitions->n_samples == p && partitions->n_produced == p &&
        partitions->n_sealed == p)
        return TQ_OK;
    return tq_fail(err, TQ_INTERNAL, NULL, "the controller's answer has columns of unequal length");
}

static bool all_well(const struct status *status)
{
    bool well = is_well(&status->controller);
    for (size_t i = 0; i < status->units->n_units; i++)
        well = well && status->units->units[i]->state == TQ__V1__UNIT_STATE__UNIT_STATE_SERVING &&
               is_well(&status->unit_health[i]);
    return well;
}

int tq_command_status(int argc, char **argv)
{
    int code = tq_command_parse(&flags, argc, argv, NULL);
    if (code < 0)
        code = tq_command_check_controller(argv[0], options.controller);
    if (code >= 0)
        return code;
    struct status status = { 0 };
    struct tq_error err = { 0 };
    tq_status result = ask(&status, &err);
    if (result == TQ_OK)
        result = check_columns(&status, &err);
    if (result != TQ_OK) {
        code = tq_command_fail(argv[0], &err);
    } else {
        code = options.json ? show_json(&status) : (show_text(&status), EXIT_SUCCESS);
        code = code == EXIT_SUCCESS && !all_well(&status) ? EXIT_FAILURE : code;
    }
    close_status(&status);
    return code;
}

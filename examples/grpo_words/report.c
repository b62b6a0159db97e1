#include "examples/grpo_words/report.h"

#include <inttypes.h>
#include <string.h>

#include "examples/grpo_words/chart.h"

void report_init(struct report *report)
{
    memset(report, 0, sizeof(*report));
    curve_init(&report->rewards);
}

void report_fini(struct report *report)
{
    curve_fini(&report->rewards);
}

static bool take_step(struct report *report, const char *rest)
{
    uint64_t step = 0;
    double reward = 0;
    int used = 0;
    if (sscanf(rest, "%" SCNu64 " %lf %lf %lf %lf %n", &step, &reward, &report->kl, &report->clipped, &report->lag,
               &used) != 5 ||
        step != report->rewards.count)
        return false;
    snprintf(report->words, sizeof(report->words), "%s", rest + used);
    return curve_add(&report->rewards, reward);
}

static bool take_bytes(struct report *report, const char *rest)
{
    unsigned engine = 0;
    uint64_t put = 0;
    uint64_t got = 0;
    if (sscanf(rest, "%u %" SCNu64 " %" SCNu64, &engine, &put, &got) != 3 || engine >= TQ_ENGINE_COUNT)
        return false;
    report->put_bytes[engine] += put;
    report->get_bytes[engine] += got;
    return true;
}

static bool take_counts(struct report *report, const char *rest)
{
    uint64_t calls = 0;
    uint64_t put = 0;
    uint64_t got = 0;
    uint64_t retries = 0;
    if (sscanf(rest, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &calls, &put, &got, &retries) != 4)
        return false;
    report->calls += calls;
    report->samples_put += put;
    report->samples_got += got;
    report->retries += retries;
    return true;
}

static bool take_flow(struct report *report, const char *rest)
{
    unsigned flow = 0;
    uint64_t bytes = 0;
    uint64_t ns = 0;
    if (sscanf(rest, "%u %" SCNu64 " %" SCNu64, &flow, &bytes, &ns) != 3 || flow >= WORKER_FLOWS)
        return false;
    report->flow_bytes[flow] += bytes;
    report->flow_ns[flow] += ns;
    return true;
}

static bool take_latency(struct report *report, const char *rest)
{
    unsigned op = 0;
    int used = 0;
    if (sscanf(rest, "%u %n", &op, &used) != 1 || op >= WORKER_OP_COUNT)
        return false;
    return latency_parse(&report->latencies[op], rest + used);
}

bool report_take(struct report *report, const char *line)
{
    static const struct {
        const char *begin;
        bool (*take)(struct report *report, const char *rest);
    } kinds[] = {
        { "step ", take_step }, { "bytes ", take_bytes },     { "counts ", take_counts },
        { "flow ", take_flow }, { "latency ", take_latency },
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strncmp(line, kinds[i].begin, strlen(kinds[i].begin)) == 0)
            return kinds[i].take(report, line + strlen(kinds[i].begin));
    return false;
}

bool report_write_picture(const struct report *report, const char *path)
{
    const struct curve *curve = &report->rewards;
    const double first = curve_first_tenth(curve);
    const double last = curve_last_tenth(curve);
    const size_t tenth = curve_tenth(curve);
    if (curve->count == 0)
        return false;
    const struct chart_mark marks[] = {
        { .first = 0, .last = tenth - 1, .value = first },
        { .first = curve->count - tenth, .last = curve->count - 1, .value = last },
    };
    char note[120];
    snprintf(note, sizeof(note), "first tenth %.1f %%, last tenth %.1f %%", first * 100, last * 100);
    const struct chart chart = {
        .title = "grpo_words: share of completions that are words",
        .note = note,
        .x_label = "training step",
        .y_label = "mean reward",
        .values = curve->values,
        .count = curve->count,
        .smooth_points = curve->count / 20 | 1,
        .percent = true,
        .marks = marks,
        .mark_count = 2,
        .marks_label = "mean of first and last tenth",
    };
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return false;
    const bool written = chart_write(&chart, out);
    return fclose(out) == 0 && written;
}

bool report_write_curve(const struct report *report, const char *path)
{
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return false;
    for (size_t i = 0; i < report->rewards.count; i++)
        fprintf(out, "%zu %.6f\n", i + 1, report->rewards.values[i]);
    const bool written = ferror(out) == 0;
    return fclose(out) == 0 && written;
}

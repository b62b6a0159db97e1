#include "examples/grpo_words/progress.h"

#include <inttypes.h>
#include <unistd.h>

enum { BAR_WIDTH = 25, MEAN_STEPS = 10, TERMINAL_MS = 100, LINES_MS = 3000 };

void progress_init(struct progress *progress, uint64_t steps, FILE *out)
{
    *progress = (struct progress){
        .out = out,
        .is_terminal = isatty(fileno(out)) == 1,
        .steps = steps,
        .begin_ns = tq_now_ns(),
    };
}

/* The mean of the last steps: a single one jumps. */
static double recent_reward(const struct curve *curve)
{
    const size_t first = curve->count > MEAN_STEPS ? curve->count - MEAN_STEPS : 0;
    double sum = 0;
    for (size_t i = first; i < curve->count; i++)
        sum += curve->values[i];
    return curve->count == 0 ? 0 : sum / (double)(curve->count - first);
}

static void bar_fill(char bar[BAR_WIDTH + 1], double share)
{
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < share * BAR_WIDTH ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
}

void progress_show(struct progress *progress, const struct report *report)
{
    const int64_t now_ns = tq_now_ns();
    const size_t done = report->rewards.count;
    if (now_ns < progress->next_ns && done < progress->steps)
        return;
    progress->next_ns = now_ns + (progress->is_terminal ? TERMINAL_MS : LINES_MS) * INT64_C(1000000);
    const double reward = recent_reward(&report->rewards);
    char bar[BAR_WIDTH + 1];
    bar_fill(bar, reward);
    fprintf(progress->out,
            "%s  step %4zu/%" PRIu64 "  words %5.1f %% [%s]  kl %5.2f  lag %.1f  %4.0f s  likeliest: %s%s",
            progress->is_terminal ? "\r" : "", done, progress->steps, reward * 100, bar, report->kl, report->lag,
            (double)(now_ns - progress->begin_ns) / 1e9, report->words, progress->is_terminal ? "\033[K" : "\n");
    fflush(progress->out);
    progress->line_open = progress->is_terminal;
}

void progress_finish(struct progress *progress)
{
    if (progress->line_open)
        fputc('\n', progress->out);
    progress->line_open = false;
}

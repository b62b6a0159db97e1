#include "examples/grpo_words/run.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "examples/grpo_words/cast.h"
#include "examples/grpo_words/progress.h"

/* How many times the reward of the first tenth the last tenth must reach. */
static const double wanted_growth = 2;

struct run {
    const struct settings *settings;
    struct cast cast;
    struct report report;
    struct progress progress;
    int interrupt; /* readable when SIGINT or SIGTERM came */
    int64_t begin_ns;
};

static bool run_complain(const char *what)
{
    fprintf(stderr, "grpo_words: %s\n", what);
    return false;
}

/* Folders on the way to `path` are made too. */
static bool make_folder(const char *path)
{
    char part[CHILD_PATH_BYTES];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof(part))
        return run_complain("--output: expected the name of a folder, of at most 500 characters");
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0755) != 0 && errno != EEXIST) {
            fprintf(stderr, "grpo_words: --output: %s: %s\n", part, strerror(errno));
            return false;
        }
    }
    return true;
}

/* Turns the two signals into a descriptor, so that children are ended in order. */
static bool catch_signals(struct run *run)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    run->interrupt = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return run->interrupt >= 0;
}

static bool take_line(void *user, struct child *child, const char *line)
{
    struct run *run = user;
    (void)child;
    const size_t steps = run->report.rewards.count;
    if (!report_take(&run->report, line))
        return false;
    if (run->report.rewards.count > steps)
        progress_show(&run->progress, &run->report);
    return true;
}

static bool run_cast(struct run *run)
{
    const int64_t limit_ms = (int64_t)run->settings->time_limit_s * 1000;
    bool well =
        cast_start(&run->cast, run->settings) && cast_wait(&run->cast, run->interrupt, limit_ms, take_line, run);
    well = cast_stop(&run->cast) && well;
    progress_finish(&run->progress);
    return well || run_complain(run->cast.why);
}

static bool write_files(const struct run *run)
{
    char path[CHILD_PATH_BYTES + 32];
    snprintf(path, sizeof(path), "%s/rewards.txt", run->settings->output);
    if (!report_write_curve(&run->report, path))
        return run_complain("cannot write rewards.txt");
    snprintf(path, sizeof(path), "%s/reward.svg", run->settings->output);
    if (!report_write_picture(&run->report, path))
        return run_complain("cannot write reward.svg");
    printf("\n  picture: %s\n", path);
    return true;
}

static bool engines_moved(const struct report *report)
{
    bool all = true;
    for (unsigned engine = TQ_ENGINE_REMOTE_READ; engine <= TQ_ENGINE_RENDEZVOUS; engine++) {
        if (report->put_bytes[engine] + report->get_bytes[engine] > 0)
            continue;
        fprintf(stderr, "grpo_words: no byte moved by %s\n", tq_engine_name((enum tq_bulk_engine)engine));
        all = false;
    }
    return all;
}

static int judge(const struct run *run)
{
    const struct curve *curve = &run->report.rewards;
    const double first = curve_first_tenth(curve);
    const double last = curve_last_tenth(curve);
    if (curve->count != run->settings->steps) {
        fprintf(stderr, "grpo_words: %zu steps were reported: expected %" PRIu64 "\n", curve->count,
                run->settings->steps);
        return RUN_FAILED;
    }
    if (!engines_moved(&run->report))
        return RUN_FAILED;
    const bool grown = curve_has_grown(curve, wanted_growth);
    printf("\n  mean reward: first tenth %.1f %%, last tenth %.1f %%: %s\n", first * 100, last * 100,
           grown ? "learned" : "NOT learned, it did not double");
    return grown ? RUN_LEARNED : RUN_NOT_LEARNED;
}

int run_all(const struct settings *settings)
{
    struct run *run = calloc(1, sizeof(*run));
    int status = RUN_FAILED;
    if (run == NULL)
        return status;
    run->settings = settings;
    run->begin_ns = tq_now_ns();
    report_init(&run->report);
    progress_init(&run->progress, settings->steps, stdout);
    if (!make_folder(settings->output))
        goto done;
    if (!catch_signals(run)) {
        run_complain("cannot make a signalfd");
        goto done;
    }
    printf("grpo_words: %" PRIu64 " steps of %" PRIu64 " prompts, %" PRIu64 " completions each; logs in %s\n",
           settings->steps, settings->groups, settings->group_size, settings->output);
    fflush(stdout);
    if (!run_cast(run))
        goto done;
    report_print(&run->report, settings->steps * settings->groups * settings->group_size,
                 (double)(tq_now_ns() - run->begin_ns) / 1e9, stdout);
    status = write_files(run) ? judge(run) : RUN_FAILED;
    close(run->interrupt);
done:
    report_fini(&run->report);
    free(run);
    return status;
}

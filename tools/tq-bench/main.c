/* tq-bench rpc|bulk|e2e [--json FILE] [--plot FILE] [--seconds N] [--rounds N]: the product against its floors, in one
 * command, alternating. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tq-bench/bench.h"
#include "tq/init.h"

static const struct suite {
    const char *name;
    int (*run)(const struct bench *bench);
} suites[] = {
    { "rpc", bench_rpc },
#ifdef TQ_BENCH_BULK
    { "bulk", bench_bulk },
#endif
#ifdef TQ_BENCH_E2E
    { "e2e", bench_e2e },
#endif
};

struct arguments {
    const struct suite *suite;
    const char *json, *plot;
    double seconds;
    unsigned rounds;
};

static int usage(const char *why, const char *what)
{
    fprintf(stderr, "tq-bench: %s%s; usage: tq-bench", why, what);
    for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
        fprintf(stderr, "%s%s", i > 0 ? "|" : " ", suites[i].name);
    fprintf(stderr, " [--json FILE] [--plot FILE] [--seconds N] [--rounds N]\n");
    return 2;
}

static const struct suite *find_suite(const char *name)
{
    for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
        if (strcmp(name, suites[i].name) == 0)
            return &suites[i];
    return NULL;
}

static int parse(int argc, char **argv, struct arguments *out)
{
    *out = (struct arguments){ .seconds = 1, .rounds = 5 };
    if (argc < 2 || (out->suite = find_suite(argv[1])) == NULL)
        return usage("no such suite: ", argc < 2 ? "" : argv[1]);
    for (int i = 2; i < argc; i += 2) {
        char *end = NULL;
        if (i + 1 == argc)
            return usage("no value for ", argv[i]);
        if (strcmp(argv[i], "--json") == 0)
            out->json = argv[i + 1];
        else if (strcmp(argv[i], "--plot") == 0)
            out->plot = argv[i + 1];
        else if (strcmp(argv[i], "--seconds") == 0)
            out->seconds = strtod(argv[i + 1], &end);
        else if (strcmp(argv[i], "--rounds") == 0)
            out->rounds = (unsigned)strtoul(argv[i + 1], &end, 10);
        else
            return usage("unknown option ", argv[i]);
        if (end != NULL && *end != 0)
            return usage("not a number: ", argv[i + 1]);
    }
    if (!(out->seconds > 0 && out->seconds <= 60) || out->rounds < 1 || out->rounds > REPORT_ROUNDS)
        return usage("seconds must be above 0 and at most 60, rounds 1 to 32", "");
    return 0;
}

int main(int argc, char **argv)
{
    static struct report report;
    struct arguments arguments;
    struct tq_error err;
    if (tq_init(&err) != TQ_OK) {
        fprintf(stderr, "tq-bench: %s\n", err.message);
        return 1;
    }
    if (argc > 1 && strcmp(argv[1], "serve-rpc") == 0)
        return bench_rpc_serve(argc, argv);
#ifdef TQ_BENCH_BULK
    if (argc > 1 && strcmp(argv[1], "serve-bulk") == 0)
        return bench_bulk_serve(argc, argv);
#endif
    int status = parse(argc, argv, &arguments);
    if (status != 0)
        return status;
    struct bench bench = { "/proc/self/exe", arguments.seconds, arguments.rounds, &report };
    snprintf(report.suite, sizeof(report.suite), "%s", arguments.suite->name);
    report.seconds = arguments.seconds;
    status = arguments.suite->run(&bench);
    report_print(&report);
    if (arguments.json != NULL && !report_write_json(&report, arguments.json))
        status = 1;
    if (arguments.plot != NULL && !report_write_svg(&report, arguments.plot))
        status = 1;
    return status;
}

/* tests/e2e/cluster.h: a controller and storage units as child processes, for tests and benchmarks. The programs are
 * found in $TQ_BIN_DIR, else beside this program, else in the folder named at build time. Children die with this
 * process; they are ended by pid. Owns: the children. Threads: one. Every wait is bounded; what fails fails the caller
 * by a status and a message. */
#ifndef TQ_TESTS_E2E_CLUSTER_H
#define TQ_TESTS_E2E_CLUSTER_H

#include <stdbool.h>
#include <sys/types.h>

#include "tq/status.h"

enum { CLUSTER_UNITS_MAX = 8, CLUSTER_ADDRESS_MAX = 128 };

struct cluster_child {
    pid_t pid; /* 0: none */
    char address[CLUSTER_ADDRESS_MAX];
};

struct cluster {
    struct cluster_child controller;
    struct cluster_child units[CLUSTER_UNITS_MAX];
    size_t n_units;
};

/* Zero means the default. */
struct cluster_unit_opts {
    const char *memory; /* "256MiB" */
    const char *bulk;   /* "auto", "off", "required"; default "auto" */
    bool tcp_only;      /* no shared memory */
};

/* Starts a controller. Close the cluster whatever the outcome. */
TQ_MUST_CHECK tq_status cluster_open(struct cluster *cluster, struct tq_error *err);
/* Starts one more unit and waits until the controller serves it. */
TQ_MUST_CHECK tq_status cluster_add_unit(struct cluster *cluster, const struct cluster_unit_opts *opts,
                                         struct tq_error *err);
/* SIGTERM to all; false when one did not exit with 0 within ten seconds (it is killed then) or had died before. */
bool cluster_close(struct cluster *cluster);
/* SIGKILL, and waits for the end. */
void cluster_kill(struct cluster_child *child);

/* Starts a program with the given arguments (NULL-terminated, without argv[0]) and reads its line "ready ADDRESS". */
TQ_MUST_CHECK tq_status cluster_start(const char *program, const char *const *arguments,
                                      struct cluster_child *out_child, struct tq_error *err);

#endif

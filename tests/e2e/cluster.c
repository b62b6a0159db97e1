#include "tests/e2e/cluster.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tq/bytes.h"
#include "tq/rpc.h"
#include "tq/v1/controller.tq.h"

enum { READY_MS = 20000, STOP_MS = 10000, ARGUMENTS_MAX = 32 };

/* Beside this program, as when installed; false when it is not there. */
static bool find_beside(const char *program, char *path, size_t room)
{
    ssize_t len = readlink("/proc/self/exe", path, room - 1);
    if (len <= 0)
        return false;
    path[len] = '\0';
    char *slash = strrchr(path, '/');
    size_t folder = (size_t)(slash - path) + 1;
    int named = snprintf(path + folder, room - folder, "%s", program);
    return named > 0 && (size_t)named < room - folder && access(path, X_OK) == 0;
}

static void path_of(const char *program, char *path, size_t room)
{
    const char *folder = getenv("TQ_BIN_DIR");
    if (folder != NULL || !find_beside(program, path, room))
        snprintf(path, room, "%s/%s", folder != NULL ? folder : CLUSTER_BIN_DIR, program);
}

/* ---- one child ---- */

/* Only what is safe between fork and exec. */
static void run_child(const char *path, char *const *argv, int out, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(out, STDOUT_FILENO) < 0)
        _exit(126);
    execv(path, argv);
    _exit(127);
}

/* The first line of `fd` within READY_MS. */
static bool read_line(int fd, char *line, size_t room)
{
    int64_t deadline_ns = tq_deadline_after_ms(READY_MS);
    size_t len = 0;
    while (len + 1 < room) {
        int64_t left_ms = (deadline_ns - tq_now_ns()) / 1000000;
        struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
        if (left_ms <= 0 || (poll(&poll_fd, 1, (int)left_ms) < 0 && errno != EINTR))
            return false;
        if (poll_fd.revents == 0)
            continue;
        if (read(fd, line + len, 1) != 1)
            return false;
        if (line[len] == '\n') {
            line[len] = '\0';
            return true;
        }
        len++;
    }
    return false;
}

static tq_status await_ready(const char *program, int fd, struct cluster_child *child, struct tq_error *err)
{
    static const char ready[] = "ready ";
    char line[CLUSTER_ADDRESS_MAX + sizeof(ready)];
    if (!read_line(fd, line, sizeof(line)) || strncmp(line, ready, strlen(ready)) != 0)
        return tq_fail(err, TQ_UNAVAILABLE, NULL, "%s did not say that it is ready", program);
    snprintf(child->address, sizeof(child->address), "%.*s", CLUSTER_ADDRESS_MAX - 1, line + strlen(ready));
    return TQ_OK;
}

tq_status cluster_start(const char *program, const char *const *arguments, struct cluster_child *out_child,
                        struct tq_error *err)
{
    char path[512];
    char *argv[ARGUMENTS_MAX + 2] = { path };
    int pipe_fds[2];
    path_of(program, path, sizeof(path));
    for (size_t a = 0; arguments[a] != NULL && a < ARGUMENTS_MAX; a++)
        argv[a + 1] = (char *)(uintptr_t)arguments[a];
    if (pipe2(pipe_fds, O_CLOEXEC) != 0)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "no pipe: %s", strerror(errno));
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        run_child(path, argv, pipe_fds[1], parent);
    close(pipe_fds[1]);
    tq_status status = TQ_OK;
    *out_child = (struct cluster_child){ .pid = pid > 0 ? pid : 0 };
    if (pid < 0)
        status = tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "no process: %s", strerror(errno));
    else
        status = await_ready(path, pipe_fds[0], out_child, err);
    close(pipe_fds[0]); /* a daemon says nothing more on stdout */
    if (status != TQ_OK)
        cluster_kill(out_child);
    return status;
}

void cluster_kill(struct cluster_child *child)
{
    if (child->pid <= 0)
        return;
    kill(child->pid, SIGKILL);
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    child->pid = 0;
}

/* Waits for the end through a pidfd, so that the wait has a bound. */
static bool stop_child(struct cluster_child *child)
{
    if (child->pid <= 0)
        return true;
    int status = 0;
    int fd = (int)syscall(SYS_pidfd_open, child->pid, 0);
    kill(child->pid, SIGTERM);
    kill(child->pid, SIGCONT);
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
    bool ended = fd >= 0 && poll(&poll_fd, 1, STOP_MS) == 1;
    if (fd >= 0)
        close(fd);
    if (!ended) {
        fprintf(stderr, "cluster: child %d does not stop: killed\n", (int)child->pid);
        cluster_kill(child);
        return false;
    }
    bool reaped = waitpid(child->pid, &status, 0) == child->pid;
    child->pid = 0;
    return reaped && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- the cluster ---- */

tq_status cluster_open(struct cluster *cluster, struct tq_error *err)
{
    *cluster = (struct cluster){ 0 };
    const char *const arguments[] = { "--listen", "tcp://127.0.0.1:0", "--log-level", "warn", NULL };
    return cluster_start("tq-controller", arguments, &cluster->controller, err);
}

/* How many units the controller serves now. */
static tq_status count_units(struct tq_channel *channel, size_t *out_n, struct tq_error *err)
{
    Tq__V1__ListUnitsRequest request = TQ__V1__LIST_UNITS_REQUEST__INIT;
    struct tq_call_opts opts = { .deadline_ns = tq_deadline_after_ms(5000) };
    struct tq_reply reply = { 0 };
    tq_status status = tq_v1_controller_list_units(channel, &request, &opts, &reply);
    *out_n = 0;
    if (status == TQ_OK) {
        const Tq__V1__ListUnitsResponse *response = tq_v1_controller_list_units_response(&reply);
        for (size_t u = 0; u < response->n_units; u++)
            *out_n += response->units[u]->state == TQ__V1__UNIT_STATE__UNIT_STATE_SERVING;
    } else {
        *err = reply.error;
    }
    tq_reply_drop(&reply);
    return status;
}

/* Registration has no event for a third party: ask, with a pause on a timer that nobody fires, until it is there. */
static tq_status await_units(const char *controller, size_t n, struct tq_error *err)
{
    struct tq_runtime *runtime = NULL;
    struct tq_channel *channel = NULL;
    int64_t deadline_ns = tq_deadline_after_ms(READY_MS);
    size_t serving = 0;
    tq_status status = tq_runtime_open(NULL, &runtime, err);
    if (status == TQ_OK)
        status = tq_channel_open(runtime, controller, NULL, &channel, err);
    while (status == TQ_OK && serving < n) {
        status = count_units(channel, &serving, err);
        if (status == TQ_OK && serving < n && tq_now_ns() > deadline_ns)
            status = tq_fail(err, TQ_UNAVAILABLE, NULL, "%zu of %zu units are registered", serving, n);
        if (status == TQ_OK && serving < n)
            (void)poll(NULL, 0, 10);
    }
    tq_channel_close(channel);
    tq_runtime_close(runtime);
    return status;
}

tq_status cluster_add_unit(struct cluster *cluster, const struct cluster_unit_opts *opts, struct tq_error *err)
{
    static const struct cluster_unit_opts defaults;
    if (opts == NULL)
        opts = &defaults;
    if (cluster->n_units == CLUSTER_UNITS_MAX)
        return tq_fail(err, TQ_RESOURCE_EXHAUSTED, NULL, "a cluster has at most %d units", CLUSTER_UNITS_MAX);
    char name[32];
    snprintf(name, sizeof(name), "unit-%zu", cluster->n_units);
    const char *const arguments[] = { "--listen",
                                      "tcp://127.0.0.1:0",
                                      "--log-level",
                                      "warn",
                                      "--controller",
                                      cluster->controller.address,
                                      "--name",
                                      name,
                                      "--memory",
                                      opts->memory != NULL ? opts->memory : "256MiB",
                                      "--bulk",
                                      opts->bulk != NULL ? opts->bulk : "auto",
                                      "--bulk-transport",
                                      opts->tcp_only ? "tcp" : "auto",
                                      NULL };
    tq_status status = cluster_start("tq-storage", arguments, &cluster->units[cluster->n_units], err);
    if (status != TQ_OK)
        return status;
    cluster->n_units++;
    size_t alive = 0;
    for (size_t u = 0; u < cluster->n_units; u++)
        alive += cluster->units[u].pid > 0;
    return await_units(cluster->controller.address, alive, err);
}

bool cluster_close(struct cluster *cluster)
{
    bool clean = true;
    for (size_t u = 0; u < cluster->n_units; u++)
        clean = stop_child(&cluster->units[u]) && clean;
    return stop_child(&cluster->controller) && clean;
}

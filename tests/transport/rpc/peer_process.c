#include "tests/transport/rpc/peer_process.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/stop.h"

extern char **environ;

static void read_line(int fd, char *out, size_t cap)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    for (size_t len = 0; len + 1 < cap; len++) {
        assert_int_equal(poll(&ready, 1, 10000), 1);
        assert_int_equal(read(fd, out + len, 1), 1);
        if (out[len] == '\n') {
            out[len] = 0;
            return;
        }
    }
    fail_msg("the peer says too much");
}

void peer_start(struct peer_process *peer, const char *address)
{
    char self[PATH_MAX], program[PATH_MAX + 32], wanted[256];
    int ends[2];
    posix_spawn_file_actions_t actions;
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    assert_true(len > 0);
    self[len] = 0;
    snprintf(program, sizeof(program), "%s/rpc_echo_peer", dirname(self));
    snprintf(wanted, sizeof(wanted), "%s", address);
    char *argv[] = { program, wanted, NULL };
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    assert_int_equal(posix_spawn(&peer->pid, program, &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    read_line(ends[0], peer->address, sizeof(peer->address));
    close(ends[0]);
}

void peer_stop(const struct peer_process *peer)
{
    int status;
    assert_int_equal(test_stop(peer->pid), 0);
    assert_int_equal(waitpid(peer->pid, &status, WUNTRACED), peer->pid);
    assert_true(WIFSTOPPED(status));
}

void peer_continue(const struct peer_process *peer)
{
    assert_int_equal(kill(peer->pid, SIGCONT), 0);
}

void peer_kill(struct peer_process *peer)
{
    if (peer->pid == 0)
        return;
    kill(peer->pid, SIGKILL);
    waitpid(peer->pid, NULL, 0);
    peer->pid = 0;
}

/* tests/transport/rpc/peer_process.h: a server in another process, to be killed and stopped.
 * Owns: the process. Threads: one. */
#ifndef TESTS_TRANSPORT_RPC_PEER_PROCESS_H
#define TESTS_TRANSPORT_RPC_PEER_PROCESS_H

#include <sys/types.h>

struct peer_process {
    pid_t pid;
    char address[256];
};

/* Asserts that it serves within ten seconds. */
void peer_start(struct peer_process *peer, const char *address);
void peer_stop(const struct peer_process *peer);     /* SIGSTOP; returns when it has stopped */
void peer_continue(const struct peer_process *peer); /* SIGCONT */
/* Kills and reaps it. */
void peer_kill(struct peer_process *peer);

#endif

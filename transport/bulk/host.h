/* transport/bulk/host.h: what the kernel says about this machine and its processes: the proof that a peer shares memory
 * with us, and the sign that it died.
 * Owns: nothing. Threads: any. */
#ifndef TQ_BULK_HOST_H
#define TQ_BULK_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Digest of the boot id and the pid namespace: equal for processes that see each other's pids on one kernel. 0:
 * unknown. */
uint64_t tq_host_digest(void);
/* When the process started, in clock ticks since boot: a pid alone can be another process later. 0: there is none. */
uint64_t tq_host_start_time(pid_t pid);
/* A descriptor that becomes readable when the process ends, even while it is a zombie. -1: none, or it is another
 * process than the one that started then. */
int tq_host_watch(pid_t pid, uint64_t start_time);

#endif

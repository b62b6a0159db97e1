#include "tests/support/stop.h"

#include <signal.h>
#include <sys/wait.h>

int test_stop(pid_t child)
{
    siginfo_t info;
    if (kill(child, SIGSTOP) != 0)
        return -1;
    return waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOWAIT);
}

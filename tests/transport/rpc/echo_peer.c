/* An echo server in a process of its own: `rpc_echo_peer ADDRESS`. Prints its address and serves until it is killed. */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"
#include "tests/transport/rpc/echo_service.h"
#include "tq/init.h"

int main(int argc, char **argv)
{
    struct echo_service echo;
    struct tq_runtime *runtime;
    struct tq_error err;
    struct tq_server_opts opts = { .listen = argc > 1 ? argv[1] : "tcp://127.0.0.1:0" };
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (tq_init(&err) != TQ_OK || tq_runtime_open(NULL, &runtime, &err) != TQ_OK)
        return 1;
    echo_open(&echo, runtime, &opts);
    printf("%s\n", tq_server_address(echo.server));
    fflush(stdout);
    for (;;)
        pause();
}

#include "transport/base/environment.h"

#include <stddef.h>
#include <stdlib.h>

/* name, value, why */
static const char *const settings[][2] = {
    { "UCX_POSIX_ERROR_HANDLING", "y" },   /* else peer error handling quietly costs the shared memory lanes */
    { "UCX_KEEPALIVE_INTERVAL", "500ms" }, /* a killed peer is noticed in this time; the default is 20 s */
    { "UCX_HANDLE_ERRORS", "none" },       /* read by the processes that we start: signals belong to the application */
    { "UCX_TCP_PUT_ENABLE", "n" },         /* a late acknowledgement of a stopped peer aborts us (UCX 1.13, tcp_ep.c) */
    { "UCX_WARN_UNUSED_ENV_VARS", "n" },   /* the first setting, where only TCP is used */
};

void tq_environment_prepare(void)
{
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        setenv(settings[i][0], settings[i][1], 0);
}

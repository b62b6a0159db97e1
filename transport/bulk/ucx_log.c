#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <ucs/debug/log_def.h>

#include "transport/base/log.h"
#include "transport/bulk/ucx_private.h"

static enum tq_log_level level_of(ucs_log_level_t level)
{
    switch (level) {
    case UCS_LOG_LEVEL_FATAL:
        return TQ_LOG_ERROR;
    case UCS_LOG_LEVEL_ERROR: /* a peer that went away is an error to UCX, and business as usual to us */
    case UCS_LOG_LEVEL_WARN:
        return TQ_LOG_INFO;
    default:
        return TQ_LOG_DEBUG;
    }
}

static ucs_log_func_rc_t to_our_log(const char *file, unsigned line, const char *function, ucs_log_level_t level,
                                    const ucs_log_component_config_t *component, const char *message, va_list args)
{
    (void)function;
    (void)component;
    char text[512];
    if (level > UCS_LOG_LEVEL_WARN)
        return UCS_LOG_FUNC_RC_CONTINUE;
    vsnprintf(text, sizeof(text), message, args);
    const char *name = strrchr(file, '/');
    tq_log(level_of(level), "ucx", "at=%s:%u text=\"%s\"", name != NULL ? name + 1 : file, line, text);
    return UCS_LOG_FUNC_RC_STOP;
}

static void push_handler(void)
{
    ucs_log_push_handler(to_our_log);
}

void tq_ucx_capture_log(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, push_handler);
}

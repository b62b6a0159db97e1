#include "transport/base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Atomic int threshold = TQ_LOG_WARN;

static const char *const level_names[] = { "debug", "info", "warn", "error", "off" };

void tq_log_set_level(enum tq_log_level level)
{
    atomic_store_explicit(&threshold, (int)level, memory_order_relaxed);
}

enum tq_log_level tq_log_get_level(void)
{
    return (enum tq_log_level)atomic_load_explicit(&threshold, memory_order_relaxed);
}

bool tq_log_parse_level(const char *text, enum tq_log_level *out_level)
{
    for (int level = TQ_LOG_DEBUG; level <= TQ_LOG_OFF; level++)
        if (strcmp(text, level_names[level]) == 0) {
            *out_level = (enum tq_log_level)level;
            return true;
        }
    return false;
}

/* Log stamps are the one place of the library that reads the wall clock. */
static size_t put_stamp(char *line, size_t cap)
{
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t len = strftime(line, cap, "t=%Y-%m-%dT%H:%M:%S", &utc);
    int more = snprintf(line + len, cap - len, ".%03ldZ", now.tv_nsec / 1000000);
    return len + (more > 0 ? (size_t)more : 0);
}

/* A line break inside a value would forge a second line. */
static void one_line(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < 0x20)
            text[i] = ' ';
}

void tq_log(enum tq_log_level level, const char *id, const char *format, ...)
{
    if (level < tq_log_get_level())
        return;
    char line[1024];
    size_t len = put_stamp(line, sizeof(line));
    int more = snprintf(line + len, sizeof(line) - len, " level=%s event=%s ", level_names[level], id);
    len += more > 0 ? (size_t)more : 0;
    va_list args;
    va_start(args, format);
    more = vsnprintf(line + len, sizeof(line) - len, format, args);
    va_end(args);
    len += more > 0 ? (size_t)more : 0;
    if (len > sizeof(line) - 1)
        len = sizeof(line) - 1;
    one_line(line, len);
    line[len++] = '\n';
    ssize_t wrote = write(STDERR_FILENO, line, len);
    (void)wrote; /* nobody is left to tell */
}

/* transport/base/log.h: one line an event, logfmt, to stderr: for whoever is woken at night. Libraries log only where
 * an error is first decided and nobody can be told by a return value; programs log the rest. Owns: the level. Threads:
 * any; a line is one write. */
#ifndef TQ_BASE_LOG_H
#define TQ_BASE_LOG_H

#include <stdbool.h>

#include "tq/status.h"

enum tq_log_level { TQ_LOG_DEBUG, TQ_LOG_INFO, TQ_LOG_WARN, TQ_LOG_ERROR, TQ_LOG_OFF };

/* Default: TQ_LOG_WARN for libraries; daemons choose INFO. */
void tq_log_set_level(enum tq_log_level level);
enum tq_log_level tq_log_get_level(void);
/* "debug", "info", "warn", "error", "off". False when it is none of them. */
bool tq_log_parse_level(const char *text, enum tq_log_level *out_level);

/* `id` is a short stable name of the event ("peer-wire"); `format` gives further key=value pairs. */
void tq_log(enum tq_log_level level, const char *id, const char *format, ...) TQ_PRINTF(3, 4);

#define tq_debug(...)     tq_log(TQ_LOG_DEBUG, __VA_ARGS__)
#define tq_info(...)      tq_log(TQ_LOG_INFO, __VA_ARGS__)
#define tq_warn(...)      tq_log(TQ_LOG_WARN, __VA_ARGS__)
#define tq_error_log(...) tq_log(TQ_LOG_ERROR, __VA_ARGS__)

#endif

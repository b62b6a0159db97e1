#include "tq/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *tq_status_name(tq_status status)
{
    switch (status) {
#define NAME_CASE(name, number, text)                                                                                  \
    case TQ_##name:                                                                                                    \
        return #name;
        TQ_STATUS_LIST(NAME_CASE)
#undef NAME_CASE
    }
    return "?";
}

const char *tq_status_text(tq_status status)
{
    switch (status) {
#define TEXT_CASE(name, number, text)                                                                                  \
    case TQ_##name:                                                                                                    \
        return text;
        TQ_STATUS_LIST(TEXT_CASE)
#undef TEXT_CASE
    }
    return "?";
}

tq_status tq_status_from_wire(uint32_t number)
{
    return number <= TQ_UNAUTHENTICATED ? (tq_status)number : TQ_UNKNOWN;
}

void tq_error_clear(struct tq_error *err)
{
    if (err != NULL)
        *err = (struct tq_error){ 0 };
}

tq_status tq_fail(struct tq_error *err, tq_status status, const char *reason, const char *format, ...)
{
    if (err == NULL)
        return status;
    err->status = status;
    err->outcome = TQ_OUTCOME_NONE;
    err->retry_after_ms = 0;
    snprintf(err->reason, sizeof(err->reason), "%s", reason != NULL ? reason : "");
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof(err->message), format, args);
    va_end(args);
    return status;
}
